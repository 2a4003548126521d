package pin_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/moorpin/moorpin/e2e/crds"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// perVersion is how many objects of every kind and version the laws are tried on.
var perVersion = flag.Int("objects", 12, "objects of every kind and version that the laws of pinning are tried on")

// kind is one version of a real CRD, with both witnesses.
type kind struct {
	group, version, name string
	set                  *schema.Set
	reference            *reference
}

func (k kind) String() string { return fmt.Sprintf("%s/%s %s", k.group, k.version, k.name) }

// realKinds returns every served version of every CRD of the Go modules, conversion
// by webhook set aside: what such a webhook does, no schema tells.
var realKinds = sync.OnceValues(func() ([]kind, error) {
	all, err := crds.All(testContext())
	if err != nil {
		return nil, err
	}
	var kinds []kind
	for _, found := range all {
		content := runtime.DeepCopyJSON(found.Content)
		if spec, ok := content["spec"].(map[string]any); ok {
			delete(spec, "conversion")
		}
		own, err := kindsOf(content, found)
		if err != nil {
			return nil, err
		}
		apart, err := kindsOf(withVersionsApart(content), found)
		if err != nil {
			return nil, err
		}
		kinds = slices.Concat(kinds, own, apart)
	}
	return kinds, nil
})

// kindsOf returns the served versions of one CRD.
func kindsOf(content map[string]any, found crds.CRD) ([]kind, error) {
	definition, err := schema.Parse(testContext(), content, "test")
	if err != nil {
		return nil, err
	}
	reference, err := newReference(content)
	if err != nil {
		return nil, err
	}
	var kinds []kind
	for _, version := range reference.served {
		kinds = append(kinds, kind{
			group: found.Group(), version: version, name: found.Kind(),
			set: schema.NewSet(definition), reference: reference,
		})
	}
	return kinds, nil
}

// TestLaws holds the compiled tree against the API server's own functions, and pinning
// against what it promises, on random objects of every kind.
func TestLaws(t *testing.T) {
	kinds, err := realKinds()
	if err != nil {
		t.Fatal(err)
	}
	pinned := 0
	for n, kind := range kinds {
		for i := range *perVersion {
			scribe := newScribe(uint64(n)<<32 | uint64(i))
			object := scribe.object(kind.group+"/"+kind.version, kind.name, kind.reference.schemas[kind.version])
			changes := checkLaws(t, kind, object)
			pinned += changes
			if t.Failed() {
				t.Fatalf("%s, object %d", kind, i)
			}
		}
	}
	t.Logf("%d kind versions, %d objects, %d changes", len(kinds), len(kinds)**perVersion, pinned)
	if len(kinds) < 200 || pinned < 2*len(kinds) {
		t.Errorf("%d kind versions with %d changes are too few to show anything", len(kinds), pinned)
	}
}

func FuzzPin(f *testing.F) {
	kinds, err := realKinds()
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(20) {
		f.Add(seed, seed*7919)
	}
	f.Fuzz(func(t *testing.T, which, seed uint64) {
		kind := kinds[which%uint64(len(kinds))]
		scribe := newScribe(seed)
		object := scribe.object(kind.group+"/"+kind.version, kind.name, kind.reference.schemas[kind.version])
		checkLaws(t, kind, object)
	})
}

// checkLaws pins one object, without the dropping table, and returns how many changes that made.
func checkLaws(t *testing.T, kind kind, object map[string]any) int {
	t.Helper()
	before := runtime.DeepCopyJSON(object)
	result := pinOne(t, kind, object)
	if diff := cmp.Diff(before, object); diff != "" {
		t.Errorf("the caller's object changed:\n%s", diff)
	}
	if len(result.Warnings) > 0 {
		t.Errorf("warnings: %v", result.Warnings)
	}
	if again := pinOne(t, kind, result.Object.Content); len(again.Changes) > 0 {
		t.Errorf("pinning twice is not pinning once: %v", again.Changes)
	}
	if lost := lostField(before, result.Object.Content, ""); lost != "" {
		t.Errorf("Git's field %s is lost or changed", lost)
	}
	if kept := keptNull(kind, before, result.Object.Content); kept != "" {
		t.Errorf("the API server's functions remove the null at %s", kept)
	}
	if over := overPinned(kind, before, result); over != "" {
		t.Errorf("the API server's functions do not set %s", over)
	}
	if apart := misreported(before, result); apart != "" {
		t.Errorf("the changes do not tell what happened: %s", apart)
	}
	stored := kind.reference.store(before, kind.version)
	kept := runtime.DeepCopyJSON(result.Object.Content)
	for _, version := range []string{kind.version, kind.reference.storage, kind.version} {
		pruning.Prune(kept, kind.reference.schemas[version], true)
	}
	kind.reference.hide(stored, kind.version)
	kind.reference.hide(kept, kind.version)
	if diff := cmp.Diff(stored, kept); diff != "" {
		t.Errorf("the API server's functions (-) and pinning (+) differ:\n%s", diff)
	}
	return len(result.Changes)
}

