package classify

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// equal compares JSON values; numbers are equal by value, whatever their Go type.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			other, found := b[name]
			if !found || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case string, bool, nil:
		return a == b
	}
	x, whole := a.(int64)
	y, wholeToo := b.(int64)
	switch {
	case whole && wholeToo:
		return x == y
	case isNumber(a) && isNumber(b):
		return canonical(a) == canonical(b)
	}
	return reflect.DeepEqual(a, b)
}

// isNumber reports whether a value is a JSON number. The API server keeps whole ones
// of 64 bits exactly, so that none may become a float on the way: above 2^53 those
// that differ by one are the same float.
func isNumber(value any) bool {
	switch value.(type) {
	case float64, int64, int:
		return true
	}
	return false
}

// canonical is a spelling of a JSON value in which equal values are the same text.
func canonical(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}

// places are where differences are, for many questions.
type places struct{ own, above *fieldpath.Set }

func placesOf(differences []*difference) places {
	at := places{fieldpath.NewSet(), fieldpath.NewSet()}
	for _, d := range differences {
		at.own.Insert(d.pointer)
		for p := d.pointer; p != "" && !at.above.Has(p.Parent()); {
			p = p.Parent()
			at.above.Insert(p)
		}
	}
	return at
}

// meet reports whether a field, or something above or below it, differs.
func (at places) meet(field fieldpath.Pointer) bool {
	return at.above.Has(field) || at.own.Covers(field)
}
