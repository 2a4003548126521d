// Command rules runs unit tests of alert rules, in the format of `promtool test rules`,
// with Prometheus' own engine:
//
//	go run . TESTS.yaml
//
// A rule file is one of Prometheus, or a PrometheusRule of the Prometheus Operator. The
// command knows input_series and alert_rule_test, and refuses what else a test may hold. It
// also refuses an alert without a test in which it fires and one in which it does not.
//
// promtool itself would need the clients of all clouds to be built.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v3"
)

// tests is a file of tests.
type tests struct {
	RuleFiles []string       `yaml:"rule_files"`
	Interval  model.Duration `yaml:"evaluation_interval"`
	Tests     []test         `yaml:"tests"`
}

// test is some series and what is to fire when.
type test struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Series   []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Cases []testCase `yaml:"alert_rule_test"`
}

type testCase struct {
	At    model.Duration `yaml:"eval_time"`
	Alert string         `yaml:"alertname"`
	Want  []firing       `yaml:"exp_alerts"`
}

// firing is an alert that fires. Annotations that a test does not name may be anything.
type firing struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rules TESTS.yaml")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	var all tests
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read tests: %w", err)
	}
	defer func() { _ = file.Close() }() // only read from
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return fmt.Errorf("decode %s: %w", path, err)
	}
	var files []string
	for _, name := range all.RuleFiles {
		plain, err := plainRules(filepath.Join(filepath.Dir(path), name))
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(plain) }() // a temporary file
		files = append(files, plain)
	}
	fired, quiet := map[string]bool{}, map[string]bool{}
	var problems []error
	for _, one := range all.Tests {
		problems = append(problems, one.run(time.Duration(all.Interval), files))
		for _, c := range one.Cases {
			fired[c.Alert] = fired[c.Alert] || len(c.Want) > 0
			quiet[c.Alert] = quiet[c.Alert] || len(c.Want) == 0
		}
	}
	groups, err := load(context.Background(), nil, all.Interval, files)
	if err != nil {
		return err
	}
	for _, name := range alerts(groups) {
		if !fired[name] || !quiet[name] {
			problems = append(problems, fmt.Errorf("%s: it needs a test in which it fires, and one in which it does not", name))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	fmt.Printf("%d alerts, %d tests\n", len(alerts(groups)), len(all.Tests))
	return nil
}

// plainRules writes the groups of a PrometheusRule as Prometheus reads them.
func plainRules(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read rules: %w", err)
	}
	var object struct {
		Kind string `yaml:"kind"`
		Spec any    `yaml:"spec"`
	}
	if err := yaml.Unmarshal(data, &object); err != nil {
		return "", fmt.Errorf("decode %s: %w", path, err)
	}
	if object.Kind == "PrometheusRule" {
		if data, err = yaml.Marshal(object.Spec); err != nil {
			return "", fmt.Errorf("encode groups of %s: %w", path, err)
		}
	}
	file, err := os.CreateTemp("", "rules-*.yaml")
	if err != nil {
		return "", fmt.Errorf("write rules: %w", err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write rules: %w", err)
	}
	return file.Name(), nil
}

func load(ctx context.Context, suite *promqltest.LazyLoader, interval model.Duration, files []string) ([]*rules.Group, error) {
	options := &rules.ManagerOptions{
		Context: ctx, Logger: promslog.NewNopLogger(), Parser: parser.NewParser(parser.Options{}),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
	}
	if suite != nil {
		options.QueryFunc = rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage())
		options.Appendable = suite.Storage()
	}
	found, errs := rules.NewManager(options).LoadGroups(time.Duration(interval), labels.EmptyLabels(), "", nil, false, files...)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("load rules: %w", err)
	}
	var groups []*rules.Group
	for _, group := range found {
		groups = append(groups, group)
	}
	return groups, nil
}

func alerts(groups []*rules.Group) []string {
	var names []string
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			names = append(names, rule.Name())
		}
	}
	slices.Sort(names)
	return names
}

// run evaluates all rules from the beginning to the last moment that the test asks about.
func (t test) run(step time.Duration, files []string) error {
	var series strings.Builder
	fmt.Fprintf(&series, "load %v\n", t.Interval)
	for _, s := range t.Series {
		fmt.Fprintf(&series, "  %s %s\n", s.Series, s.Values)
	}
	suite, err := promqltest.NewLazyLoader(series.String(), promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true})
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	defer func() { _ = suite.Close() }() // it was all in memory
	groups, err := load(suite.Context(), suite, model.Duration(step), files)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	var last time.Duration
	for _, c := range t.Cases {
		last = max(last, time.Duration(c.At))
	}
	var problems []error
	for now := time.Duration(0); now <= last; now += step {
		moment := time.Unix(0, 0).UTC().Add(now)
		suite.WithSamplesTill(moment, func(err error) { problems = append(problems, err) })
		for _, group := range groups {
			group.Eval(suite.Context(), moment)
			for _, rule := range group.Rules() {
				problems = append(problems, rule.LastError())
			}
		}
		for _, c := range t.Cases {
			if time.Duration(c.At) == now {
				problems = append(problems, c.check(groups))
			}
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	return nil
}

func (c testCase) check(groups []*rules.Group) error {
	var have []firing
	known := false
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			if rule.Name() != c.Alert {
				continue
			}
			known = true
			for _, alert := range rule.ActiveAlerts() {
				if alert.State == rules.StateFiring {
					have = append(have, firing{alert.Labels.Map(), alert.Annotations.Map()})
				}
			}
		}
	}
	if !known {
		return fmt.Errorf("%s: there is no such alert", c.Alert)
	}
	matched := len(have) == len(c.Want)
	for _, want := range c.Want {
		matched = matched && slices.ContainsFunc(have, want.is)
	}
	if !matched {
		return fmt.Errorf("%s after %v: want %v, have %v", c.Alert, c.At, c.Want, have)
	}
	return nil
}

// is reports whether all labels are as wanted, and the annotations that are named.
func (want firing) is(have firing) bool {
	if len(have.Labels) != len(want.Labels)+1 { // alertname
		return false
	}
	return within(want.Labels, have.Labels) && within(want.Annotations, have.Annotations)
}

func within(part, whole map[string]string) bool {
	for name, value := range part {
		if whole[name] != value {
			return false
		}
	}
	return true
}
