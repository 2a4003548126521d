package drift

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// differences are the smallest nodes that differ between two documents, in the
// order of a reader: an item of a list by its index in live, or in target where
// live lacks it. Setting each to its target value turns live into target.
func differences(live, target object) []*difference {
	walk := &walk{}
	walk.maps("", "", live, target)
	slices.SortFunc(walk.found, func(a, b *difference) int { return fieldpath.Compare(a.pointer, b.pointer) })
	return walk.found
}

// walk collects differences.
type walk struct{ found []*difference }

// add takes a difference: pointer names it in live, targetPointer in target.
func (w *walk) add(d *difference) {
	d.steps = d.pointer.Steps()
	w.found = append(w.found, d)
}

func (w *walk) values(pointer, other fieldpath.Pointer, live, target any) {
	switch live := live.(type) {
	case map[string]any:
		if target, ok := target.(map[string]any); ok {
			w.maps(pointer, other, live, target)
			return
		}
	case []any:
		if target, ok := target.([]any); ok {
			w.lists(pointer, other, live, target)
			return
		}
	}
	if !equal(live, target) {
		w.add(&difference{pointer: pointer, targetPointer: other, live: live, target: target, inLive: true, inTarget: true})
	}
}

func (w *walk) maps(pointer, other fieldpath.Pointer, live, target map[string]any) {
	for name, value := range live {
		if wanted, found := target[name]; found {
			w.values(pointer.Key(name), other.Key(name), value, wanted)
		} else {
			w.add(&difference{pointer: pointer.Key(name), targetPointer: other.Key(name), live: value, inLive: true})
		}
	}
	for name, wanted := range target {
		if _, found := live[name]; !found {
			w.add(&difference{pointer: pointer.Key(name), targetPointer: other.Key(name), target: wanted, inTarget: true})
		}
	}
}

func (w *walk) lists(pointer, other fieldpath.Pointer, live, target []any) {
	for _, p := range align(live, target) {
		switch {
		case p.target < 0:
			w.add(&difference{pointer: pointer.Index(p.live), targetPointer: other.Index(p.live), live: live[p.live], inLive: true})
		case p.live < 0:
			w.add(&difference{pointer: pointer.Index(p.target), targetPointer: other.Index(p.target), target: target[p.target], inTarget: true})
		default:
			w.values(pointer.Index(p.live), other.Index(p.target), live[p.live], target[p.target])
		}
	}
}

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
	x, isNumber := number(a)
	y, isNumberToo := number(b)
	if isNumber && isNumberToo {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func number(value any) (float64, bool) {
	switch value := value.(type) {
	case float64:
		return value, true
	case int64:
		return float64(value), true
	case int:
		return float64(value), true
	}
	return 0, false
}

// canonical is a spelling of a JSON value in which equal values are the same text.
func canonical(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}

// Differences returns the pointers of the smallest nodes that differ between two
// documents, as a report names them.
func Differences(live, target map[string]any) []fieldpath.Pointer {
	found := differences(live, target)
	pointers := make([]fieldpath.Pointer, len(found))
	for i, d := range found {
		pointers[i] = d.pointer
	}
	return pointers
}
