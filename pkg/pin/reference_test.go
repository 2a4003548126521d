package pin_test

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/json"
)

// reference is the way of an object through the API server, spelled with the
// server's own functions on whole schemas: the second witness beside the compiled tree.
type reference struct {
	schemas map[string]*structuralschema.Structural
	storage string
	served  []string
	scale   map[string]string
}

func newReference(crd map[string]any) (*reference, error) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	text, err := json.Marshal(crd)
	if err != nil {
		return nil, err
	}
	decoded, err := runtime.Decode(serializer.NewCodecFactory(scheme).UniversalDecoder(apiextensions.SchemeGroupVersion), text)
	if err != nil {
		return nil, err
	}
	internal := decoded.(*apiextensions.CustomResourceDefinition)
	result := &reference{schemas: map[string]*structuralschema.Structural{}, scale: map[string]string{}}
	for _, version := range internal.Spec.Versions {
		validation, err := apiextensions.GetSchemaForVersion(internal, version.Name)
		if err != nil || validation == nil {
			return nil, err
		}
		structural, err := structuralschema.NewStructural(validation.OpenAPIV3Schema)
		if err != nil {
			return nil, err
		}
		if err := defaulting.PruneDefaults(structural); err != nil {
			return nil, err
		}
		result.schemas[version.Name] = structural
		if version.Storage {
			result.storage = version.Name
		}
		if version.Served {
			result.served = append(result.served, version.Name)
		}
		if scale, err := apiextensions.GetSubresourcesForVersion(internal, version.Name); err == nil && scale != nil && scale.Scale != nil {
			result.scale[version.Name] = scale.Scale.SpecReplicasPath
		}
	}
	return result, nil
}

// store sends a copy of the object to the server at the given version and reads it back.
func (r *reference) store(object map[string]any, version string) map[string]any {
	stored := runtime.DeepCopyJSON(object)
	for _, step := range []struct {
		schema   *structuralschema.Structural
		defaults bool
	}{{r.schemas[version], true}, {r.schemas[r.storage], true}, {r.schemas[version], false}} {
		pruning.Prune(stored, step.schema, true)
		defaulting.PruneNonNullableNullsWithoutDefaults(stored, step.schema)
		if step.defaults {
			defaulting.Default(stored, step.schema)
		}
	}
	return stored
}

// hide removes from the object what Moorpin never pins.
func (r *reference) hide(object map[string]any, version string) {
	delete(object, "status")
	for _, name := range []string{version, r.storage} {
		if path := r.scale[name]; path == ".spec.replicas" {
			if spec, ok := object["spec"].(map[string]any); ok {
				delete(spec, "replicas")
			}
		}
	}
}
