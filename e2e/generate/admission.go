package generate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// schemaOf is one version's schema, as the server uses it.
type schemaOf struct {
	structural *structural.Structural
	root       *node
}

// checks are the server's validations of one version.
type checks struct {
	schema validation.SchemaValidator
	rules  *cel.Validator
}

// Refusals returns why the server would refuse to create the object, as far as its
// own libraries, in the version that this module links, can tell. Rules that these
// libraries cannot compile are taken for fulfilled.
func (k *Kind) Refusals(object map[string]any) []string {
	var reasons []string
	for _, fault := range k.faults(object) {
		reasons = append(reasons, fault.Error())
	}
	return reasons
}

// faults returns what Refusals does, in an order that depends on nothing but the faults.
func (k *Kind) faults(object map[string]any) field.ErrorList {
	faults := k.findFaults(object)
	slices.SortFunc(faults, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return faults
}

func (k *Kind) findFaults(object map[string]any) field.ErrorList {
	created := runtime.DeepCopyJSON(object)
	if err := k.request.pass(created, true); err != nil {
		return field.ErrorList{err}
	}
	if k.statusApart {
		delete(created, "status")
	}
	faults := validation.ValidateCustomResource(nil, created, k.checks.schema)
	faults = append(faults, k.replicas(created)...)
	faults = append(faults, objectmeta.Validate(nil, created, k.request.structural, false)...)
	faults = append(faults, listtype.ValidateListSetsAndMaps(nil, k.request.structural, created)...)
	// The rules expect objects that fit the schema.
	if len(faults) > 0 || k.checks.rules == nil {
		return faults
	}
	broken, _ := k.checks.rules.Validate(context.Background(), nil, k.request.structural, created, nil, celconfig.RuntimeCELCostBudget)
	for _, fault := range broken {
		if !strings.HasPrefix(fault.Detail, "rule compile") {
			faults = append(faults, fault)
		}
	}
	return faults
}

// replicas checks the fields of the scale subresource, which have to be small numbers.
func (k *Kind) replicas(object map[string]any) field.ErrorList {
	var faults field.ErrorList
	for _, pointer := range k.numbers {
		value, found := pointer.Value(object)
		if number, ok := value.(int64); found && (!ok || number < 0 || number > 1<<31-1) {
			faults = append(faults, field.Invalid(field.NewPath(strings.Join(pointer.Steps(), ".")), value, "must be a number of replicas"))
		}
	}
	return faults
}

// Stored returns what the server would keep and return of the object, by its own
// libraries: the object at the version of the request, then at the storage version,
// then back without defaults.
func (k *Kind) Stored(object map[string]any) (map[string]any, error) {
	stored := runtime.DeepCopyJSON(object)
	if err := k.request.pass(stored, true); err != nil {
		return nil, fmt.Errorf("receive the object: %w", err)
	}
	if k.statusApart {
		delete(stored, "status")
	}
	if err := k.storage.pass(stored, true); err != nil {
		return nil, fmt.Errorf("read the object from storage: %w", err)
	}
	if err := k.request.pass(stored, false); err != nil {
		return nil, fmt.Errorf("convert the object back: %w", err)
	}
	return stored, nil
}

// pass does to the object what the server does at one version: it prunes, drops
// nulls, coerces metadata and, where asked for, fills in defaults.
func (s *schemaOf) pass(object map[string]any, defaults bool) *field.Error {
	kept := map[string]any{}
	for _, name := range []string{"apiVersion", "kind"} {
		if value, found := object[name]; found {
			kept[name] = value
		}
	}
	metadata, hasMetadata, err := objectmeta.GetObjectMeta(object, false)
	if err != nil {
		return field.Invalid(field.NewPath("metadata"), nil, err.Error())
	}
	pruning.Prune(object, s.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	if fault := objectmeta.Coerce(nil, object, s.structural, false, false); fault != nil {
		return fault
	}
	maps.Copy(object, kept)
	if hasMetadata {
		if err := objectmeta.SetObjectMeta(object, metadata); err != nil {
			return field.Invalid(field.NewPath("metadata"), nil, err.Error())
		}
		if metadata.CreationTimestamp.IsZero() {
			delete(asMap(object["metadata"]), "creationTimestamp")
		}
	}
	if defaults {
		defaulting.Default(object, s.structural)
	}
	return nil
}

// lost returns the fields of the object that the server does not keep whatever its
// defaults are: unknown to the version of the request or to the storage version, or
// empty where metadata has no room for empty values. Explicit nulls are none of
// them, unless a field around them is: they follow rules of their own.
func (k *Kind) lost(object map[string]any) []fieldpath.Pointer {
	kept := runtime.DeepCopyJSON(object)
	for _, schema := range []*schemaOf{k.request, k.storage} {
		pruning.Prune(kept, schema.structural, true)
	}
	var pointers []fieldpath.Pointer
	missing("", object, kept, func(pointer fieldpath.Pointer, _ any) { pointers = append(pointers, pointer) })
	coerced := runtime.DeepCopyJSON(kept)
	if fault := objectmeta.Coerce(nil, coerced, k.request.structural, true, false); fault != nil {
		return pointers // The server refuses the object.
	}
	missing("", kept, coerced, func(pointer fieldpath.Pointer, value any) {
		if value != nil {
			pointers = append(pointers, pointer)
		}
	})
	return pointers
}

// missing visits the fields of whole that part lacks. Lists have the same length in both.
func missing(at fieldpath.Pointer, whole, part any, visit func(fieldpath.Pointer, any)) {
	switch whole := whole.(type) {
	case map[string]any:
		other := asMap(part)
		for _, name := range sortedKeys(whole) {
			if value, found := other[name]; found {
				missing(at.Key(name), whole[name], value, visit)
			} else {
				visit(at.Key(name), whole[name])
			}
		}
	case []any:
		other, _ := part.([]any)
		for i := range min(len(whole), len(other)) {
			missing(at.Index(i), whole[i], other[i], visit)
		}
	}
}

// asMap returns the value as a map; one that is none is as good as an empty map.
func asMap(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}
