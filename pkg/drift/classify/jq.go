package classify

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	"github.com/itchyny/gojq"

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
	e := &expression{names: namesIn(path)}
	e.code, e.err = compileJQ("path(" + path + ")")
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
		r.jqSides = []any{plainNumbers(r.normalized), plainNumbers(r.predicted)}
	}
	found := &selection{places: fieldpath.NewSet()}
	r.selections[path] = found
	code := r.situation.expression(path).code
	for _, side := range r.jqSides {
		places, err := selects(r.situation.ctx, code, side)
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
func (r *resource) aimsByJQ(path string, d *difference) (aims bool, why string) {
	e := r.situation.expression(path)
	if e.err != nil {
		return e.mentions(d), fmt.Sprintf("the jq path %q cannot be used: %v", path, e.err)
	}
	selected := r.selection(path)
	switch {
	case selected.err != nil:
		return e.mentions(d), fmt.Sprintf("the jq path %q does not fit the object: %v", path, selected.err)
	case selected.places.Covers(d.pointer) || selected.places.Covers(d.targetPointer):
		return true, ""
	case selected.places.Len() == 0 && e.mentions(d):
		return true, fmt.Sprintf("the jq path %q selects nothing in this object", path)
	}
	return false, ""
}

var (
	jqFilter = regexp.MustCompile(`(?:select|test|any|all)\([^()]*(?:\([^()]*\)[^()]*)*\)`)
	jqField  = regexp.MustCompile(`\.\[?"?([A-Za-z_][\w-]*)"?|\["([^"]+)"\]`)
)

// namesIn are the fields that a jq path names, filters set aside.
func namesIn(path string) []string {
	var names []string
	for _, match := range jqField.FindAllStringSubmatch(jqFilter.ReplaceAllString(path, ""), -1) {
		names = append(names, first(match[1], match[2]))
	}
	return names
}

// mentions reports whether the path names the way to the difference.
func (e *expression) mentions(d *difference) bool {
	return len(e.names) > 0 && !slices.ContainsFunc(e.names, func(name string) bool { return !slices.Contains(d.steps, name) })
}

// maxSelected bounds the places that one jq path may name.
const maxSelected = 10000

// selects returns the places that a compiled jq path names in a document whose numbers
// are plain.
func selects(ctx context.Context, code *gojq.Code, document any) ([]fieldpath.Pointer, error) {
	ctx, cancel := context.WithTimeout(ctx, normalizers.DefaultJQExecutionTimeout)
	defer cancel()
	var found []fieldpath.Pointer
	for named := code.RunWithContext(ctx, document); len(found) < maxSelected; {
		value, more := named.Next()
		if !more {
			break
		}
		if err, failed := value.(error); failed {
			return nil, err
		}
		steps, _ := value.([]any)
		found = append(found, pointerTo(steps))
	}
	return found, nil
}

// pointerTo spells a path of jq. A slice of a list has no pointer: it is the list.
func pointerTo(steps []any) fieldpath.Pointer {
	pointer := fieldpath.Pointer("")
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			pointer = pointer.Key(step)
		case int:
			pointer = pointer.Index(step)
		}
	}
	return pointer
}

// plainNumbers copies a document with the number types that gojq knows.
func plainNumbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, child := range value {
			copied[name] = plainNumbers(child)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, child := range value {
			copied[i] = plainNumbers(child)
		}
		return copied
	case int64:
		return int(value)
	}
	return value
}
