package classify

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	quantities "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

// shape is what is known of a field: the schema of the CRD, or the Go type of
// Kubernetes' own kinds. The zero shape allows anything.
type shape struct {
	crd    map[string]any
	goType reflect.Type
	// mergeKey is the key of the list's items, where they have one.
	mergeKeys []string
}

// shape returns what is known of the resource's kind, and whether anything is.
func (r *resource) shape() (shape, bool) {
	if !r.shapeKnown {
		r.shapeKnown = true
		r.shapeFound, r.hasShape = r.findShape()
	}
	return r.shapeFound, r.hasShape
}

func (r *resource) findShape() (shape, bool) {
	version := r.ref.Version
	if found := drift.RefOf(r.target); found.Version != "" {
		version = found.Version
	}
	if crd, ok := r.situation.crd(r.ref.Group, r.ref.Kind); ok {
		for _, v := range object.List(crd, "spec", "versions") {
			if object.Text(v, "name") == version {
				root := object.Map(v, "schema", "openAPIV3Schema")
				return shape{crd: root}, root != nil
			}
		}
		root := object.Map(crd, "spec", "validation", "openAPIV3Schema")
		return shape{crd: root}, root != nil
	}
	goType, known := scheme.Scheme.AllKnownTypes()[schema.GroupVersionKind{Group: r.ref.Group, Version: version, Kind: r.ref.Kind}]
	return shape{goType: goType}, known
}

// statusIsPlain reports whether the kind's CRD has no status subresource, so that
// status is a field like others.
func (r *resource) statusIsPlain() bool {
	crd, ok := r.situation.crd(r.ref.Group, r.ref.Kind)
	if !ok {
		return false
	}
	version := drift.RefOf(r.target).Version
	for _, v := range object.List(crd, "spec", "versions") {
		if object.Text(v, "name") == version {
			_, has := object.At(object.Map(v, "subresources"), "status")
			_, all := object.At(crd, "spec", "subresources", "status")
			return !has && !all
		}
	}
	return false
}

// builtIn reports whether the kind is Kubernetes' own.
func (r *resource) builtIn() bool {
	found, known := r.shape()
	return known && found.goType != nil
}

// at follows the steps of a pointer. known is false when the schema has no such
// field, so that the API server drops it.
func (s shape) at(steps []string) (found shape, known bool) {
	for i, step := range steps {
		if i == 0 && s.crd != nil && (step == "metadata" || step == "apiVersion" || step == "kind") {
			return shape{}, true
		}
		if s, known = s.child(step); !known {
			return shape{}, false
		}
	}
	return s, true
}

func (s shape) child(step string) (shape, bool) {
	switch {
	case s.crd != nil:
		return s.crdChild(step)
	case s.goType != nil:
		return s.goChild(step)
	}
	return shape{}, true
}

func (s shape) crdChild(step string) (shape, bool) {
	if items := object.Map(s.crd, "items"); items != nil && isIndex(step) {
		return ofCRD(items), true
	}
	if property := object.Map(s.crd, "properties", step); property != nil {
		return ofCRD(property), true
	}
	switch additional := s.crd["additionalProperties"].(type) {
	case map[string]any:
		return ofCRD(additional), true
	case bool:
		if additional {
			return shape{}, true
		}
	}
	open := s.crd["x-kubernetes-preserve-unknown-fields"] == true ||
		s.crd["x-kubernetes-embedded-resource"] == true && (step == "metadata" || step == "apiVersion" || step == "kind")
	return shape{}, open
}

func ofCRD(node map[string]any) shape {
	found := shape{crd: node}
	for _, name := range object.List(node, "x-kubernetes-list-map-keys") {
		if name, ok := name.(string); ok {
			found.mergeKeys = append(found.mergeKeys, name)
		}
	}
	return found
}

// open are Go types that write their own JSON, of which nothing below is known.
var open = map[string]bool{"RawExtension": true, "JSON": true, "Time": true, "MicroTime": true, "Quantity": true, "IntOrString": true, "FieldsV1": true, "Duration": true}

func (s shape) goChild(step string) (shape, bool) {
	goType := indirect(s.goType)
	switch goType.Kind() { //nolint:exhaustive // other kinds have nothing below them
	case reflect.Map:
		return shape{goType: goType.Elem()}, true
	case reflect.Slice, reflect.Array:
		return shape{goType: goType.Elem()}, isIndex(step)
	case reflect.Struct:
		if open[goType.Name()] {
			return shape{}, true
		}
		return structField(goType, step)
	}
	return shape{}, false
}

func structField(goType reflect.Type, name string) (shape, bool) {
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
			return shape{goType: field.Type, mergeKeys: mergeKeysOf(field)}, true
		}
	}
	return shape{}, false
}

// mergeKeysOf are the keys of the items of a list; ports are told apart by their
// protocol too.
func mergeKeysOf(field reflect.StructField) []string {
	switch name := field.Tag.Get("patchMergeKey"); name {
	case "":
		return nil
	case "containerPort", "port":
		return []string{name, "protocol"}
	default:
		return []string{name}
	}
}

func indirect(goType reflect.Type) reflect.Type {
	for goType != nil && goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	return goType
}

// fieldNames are the names that the schema has here.
func (s shape) fieldNames() []string {
	var names []string
	for name := range object.Map(s.crd, "properties") {
		names = append(names, name)
	}
	goType := indirect(s.goType)
	if goType != nil && goType.Kind() == reflect.Struct && !open[goType.Name()] {
		for field := range goType.Fields() {
			if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != "" && tag != "-" {
				names = append(names, tag)
			}
		}
	}
	return names
}

func (s shape) is(goType reflect.Type) bool {
	return indirect(s.goType) == goType
}

// intOrString reports whether the value may be a number or a text such as "25%".
func (s shape) intOrString() bool {
	return s.crd["x-kubernetes-int-or-string"] == true || s.is(reflect.TypeFor[intstr.IntOrString]())
}

// quantity reports whether the value is a resource.Quantity.
func (s shape) quantity() bool { return s.is(reflect.TypeFor[quantities.Quantity]()) }

func isIndex(step string) bool {
	i, err := strconv.Atoi(step)
	return err == nil && i >= 0
}