func pinOne(t *testing.T, kind kind, object map[string]any) pin.Result {
	t.Helper()
	results, err := pin.All(t.Context(), []manifest.Object{{Content: object}}, pin.Options{Schemas: kind.set, Rules: &pin.Rules{}})
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

// lostField returns the place of a value in before that is neither null nor in after.
func lostField(before, after any, path string) string {
	switch before := before.(type) {
	case map[string]any:
		holder, ok := after.(map[string]any)
		if !ok {
			return path
		}
		for name, value := range before {
			child, found := holder[name]
			if value == nil {
				continue
			}
			if lost := lostField(value, child, path+"/"+name); !found || lost != "" {
				return path + "/" + name
			}
		}
	case []any:
		list, ok := after.([]any)
		if !ok || len(list) != len(before) {
			return path
		}
		for i := range before {
			if lost := lostField(before[i], list[i], fmt.Sprint(path, "/", i)); before[i] != nil && lost != "" {
				return lost
			}
		}
	default:
		if !cmp.Equal(before, after) {
			return path
		}
	}
	return ""
}

// keptNull returns the place of a null that the request version knows, that pinning
// keeps, and that the server's functions remove from what they keep around it.
func keptNull(kind kind, before, after map[string]any) string {
	stored := kind.reference.store(before, kind.version)
	kind.reference.hide(stored, kind.version)
	after = runtime.DeepCopyJSON(after)
	kind.reference.hide(after, kind.version)
	delete(after, "metadata")
	return nullBeside(after, stored, kind.reference.schemas[kind.version], "")
}

func nullBeside(after, stored any, known *structuralschema.Structural, path string) string {
	if known == nil {
		return ""
	}
	switch after := after.(type) {
	case map[string]any:
		holder, ok := stored.(map[string]any)
		for name, value := range after {
			property, named := known.Properties[name]
			child := &property
			if !named && known.AdditionalProperties != nil {
				child, named = known.AdditionalProperties.Structural, true
			}
			if !ok || !named || known.XEmbeddedResource {
				continue
			}
			there, found := holder[name]
			if value == nil && !found {
				return path + "/" + name
			}
			if place := nullBeside(value, there, child, path+"/"+name); place != "" {
				return place
			}
		}
	case []any:
		list, ok := stored.([]any)
		for i := range after {
			if !ok || i >= len(list) {
				return ""
			}
			if place := nullBeside(after[i], list[i], known.Items, fmt.Sprint(path, "/", i)); place != "" {
				return place
			}
		}
	}
	return ""
}

// overPinned returns a field that was pinned and that the server's functions do not set.
func overPinned(kind kind, before map[string]any, result pin.Result) string {
	stored := kind.reference.store(before, kind.version)
	kind.reference.hide(stored, kind.version)
	for _, change := range result.Changes {
		if change.Action != pin.Pinned && change.Action != pin.NullReplaced {
			continue
		}
		value, found := change.Pointer.Value(stored)
		if !found || !cmp.Equal(value, change.Value) {
			return string(change.Pointer)
		}
	}
	return ""
}

// misreported checks every reported change against the object before and after.
func misreported(before map[string]any, result pin.Result) string {
	for _, change := range result.Changes {
		old, was := change.Pointer.Value(before)
		now, is := change.Pointer.Value(result.Object.Content)
		var right bool
		switch change.Action {
		case pin.Pinned:
			right = !was && is && cmp.Equal(now, change.Value)
		case pin.NullReplaced:
			right = was && old == nil && is && cmp.Equal(now, change.Value)
		case pin.NullDropped:
			right = was && old == nil && !is
		case pin.Dropped:
			right = was && !is && cmp.Equal(old, change.Value)
		}
		if !right || change.Reason == "" || change.Source == "" || !strings.HasPrefix(string(change.Pointer), "/") {
			return fmt.Sprintf("%+v", change)
		}
	}
	return ""
}
