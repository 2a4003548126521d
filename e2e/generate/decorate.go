package generate

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// site is a place in an object where a value is or could be.
type site struct {
	at      fieldpath.Pointer
	schema  *node
	present bool
	// item says that the place is in a list.
	item bool
}

// decorate changes a valid object in place into what tests of defaulting need, and
// takes back every change that makes the server's libraries refuse it.
func (g *generator) decorate(object map[string]any, profile Profile) {
	switch profile {
	case Nulls:
		for range 2 + g.random.IntN(6) {
			g.try(object, g.placeNull)
		}
	case Mutated:
		for range 2 + g.random.IntN(4) {
			g.try(object, g.mutate)
		}
	case Minimal, Sparse, Full:
	}
	if profile != Minimal && g.chance(0.15) {
		g.try(object, g.placeUnknown)
	}
}

// try makes one change to the object, and undoes it when it makes the object invalid.
func (g *generator) try(object map[string]any, change func(map[string]any)) {
	candidate := runtime.DeepCopyJSON(object)
	change(candidate)
	if len(g.kind.faults(candidate)) > 0 {
		return
	}
	clear(object)
	maps.Copy(object, candidate)
}

// sites lists every place outside of apiVersion, kind, metadata and status.
func (g *generator) sites(object map[string]any) []site {
	var found []site
	root := g.kind.request.root
	for _, name := range slices.Sorted(keysOfBoth(root, object)) {
		switch name {
		case "apiVersion", "kind", "metadata", "status":
		default:
			found = append(found, sitesBelow(fieldpath.Of(name), object, name, root)...)
		}
	}
	return found
}

func sitesBelow(at fieldpath.Pointer, holder map[string]any, name string, n *node) []site {
	value, present := holder[name]
	found := []site{{at: at, schema: n.child(name), present: present}}
	return append(found, sitesIn(at, value, n.child(name))...)
}

func sitesIn(at fieldpath.Pointer, value any, n *node) []site {
	var found []site
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(keysOfBoth(n, value)) {
			if n != nil && n.XEmbeddedResource && (name == "apiVersion" || name == "kind") {
				continue
			}
			found = append(found, sitesBelow(at.Key(name), value, name, n)...)
		}
	case []any:
		var items *node
		if n != nil {
			items = n.items
		}
		for i, item := range value {
			found = append(found, site{at: at.Index(i), schema: items, present: true, item: true})
			found = append(found, sitesIn(at.Index(i), item, items)...)
		}
	}
	return found
}

// keysOfBoth goes through the fields that the schema names and those that are there.
func keysOfBoth(n *node, value map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		if n != nil {
			for _, name := range n.names {
				if !yield(name) {
					return
				}
			}
		}
		for name := range value {
			if n != nil && n.properties[name] != nil {
				continue
			}
			if !yield(name) {
				return
			}
		}
	}
}

// pick chooses one of the groups that are not empty, then one of its sites, so that
// what is rare comes as often as what is not.
func (g *generator) pick(groups ...[]site) (site, bool) {
	groups = slices.DeleteFunc(groups, func(group []site) bool { return len(group) == 0 })
	if len(groups) == 0 {
		return site{}, false
	}
	group := groups[g.random.IntN(len(groups))]
	return group[g.random.IntN(len(group))], true
}

func where(sites []site, wanted func(site) bool) []site {
	return slices.DeleteFunc(slices.Clone(sites), func(s site) bool { return !wanted(s) })
}

// placeNull puts an explicit null at a nullable place, one with a default, a list
// item, a map entry, or any other.
func (g *generator) placeNull(object map[string]any) {
	all := g.sites(object)
	nullable := where(all, func(s site) bool { return s.schema != nil && s.schema.Nullable })
	chosen, ok := g.pick(
		nullable,
		where(nullable, func(s site) bool { return s.schema.hasDefault() }),
		where(all, func(s site) bool { return s.schema.hasDefault() }),
		where(all, func(s site) bool { return s.schema != nil && s.schema.defaults }),
		where(all, func(s site) bool { return s.item }),
		where(all, func(s site) bool { return s.present && s.schema != nil && s.schema.additional != nil }),
		all,
	)
	if !ok {
		return
	}
	value, _ := chosen.at.Value(object)
	switch holder := value.(type) {
	case map[string]any:
		if chosen.schema != nil && chosen.schema.open() && g.chance(0.5) {
			holder["none"] = nil
			return
		}
	case []any:
		if g.chance(0.3) {
			put(object, chosen.at, append(slices.Clone(holder), nil))
			return
		}
	}
	put(object, chosen.at, nil)
}

// mutate makes one value empty, equal to its default, another one, or absent.
func (g *generator) mutate(object map[string]any) {
	all := g.sites(object)
	known := where(all, func(s site) bool { return s.schema != nil })
	g.density, g.budget = 0, 50
	switch g.random.IntN(6) {
	case 0: // equal to the default
		if s, ok := g.pick(where(known, func(s site) bool { return s.schema.hasDefault() && !s.item })); ok {
			put(object, s.at, runtime.DeepCopyJSONValue(s.schema.Default.Object))
		}
	case 1: // most likely unlike the default
		if s, ok := g.pick(where(known, func(s site) bool { return s.schema.hasDefault() })); ok {
			put(object, s.at, g.value(s.schema, nil))
		}
	case 2: // an empty object, rather one with defaults in it
		if s, ok := g.pick(
			where(known, func(s site) bool { return s.schema.Type == "object" && s.schema.defaults }),
			where(known, func(s site) bool { return s.schema.Type == "object" }),
		); ok {
			put(object, s.at, map[string]any{})
		}
	case 3: // an empty list, or one of empty items
		if s, ok := g.pick(where(known, func(s site) bool { return s.schema.Type == "array" })); ok {
			list := []any{}
			if s.schema.items != nil && s.schema.items.Type == "object" && g.chance(0.5) {
				list = append(list, map[string]any{})
			}
			put(object, s.at, list)
		}
	case 4: // absent
		if s, ok := g.pick(where(all, func(s site) bool { return s.present })); ok {
			remove(object, s.at)
		}
	default:
		g.placeUnknown(object)
	}
}

// placeUnknown adds a field that no schema names, null now and then.
func (g *generator) placeUnknown(object map[string]any) {
	holder := object
	nested := where(g.sites(object), func(s site) bool {
		value, _ := s.at.Value(object)
		return asMap(value) != nil
	})
	if chosen, ok := g.pick(nested); ok {
		value, _ := chosen.at.Value(object)
		holder = asMap(value)
	}
	var value any
	if !g.chance(0.2) {
		value = g.anything(2)
	}
	holder["unknownToSchema"] = value
}
