package classify

import (
	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/object"
)

// shape returns what is known of the resource's kind, and whether anything is.
func (r *resource) shape() (kind.Shape, bool) {
	if !r.shapeKnown {
		r.shapeKnown = true
		r.shapeFound, r.hasShape = r.findShape()
	}
	return r.shapeFound, r.hasShape
}

func (r *resource) findShape() (kind.Shape, bool) {
	version := r.ref.Version
	if found := drift.RefOf(r.target); found.Version != "" {
		version = found.Version
	}
	if crd, ok := r.situation.crd(r.ref.Group, r.ref.Kind); ok {
		for _, v := range object.List(crd, "spec", "versions") {
			if object.Text(v, "name") == version {
				root := object.Map(v, "schema", "openAPIV3Schema")
				return kind.Shape{Crd: root}, root != nil
			}
		}
		root := object.Map(crd, "spec", "validation", "openAPIV3Schema")
		return kind.Shape{Crd: root}, root != nil
	}
	goType, known := scheme.Scheme.AllKnownTypes()[schema.GroupVersionKind{Group: r.ref.Group, Version: version, Kind: r.ref.Kind}]
	return kind.Shape{GoType: goType}, known
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
	return known && found.GoType != nil
}
