package schema

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
)

// pruneMode says how the server prunes below a value. It is inherited in ways that
// the schema of the value alone does not tell.
type pruneMode uint8

const (
	// pruneKnown: fields that the schema lacks are removed.
	pruneKnown pruneMode = iota
	// pruneSkip: the fields of this value are kept, its known ones are pruned below.
	pruneSkip
	// pruneNothing: everything below is kept.
	pruneNothing
)

// side is a value as one version sees it: its schema, nil where it has none, and
// how it is pruned.
type side struct {
	schema *structuralschema.Structural
	mode   pruneMode
}

func (s side) preserves() bool {
	return s.mode != pruneKnown || (s.schema != nil && s.schema.XPreserveUnknownFields)
}

func (s side) embedded() bool { return s.schema != nil && s.schema.XEmbeddedResource }

func (s side) mentionsRest() bool { return s.schema != nil && s.schema.AdditionalProperties != nil }

func (s side) atomicList() bool {
	return s.schema != nil && s.schema.Type == "array" && (s.schema.XListType == nil || *s.schema.XListType == "atomic")
}

func (s side) atomicMap() bool {
	return s.schema != nil && s.schema.XMapType != nil && *s.schema.XMapType == "atomic"
}

// field returns how the field called name is seen, and whether the version keeps it at all.
func (s side) field(name string) (side, bool) {
	var child side
	known := false
	if s.schema != nil {
		if property, found := s.schema.Properties[name]; found {
			child.schema, known = &property, true
		} else if s.schema.AdditionalProperties != nil {
			child.schema, known = s.schema.AdditionalProperties.Structural, true
		}
	}
	switch {
	case s.mode == pruneNothing, s.embedded() && metaFields[name], !known && s.preserves():
		child.mode = pruneNothing
		return child, true
	default:
		return child, known
	}
}

// items returns how the items of a list are seen.
func (s side) items() side {
	child := side{mode: s.mode}
	if s.schema != nil {
		child.schema = s.schema.Items
		if s.mode == pruneKnown && s.schema.XPreserveUnknownFields {
			child.mode = pruneSkip
		}
	}
	if child.schema == nil && child.mode == pruneSkip {
		child.mode = pruneNothing
	}
	return child
}

// forField returns the side's schema with nothing in it but what decides on the
// field called name.
func (s side) forField(name string) side {
	if s.schema == nil {
		return s
	}
	only := *s.schema
	only.Properties = nil
	if property, found := s.schema.Properties[name]; found {
		only.Properties = map[string]structuralschema.Structural{name: property}
	}
	return side{schema: &only, mode: s.mode}
}

// pass sends a value through one version, as the server does: prune, drop nulls and,
// except on the last way back, default. It is the server's own code on the server's
// own schema; only the inherited mode is added, and the budget.
func (b *budget) pass(value any, s side, defaults bool) {
	if values, _ := size(value); !b.spend(values * valueWork) {
		return
	}
	if s.mode == pruneSkip && s.schema != nil {
		open := *s.schema
		open.XPreserveUnknownFields = true
		pruning.Prune(value, &open, false)
	} else if s.mode == pruneKnown {
		pruning.Prune(value, s.schema, false)
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(value, s.schema)
	if defaults {
		b.fill(value, s.schema)
	}
}

// roundTrip sends a value through the request version r, the storage version t and back.
func (b *budget) roundTrip(value any, r, t side) {
	b.copied = 0
	b.pass(value, r, true)
	b.pass(value, t, true)
	b.pass(value, r, false)
}

// settle sends a small object on the round trip, and returns what became of the field
// called name.
func (b *budget) settle(object map[string]any, name string, r, t side) (any, bool) {
	b.roundTrip(object, r.forField(name), t.forField(name))
	value, found := object[name]
	return value, found
}

// settleItem does the same for a list that holds one null.
func (b *budget) settleItem(r, t side) any {
	list := []any{nil}
	b.roundTrip(list, r, t)
	return list[0]
}
