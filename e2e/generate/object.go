package generate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Profile is a way of making objects.
type Profile string

// The profiles.
const (
	// Minimal has only what is required.
	Minimal Profile = "minimal"
	// Mutated is a valid object of which some fields were made empty, equal to
	// their default or unlike it, or unknown to the schema.
	Mutated Profile = "mutated"
	// Nulls is a valid object with explicit nulls.
	Nulls Profile = "nulls"
	// Sparse has a few optional fields.
	Sparse Profile = "sparse"
	// Full has most of the fields, up to a size.
	Full Profile = "full"
)

// profiles is the order in which the indexes go through the profiles. There is not
// much to vary in what is minimal.
var profiles = []Profile{Minimal, Mutated, Nulls, Full, Sparse, Mutated, Nulls, Full, Sparse, Nulls}

// Facts is what a test has to know of an object.
type Facts struct {
	Profile Profile
	// Lost are the fields that the server does not keep whatever its defaults are:
	// those that the version of the request or the storage version does not know,
	// and empty fields of embedded metadata.
	Lost []fieldpath.Pointer
	// Refusals are the faults that the server's libraries still find, see [Kind.Refusals].
	Refusals []string
}

// Object makes the kind's object with this index. Its name
// holds the version and the index, so that it is free in every kind.
func (k *Kind) Object(seed uint64, index int) (map[string]any, Facts) {
	g := &generator{kind: k, random: k.source(seed, index)}
	profile := profiles[index%len(profiles)]
	g.shape(profile)
	const tries = 30
	name := fmt.Sprintf("%s-%d", k.Resource.Version, index)
	object := g.resource(name)
	object, faults := g.mended(object, tries)
	if len(faults) > 0 {
		if basis, ok := k.Basis(); ok {
			asMap(basis["metadata"])["name"] = name
			object, faults = basis, nil
		}
	}
	if len(faults) == 0 {
		g.decorate(object, profile)
	}
	return object, Facts{Profile: profile, Lost: k.lost(object), Refusals: k.Refusals(object)}
}

// shape sets how much of an object the profile makes.
func (g *generator) shape(profile Profile) {
	switch profile {
	case Minimal:
		g.density, g.budget = 0, 200
	case Full:
		g.density, g.budget, g.hollow = 0.6+0.35*g.random.Float64(), 400, 0.05
	case Mutated, Nulls, Sparse:
		g.density, g.budget, g.hollow = 0.05+0.45*g.random.Float64(), 150, 0.2
	}
}

// resource makes a whole object.
func (g *generator) resource(name string) map[string]any {
	root := g.kind.request.root
	object := map[string]any{}
	d := g.demandsOf(root, nil)
	for _, field := range root.names {
		switch field {
		case "apiVersion", "kind", "metadata":
		case "status":
			if d.required[field] || (g.density > 0 && g.chance(0.2)) {
				object[field] = g.value(root.properties[field], d.properties[field])
			}
		default:
			if d.required[field] || (!d.forbidden[field] && g.chance(max(g.density, 0.85))) {
				object[field] = g.value(root.properties[field], d.properties[field])
			}
		}
	}
	metadata := map[string]any{"name": name}
	if g.chance(0.3) {
		metadata["labels"] = map[string]any{"app": "a"}
	}
	object["metadata"] = metadata
	object["apiVersion"] = g.kind.Resource.GroupVersion().String()
	object["kind"] = g.kind.Name
	return object
}

// findBasis looks for a small valid object, longer than for any other. It always
// finds the same one.
func (k *Kind) findBasis() map[string]any {
	g := &generator{kind: k, random: k.source(0, -1)}
	const starts, tries = 12, 150
	for start := range starts {
		g.density, g.budget = 0.03*float64(start), 100
		if object, faults := g.mended(g.resource("basis"), tries); len(faults) == 0 {
			return object
		}
	}
	return nil
}

// Basis returns a small valid object of the kind, and false where none was found:
// then most objects are refused.
func (k *Kind) Basis() (map[string]any, bool) {
	basis := k.basis()
	if basis == nil {
		return nil, false
	}
	return runtime.DeepCopyJSON(basis), true
}
