package cmp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
)

// output holds the flags that say how results are written.
type output struct {
	format         string
	explain, check bool
}

const explainHelp = `--explain writes a line for each field to standard error, in columns that are set
apart by two or more spaces: the action (pinned, dropped, null-replaced or
null-dropped), the object (Kind.group/namespace/name), the field (RFC 6901), the
value (JSON), the reason, and the CRD or the rule that it comes from, or -.`

func (o *output) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&o.format, "output", "o", "yaml", "`FORMAT` of the objects: yaml (a stream) or json (one object a line)")
	flags.BoolVar(&o.explain, "explain", false, "say on standard error what was done to which field, see above")
	flags.BoolVar(&o.check, "check", false, "exit with 1 when anything is pinned or dropped")
}

// validate finds the user's mistakes before any work is done.
func (o *output) validate() error {
	if o.format != "yaml" && o.format != "json" {
		return cli.Mistake(fmt.Errorf("--output: %q is not known; use yaml or json", o.format))
	}
	return nil
}

// write writes the objects to out and the warnings and explanations to errs.
func (o *output) write(out, errs io.Writer, results []pin.Result) error {
	text, err := o.encode(results)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	if err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	err = warn(errs, results)
	if o.explain {
		err = errors.Join(err, explain(errs, results))
	}
	if err != nil {
		return fmt.Errorf("write to standard error: %w", err)
	}
	if o.check {
		return found(results)
	}
	return nil
}

func (o *output) encode(results []pin.Result) ([]byte, error) {
	if o.format == "yaml" {
		objects := make([]manifest.Object, len(results))
		for i, result := range results {
			objects[i] = result.Object
		}
		text, err := manifest.Encode(objects)
		return text, err //nolint:wrapcheck // the error names the object
	}
	var text bytes.Buffer
	for _, result := range results {
		line, err := result.Object.JSON()
		if err != nil {
			return nil, err //nolint:wrapcheck // the error names the object
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	return text.Bytes(), nil
}

// warn says once what passed unchanged although it might have defaults.
func warn(errs io.Writer, results []pin.Result) error {
	said := map[string]bool{}
	for _, result := range results {
		for _, warning := range result.Warnings {
			if said[warning.Text] {
				continue
			}
			said[warning.Text] = true
			_, err := fmt.Fprintln(errs, "warning:", warning.Text)
			if err != nil {
				return err //nolint:wrapcheck // write names the step
			}
		}
	}
	return nil
}

// explain writes one line for each changed field.
func explain(errs io.Writer, results []pin.Result) error {
	columns := tabwriter.NewWriter(errs, 0, 0, 2, ' ', 0)
	for _, result := range results {
		for _, change := range result.Changes {
			value, err := json.Marshal(change.Value)
			if err != nil {
				return err //nolint:wrapcheck // write names the step
			}
			// Two spaces end a column, so a value may not hold them.
			value = bytes.ReplaceAll(value, []byte("  "), []byte(` \u0020`))
			_, err = fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\n",
				change.Action, result.Object, change.Pointer, value, change.Reason, cmp.Or(change.Source, "-"))
			if err != nil {
				return err //nolint:wrapcheck // write names the step
			}
		}
	}
	return columns.Flush() //nolint:wrapcheck // write names the step
}

// found is the answer of --check: nil when nothing was changed.
func found(results []pin.Result) error {
	fields, objects := 0, 0
	for _, result := range results {
		fields += len(result.Changes)
		if len(result.Changes) > 0 {
			objects++
		}
	}
	if fields == 0 {
		return nil
	}
	return cli.Found(fmt.Errorf("--check: %d fields in %d of %d objects would be pinned or dropped", fields, objects, len(results)))
}
