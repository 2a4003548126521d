package pin_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// crowdCRD returns a CRD whose list items have the given number of defaults.
func crowdCRD(t *testing.T, defaults int) manifest.Object {
	t.Helper()
	var fields strings.Builder
	for i := range defaults {
		fmt.Fprintf(&fields, "f%d: {type: string, default: x}, ", i)
	}
	return decodeOne(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crowds.example.org}, spec: {
  group: example.org, scope: Namespaced, names: {kind: Crowd, plural: crowds}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
  type: object, properties: {spec: {type: object, properties: {plain: {type: string}, empty: {type: object, default: {}}, items: {type: array, items: {type: object, properties: {`+fields.String()+`}}}}}}}}}]}}`)
}

func crowd(items int, annotations string) manifest.Object {
	list := make([]any, items)
	for i := range list {
		list[i] = map[string]any{}
	}
	metadata := map[string]any{"name": "a"}
	if annotations != "" {
		metadata["annotations"] = map[string]any{pin.AnnotationSkip: annotations}
	}
	return manifest.Object{Content: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Crowd", "metadata": metadata, "spec": map[string]any{"empty": map[string]any{}, "items": list},
	}}
}

// TestHostileCrowd: 20 000 items with 1000 defaults each would be 20 million changes.
func TestHostileCrowd(t *testing.T) {
	objects := []manifest.Object{crowdCRD(t, 1000), crowd(20_000, ""), crowd(1, "")}
	before, start := allocated(), time.Now()
	results, err := pin.All(t.Context(), objects, pin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if took, grown := time.Since(start), allocated()-before; grown > 256<<20 {
		t.Errorf("took %v and %d MiB", took, grown>>20)
	}
	if len(results) != len(objects) || !cmp.Equal(results[1].Object.Content, objects[1].Content) || len(results[1].Changes) > 0 {
		t.Error("an object over the budget must pass unchanged")
	}
	if warnings := results[1].Warnings; len(warnings) != 1 || warnings[0].Obstacle != pin.OverBudget || !strings.Contains(warnings[0].Text, "100000 changes") {
		t.Errorf("want a warning that names the bound, got %v", warnings)
	}
	if len(results[2].Changes) != 1000 || len(results[2].Warnings) > 0 {
		t.Errorf("the next object must be pinned, got %d changes, %v", len(results[2].Changes), results[2].Warnings)
	}
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func TestBudget(t *testing.T) {
	tests := map[string]struct {
		reason  string
		budget  pin.Budget
		objects []manifest.Object
		// pinned are the objects that change; bound is what the others' warning names.
		pinned []bool
		bound  string
	}{
		"changes":        {reason: "3 items of 4 defaults are 12 changes", budget: pin.Budget{Object: pin.Bound{Changes: 11}}, objects: []manifest.Object{crowd(3, ""), crowd(2, "")}, pinned: []bool{false, true}, bound: "11 changes"},
		"just fits":      {reason: "a bound is what is allowed", budget: pin.Budget{Object: pin.Bound{Changes: 12}}, objects: []manifest.Object{crowd(3, "")}, pinned: []bool{true}},
		"bytes":          {reason: "pointers and values weigh", budget: pin.Budget{Object: pin.Bound{Bytes: 300}}, objects: []manifest.Object{crowd(3, ""), crowd(1, "")}, pinned: []bool{false, true}, bound: "300 bytes"},
		"steps":          {reason: "fields that are looked at count", budget: pin.Budget{Object: pin.Bound{Steps: 20}}, objects: []manifest.Object{crowd(30, ""), crowd(0, "")}, pinned: []bool{false, false}, bound: "20 steps"},
		"call":           {reason: "all objects together, in their order", budget: pin.Budget{Call: pin.Bound{Changes: 9}}, objects: []manifest.Object{crowd(1, ""), crowd(1, ""), crowd(1, "")}, pinned: []bool{true, true, false}, bound: "9 changes for all"},
		"excluded count": {reason: "an exclusion saves no work", budget: pin.Budget{Object: pin.Bound{Changes: 11}}, objects: []manifest.Object{crowd(3, "/spec/items/*/f1")}, pinned: []bool{false}, bound: "11 changes"},
	}
	definition, err := schema.Parse(t.Context(), crowdCRD(t, 4).Content, "test")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			results, err := pin.All(t.Context(), test.objects, pin.Options{Schemas: schema.NewSet(definition), Budget: test.budget})
			if err != nil {
				t.Fatal(err)
			}
			over := 0
			for i, result := range results {
				if pinned := len(result.Changes) > 0; pinned != test.pinned[i] {
					t.Errorf("%s: object %d: pinned %v", test.reason, i, pinned)
				}
				if len(result.Changes) == 0 && !cmp.Equal(result.Object, test.objects[i]) {
					t.Errorf("%s: object %d is changed and no change is told", test.reason, i)
				}
				for _, warning := range result.Warnings {
					over++
					if warning.Obstacle != pin.OverBudget || !strings.Contains(warning.Text, test.bound) {
						t.Errorf("%s: warning %+v", test.reason, warning)
					}
				}
			}
			if (over > 0) != (test.bound != "") {
				t.Errorf("%s: %d warnings", test.reason, over)
			}
		})
	}
}

// TestDropBudget: the dropping table's way through an object is bounded as well.
func TestDropBudget(t *testing.T) {
	objects := []manifest.Object{decodeOne(t, "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {syncPolicy: {syncOptions: []}, info: [], ignoreDifferences: []}")}
	for name, bound := range map[string]pin.Bound{"changes": {Changes: 2}, "steps": {Steps: 3}} {
		results, err := pin.All(t.Context(), objects, pin.Options{Budget: pin.Budget{Object: bound}})
		if err != nil {
			t.Fatal(err)
		}
		if len(results[0].Changes) > 0 || len(results[0].Warnings) == 0 || !cmp.Equal(results[0].Object, objects[0]) {
			t.Errorf("%s: %+v", name, results[0])
		}
	}
}

// TestContextEnds: the end of the context stops the work inside one object, and its
// cause is the error.
func TestContextEnds(t *testing.T) {
	cause := errors.New("the caller has gone")
	const huge = 1 << 50
	endless := pin.Budget{Object: pin.Bound{Changes: huge, Bytes: huge, Steps: huge}, Call: pin.Bound{Changes: huge, Bytes: huge, Steps: huge}}
	tests := map[string]struct {
		reason string
		wait   time.Duration
	}{
		"before": {reason: "nothing is begun"},
		"inside": {reason: "one object takes far longer", wait: 100 * time.Millisecond},
	}
	definition, err := schema.Parse(t.Context(), crowdCRD(t, 1000).Content, "test")
	if err != nil {
		t.Fatal(err)
	}
	objects := []manifest.Object{crowd(20_000, "")}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), test.wait, cause)
			defer cancel()
			results, err := pin.All(ctx, objects, pin.Options{Schemas: schema.NewSet(definition), Budget: endless})
			if !errors.Is(err, cause) || results != nil {
				t.Errorf("%s: %d results, %v", test.reason, len(results), err)
			}
		})
	}
}
