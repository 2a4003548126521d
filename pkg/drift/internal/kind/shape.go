// Package kind knows what is written about kinds: their fields by the schema of a CRD or
// by the Go type of Kubernetes' own kinds, the keys of their lists, their defaults.
//
// A [Shape] says whether a field exists: "spec.replicas" of a Deployment does,
// "spec.replica" does not. The zero shape allows anything, for what nobody has described.
package kind

import (
	"reflect"
	"slices"
	"strings"

	quantities "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/object"
)

// Shape is what is known of a field: the schema of the CRD, or the Go type of
// Kubernetes' own kinds. The zero shape allows anything.
type Shape struct {
	CRD    map[string]any
	GoType reflect.Type
	// mergeKey is the key of the list's items, where they have one.
	MergeKeys []string
}

// At follows the steps of a pointer. known is false when the schema has no such
// field, so that the API server drops it.
func (s Shape) At(steps []string) (found Shape, known bool) {
	for i, step := range steps {
		if i == 0 && s.CRD != nil && (step == "metadata" || step == "apiVersion" || step == "kind") {
			return Shape{}, true
		}
		if s, known = s.Child(step); !known {
			return Shape{}, false
		}
	}
	return s, true
}

// Child is the shape of a field or of the items of a list, and whether there is one.
func (s Shape) Child(step string) (Shape, bool) {
	switch {
	case s.CRD != nil:
		return s.crdChild(step)
	case s.GoType != nil:
		return s.goChild(step)
	}
	return Shape{}, true
}

func ofCRD(node map[string]any) Shape {
	found := Shape{CRD: node}
	for _, name := range object.List(node, "x-kubernetes-list-map-keys") {
		if name, ok := name.(string); ok {
			found.MergeKeys = append(found.MergeKeys, name)
		}
	}
	return found
}

// open are Go types that write their own JSON, of which nothing below is known.
var open = map[string]bool{"RawExtension": true, "JSON": true, "Time": true, "MicroTime": true, "Quantity": true, "IntOrString": true, "FieldsV1": true, "Duration": true}

func structField(goType reflect.Type, name string) (Shape, bool) {
	for field := range goType.Fields() {
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && (tag == "" || strings.Contains(options, "inline")):
			if inner := indirect(field.Type); inner.Kind() == reflect.Struct {
				if found, known := structField(inner, name); known {
					return found, true
				}
			}
		case tag == name && tag != "":
			return Shape{GoType: field.Type, MergeKeys: mergeKeysOf(field)}, true
		}
	}
	return Shape{}, false
}

// mergeKeysOf are the keys of the items of a list; ports are told apart by their
// protocol too.
func mergeKeysOf(field reflect.StructField) []string {
	name := field.Tag.Get("patchMergeKey")
	if name == "" {
		return nil
	}
	for _, keys := range value.ListKeys {
		if keys[0] == name && slices.Contains(keys, "protocol") {
			return keys
		}
	}
	return []string{name}
}

func indirect(goType reflect.Type) reflect.Type {
	for goType != nil && goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	return goType
}

// FieldNames are the names that the schema has here.
func (s Shape) FieldNames() []string {
	var names []string
	for name := range object.Map(s.CRD, "properties") {
		names = append(names, name)
	}
	goType := indirect(s.GoType)
	if goType != nil && goType.Kind() == reflect.Struct && !open[goType.Name()] {
		for field := range goType.Fields() {
			if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != "" && tag != "-" {
				names = append(names, tag)
			}
		}
	}
	return names
}

// IntOrString reports whether the value may be a number or a text such as "25%".
func (s Shape) IntOrString() bool {
	return s.CRD["x-kubernetes-int-or-string"] == true || s.is(reflect.TypeFor[intstr.IntOrString]())
}

// Quantity reports whether the value is a resource.Quantity.
func (s Shape) Quantity() bool { return s.is(reflect.TypeFor[quantities.Quantity]()) }

func (s Shape) crdChild(step string) (Shape, bool) {
	if items := object.Map(s.CRD, "items"); items != nil && value.IsIndex(step) {
		return ofCRD(items), true
	}
	if property := object.Map(s.CRD, "properties", step); property != nil {
		return ofCRD(property), true
	}
	switch additional := s.CRD["additionalProperties"].(type) {
	case map[string]any:
		return ofCRD(additional), true
	case bool:
		if additional {
			return Shape{}, true
		}
	}
	open := s.CRD["x-kubernetes-preserve-unknown-fields"] == true ||
		s.CRD["x-kubernetes-embedded-resource"] == true && (step == "metadata" || step == "apiVersion" || step == "kind")
	return Shape{}, open
}

func (s Shape) goChild(step string) (Shape, bool) {
	goType := indirect(s.GoType)
	switch goType.Kind() { //nolint:exhaustive // other kinds have nothing below them
	case reflect.Map:
		return Shape{GoType: goType.Elem()}, true
	case reflect.Slice, reflect.Array:
		return Shape{GoType: goType.Elem()}, value.IsIndex(step)
	case reflect.Struct:
		if open[goType.Name()] {
			return Shape{}, true
		}
		return structField(goType, step)
	}
	return Shape{}, false
}

func (s Shape) is(goType reflect.Type) bool {
	return indirect(s.GoType) == goType
}
