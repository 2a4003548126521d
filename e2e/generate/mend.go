package generate

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// mended changes the object where the server's libraries find faults, step by step,
// and keeps every step that leaves no more faults than before.
func (g *generator) mended(object map[string]any, tries int) (map[string]any, field.ErrorList) {
	faults := g.kind.faults(object)
	for try := 0; try < tries && len(faults) > 0; try++ {
		candidate := runtime.DeepCopyJSON(object)
		g.mend(candidate, faults[g.random.IntN(len(faults))])
		if found := g.kind.faults(candidate); severity(found) <= severity(faults) {
			object, faults = candidate, found
		}
	}
	return object, faults
}

// severity counts faults; broken rules show only where the schema itself is kept, so
// they weigh less.
func severity(faults field.ErrorList) int {
	weight := 0
	for _, fault := range faults {
		weight++
		if fault.Type != field.ErrorTypeInvalid {
			weight += 10
		}
	}
	return weight
}

// mend makes one change near the fault.
func (g *generator) mend(object map[string]any, fault *field.Error) {
	at, absent := locate(object, fault.Field)
	for at != "" && g.chance(0.2) {
		at, absent = at.Parent(), ""
	}
	if at == "" && absent == "" {
		absent = g.topField()
		if _, found := object[absent]; found {
			at, absent = fieldpath.Of(absent), ""
		}
	}
	if absent == "metadata" || strings.HasPrefix(string(at), "/metadata") {
		return
	}
	value, _ := at.Value(object)
	n := g.kind.request.root.at(at)
	density := g.density
	defer func() { g.density, g.budget = density, 100 }()
	g.density, g.budget = []float64{0, 0, 0.1, 0.3}[g.random.IntN(4)], 50
	switch value := value.(type) {
	case map[string]any:
		if absent != "" && g.chance(0.8) {
			value[absent] = g.value(n.child(absent), nil)
			return
		}
		g.mendObject(object, at, fault.Detail)
	case []any:
		g.mendList(object, at, value)
	default:
		if at != "" && g.chance(0.4) {
			remove(object, at)
		} else if at != "" {
			put(object, at, g.value(n, nil))
		}
	}
}

// topField picks a field of the root that may be changed.
func (g *generator) topField() string {
	names := slices.DeleteFunc(slices.Clone(g.kind.request.root.names), func(name string) bool {
		return name == "apiVersion" || name == "kind" || name == "metadata"
	})
	if len(names) == 0 {
		return "metadata"
	}
	return names[g.random.IntN(len(names))]
}

// mendObject adds, removes or remakes one field, rather one that the fault names.
func (g *generator) mendObject(root map[string]any, at fieldpath.Pointer, detail string) {
	value, _ := at.Value(root)
	fields := asMap(value)
	n := g.kind.request.root.at(at)
	if n == nil {
		remove(root, at)
		return
	}
	if at != "" && g.chance(0.15) {
		if g.chance(0.5) {
			remove(root, at)
		} else {
			put(root, at, g.value(n, nil))
		}
		return
	}
	names := slices.Clone(n.names)
	for name := range fields {
		if n.properties[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if named := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.Contains(detail, name)
	}); len(named) > 0 && g.chance(0.7) {
		names = named
	}
	if at == "" {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" })
	}
	if len(names) == 0 {
		return
	}
	name := names[g.random.IntN(len(names))]
	switch child, found := fields[name]; {
	case !found || g.chance(0.3):
		fields[name] = g.value(n.child(name), nil)
	case asMap(child) != nil && g.chance(0.4):
		g.mendObject(root, at.Key(name), detail)
	default:
		delete(fields, name)
	}
}

// mendList removes or remakes an item, or the whole list.
func (g *generator) mendList(root map[string]any, at fieldpath.Pointer, list []any) {
	n := g.kind.request.root.at(at)
	switch choice := g.random.IntN(4); {
	case choice == 0 || n == nil:
		remove(root, at)
	case choice == 1 || len(list) == 0:
		put(root, at, g.value(n, nil))
	case choice == 2:
		remove(root, at.Index(g.random.IntN(len(list))))
	default:
		put(root, at.Index(g.random.IntN(len(list))), g.value(n.items, nil))
	}
}

// at returns the schema of the value at the pointer; nil where there is none.
func (n *node) at(pointer fieldpath.Pointer) *node {
	for _, step := range pointer.Steps() {
		switch {
		case n == nil:
			return nil
		case n.items != nil:
			n = n.items
		default:
			n = n.child(step)
		}
	}
	return n
}

// locate finds what a fault's path ("spec.list[0].name", "spec.map[key]") names in
// the object: the deepest value that is there, and the field below it that is not.
func locate(object map[string]any, path string) (at fieldpath.Pointer, absent string) {
	var node any = object
	for path = strings.TrimPrefix(path, "<nil>"); path != ""; {
		switch holder := node.(type) {
		case map[string]any:
			name, rest, found := firstField(holder, path)
			if !found {
				return at, name
			}
			at, path, node = at.Key(name), rest, holder[name]
		case []any:
			index, rest, _ := strings.Cut(strings.TrimLeft(path, ".["), "]")
			i, err := strconv.Atoi(index)
			if err != nil || i >= len(holder) {
				return at, ""
			}
			at, path, node = at.Index(i), rest, holder[i]
		default:
			return at, ""
		}
	}
	return at, ""
}

// firstField splits the first field off the path. Names may hold dots themselves, so
// the longest one that the object has is taken.
func firstField(holder map[string]any, path string) (name, rest string, found bool) {
	if key, after, ok := strings.Cut(strings.TrimPrefix(path, "["), "]"); ok && path[0] == '[' {
		_, found = holder[key]
		return key, after, found
	}
	path = strings.TrimPrefix(path, ".")
	for candidate := range holder {
		after, ok := strings.CutPrefix(path, candidate)
		if ok && len(candidate) >= len(name) && (after == "" || after[0] == '.' || after[0] == '[') {
			name, rest, found = candidate, after, true
		}
	}
	if !found {
		name = path
		if end := strings.IndexAny(path, ".["); end >= 0 {
			name = path[:end]
		}
	}
	return name, rest, found
}

// put sets the value at the pointer, whose parent is there.
func put(root map[string]any, at fieldpath.Pointer, value any) {
	steps := at.Steps()
	last := steps[len(steps)-1]
	parent, _ := at.Parent().Value(root)
	switch parent := parent.(type) {
	case map[string]any:
		parent[last] = value
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i < len(parent) {
			parent[i] = value
		}
	}
}

// remove takes the value at the pointer out of its map or list.
func remove(root map[string]any, at fieldpath.Pointer) {
	if at == "" {
		return
	}
	steps := at.Steps()
	last := steps[len(steps)-1]
	parent, _ := at.Parent().Value(root)
	switch parent := parent.(type) {
	case map[string]any:
		delete(parent, last)
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i < len(parent) {
			put(root, at.Parent(), slices.Delete(slices.Clone(parent), i, i+1))
		}
	}
}
