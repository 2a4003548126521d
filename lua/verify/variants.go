package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// How many variants are tried: of all objects of a suite together, and of each at least.
const (
	mostVariants  = 300
	leastVariants = 20
)

// variant is an object that is broken in one place.
type variant struct {
	name   string // "without status.phase"
	object map[string]any
}

// odd are the values that stand in for others in variants.
var odd = []struct {
	name  string
	value any
}{
	{"without %s", nil},
	{"with a text for %s", "text"},
	{"with a number for %s", 7.0},
	{"with true for %s", true},
	{"with a list for %s", []any{"x"}},
	{"with a map for %s", map[string]any{"x": "y"}},
}

// variants breaks an object in its status, spec and metadata, each time in one place:
// a value is taken away or replaced by one of another type. There are at most as many as
// is said.
func variants(object map[string]any, most int) []variant {
	made := []variant{{"emptied", map[string]any{}}}
	for _, place := range places(object, nil, nil) {
		for _, other := range odd {
			if len(made) >= most {
				return made
			}
			if changed, is := replace(object, place, other.value).(map[string]any); is {
				made = append(made, variant{fmt.Sprintf(other.name, spell(place)), changed})
			}
		}
	}
	return made
}

// spell writes a place as people do: "status.conditions.0.type".
func spell(place []any) string {
	steps := make([]string, 0, len(place))
	for _, step := range place {
		steps = append(steps, fmt.Sprint(step))
	}
	return strings.Join(steps, ".")
}

// places are the paths to all values, the shallow ones first, for what is higher up
// breaks more, and of equals those in the status. A number is a step into a list.
func places(node any, here []any, found [][]any) [][]any {
	type entry struct {
		step  any
		value any
	}
	var entries []entry
	switch node := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			if len(here) > 0 || name == "status" || name == "spec" || name == "metadata" {
				entries = append(entries, entry{name, node[name]})
			}
		}
	case []any:
		for i, item := range node {
			entries = append(entries, entry{i, item})
		}
	}
	for _, e := range entries {
		found = append(found, append(slices.Clone(here), e.step))
	}
	for _, e := range entries {
		found = places(e.value, append(slices.Clone(here), e.step), found)
	}
	if len(here) == 0 {
		inStatus := func(place []any) int {
			if place[0] == "status" {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(found, func(a, b []any) int { return cmp.Or(len(a)-len(b), inStatus(a)-inStatus(b)) })
	}
	return found
}

// replace returns a copy of a node with another value at a path.
func replace(node any, place []any, value any) any {
	if len(place) == 0 {
		return value
	}
	switch step := place[0].(type) {
	case string:
		fields, _ := node.(map[string]any)
		changed := maps.Clone(fields)
		changed[step] = replace(fields[step], place[1:], value)
		return changed
	case int:
		items, _ := node.([]any)
		changed := slices.Clone(items)
		changed[step] = replace(items[step], place[1:], value)
		return changed
	}
	return node
}
