package state

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/object"
	"github.com/moorpin/moorpin/pkg/pin"
	moorschema "github.com/moorpin/moorpin/pkg/schema"
)

// shared is what rules about several resources read; it is made before they run.
type shared struct {
	definitions sync.Map // schema.GroupKind to *schema.Definition
}

// Prepare reads from the resource what the rules ask for again and again.
func (r *Resource) Prepare() {
	r.Items = diff.Finder{}
	if len(r.Differences) == 0 {
		return
	}
	r.LastApplied = LastAppliedOf(r.Live)
	for _, d := range r.Differences {
		if r.Application.Ctx.Err() != nil {
			return
		}
		steps := d.TargetPointer.Steps()
		d.Git, d.InGit = r.Items.Follow(r.Target, r.Predicted, steps)
		d.Applied, d.InApplied = r.Items.Follow(r.LastApplied, r.Predicted, steps)
		if !d.InTarget {
			// The item is live's alone, so its siblings are too.
			d.Git, d.InGit = r.Items.Follow(r.Target, r.Normalized, d.Steps)
			d.Applied, d.InApplied = r.Items.Follow(r.LastApplied, r.Normalized, d.Steps)
		}
	}
}

// LastAppliedOf returns the object in the last-applied-configuration annotation; nil
// when there is none.
func LastAppliedOf(live object.Object) object.Object {
	spelled := object.Annotation(live, mark.LastApplied)
	if spelled == "" {
		return nil
	}
	var applied object.Object
	if kjson.Unmarshal([]byte(spelled), &applied) != nil {
		return nil
	}
	return applied
}

// Definition returns the compiled CRD of a group and kind, and whether the
// snapshot has one.
func (s *Application) Definition(kind schema.GroupKind) (*moorschema.Definition, bool) {
	if found, ok := s.shared.definitions.Load(kind); ok {
		definition, _ := found.(*moorschema.Definition)
		return definition, definition != nil
	}
	var definition *moorschema.Definition
	if crd, ok := s.Crd(kind.Group, kind.Kind); ok {
		if parsed, err := moorschema.Parse(s.Ctx, crd, "live"); err == nil {
			definition = parsed
		}
	}
	s.shared.definitions.Store(kind, definition)
	return definition, definition != nil
}

// Pinned returns what Git renders with every default of the CRD, and whether
// anything was added.
func (r *Resource) Pinned() (object.Object, bool) {
	if r.pinnedOnce {
		return r.pinnedTarget, r.pinnedTarget != nil
	}
	r.pinnedOnce = true
	results, err := pin.All(r.Application.Ctx, []manifest.Object{{Content: r.Target}}, pin.Options{Mode: pin.ModeAll, Schemas: r.Application, Rules: &pin.Rules{}})
	if err != nil || len(results) != 1 {
		return nil, false
	}
	if len(results[0].Changes) > 0 {
		r.pinnedTarget = results[0].Object.Content
	}
	return r.pinnedTarget, r.pinnedTarget != nil
}

// Expression is a jq path of the rules, compiled once in a classification.
type Expression struct {
	Code *gojq.Code
	// Err says why it cannot be compiled.
	Err error
	// names are the fields that it names, filters set aside.
	names []string
}

// Expression reads a jq path.
func (s *Application) Expression(path string) *Expression {
	if known, found := s.expressions.Load(path); found {
		return known.(*Expression) //nolint:forcetypeassert // nothing else is stored
	}
	e := &Expression{names: jq.Names(path)}
	e.Code, e.Err = jq.Compile("path(" + path + ")")
	kept, _ := s.expressions.LoadOrStore(path, e)
	return kept.(*Expression) //nolint:forcetypeassert // nothing else is stored
}

// Selection is what a jq path names in the two sides of a resource that are compared.
type Selection struct {
	Places *fieldpath.Set
	Err    error
}

// Selection runs a jq path, once a resource.
func (r *Resource) Selection(path string) *Selection {
	if known, found := r.selections[path]; found {
		return known
	}
	if r.selections == nil {
		r.selections = map[string]*Selection{}
		r.jqSides = []any{jq.Numbers(r.Normalized), jq.Numbers(r.Predicted)}
	}
	found := &Selection{Places: fieldpath.NewSet()}
	r.selections[path] = found
	code := r.Application.Expression(path).Code
	for _, side := range r.jqSides {
		places, err := jq.Select(r.Application.Ctx, code, side)
		if err != nil {
			found.Err = err
			return found
		}
		for _, place := range places {
			found.Places.Insert(place)
		}
	}
	return found
}

// Mentions reports whether the path names the way to the difference.
func (e *Expression) Mentions(d *diff.Difference) bool {
	return len(e.names) > 0 && !slices.ContainsFunc(e.names, func(name string) bool { return !slices.Contains(d.Steps, name) })
}

// DoubledLists are the lists that hold duplicates, each with its first one.
func (r *Resource) DoubledLists() map[fieldpath.Pointer]Duplicate {
	lists := map[fieldpath.Pointer]Duplicate{}
	for _, found := range r.Duplicates() {
		if _, known := lists[found.list]; !known {
			lists[found.list] = found
		}
	}
	return lists
}

// Covering returns the duplicate of the innermost list that holds the field.
func Covering(lists map[fieldpath.Pointer]Duplicate, field fieldpath.Pointer) (Duplicate, bool) {
	for len(lists) > 0 {
		if found, covered := lists[field]; covered {
			return found, true
		}
		if field == "" {
			break
		}
		field = field.Parent()
	}
	return Duplicate{}, false
}

// Duplicate is an item of Git's that has the key of an earlier one.
type Duplicate struct {
	list, Item fieldpath.Pointer
	key        string
}

// Evidence says it in a sentence.
func (d Duplicate) Evidence() string {
	return fmt.Sprintf("Git has two items with the key %s in %s", strings.ReplaceAll(d.key, `"`, ""), d.list)
}

// Duplicates finds Git's items with the same merge key.
func (r *Resource) Duplicates() []Duplicate {
	root, known := r.Shape()
	if !known || r.Target == nil {
		return nil
	}
	if !r.duplicatesOnce {
		r.duplicatesOnce = true
		seekDuplicates("", root, r.Target, &r.duplicatesFound)
	}
	return r.duplicatesFound
}

func seekDuplicates(pointer fieldpath.Pointer, s kind.Shape, node any, found *[]Duplicate) {
	switch v := node.(type) {
	case map[string]any:
		for name, child := range v {
			if below, known := s.Child(name); known && (below.CRD != nil || below.GoType != nil) && value.Nested(child) {
				seekDuplicates(pointer.Key(name), below, child, found)
			}
		}
	case []any:
		below, _ := s.Child("0")
		seen := map[string]bool{}
		for i, item := range v {
			if key, ok := value.Key(item, s.MergeKeys); ok && seen[key] {
				*found = append(*found, Duplicate{list: pointer, Item: pointer.Index(i), key: key})
			} else if ok {
				seen[key] = true
			}
			if value.Nested(item) {
				seekDuplicates(pointer.Index(i), below, item, found)
			}
		}
	}
}
