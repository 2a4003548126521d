package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/extension/fleet"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
	"github.com/moorpin/moorpin/pkg/kube"
)

const fleetHelp = `Look at all Applications of an Argo CD from above: what makes them drift, which kinds
drift the most, what nobody explained, and which Applications are Progressing or
Degraded behind their drift, since when, and how often their Pods restarted.

The status of an Application says what concerns it as a whole: that it cannot be
rendered, that something waits to be pruned, that a sync is stuck or was given up.
Which fields drift, and why, is read with --fields, some calls for each Application
that is not Synced; with --fields=all for each one, which shows the drift that Argo CD
hides too. What was not read is counted as unread, and what a sync would do is then
"at least" what is known, or "?". What could not be had while reading is a problem.

--project and --namespace take names, globs such as 'team-*', and regular expressions
between slashes such as '/^team-[0-9]+$/'.

Applications are listed by Argo CD's API, with the flags and the session of the other
commands, or with --kubeconfig as objects of the cluster that Argo CD runs in, page by
page. That needs the verb list on applications.argoproj.io, list on pods for the
restarts, and get on the ConfigMap argocd-cm; fields cannot be read that way.

Exit codes: 0 fine, 1 something drifts or could not be read (only with --check), 2 your
mistake, 3 our failure.`

const fleetExample = `  # with the session of the argocd CLI
  moorpin extension fleet

  # why, field by field, in one project
  moorpin extension fleet --project shop --fields

  # by kubectl's means, for a spreadsheet
  moorpin extension fleet --kubeconfig ~/.kube/config -o csv > fleet.csv`

// How far --fields reads.
const (
	fieldsNone     = "none"
	fieldsDrifting = "drifting"
	fieldsAll      = "all"
)

// surveying holds the flags of fleet.
type surveying struct {
	connection           connection
	kubeconfig           string
	home                 string
	projects, namespaces []string
	fields, format       string
	check                bool
	parallel             int
	timeout              time.Duration
}

func fleetCommand() *cobra.Command {
	var s surveying
	command := &cobra.Command{
		Use: "fleet", Short: "Look at the drift of all Applications from above",
		Long: fleetHelp, Example: fleetExample, Args: noWords,
		RunE: coded(func(command *cobra.Command, _ []string) error { return s.run(command) }),
	}
	flags := command.Flags()
	s.connection.flags(flags)
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the cluster that Argo CD runs in, to read Applications there instead of asking Argo CD")
	flags.StringVar(&s.home, "argocd-namespace", "argocd", "with --kubeconfig, the `NAMESPACE` of Argo CD's own ConfigMaps")
	flags.StringSliceVar(&s.projects, "project", nil, "only Applications of this `PROJECT`: a name, a glob, or a regular expression between slashes; may be repeated")
	flags.StringSliceVar(&s.namespaces, "namespace", nil, "only Applications in this `NAMESPACE`: a name, a glob, or a regular expression between slashes; may be repeated")
	flags.StringVar(&s.fields, "fields", fieldsNone, "read the fields of Applications: none, drifting (those that are not Synced) or all, written --fields=all")
	flags.Lookup("fields").NoOptDefVal = fieldsDrifting
	flags.StringVarP(&s.format, "output", "o", "text", "`FORMAT`: text, json, markdown or csv")
	flags.BoolVar(&s.check, "check", false, "exit with 1 when something drifts or could not be read")
	flags.IntVar(&s.parallel, "parallel", 4, "how many Applications are asked about at once")
	flags.DurationVar(&s.timeout, "timeout", 30*time.Minute, "give up after this time")
	return command
}

// noWords refuses arguments, and says what is meant where a value stands apart from its
// flag: --fields may stand alone.
func noWords(_ *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	if slices.Contains([]string{fieldsNone, fieldsDrifting, fieldsAll}, words[0]) {
		return cli.Mistake(fmt.Errorf("%q is no argument: write --fields=%[1]s, in one word", words[0]))
	}
	return cli.Mistake(fmt.Errorf("%q is no argument: all that can be given are flags", words[0]))
}

func (s *surveying) run(command *cobra.Command) error {
	write, err := s.writer()
	if err != nil {
		return err
	}
	if err := s.validate(); err != nil {
		return cli.Mistake(err)
	}
	ctx, cancel := context.WithTimeout(command.Context(), s.timeout)
	defer cancel()
	source, err := s.source(ctx, command)
	if err != nil {
		return err
	}
	bar := newProgress(command.ErrOrStderr())
	source.options.Progress = bar.step
	overview, err := fleet.Summarise(ctx, source.apps, source.options)
	bar.clear()
	if err == nil && overview.Applications == 0 && len(s.projects)+len(s.namespaces) > 0 {
		_, _ = fmt.Fprintln(command.ErrOrStderr(), "warning: no Application that can be read is in what --project and --namespace name")
	}
	if errors.Is(err, kube.ErrNotServed) {
		return cli.Mistake(fmt.Errorf("--kubeconfig: %w; name the cluster that Argo CD runs in", err))
	}
	if err != nil {
		return err //nolint:wrapcheck // the error names the step
	}
	var text bytes.Buffer
	if err := write(&text, overview); err != nil {
		return fmt.Errorf("encode overview: %w", err)
	}
	if _, err := command.OutOrStdout().Write(text.Bytes()); err != nil {
		return fmt.Errorf("write overview: %w", err)
	}
	if found := overview.Drifting + len(overview.Problems); s.check && found > 0 {
		return cli.Found(fmt.Errorf("--check: of %d Applications %d drift; problems: %d", overview.Applications, overview.Drifting, len(overview.Problems)))
	}
	return nil
}

