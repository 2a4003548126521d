package generate_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/e2e/crds"
	"github.com/moorpin/moorpin/e2e/generate"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/manifest"
)

func widgetCRD(t *testing.T) map[string]any {
	t.Helper()
	const name = "testdata/widgets.yaml"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Decode(name, data, manifest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return objects[0].Content
}

func widget(t *testing.T, version string) *generate.Kind {
	t.Helper()
	kind, err := generate.New(widgetCRD(t), version)
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

// allKinds returns the kind versions of real CRDs.
func allKinds(t *testing.T) []*generate.Kind {
	t.Helper()
	all, err := crds.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var kinds []*generate.Kind
	for _, crd := range all {
		found, err := generate.Kinds(crd.Content)
		if err != nil {
			t.Fatalf("%s %s: %v", crd.Module, crd.File, err)
		}
		kinds = append(kinds, found...)
	}
	return kinds
}

// TestObjectsOfRealCRDs tries all CRDs without a server: the libraries that it is
// made of accept most objects, every kind can be had, the same objects come every
// time, and together they touch what matters to defaulting.
func TestObjectsOfRealCRDs(t *testing.T) {
	const each = 5
	kinds := allKinds(t)
	made, valid := 0, 0
	seen := features{}
	for _, kind := range kinds {
		own := 0
		for index := range each {
			object, facts := kind.Object(1, index)
			if len(facts.Refusals) == 0 {
				own++
			}
			again, _ := kind.Object(1, index)
			if difference := cmp.Diff(object, again); difference != "" {
				t.Errorf("%s, object %d is not the same every time:\n%s", kind, index, difference)
			}
			seen.add(object, facts)
		}
		made, valid = made+each, valid+own
		if own < 2 {
			t.Errorf("%s: %d of %d objects are valid", kind, own, each)
		}
	}
	t.Logf("%d of %d objects of %d kind versions are valid; %v", valid, made, len(kinds), seen)
	if 2*valid < made {
		t.Errorf("%d of %d objects are valid, less than half", valid, made)
	}
	for _, feature := range []string{
		"null in a map", "null in a list", "empty object", "empty list", "unknown field", "status", "no optional field",
	} {
		if seen[feature] == 0 {
			t.Errorf("no object has: %s", feature)
		}
	}
}

// features counts objects that have something.
type features map[string]int

func (f features) add(object map[string]any, facts generate.Facts) {
	has := map[string]bool{"unknown field": len(facts.Lost) > 0, "no optional field": facts.Profile == generate.Minimal}
	_, has["status"] = object["status"]
	look(object, has)
	for feature, found := range has {
		if found {
			f[feature]++
		}
	}
}

func look(value any, has map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		has["empty object"] = has["empty object"] || len(value) == 0
		for _, child := range value {
			has["null in a map"] = has["null in a map"] || child == nil
			look(child, has)
		}
	case []any:
		has["empty list"] = has["empty list"] || len(value) == 0
		for _, child := range value {
			has["null in a list"] = has["null in a list"] || child == nil
			look(child, has)
		}
	}
}

func TestObjectsKeepTheRules(t *testing.T) {
	kind := widget(t, "v1")
	modes := map[any]int{}
	sources := map[string]int{}
	for index := range 100 {
		object, facts := kind.Object(3, index)
		if len(facts.Refusals) > 0 {
			t.Errorf("object %d: %v", index, facts.Refusals)
		}
		spec, _ := object["spec"].(map[string]any)
		modes[spec["mode"]]++
		source, _ := spec["source"].(map[string]any)
		for name := range source {
			sources[name]++
		}
	}
	if modes["Timed"] == 0 {
		t.Errorf("no object has the mode that a rule names: %v", modes)
	}
	if sources["git"] == 0 || sources["chart"] == 0 {
		t.Errorf("an alternative never comes: %v", sources)
	}
}

func TestRefusals(t *testing.T) {
	spec := func(fields map[string]any) map[string]any {
		whole := map[string]any{"name": "abc", "mode": "Now", "source": map[string]any{}}
		maps.Copy(whole, fields)
		return map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": whole,
		}
	}
	cases := map[string]struct {
		reason string
		fields map[string]any
		valid  bool
	}{
		"plain":           {"nothing is wrong", nil, true},
		"unknown":         {"unknown fields are pruned", map[string]any{"other": int64(1)}, true},
		"pattern":         {"upper case does not match", map[string]any{"name": "ABC"}, false},
		"type":            {"a number is no text", map[string]any{"mode": int64(1)}, false},
		"null dropped":    {"the server drops it, and then it is missing", map[string]any{"mode": nil}, false},
		"null replaced":   {"the default takes its place", map[string]any{"replicas": nil}, true},
		"negative":        {"the scale subresource has no room for it", map[string]any{"replicas": int64(-1)}, false},
		"rule":            {"the CEL rule wants a period", map[string]any{"mode": "Timed"}, false},
		"duplicate":       {"a set holds a value once", map[string]any{"tags": []any{"x", "x"}}, false},
		"two of one":      {"the alternatives exclude one another", map[string]any{"source": map[string]any{"git": map[string]any{}, "chart": map[string]any{}}}, false},
		"null list item":  {"lists keep their nulls", map[string]any{"tags": []any{nil}}, false},
		"map key twice":   {"the key of a list map is unique", map[string]any{"parts": []any{map[string]any{"name": "a"}, map[string]any{"name": "a"}}}, false},
		"format":          {"dates are checked", map[string]any{"since": "today"}, false},
		"number or text":  {"an int-or-string takes numbers", map[string]any{"bound": int64(3)}, true},
		"number and text": {"but not any text", map[string]any{"bound": "many"}, false},
	}
	kind := widget(t, "v1")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			refusals := kind.Refusals(spec(c.fields))
			if (len(refusals) == 0) != c.valid {
				t.Errorf("%s; refusals: %v", c.reason, refusals)
			}
		})
	}
}

