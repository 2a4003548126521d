package state

import (
	"slices"

	"github.com/itchyny/gojq"

	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

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
