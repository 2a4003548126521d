package generate

import (
	"maps"
	"slices"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// node is a structural schema prepared for walking: children by pointer, names
// sorted so that every walk meets them in the same order, and the knowledge where
// defaults are.
type node struct {
	*structural.Structural

	names      []string
	properties map[string]*node
	// additional is the schema of map values. It is nil where there are none, or
	// where they may be anything (AdditionalProperties is true).
	additional *node
	items      *node
	// defaults says that this node or one below it has a default.
	defaults bool
}

func prepare(s *structural.Structural) *node {
	n := &node{Structural: s, defaults: s.Default.Object != nil}
	n.properties = make(map[string]*node, len(s.Properties))
	n.names = slices.Sorted(maps.Keys(s.Properties))
	for _, name := range n.names {
		property := s.Properties[name]
		n.properties[name] = prepare(&property)
		n.defaults = n.defaults || n.properties[name].defaults
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		n.additional = prepare(s.AdditionalProperties.Structural)
		n.defaults = n.defaults || n.additional.defaults
	}
	if s.Items != nil {
		n.items = prepare(s.Items)
		n.defaults = n.defaults || n.items.defaults
	}
	return n
}

// child returns the schema of the field called name; nil where the schema says
// nothing about it.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	if property, found := n.properties[name]; found {
		return property
	}
	return n.additional
}

// hasDefault says that an absent value is filled in.
func (n *node) hasDefault() bool { return n != nil && n.Default.Object != nil }

// open says that fields which the schema does not name are kept as they are.
func (n *node) open() bool {
	return n != nil && (n.XPreserveUnknownFields || n.AdditionalProperties != nil)
}

// listType returns x-kubernetes-list-type, "atomic" where there is none.
func (n *node) listType() string {
	if n.XListType == nil {
		return "atomic"
	}
	return *n.XListType
}
