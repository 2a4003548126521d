package schema

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// The bounds of one CRD. They are counted, not timed, so that the same CRD always
// gives the same tree. Of 254 CRDs in use none needs a tenth of any of them.
const (
	// maxText bounds a CRD as JSON: an API server takes requests of 3 MB.
	maxText = 4 << 20
	// maxDepth bounds the nesting of a schema within schemas.
	maxDepth = 200
	// maxWork bounds the work, one unit being about 60 ns.
	maxWork = 64_000_000
	// maxHeld bounds the bytes of the defaults that the tree holds.
	maxHeld = 16 << 20
)

// What the steps cost, in units of work, as measured.
const (
	schemaWork  = 200 // a schema on its way through the library
	fieldWork   = 60  // a field of the tree
	stepWork    = 30  // a default on its way through one level above it
	valueWork   = 4   // one value of a JSON tree that is looked at or copied
	patternWork = 4   // one byte of a regular expression, for each time that it is repeated
	lookEvery   = 512 // the units after which the context is looked at
)

// budget counts the work for one CRD and says when to stop.
type budget struct {
	done       <-chan struct{}
	work, look int
	// held counts the bytes of the values in the tree, copied those of the field at hand.
	held, copied int
	// over says which bound is passed, for people.
	over string
	// ended tells that the context has.
	ended bool
}

// stopped reports whether nothing more is to be done for the CRD.
func (b *budget) stopped() bool { return b.ended || b.over != "" }

// spend counts work, and reports whether to go on.
func (b *budget) spend(units int) bool {
	b.work += units
	if b.work >= b.look {
		b.look = b.work + lookEvery
		select {
		case <-b.done:
			b.ended = true
		default:
		}
	}
	if b.work > maxWork {
		b.refusef("takes more than %d units of work to compile", maxWork)
	}
	return !b.stopped()
}

func (b *budget) refusef(format string, args ...any) {
	if b.over == "" {
		b.over = fmt.Sprintf(format, args...)
	}
}

// hold counts the bytes of values.
func (b *budget) hold(kept, copied int) bool {
	b.held, b.copied = b.held+kept, b.copied+copied
	if b.held+b.copied > maxHeld {
		b.refusef("its defaults, with all that they bring along, hold more than %d bytes", maxHeld)
	}
	return !b.stopped()
}

// copy gives a default of its own to an object.
func (b *budget) copy(value any) any {
	values, bytes := size(value)
	if !b.spend(values*valueWork) || !b.hold(0, bytes) {
		return nil
	}
	return runtime.DeepCopyJSONValue(value)
}

// size returns how many values a JSON tree holds, and about what they take in memory.
func size(value any) (values, bytes int) {
	const word = 16
	values, bytes = 1, word
	switch value := value.(type) {
	case string:
		bytes += len(value)
	case map[string]any:
		bytes += 2 * word
		for name, child := range value {
			n, m := size(child)
			values, bytes = values+n, bytes+m+len(name)+word
		}
	case []any:
		for _, child := range value {
			n, m := size(child)
			values, bytes = values+n, bytes+m
		}
	}
	return values, bytes
}

// fill does what defaulting.Default of the API server does, and stops at the budget:
// a default may bring along others, and they again others.
func (b *budget) fill(x any, s *structuralschema.Structural) {
	if s == nil || b.stopped() {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		if b.spend(valueWork * (1 + len(s.Properties) + len(x))) {
			b.fillObject(x, s)
		}
	case []any:
		b.spend(valueWork * (1 + len(x)))
		for i := range x {
			if isNull(x[i], s.Items) {
				x[i] = b.copy(s.Items.Default.Object)
			}
			b.fill(x[i], s.Items)
		}
	}
}

func (b *budget) fillObject(x map[string]any, s *structuralschema.Structural) {
	for name, property := range s.Properties {
		if property.Default.Object == nil {
			continue
		}
		if value, found := x[name]; !found || isNull(value, &property) {
			x[name] = b.copy(property.Default.Object)
		}
	}
	for name := range x {
		if property, found := s.Properties[name]; found {
			b.fill(x[name], &property)
		} else if s.AdditionalProperties != nil {
			if isNull(x[name], s.AdditionalProperties.Structural) {
				x[name] = b.copy(s.AdditionalProperties.Structural.Default.Object)
			}
			b.fill(x[name], s.AdditionalProperties.Structural)
		}
	}
}

// isNull reports whether x is a null that the schema does not allow.
func isNull(x any, s *structuralschema.Structural) bool {
	return x == nil && s != nil && !s.Nullable
}

// admit counts what the library will do with a schema, which cannot be stopped there.
func (b *budget) admit(s *apiextensions.JSONSchemaProps, depth int) bool {
	if s == nil {
		return true
	}
	if depth > maxDepth {
		b.refusef("nests deeper than %d schemas", maxDepth)
	}
	work := schemaWork + stepWork + len(s.Required) + patternCost(s.Pattern)
	if s.Default != nil {
		values, _ := size(any(*s.Default))
		work += depth*stepWork + values*valueWork
	}
	for i := range s.Enum {
		values, _ := size(any(s.Enum[i]))
		work += values * valueWork
	}
	if !b.spend(work) {
		return false
	}
	for i := range nested(s) {
		if !b.admit(i, depth+1) {
			return false
		}
	}
	return !b.stopped()
}

// nested yields the schemas right below one.
func nested(s *apiextensions.JSONSchemaProps) func(yield func(*apiextensions.JSONSchemaProps) bool) {
	return func(yield func(*apiextensions.JSONSchemaProps) bool) {
		below := []*apiextensions.JSONSchemaProps{s.Not}
		for _, list := range [][]apiextensions.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
			for i := range list {
				below = append(below, &list[i])
			}
		}
		if s.Items != nil {
			below = append(below, s.Items.Schema)
		}
		if s.AdditionalProperties != nil {
			below = append(below, s.AdditionalProperties.Schema)
		}
		for _, schema := range below {
			if !yield(schema) {
				return
			}
		}
		for _, property := range s.Properties {
			if !yield(&property) {
				return
			}
		}
	}
}

// patternCost bounds what compiling a regular expression takes: its length, for each
// time that its largest repetition repeats it.
func patternCost(pattern string) int {
	repeats := 1
	for part := range strings.SplitSeq(pattern, "{") {
		counts, _, closed := strings.Cut(part, "}")
		if !closed {
			continue
		}
		for count := range strings.SplitSeq(counts, ",") {
			if n, err := strconv.Atoi(count); err == nil {
				repeats = max(repeats, min(n, 1000))
			}
		}
	}
	return patternWork * len(pattern) * repeats
}
