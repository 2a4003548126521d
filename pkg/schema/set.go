package schema

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Lookup finds the definition of a group and kind.
type Lookup interface {
	// Definition returns the definition, and whether there is one.
	Definition(kind schema.GroupKind) (*Definition, bool)
}

// Set holds definitions by group and kind. It does not change; the zero value is empty.
type Set struct {
	definitions map[schema.GroupKind]*Definition
}

// NewSet returns a set of the given definitions. Of two with the same group and kind the first stays.
func NewSet(definitions ...*Definition) *Set {
	set := &Set{definitions: make(map[schema.GroupKind]*Definition, len(definitions))}
	for _, definition := range definitions {
		if _, taken := set.definitions[definition.GroupKind]; !taken {
			set.definitions[definition.GroupKind] = definition
		}
	}
	return set
}

// Definition implements [Lookup].
func (s *Set) Definition(kind schema.GroupKind) (*Definition, bool) {
	if s == nil {
		return nil, false
	}
	definition, found := s.definitions[kind]
	return definition, found
}

// Len returns the number of definitions.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.definitions)
}

// All returns the definitions, sorted by group and kind.
func (s *Set) All() []*Definition {
	if s == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(s.definitions), func(a, b *Definition) int {
		return cmp.Or(cmp.Compare(a.GroupKind.Group, b.GroupKind.Group), cmp.Compare(a.GroupKind.Kind, b.GroupKind.Kind))
	})
}

// layers asks its members in order.
type layers []Lookup

// Layer puts lookups on top of one another: the first that knows a group and kind
// answers for it, with all its versions. Nil members are left out.
func Layer(lookups ...Lookup) Lookup {
	var kept layers
	for _, lookup := range lookups {
		if lookup != nil {
			kept = append(kept, lookup)
		}
	}
	return kept
}

// Definition implements [Lookup].
func (l layers) Definition(kind schema.GroupKind) (*Definition, bool) {
	for _, lookup := range l {
		if definition, found := lookup.Definition(kind); found {
			return definition, true
		}
	}
	return nil, false
}
