package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// interner keeps equal nodes, texts and values once: a CRD repeats whole subtrees,
// Pod templates above all, in its versions and in its fields.
type interner struct {
	nodes  map[string]*Node
	ids    map[*Node]int
	texts  map[string]string
	values map[string]any
	budget *budget
}

func newInterner(budget *budget) interner {
	return interner{nodes: map[string]*Node{}, ids: map[*Node]int{}, texts: map[string]string{}, values: map[string]any{}, budget: budget}
}

// text returns a copy of name that holds no larger text in memory.
func (i interner) text(name string) string {
	if kept, found := i.texts[name]; found {
		return kept
	}
	kept := strings.Clone(name)
	i.texts[kept] = kept
	return kept
}

// value returns the one copy of a JSON value.
func (i interner) value(value any) any {
	values, bytes := size(value)
	// Spelled here, and again in the keys of nodes.
	if !i.budget.spend(3 * values * valueWork) {
		return nil
	}
	key := jsonKey(value)
	if kept, found := i.values[key]; found {
		return kept
	}
	if !i.budget.hold(bytes, 0) {
		return nil
	}
	i.values[key] = value
	return value
}

// node returns the one node equal to this one, nil when it does nothing.
func (i interner) node(node *Node) *Node {
	if len(node.Fields) == 0 && len(node.DropNulls) == 0 && node.Rest == nil && node.Items == nil && !node.Embedded {
		return nil
	}
	if i.budget.stopped() {
		return nil
	}
	key := i.key(node)
	if kept, found := i.nodes[key]; found {
		return kept
	}
	for n, name := range node.DropNulls {
		node.DropNulls[n] = i.text(name)
	}
	node.Fields = append([]Field(nil), node.Fields...)
	node.DropNulls = append([]string(nil), node.DropNulls...)
	i.nodes[key] = node
	i.ids[node] = len(i.ids) + 1
	return node
}

// key spells a node whose children are interned already.
func (i interner) key(node *Node) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%t %t %t %d %q", node.AtomicList, node.AtomicMap, node.Embedded, node.Defaulting, node.DropNulls)
	for _, field := range node.Fields {
		fmt.Fprintf(&key, " %q=", field.Name)
		if field.HasDefault {
			key.WriteString(jsonKey(field.Default))
		}
		i.writeElement(&key, &field.Element)
	}
	for _, element := range []*Element{node.Rest, node.Items} {
		key.WriteByte('|')
		if element != nil {
			i.writeElement(&key, element)
		}
	}
	return key.String()
}

func (i interner) writeElement(key *strings.Builder, element *Element) {
	fmt.Fprintf(key, ",%d,%s,%d", element.Null, jsonKey(element.NullValue), i.ids[element.Child])
}

// jsonKey spells a JSON value; int64 and float64 of the same number stay apart.
func jsonKey(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%#v", value)
	}
	if number, ok := value.(float64); ok {
		return fmt.Sprintf("float %v", number)
	}
	return string(text)
}
