package classify

import (
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/fix"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// TestRulesIgnoreOneField holds the rules against Argo CD's own normalizer: of the
// live object they take away the field and nothing else.
func TestRulesIgnoreOneField(t *testing.T) {
	live := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": nasty, "namespace": "x", "annotations": map[string]any{"a/b~c": "1", nasty: "2", "if": "3"}},
		"spec": map[string]any{
			"containers": []any{
				map[string]any{"name": "a", "image": "1", "env": []any{map[string]any{"name": nasty, "value": "1"}, map[string]any{"name": "n", "value": "2"}}},
				map[string]any{"name": "b", "image": "1"},
			},
			"ports":  []any{map[string]any{"port": int64(80), "protocol": "TCP", "x": "1"}, map[string]any{"port": int64(80), "protocol": "UDP", "x": "1"}},
			"routes": []any{map[string]any{"to": map[string]any{"host": "h", "subset": "a"}, "weight": int64(1)}, map[string]any{"to": map[string]any{"host": "h", "subset": "b"}, "weight": int64(1)}},
			"args":   []any{"a", "b", "c"},
			"same":   []any{map[string]any{"v": "1"}, map[string]any{"v": "1"}},
		},
	}
	rows := map[string]struct {
		reason string
		stable bool
	}{
		"/metadata/annotations/a~1b~0c":      {"a pointer with escapes", true},
		"/metadata/annotations/if":           {"a word of jq", true},
		"/spec/containers/1/image":           {"an item by its name", true},
		"/spec/containers/0/env/0/value":     {"two lists, a hostile name", true},
		"/spec/containers/0/env/1":           {"a whole item", true},
		"/spec/ports/1/x":                    {"an item by two fields", true},
		"/spec/routes/1/weight":              {"an item by a map", true},
		"/spec/args/1":                       {"nothing but a position", false},
		"/spec/same/1/v":                     {"the only field is the one that differs", false},
		"/spec/containers/0/name":            {"the name itself differs", false},
		"/spec":                              {"a whole part", true},
		string(fieldpath.Of("spec", "args")): {"a whole list", true},
	}
	for pointer, row := range rows {
		t.Run(pointer, func(t *testing.T) {
			snapshot := &drift.Snapshot{Application: map[string]any{"kind": "Application", "metadata": map[string]any{"name": "a"}}, Resources: []drift.Resource{{Target: live, Live: live}}}
			s, err := state.New(t.Context(), snapshot)
			if err != nil {
				t.Fatal(err)
			}
			f := &fix.Builder{Application: s, R: s.Resources[0], Answer: &rule.Answer{}}
			at := fieldpath.Pointer(pointer)
			value, found := at.Value(live)
			if !found {
				t.Fatal("no such field")
			}
			rule, stable := f.NarrowRule([]drift.Field{{Pointer: at, Live: value, Target: value, InLive: true, InTarget: true}})
			if stable != row.stable {
				t.Errorf("stable: %v, want %v: %s", stable, row.stable, row.reason)
			}
			normalizer, err := normalizers.NewIgnoreNormalizer([]v1alpha1.ResourceIgnoreDifferences{rule}, nil, normalizers.IgnoreNormalizerOpts{})
			if err != nil {
				t.Fatalf("%+v: %v", rule, err)
			}
			object := (&unstructured.Unstructured{Object: live}).DeepCopy()
			if err := normalizer.Normalize(object); err != nil {
				t.Fatal(err)
			}
			want, _ := fix.Edited(live, []snippet.Change{{Path: fix.GitPath(live, at.Steps()), Remove: true}}, true)
			if diff := cmp.Diff(want, object.Object); diff != "" {
				t.Errorf("%s: %+v: -want +got:\n%s", row.reason, rule, diff)
			}
		})
	}
}
