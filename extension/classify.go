package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/extension/view"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
	"github.com/moorpin/moorpin/pkg/drift/plan"
)

const classifyHelp = `Read a snapshot of an Application (JSON or YAML, as "moorpin extension snapshot"
writes it) and say why it is OutOfSync: one finding for each mechanism at work on a
resource, the worst first, with the fields, who wrote them, the evidence, what a
sync would do now, and fixes, the recommended one first. Differences that Argo CD
does not see are marked as hidden.

SNAPSHOT is a file, or -, the standard input.

The effects of a sync, the worst last: nothing-to-do, noop, harmless-flap, safe, wait,
blocked, will-fail, fights-controller, overwrites-live, destructive. A finding is
certain, likely (a sign is missing) or possible (nothing speaks against it).
docs/mechanisms.md says what each of them, and each mechanism, means.

A fix is marked as proven when it was tried on the snapshot, the finding went away
and nothing else appeared.

With -o plan, what is left over in the cluster (resources that Git no longer has,
finished hooks) is written as a plan instead: what shows that nothing uses it, how
to dump it, in which order to delete it, and how to roll back. -o script is the same
plan as a bash script, a dry run unless it is told otherwise. Moorpin itself deletes
nothing.

Exit codes: 0 fine, 1 there is a finding (only with --check), 2 your mistake, 3 our
failure.`

const classifyExample = `  moorpin extension snapshot shop -o shop.json
  moorpin extension classify shop.json

  # as a comment for a pull request
  moorpin extension snapshot team/shop | moorpin extension classify -o markdown -

  # how to remove what Git no longer has
  moorpin extension classify -o script shop.json > cleanup.sh`

// classifying holds the flags of classify.
type classifying struct {
	format       string
	prove, check bool
}

func classifyCommand() *cobra.Command {
	var c classifying
	command := &cobra.Command{
		Use: "classify SNAPSHOT", Short: "Say why the Application of a snapshot is OutOfSync",
		Long: classifyHelp, Example: classifyExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one SNAPSHOT; use - for standard input")
			}
			return nil
		},
		RunE: coded(func(command *cobra.Command, args []string) error { return c.run(command, args[0]) }),
	}
	flags := command.Flags()
	flags.StringVarP(&c.format, "output", "o", "text", "`FORMAT` of the report: text, json or markdown; or plan or script")
	flags.BoolVar(&c.prove, "prove", true, "try each fix on the snapshot, and mark those that work as proven")
	flags.BoolVar(&c.check, "check", false, "exit with 1 when there is any finding: a difference, hidden from Argo CD or not, or another problem")
	return command
}

// blamed says whose mistake a failed classification is. A panic is ours, and its stack
// goes along for whoever mends it.
func blamed(err error) error {
	if ours, found := errors.AsType[*drift.PanicError](err); found {
		return fmt.Errorf("%w\n%s", err, ours.Stack)
	}
	return cli.Mistake(err)
}

func (c *classifying) run(command *cobra.Command, path string) error {
	write, err := c.writer()
	if err != nil {
		return err
	}
	data, err := readSnapshot(command.Context(), path, command.InOrStdin())
	if err != nil {
		return err
	}
	snapshot, err := drift.Parse(data)
	if err != nil {
		return cli.Mistake(fmt.Errorf("read %s: %w", path, err))
	}
	report, err := classify.Classify(command.Context(), snapshot, classify.Options{Prove: c.prove})
	if err != nil {
		return blamed(fmt.Errorf("%s: %w", path, err))
	}
	var text bytes.Buffer
	if err := write(&text, snapshot, report); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if _, err := command.OutOrStdout().Write(text.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if c.check {
		return drifting(report)
	}
	return nil
}

// writer finds the format, before any work is done.
func (c *classifying) writer() (func(io.Writer, *drift.Snapshot, *drift.Report) error, error) {
	ofReport := func(write func(io.Writer, *drift.Report) error) func(io.Writer, *drift.Snapshot, *drift.Report) error {
		return func(to io.Writer, _ *drift.Snapshot, report *drift.Report) error { return write(to, report) }
	}
	ofPlan := func(write func(plan.Plan) string) func(io.Writer, *drift.Snapshot, *drift.Report) error {
		return func(to io.Writer, snapshot *drift.Snapshot, report *drift.Report) error {
			_, err := io.WriteString(to, write(plan.For(snapshot, report)))
			return err //nolint:wrapcheck // run names the step
		}
	}
	switch c.format {
	case "text":
		return ofReport(view.Text), nil
	case "markdown":
		return ofReport(view.Markdown), nil
	case "json":
		return ofReport(writeJSON), nil
	case "plan":
		return ofPlan(plan.Plan.Markdown), nil
	case "script":
		return ofPlan(plan.Plan.Script), nil
	}
	return nil, cli.Mistake(fmt.Errorf("--output: %q is not known; use text, json, markdown, plan or script", c.format))
}

func writeJSON(to io.Writer, report *drift.Report) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report) //nolint:wrapcheck // run names the step
}

// readSnapshot reads a file, or the standard input when the path is "-".
func readSnapshot(ctx context.Context, path string, in io.Reader) ([]byte, error) {
	if path == "-" {
		data, err := cli.ReadAll(ctx, in, drift.MaxSnapshot)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return data, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	defer func() { _ = file.Close() }() // only read from
	data, err := cli.ReadAll(ctx, file, drift.MaxSnapshot)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("read snapshot %s: %w", path, err))
	}
	return data, nil
}

// drifting is the answer of --check: nil when there is no finding.
func drifting(report *drift.Report) error {
	findings := 0
	for _, f := range report.Findings {
		if f.Mechanism != drift.None && (f.Flagged || len(f.Fields) > 0) {
			findings++
		}
	}
	if findings == 0 {
		return nil
	}
	return cli.Found(fmt.Errorf("--check: findings about %s: %d", report.Application, findings))
}
