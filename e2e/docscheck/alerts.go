package docscheck

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	monitoring = "manifests/components/monitoring"
	runbooks   = "docs/runbooks"
)

// pages below docs/runbooks that are about no alert.
var otherPages = []string{"README.md", "mechanisms.md"}

// runbook is what a runbook of an alert has.
var runbookParts = []string{"## What it means", "## Confirm", "## Fix", "## When not to"}

var alertName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`)

// alerts holds the alerts against the runbooks and the metrics, and the other way round.
func (p *Project) alerts() ([]Problem, error) {
	files, err := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(monitoring), "*"))
	if err != nil {
		return nil, fmt.Errorf("find alerts: %w", err)
	}
	var problems []Problem
	known := map[string]bool{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read alerts: %w", err)
		}
		name := monitoring + "/" + filepath.Base(path)
		for i, line := range strings.Split(string(text), "\n") {
			p.metricNames(line, func(format string, args ...any) {
				problems = append(problems, Problem{name, i + 1, fmt.Sprintf(format, args...)})
			})
		}
		rules, err := rulesOf(text)
		if err != nil {
			continue // no YAML
		}
		for _, rule := range rules {
			known[rule.Alert] = true
			problems = append(problems, p.alert(name, rule)...)
		}
	}
	return append(problems, p.strays(known)...), nil
}

// rule is an alert of a PrometheusRule.
type rule struct {
	Alert       string            `json:"alert"`
	Annotations map[string]string `json:"annotations"`
}

// rulesOf are the alerts of a stream of PrometheusRules.
func rulesOf(text []byte) ([]rule, error) {
	var found []rule
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var object struct {
			Kind string `json:"kind"`
			Spec struct {
				Groups []struct {
					Rules []rule `json:"rules"`
				} `json:"groups"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		for _, group := range object.Spec.Groups {
			for _, one := range group.Rules {
				if object.Kind == "PrometheusRule" && one.Alert != "" {
					found = append(found, one)
				}
			}
		}
	}
	return found, nil
}

// alert holds one alert against its runbook.
func (p *Project) alert(file string, one rule) []Problem {
	page := runbooks + "/" + one.Alert + ".md"
	says := func(format string, args ...any) []Problem {
		return []Problem{{file, 1, one.Alert + ": " + fmt.Sprintf(format, args...)}}
	}
	if url := one.Annotations["runbook_url"]; !strings.HasSuffix(url, "/"+page) {
		return says("runbook_url is %q and ends with no %s", url, page)
	}
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(page)))
	if err != nil {
		return says("there is no runbook %s", page)
	}
	for _, part := range runbookParts {
		if !strings.Contains(string(text), "\n"+part) {
			return says("its runbook lacks %q", part)
		}
	}
	return nil
}

// strays are runbooks about no alert.
func (p *Project) strays(known map[string]bool) []Problem {
	if len(known) == 0 {
		return []Problem{{monitoring, 1, "there are no alerts"}}
	}
	pages, _ := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(runbooks), "*.md"))
	var problems []Problem
	for _, page := range pages {
		base := filepath.Base(page)
		name := strings.TrimSuffix(base, ".md")
		if !slices.Contains(otherPages, base) && (!known[name] || !alertName.MatchString(name)) {
			problems = append(problems, Problem{runbooks + "/" + base, 1, "no alert has this runbook; there are " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")})
		}
	}
	return problems
}
