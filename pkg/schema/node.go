package schema

import (
	"slices"
	"strings"
)

// Node says what the API server makes of the children of one value, after the whole
// way through request version, storage version and back. A nil Node means: it leaves
// them alone. Nodes are shared and must not be changed.
type Node struct {
	// Fields are the named fields of an object that something can happen to. The
	// first Defaulting of them, sorted by name, have a default or hold one deeper
	// down; the others, sorted too, matter only to objects that hold nulls.
	Fields     []Field
	Defaulting int
	// DropNulls names, sorted, the fields whose null is removed and that hold nothing else to do.
	DropNulls []string
	// Rest applies to the values of all fields that neither Fields nor DropNulls name.
	Rest *Element
	// Items applies to the items of a list.
	Items *Element
	// Atomic tells that the value, a list or a map, has one owner as a whole, so
	// that Argo CD's structured merge compares it as a whole.
	AtomicList, AtomicMap bool
	// Embedded tells that the value is a resource of its own, with metadata.
	Embedded bool
	// HoldsDefaults tells whether an object without nulls can change here or deeper down.
	HoldsDefaults bool
}

// Field is one named field of an object.
type Field struct {
	// Element applies when the field is there.
	Element

	Name string
	// Default is what an absent field becomes; HasDefault tells whether it does.
	// The value must not be changed.
	Default    any
	HasDefault bool
}

// Element says what becomes of a value that is null, and of the children of one that is not.
type Element struct {
	Null NullRule
	// NullValue takes the place of a null under the rule [NullReplaced]. It must not be changed.
	NullValue any
	Child     *Node
}

// NullRule says what the API server makes of an explicit null.
type NullRule uint8

// The rules for nulls.
const (
	// NullKept: the null stays (nullable, or unknown to the schema).
	NullKept NullRule = iota
	// NullDropped: the field is removed.
	NullDropped
	// NullReplaced: a default takes its place.
	NullReplaced
)

// HoldsDefaults reports whether a value without nulls can change below the element.
func (e *Element) HoldsDefaults() bool {
	return e != nil && e.Child != nil && e.Child.HoldsDefaults
}

// Names reports whether the field called name has a meaning of its own, so that
// [Node.Rest] does not apply to it.
func (n *Node) Names(name string) bool {
	for _, fields := range [][]Field{n.Fields[:n.Defaulting], n.Fields[n.Defaulting:]} {
		if _, found := slices.BinarySearchFunc(fields, name, compareField); found {
			return true
		}
	}
	_, found := slices.BinarySearch(n.DropNulls, name)
	return found
}

func compareField(field Field, name string) int { return strings.Compare(field.Name, name) }