// writer finds the format, before any work is done.
func (s *surveying) writer() (func(io.Writer, *fleet.Overview) error, error) {
	switch s.format {
	case "text":
		return fleet.Text, nil
	case "markdown":
		return fleet.Markdown, nil
	case "csv":
		return fleet.CSV, nil
	case "json":
		return func(to io.Writer, o *fleet.Overview) error {
			encoder := json.NewEncoder(to)
			encoder.SetIndent("", "  ")
			return encoder.Encode(o)
		}, nil
	}
	return nil, cli.Mistake(fmt.Errorf("--output: %q is not known; use text, json, markdown or csv", s.format))
}

func (s *surveying) validate() error {
	if !slices.Contains([]string{fieldsNone, fieldsDrifting, fieldsAll}, s.fields) {
		return fmt.Errorf("--fields: %q is not known; use none, drifting or all", s.fields)
	}
	if s.fields != fieldsNone && s.kubeconfig != "" {
		return errors.New("--fields: the fields come from Argo CD's API; leave --kubeconfig out")
	}
	if s.parallel < 1 || s.parallel > 64 {
		return fmt.Errorf("--parallel: %d is not between 1 and 64", s.parallel)
	}
	for _, pattern := range slices.Concat(s.projects, s.namespaces) {
		if err := api.CheckPattern(pattern); err != nil {
			return fmt.Errorf("--project and --namespace: %w", err)
		}
	}
	return nil
}

// source is where the Applications come from, and how they are read.
type source struct {
	apps    iter.Seq2[map[string]any, error]
	options fleet.Options
}

func (s *surveying) source(ctx context.Context, command *cobra.Command) (*source, error) {
	options := fleet.Options{Projects: s.projects, Namespaces: s.namespaces, Parallel: s.parallel, All: s.fields == fieldsAll}
	if s.kubeconfig != "" {
		objects, err := cluster(s.kubeconfig)
		if err != nil {
			return nil, err
		}
		options.Restarts = fleet.PodRestarts(objects)
		options.Settings, err = fleet.ClusterSettings(objects, s.home, time.Now)(ctx)
		if err != nil {
			// Who may list Applications need not be one who may read this.
			_, _ = fmt.Fprintln(command.ErrOrStderr(), "warning: Argo CD is taken to refresh as it does by default:", err)
			options.Settings = drift.Settings{drift.SettingNow: time.Now().UTC().Format(time.RFC3339)}
		}
		return &source{objects.All(ctx, argocd.Group, argocd.ApplicationKind, exact(s.namespaces)), options}, nil
	}
	client, err := s.connection.client()
	if err != nil {
		return nil, err
	}
	options.Restarts = fleet.TreeRestarts(client)
	if s.fields != fieldsNone {
		options.Fields = explain(client)
	}
	if options.Settings, err = fleet.ServerSettings(client, time.Now)(ctx); err != nil {
		return nil, err
	}
	return &source{client.AllApplications(ctx, exact(s.projects)), options}, nil
}

// exact is the only name that the patterns match, which then need not be asked for
// among all; "" when they are several, or globs.
func exact(patterns []string) string {
	if len(patterns) != 1 || strings.ContainsAny(patterns[0], `*?[]{}!\/`) {
		return ""
	}
	return patterns[0]
}

// explain reads and classifies one Application. Nobody asks for the fixes of a fleet,
// so none is proven.
func explain(client *argocd.Client) func(context.Context, argocd.Ref) (*fleet.Explained, error) {
	return func(ctx context.Context, ref argocd.Ref) (*fleet.Explained, error) {
		snapshot, warnings, err := report.Collect(ctx, client, ref, report.Options{Now: time.Now, Compared: true})
		if err != nil {
			return nil, err //nolint:wrapcheck // the error names the step
		}
		// The rules of other people's Applications must not stop the view of all.
		found, err := classify.Classify(ctx, snapshot, classify.Options{Guard: true})
		if err != nil {
			return nil, fmt.Errorf("classify: %w", err)
		}
		explained := &fleet.Explained{Report: found, Warnings: slices.Concat(warnings, found.Unheeded)}
		for _, r := range snapshot.Resources {
			explained.Read = append(explained.Read, r.ResourceRef)
		}
		return explained, nil
	}
}
