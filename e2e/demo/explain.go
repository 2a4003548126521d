package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/moorpin/moorpin/pkg/catalog"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// explainer knows why the sidecar does what it does, because it has the same
// CRDs.
type explainer struct {
	schemas *schema.Set

	applications, objects, pinned, dropped int
}

func newExplainer(ctx context.Context, folders []string) (*explainer, error) {
	schemas, _, err := catalog.Load(ctx, folders...)
	if err != nil {
		return nil, fmt.Errorf("load CRDs: %w", err)
	}
	return &explainer{schemas: schemas}, nil
}

// explain prints why plain became pinned, and fails when that is not what
// happened.
func (e *explainer) explain(ctx context.Context, app application, plain, pinned []manifest.Object) error {
	results, err := pin.All(ctx, plain, pin.Options{Schemas: e.schemas, Served: strings.Split(served, ",")})
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	if len(results) != len(pinned) {
		return fmt.Errorf("the sidecar answered %d objects with pins and %d without", len(pinned), len(plain))
	}
	for i, result := range results {
		if !reflect.DeepEqual(result.Object.Content, pinned[i].Content) {
			return fmt.Errorf("the sidecar did something else to %s than the explanation says", result.Object)
		}
	}
	fmt.Printf("== %s: %s (%s)\n\n", app.name, app.about, app.path)
	err = e.table(results)
	if err != nil {
		return err
	}
	fmt.Println()
	e.applications++
	e.objects += len(results)
	return diffs(plain, pinned)
}

// table prints the objects, each with one row for each changed field.
func (e *explainer) table(results []pin.Result) error {
	columns := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, result := range results {
		fmt.Fprintf(columns, "%s\n", result.Object)
		if len(result.Changes) == 0 {
			fmt.Fprintf(columns, "  %-12s\t\t\t%s\n", "unchanged", unchanged(result))
		}
		for _, change := range result.Changes {
			value, err := json.Marshal(change.Value)
			if err != nil {
				return fmt.Errorf("explain %s of %s: %w", change.Pointer, result.Object, err)
			}
			fmt.Fprintf(columns, "  %-12s\t%s\t%s\t%s: %s\n", change.Action, change.Pointer, value, change.Reason, short(change.Source))
			e.count(change.Action)
		}
	}
	err := columns.Flush()
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

func unchanged(result pin.Result) string {
	texts := []string{}
	for _, warning := range result.Warnings {
		texts = append(texts, warning.Text)
	}
	if len(texts) == 0 {
		return "nothing to pin or drop"
	}
	return strings.Join(texts, "; ")
}

func (e *explainer) count(action pin.Action) {
	switch action {
	case pin.Pinned, pin.NullReplaced:
		e.pinned++
	case pin.Dropped, pin.NullDropped:
		e.dropped++
	}
}

// short leaves out which file of the Go module cache a CRD comes from.
func short(source string) string {
	name, _, _ := strings.Cut(source, " (")
	return name
}

func (e *explainer) summary(took time.Duration) {
	fmt.Printf("%d Applications with %d objects: %d fields pinned, %d dropped. Each answer of the sidecar is what the table explains. %.1f s in all.\n",
		e.applications, e.objects, e.pinned, e.dropped, took.Seconds())
}

// diffs prints a unified diff for each object that changed.
func diffs(plain, pinned []manifest.Object) error {
	for i, object := range plain {
		before, err := manifest.Encode([]manifest.Object{object})
		if err != nil {
			return fmt.Errorf("diff: %w", err)
		}
		after, err := manifest.Encode([]manifest.Object{pinned[i]})
		if err != nil {
			return fmt.Errorf("diff: %w", err)
		}
		text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: lines(before), FromFile: object.String() + " (from Git)",
			B: lines(after), ToFile: object.String() + " (pinned)",
			Context: 3,
		})
		if err != nil {
			return fmt.Errorf("diff: %w", err)
		}
		if text != "" {
			fmt.Println(text)
		}
	}
	return nil
}

func lines(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}
