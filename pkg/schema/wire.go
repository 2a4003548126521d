package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// wireDefinition is a definition as it travels between two processes of one version of
// this program. Nodes are listed once each, children before those that hold them.
type wireDefinition struct {
	Name, Source string
	Group, Kind  string
	Namespaced   bool
	Versions     []wireVersion
	Nodes        []wireNode
}

type wireVersion struct {
	Name     string
	Obstacle Obstacle `json:",omitempty"`
	Detail   string   `json:",omitempty"`
	Root     int      `json:",omitempty"`
}

// wireNode is a [Node]; nodes are named by their place in the list, from 1 on.
type wireNode struct {
	Fields        []wireField  `json:"f,omitempty"`
	Defaulting    int          `json:"d,omitempty"`
	DropNulls     []string     `json:"n,omitempty"`
	Rest          *wireElement `json:"r,omitempty"`
	Items         *wireElement `json:"i,omitempty"`
	AtomicList    bool         `json:"l,omitempty"`
	AtomicMap     bool         `json:"m,omitempty"`
	Embedded      bool         `json:"e,omitempty"`
	HoldsDefaults bool         `json:"h,omitempty"`
}

type wireElement struct {
	Null      NullRule `json:"u,omitempty"`
	NullValue any      `json:"v,omitempty"`
	Child     int      `json:"c,omitempty"`
}

type wireField struct {
	wireElement

	Name       string `json:"k"`
	Default    any    `json:"d,omitempty"`
	HasDefault bool   `json:"h,omitempty"`
}

// Encode writes a definition for another process of this program, which reads it with
// [DecodeDefinition]. id names the text: two definitions with the same id are the same.
// The caller keeps the text when it needs it again.
func (d *Definition) Encode() (text []byte, id string, err error) {
	writer := wireWriter{places: map[*Node]int{}}
	wire := wireDefinition{Name: d.Name, Source: d.Source, Group: d.GroupKind.Group, Kind: d.GroupKind.Kind, Namespaced: d.Namespaced}
	for _, name := range d.VersionNames() {
		version := d.versions[name]
		wire.Versions = append(wire.Versions, wireVersion{Name: version.Name, Obstacle: version.Obstacle, Detail: version.Detail, Root: writer.node(version.Root)})
	}
	wire.Nodes = writer.nodes
	text, err = json.Marshal(wire)
	if err != nil {
		return nil, "", fmt.Errorf("encode %s: %w", d.Name, err)
	}
	sum := sha256.Sum256(text)
	return text, hex.EncodeToString(sum[:16]), nil
}

// DecodeDefinition reads what [Definition.Encode] wrote. The text has to come from this
// program: what is wrong with it is an error, but it is not bounded.
func DecodeDefinition(text []byte) (*Definition, error) {
	var wire wireDefinition
	// Whole numbers stay whole, as in the CRD itself.
	if err := kjson.Unmarshal(text, &wire); err != nil {
		return nil, fmt.Errorf("decode a definition: %w", err)
	}
	reader := wireReader{}
	for place, node := range wire.Nodes {
		if err := reader.node(node); err != nil {
			return nil, fmt.Errorf("decode %s, node %d: %w", wire.Name, place+1, err)
		}
	}
	definition := &Definition{
		Name: wire.Name, Source: wire.Source, Namespaced: wire.Namespaced,
		GroupKind: schema.GroupKind{Group: wire.Group, Kind: wire.Kind}, versions: map[string]*Version{},
	}
	for _, version := range wire.Versions {
		root, err := reader.child(version.Root)
		if err != nil {
			return nil, fmt.Errorf("decode %s, version %s: %w", wire.Name, version.Name, err)
		}
		definition.versions[version.Name] = &Version{Name: version.Name, Obstacle: version.Obstacle, Detail: version.Detail, Root: root}
	}
	return definition, nil
}

type wireWriter struct {
	nodes  []wireNode
	places map[*Node]int
}

// node writes a node with all below it and returns its place, 0 for none.
func (w *wireWriter) node(node *Node) int {
	if node == nil {
		return 0
	}
	if place, found := w.places[node]; found {
		return place
	}
	wire := wireNode{
		Defaulting: node.Defaulting, DropNulls: node.DropNulls, Rest: w.element(node.Rest), Items: w.element(node.Items),
		AtomicList: node.AtomicList, AtomicMap: node.AtomicMap, Embedded: node.Embedded, HoldsDefaults: node.HoldsDefaults,
	}
	for i := range node.Fields {
		field := &node.Fields[i]
		wire.Fields = append(wire.Fields, wireField{wireElement: *w.element(&field.Element), Name: field.Name, Default: field.Default, HasDefault: field.HasDefault})
	}
	w.nodes = append(w.nodes, wire)
	w.places[node] = len(w.nodes)
	return len(w.nodes)
}

func (w *wireWriter) element(element *Element) *wireElement {
	if element == nil {
		return nil
	}
	return &wireElement{Null: element.Null, NullValue: element.NullValue, Child: w.node(element.Child)}
}

type wireReader struct{ nodes []*Node }

// child returns a node that was read already, nil for 0.
func (r *wireReader) child(place int) (*Node, error) {
	if place == 0 {
		return nil, nil //nolint:nilnil // no node is a value here
	}
	if place < 0 || place > len(r.nodes) {
		return nil, fmt.Errorf("there is no node %d yet", place)
	}
	return r.nodes[place-1], nil
}

func (r *wireReader) node(wire wireNode) error {
	node := &Node{
		Defaulting: wire.Defaulting, DropNulls: wire.DropNulls,
		AtomicList: wire.AtomicList, AtomicMap: wire.AtomicMap, Embedded: wire.Embedded, HoldsDefaults: wire.HoldsDefaults,
	}
	if wire.Defaulting < 0 || wire.Defaulting > len(wire.Fields) {
		return fmt.Errorf("%d of %d fields cannot have defaults", wire.Defaulting, len(wire.Fields))
	}
	for _, field := range wire.Fields {
		element, err := r.element(&field.wireElement)
		if err != nil {
			return err
		}
		node.Fields = append(node.Fields, Field{Element: *element, Name: field.Name, Default: field.Default, HasDefault: field.HasDefault})
	}
	var err error
	if node.Rest, err = r.element(wire.Rest); err != nil {
		return err
	}
	if node.Items, err = r.element(wire.Items); err != nil {
		return err
	}
	r.nodes = append(r.nodes, node)
	return nil
}

func (r *wireReader) element(wire *wireElement) (*Element, error) {
	if wire == nil {
		return nil, nil //nolint:nilnil // no element is a value here
	}
	child, err := r.child(wire.Child)
	return &Element{Null: wire.Null, NullValue: wire.NullValue, Child: child}, err
}