func TestStored(t *testing.T) {
	object := map[string]any{
		"apiVersion": "example.com/v1alpha1", "kind": "Widget", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"mode": "Now", "unknown": true},
	}
	before, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := widget(t, "v1alpha1").Stored(object)
	if err != nil {
		t.Fatal(err)
	}
	// old has a default, but v1, which stores it, does not know it; v1's replicas are
	// unknown to v1alpha1.
	want := map[string]any{
		"apiVersion": "example.com/v1alpha1", "kind": "Widget", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"mode": "Now"},
	}
	if difference := cmp.Diff(want, stored); difference != "" {
		t.Error(difference)
	}
	if after, err := json.Marshal(object); err != nil || string(after) != string(before) {
		t.Errorf("Stored changed its argument to %s (%v)", after, err)
	}
}

func TestLost(t *testing.T) {
	kind := widget(t, "v1alpha1")
	lost := 0
	for index := range 60 {
		object, facts := kind.Object(1, index)
		stored, err := kind.Stored(object)
		if err != nil {
			t.Fatal(err)
		}
		for _, pointer := range facts.Lost {
			lost++
			if _, found := pointer.Value(object); !found {
				t.Errorf("object %d: %s is lost, but not there", index, pointer)
			}
			if _, found := pointer.Value(stored); found {
				t.Errorf("object %d: %s is lost, but the server keeps it", index, pointer)
			}
		}
		old := fieldpath.Of("spec", "old")
		if _, given := old.Value(object); given && !fieldpath.NewSet(facts.Lost...).Has(old) {
			t.Errorf("object %d: the storage version does not know %s: %v", index, old, facts.Lost)
		}
	}
	if lost == 0 {
		t.Error("no object lost a field")
	}
}

func TestKindsRefuse(t *testing.T) {
	cases := map[string]struct {
		reason, version string
		change          func(crd map[string]any)
	}{
		"version unknown":    {"there is no v9", "v9", func(map[string]any) {}},
		"version not served": {"v0 is not served", "v0", func(map[string]any) {}},
		"other API version":  {"only v1 is read", "v1", func(crd map[string]any) { crd["apiVersion"] = "apiextensions.k8s.io/v1beta1" }},
		"not a CRD":          {"versions have to be a list", "v1", func(crd map[string]any) { crd["spec"] = map[string]any{"versions": "v1"} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			crd := widgetCRD(t)
			c.change(crd)
			if kind, err := generate.New(crd, c.version); err == nil {
				t.Errorf("%s, and New returned %s", c.reason, kind)
			}
		})
	}
}
