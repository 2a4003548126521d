package classify

import (
	"fmt"
	"slices"

	"github.com/itchyny/gojq"

	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// expression is a jq path of the rules, compiled once in a classification.
type expression struct {
	code *gojq.Code
	// err says why it cannot be compiled.
	err error
	// names are the fields that it names, filters set aside.
	names []string
}

// expression reads a jq path.
func (s *situation) expression(path string) *expression {
	if known, found := s.expressions.Load(path); found {
		return known.(*expression) //nolint:forcetypeassert // nothing else is stored
	}
	e := &expression{names: jq.Names(path)}
	e.code, e.err = jq.Compile("path(" + path + ")")
	kept, _ := s.expressions.LoadOrStore(path, e)
	return kept.(*expression) //nolint:forcetypeassert // nothing else is stored
}

// selection is what a jq path names in the two sides of a resource that are compared.
type selection struct {
	places *fieldpath.Set
	err    error
}

// selection runs a jq path, once a resource.
func (r *resource) selection(path string) *selection {
	if known, found := r.selections[path]; found {
		return known
	}
	if r.selections == nil {
		r.selections = map[string]*selection{}
		r.jqSides = []any{jq.Numbers(r.normalized), jq.Numbers(r.predicted)}
	}
	found := &selection{places: fieldpath.NewSet()}
	r.selections[path] = found
	code := r.situation.expression(path).code
	for _, side := range r.jqSides {
		places, err := jq.Select(r.situation.ctx, code, side)
		if err != nil {
			found.err = err
			return found
		}
		for _, place := range places {
			found.places.Insert(place)
		}
	}
	return found
}

// aimsByJQ holds a difference against what a jq path selects in either side. One that
// cannot be read, or selects nothing, was meant for the difference when it names its
// last field.
func (r *resource) aimsByJQ(path string, d *diff.Difference) (aims bool, why string) {
	e := r.situation.expression(path)
	if e.err != nil {
		return e.mentions(d), fmt.Sprintf("the jq path %q cannot be used: %v", path, e.err)
	}
	selected := r.selection(path)
	switch {
	case selected.err != nil:
		return e.mentions(d), fmt.Sprintf("the jq path %q does not fit the object: %v", path, selected.err)
	case selected.places.Covers(d.Pointer) || selected.places.Covers(d.TargetPointer):
		return true, ""
	case selected.places.Len() == 0 && e.mentions(d):
		return true, fmt.Sprintf("the jq path %q selects nothing in this object", path)
	}
	return false, ""
}

// mentions reports whether the path names the way to the difference.
func (e *expression) mentions(d *diff.Difference) bool {
	return len(e.names) > 0 && !slices.ContainsFunc(e.names, func(name string) bool { return !slices.Contains(d.Steps, name) })
}
