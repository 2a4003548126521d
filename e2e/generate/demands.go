package generate

import (
	"slices"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// demands is everything that value validations ask of one value: those of its own
// schema, and those that allOf, anyOf, oneOf and not of schemas above it add. Of
// alternatives one is chosen, and the fields that only the others require are
// left out.
type demands struct {
	formats, patterns []string
	enums             [][]any
	refused           []any // the values of "not: enum"

	minimum, maximum           *float64
	multipleOf                 *float64
	minLength, maxLength       *int64
	minItems, maxItems         *int64
	minEntries, maxEntries     *int64
	unique                     bool
	required, forbidden        map[string]bool
	properties                 map[string][]*structural.NestedValueValidation
	items, additional          []*structural.NestedValueValidation
	exclusiveMin, exclusiveMax bool
}

// demandsOf gathers the demands on a value of n to which nested applies as well.
func (g *generator) demandsOf(n *node, nested []*structural.NestedValueValidation) *demands {
	d := &demands{
		required:   map[string]bool{},
		forbidden:  map[string]bool{},
		properties: map[string][]*structural.NestedValueValidation{},
	}
	if n != nil {
		g.absorb(d, n.ValueValidation)
	}
	for _, each := range nested {
		g.absorbNested(d, each)
	}
	return d
}

func (g *generator) absorbNested(d *demands, n *structural.NestedValueValidation) {
	if n.Items != nil {
		d.items = append(d.items, n.Items)
	}
	if n.AdditionalProperties != nil {
		d.additional = append(d.additional, n.AdditionalProperties)
	}
	for _, name := range sortedKeys(n.Properties) {
		property := n.Properties[name]
		d.properties[name] = append(d.properties[name], &property)
	}
	g.absorb(d, &n.ValueValidation)
}

func (g *generator) absorb(d *demands, v *structural.ValueValidation) {
	if v == nil {
		return
	}
	d.absorbScalars(v)
	for _, name := range v.Required {
		d.required[name] = true
	}
	if len(v.Enum) > 0 {
		d.enums = append(d.enums, objects(v.Enum))
	}
	for i := range v.AllOf {
		g.absorbNested(d, &v.AllOf[i])
	}
	g.absorbOne(d, v.OneOf, true)
	g.absorbOne(d, v.AnyOf, false)
	if v.Not != nil {
		g.avoid(d, v.Not)
	}
}

func (d *demands) absorbScalars(v *structural.ValueValidation) {
	if v.Format != "" {
		d.formats = append(d.formats, v.Format)
	}
	if v.Pattern != "" {
		d.patterns = append(d.patterns, v.Pattern)
	}
	if v.Minimum != nil && (d.minimum == nil || *v.Minimum >= *d.minimum) {
		d.minimum, d.exclusiveMin = v.Minimum, v.ExclusiveMinimum
	}
	if v.Maximum != nil && (d.maximum == nil || *v.Maximum <= *d.maximum) {
		d.maximum, d.exclusiveMax = v.Maximum, v.ExclusiveMaximum
	}
	if v.MultipleOf != nil {
		d.multipleOf = v.MultipleOf
	}
	d.minLength, d.maxLength = larger(d.minLength, v.MinLength), smaller(d.maxLength, v.MaxLength)
	d.minItems, d.maxItems = larger(d.minItems, v.MinItems), smaller(d.maxItems, v.MaxItems)
	d.minEntries, d.maxEntries = larger(d.minEntries, v.MinProperties), smaller(d.maxEntries, v.MaxProperties)
	d.unique = d.unique || v.UniqueItems
}

// absorbOne chooses one of the alternatives. With exclusive the others must not
// hold, so the fields that they require are forbidden.
func (g *generator) absorbOne(d *demands, branches []structural.NestedValueValidation, exclusive bool) {
	if len(branches) == 0 {
		return
	}
	chosen := g.random.IntN(len(branches))
	g.absorbNested(d, &branches[chosen])
	if !exclusive {
		return
	}
	for i := range branches {
		if i == chosen {
			continue
		}
		for _, name := range branches[i].Required {
			if !slices.Contains(branches[chosen].Required, name) {
				d.forbidden[name] = true
			}
		}
	}
}

// avoid makes a value that n does not describe likely: it leaves out one of the
// fields that n requires, of each of n's alternatives.
func (g *generator) avoid(d *demands, n *structural.NestedValueValidation) {
	d.refused = append(d.refused, objects(n.Enum)...)
	free := slices.DeleteFunc(slices.Clone(n.Required), func(name string) bool { return d.required[name] })
	if len(free) > 0 {
		d.forbidden[free[g.random.IntN(len(free))]] = true
	}
	for i := range n.AnyOf {
		g.avoid(d, &n.AnyOf[i])
	}
	for i := range n.OneOf {
		g.avoid(d, &n.OneOf[i])
	}
}

func objects(values []structural.JSON) []any {
	list := make([]any, 0, len(values))
	for _, value := range values {
		list = append(list, value.Object)
	}
	return list
}

func larger(a, b *int64) *int64 {
	if a == nil || (b != nil && *b > *a) {
		return b
	}
	return a
}

func smaller(a, b *int64) *int64 {
	if a == nil || (b != nil && *b < *a) {
		return b
	}
	return a
}
