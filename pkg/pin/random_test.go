package pin_test

import (
	"maps"
	"math/rand/v2"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// scribe writes objects along a schema, most fields missing, some null, some unknown,
// some of a wrong type. They need not be valid: the laws hold for all objects.
type scribe struct {
	random *rand.Rand
}

func newScribe(seed uint64) scribe { return scribe{random: rand.New(rand.NewPCG(seed, 1))} }

func (s scribe) chance(n int) bool { return s.random.IntN(100) < n }

// object writes a whole object; crdKind is what apiVersion and kind say.
func (s scribe) object(apiVersion, kind string, root *structuralschema.Structural) map[string]any {
	object, _ := s.value(root, 0).(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object["apiVersion"], object["kind"] = apiVersion, kind
	object["metadata"] = map[string]any{"name": "x", "creationTimestamp": nil}
	return object
}

func (s scribe) value(schema *structuralschema.Structural, depth int) any {
	switch {
	case schema == nil || s.chance(3):
		return s.anything()
	case s.chance(8):
		return nil
	case schema.Default.Object != nil && s.chance(20):
		return runtime.DeepCopyJSONValue(schema.Default.Object)
	}
	switch {
	case schema.Type == "object" || len(schema.Properties) > 0:
		return s.fields(schema, depth)
	case schema.Type == "array":
		items := []any{}
		for range s.random.IntN(3) {
			items = append(items, s.value(schema.Items, depth+1))
		}
		return items
	case schema.Type == "boolean":
		return s.chance(50)
	case schema.Type == "integer":
		return int64(s.random.IntN(100))
	case schema.Type == "string":
		return []string{"", "x", "Default"}[s.random.IntN(3)]
	}
	return s.anything()
}

func (s scribe) fields(schema *structuralschema.Structural, depth int) map[string]any {
	object := map[string]any{}
	wanted := 85 - 12*depth
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if schema.XEmbeddedResource && name == "metadata" {
			continue
		}
		if property := schema.Properties[name]; s.chance(max(wanted, 12)) {
			object[name] = s.value(&property, depth+1)
		}
	}
	if schema.AdditionalProperties != nil && s.chance(60) {
		for _, name := range []string{"a", "b/c~d"}[:1+s.random.IntN(2)] {
			object[name] = s.value(schema.AdditionalProperties.Structural, depth+1)
		}
	}
	if s.chance(5) {
		object["unknownField"] = s.anything()
	}
	if depth == 0 && s.chance(20) {
		object["status"] = s.anything()
	}
	return object
}

// withVersionsApart returns the CRD with two versions alone, both made of its storage
// version and each lacking fields that the other one has: few real CRDs drop fields
// from one version to the next, and those that do have few.
func withVersionsApart(crd map[string]any) map[string]any {
	apart := runtime.DeepCopyJSON(crd)
	spec, _ := apart["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, version := range versions {
		stored, _ := version.(map[string]any)
		if stored["storage"] != true {
			continue
		}
		asked := runtime.DeepCopyJSON(stored)
		stored["served"], stored["name"] = true, "v1stored"
		asked["served"], asked["name"], asked["storage"] = true, "v1asked", false
		for i, version := range []map[string]any{stored, asked} {
			if schema, ok := version["schema"].(map[string]any); ok {
				newScribe(uint64(i)).thin(schema["openAPIV3Schema"], 0)
			}
		}
		spec["versions"] = []any{stored, asked}
		return apart
	}
	return apart
}

// thin removes some of the fields from a schema.
func (s scribe) thin(value any, depth int) {
	if value == nil {
		return
	}
	schema, _ := value.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if depth > 1 && s.chance(15) {
			delete(properties, name)
		} else {
			s.thin(properties[name], depth+1)
		}
	}
	s.thin(schema["items"], depth+1)
	s.thin(schema["additionalProperties"], depth+1)
}

func (s scribe) anything() any {
	return []any{
		nil, "text", int64(1), true,
		[]any{},
		[]any{nil, map[string]any{"x": nil}},
		map[string]any{},
		map[string]any{"name": "x", "spec": map[string]any{"replicas": nil}},
	}[s.random.IntN(8)]
}
