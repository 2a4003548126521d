package generate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// generator makes the values of one object.
type generator struct {
	kind   *Kind
	random *rand.Rand
	// density is the chance that an optional field is there.
	density float64
	// budget counts down the nodes; below zero only what is required is made.
	budget int
	// hollow is the chance that an object has only what is required.
	hollow float64
}

func (g *generator) chance(p float64) bool { return g.random.Float64() < p }

// value makes a value for the node, to which the nested validations apply too.
func (g *generator) value(n *node, nested []*structural.NestedValueValidation) any {
	g.budget--
	if n == nil {
		return g.anything(1)
	}
	if n.hasDefault() && g.chance(0.2) {
		return runtime.DeepCopyJSONValue(n.Default.Object)
	}
	d := g.demandsOf(n, nested)
	if chosen, ok := g.oneOf(d); ok {
		return runtime.DeepCopyJSONValue(chosen)
	}
	switch {
	case n.XIntOrString:
		return g.intOrString(d)
	case n.Type == "object":
		return g.object(n, d)
	case n.Type == "array":
		return g.list(n, d)
	case n.Type == "string":
		return g.text(d)
	case n.Type == "integer":
		return g.integer(d)
	case n.Type == "number":
		return g.number(d)
	case n.Type == "boolean":
		return g.chance(0.5)
	default:
		return g.anything(1)
	}
}

// anything makes a value where the schema asks for nothing.
func (g *generator) anything(depth int) any {
	switch choice := g.random.IntN(8); {
	case choice == 0 && depth > 0:
		return []any{g.anything(depth - 1), map[string]any{"a": g.anything(depth - 1)}, nil}
	case choice == 1 && depth > 0:
		return map[string]any{"b": g.anything(depth - 1), "c": map[string]any{}}
	case choice == 2 && depth > 0:
		return map[string]any{"d": []any{}, "e": nil}
	case choice == 3:
		return g.random.Int64N(1000)
	case choice == 4:
		return g.chance(0.5)
	default:
		return words[g.random.IntN(len(words))]
	}
}

func (g *generator) object(n *node, d *demands) map[string]any {
	made := map[string]any{}
	if n.XEmbeddedResource {
		made["apiVersion"], made["kind"] = "v1", "ConfigMap"
		if g.chance(0.7) {
			made["metadata"] = g.metadata()
		}
	}
	// Empty objects are where nested defaults show.
	density := g.density
	if g.chance(g.hollow) {
		g.density = 0
	}
	// In any order, lest the budget always ends before the same fields.
	for _, i := range g.random.Perm(len(n.names)) {
		name := n.names[i]
		if _, done := made[name]; !done && g.wants(n.properties[name], name, d) {
			made[name] = g.value(n.properties[name], d.properties[name])
		}
	}
	g.density = density
	for _, name := range sortedKeys(d.required) {
		if _, done := made[name]; !done && n.properties[name] == nil {
			made[name] = g.value(n.additional, d.additional)
		}
	}
	g.entries(made, n, d)
	return made
}

// wants decides whether the field is made.
func (g *generator) wants(property *node, name string, d *demands) bool {
	switch {
	case d.required[name]:
		// The default fills in what is required before the server checks that.
		return !property.hasDefault() || g.chance(0.5)
	case d.forbidden[name], g.budget < 0:
		return false
	case property.defaults && g.density > 0:
		return g.chance(max(g.density, 0.4))
	default:
		return g.chance(g.density)
	}
}

// entries adds what the schema does not name: map entries, and fields of objects
// that preserve the unknown.
func (g *generator) entries(made map[string]any, n *node, d *demands) {
	if !n.open() || n.XEmbeddedResource && g.density == 0 {
		return
	}
	count := 0
	if len(n.names) == 0 && g.budget > 0 {
		count = g.random.IntN(3)
	}
	if d.minEntries != nil {
		count = max(count, int(*d.minEntries)-len(made))
	}
	if d.maxEntries != nil {
		count = min(count, int(*d.maxEntries)-len(made))
	}
	keys := []string{"app", "example.com/team", "b", "~c/d"}
	for i := range max(count, 0) {
		key := keys[g.random.IntN(len(keys))]
		if _, done := made[key]; done {
			key = fmt.Sprintf("key%d", i)
		}
		made[key] = g.value(n.additional, d.additional)
	}
}

func (g *generator) list(n *node, d *demands) []any {
	low := 0
	if d.minItems != nil {
		low = int(*d.minItems)
	}
	high := max(low, 1+g.random.IntN(3))
	if g.density == 0 || g.budget < 0 || g.chance(0.1) {
		high = low
	}
	if d.maxItems != nil {
		high = min(high, int(*d.maxItems))
	}
	made := []any{}
	seen := map[string]bool{}
	// Items that must differ are tried a little more often than they are needed.
	for try := 0; len(made) < high && try < 3*high; try++ {
		item := g.value(n.items, d.items)
		key := identity(n, item, d.unique)
		if key != "" && seen[key] {
			continue
		}
		seen[key] = true
		made = append(made, item)
	}
	return made
}

// identity returns what tells the item from the others of its list, and "" where
// equal items may stand side by side.
func identity(n *node, item any, unique bool) string {
	var identifying any
	switch fields, _ := item.(map[string]any); {
	case n.listType() == "map":
		keys := []any{}
		for _, name := range n.XListMapKeys {
			value, found := fields[name]
			if property := n.items.child(name); !found && property.hasDefault() {
				value = property.Default.Object
			}
			keys = append(keys, value)
		}
		identifying = keys
	case n.listType() == "set" || unique:
		identifying = item
	default:
		return ""
	}
	text, err := json.Marshal(identifying)
	if err != nil {
		return ""
	}
	return string(text)
}

// metadata makes the metadata of a resource within another one.
func (g *generator) metadata() map[string]any {
	made := map[string]any{}
	if g.chance(0.7) {
		made["name"] = "inner"
	}
	if g.chance(0.3) {
		made["labels"] = map[string]any{"app": "a"}
	}
	if g.chance(0.15) {
		made["annotations"] = map[string]any{}
	}
	if g.chance(0.15) {
		made["creationTimestamp"] = nil
	}
	return made
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
