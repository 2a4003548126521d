package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// ServedOtherwise tells how the cluster is known to serve the kind of a target
// whose version it does not serve: by the CRD's other versions, by a live object of
// the same kind, or because the kind is Kubernetes' own. "" when it is not known.
func (r *Resource) ServedOtherwise() string {
	wanted := r.Ref
	if r.Target != nil {
		wanted = drift.RefOf(r.Target)
	}
	if r.liveIn(wanted) {
		return "" // whatever the CRD says that the snapshot holds
	}
	if crd, found := r.Application.Crd(wanted.Group, wanted.Kind); found {
		served := kind.ServedVersions(crd)
		if len(served) > 0 && !slices.Contains(served, wanted.Version) {
			return fmt.Sprintf("the CRD serves %s, not %s", strings.Join(served, ", "), wanted.Version)
		}
		return ""
	}
	for kind := range kind.BuiltIn() {
		if kind.Group == wanted.Group && kind.Kind == wanted.Kind {
			return fmt.Sprintf("%s is Kubernetes' own, so another version of it is served", wanted.Kind)
		}
	}
	if version := r.servedVersion(wanted); version != "" {
		return fmt.Sprintf("an object of the kind is live as %s, not as %s", version, wanted.Version)
	}
	return ""
}

// liveIn reports whether an object of the kind is live in the version, the resource itself
// or another one.
func (r *Resource) liveIn(wanted drift.ResourceRef) bool {
	lives := slices.Clone(r.Application.Related.Of(wanted.Group, wanted.Kind))
	for _, other := range r.Application.ByKind(wanted.Group, wanted.Kind) {
		lives = append(lives, other.Live)
	}
	return slices.ContainsFunc(lives, func(live object.Object) bool {
		return live != nil && drift.RefOf(live).Version == wanted.Version && drift.RefOf(live).Group == wanted.Group
	})
}

// LiveHolds reports whether the live object, or another one of the kind, has a field at or
// below the innermost of the steps that the schema lacks: then the schema is not the
// cluster's.
func (r *Resource) LiveHolds(steps []string) bool {
	root, known := r.Shape()
	for i := range steps {
		if _, has := root.At(steps[:i+1]); has || !known {
			continue
		}
		unknown := fieldpath.Of(steps[:i+1]...)
		held := func(live object.Object) bool {
			_, found := unknown.Value(live)
			return live != nil && found
		}
		if held(r.Live) {
			return true
		}
		if slices.ContainsFunc(steps[:i+1], value.IsIndex) {
			return false // of another object, another item
		}
		return slices.ContainsFunc(r.Application.ByKind(r.Ref.Group, r.Ref.Kind), func(other *Resource) bool { return held(other.Live) })
	}
	return false
}

// servedVersion is another version in which the snapshot holds a live object of the
// kind; "" when there is none.
func (r *Resource) servedVersion(wanted drift.ResourceRef) string {
	for _, other := range r.Application.ByKind(wanted.Group, wanted.Kind) {
		if version := drift.RefOf(other.Live).Version; other.Live != nil && version != wanted.Version {
			return version
		}
	}
	return ""
}

// IsDefault reports whether the value is what the API server fills in where Git
// says nothing.
func (r *Resource) IsDefault(steps []string, v any) bool {
	if pinned, has := r.Pinned(); has {
		if filled, found := r.Items.Follow(pinned, r.Live, steps); found && value.Equal(filled, v) {
			return true
		}
	}
	if !r.BuiltIn() {
		return false
	}
	filled, found := r.Items.Follow(r.defaulted(), r.Live, steps)
	return found && value.Equal(filled, v)
}

// defaulted is Git's manifest of one of Kubernetes' own kinds with the defaults that
// are known for it, made once.
func (r *Resource) defaulted() object.Object {
	if r.defaultedTarget == nil {
		r.defaultedTarget = kind.WithDefaults(r.Target)
	}
	return r.defaultedTarget
}

// LivesOf reports whether an object of the kind is live, so that it is served.
func (s *Application) LivesOf(group, kind string) bool {
	for _, r := range s.Resources {
		if r.Live != nil && r.Ref.Group == group && r.Ref.Kind == kind {
			return true
		}
	}
	return len(s.Related.Of(group, kind)) > 0
}

// Meant returns the field that a misspelt one was probably meant to be.
func (r *Resource) Meant(steps []string) (string, bool) {
	root, known := r.Shape()
	if !known {
		return "", false
	}
	for i := range steps {
		if _, has := root.At(steps[:i+1]); has {
			continue
		}
		parent, _ := root.At(steps[:i])
		best, distance := "", words.Far
		for _, name := range parent.FieldNames() {
			d := words.Distance(strings.ToLower(name), strings.ToLower(steps[i]))
			if d == words.Far && len(name) > 4 && (strings.HasPrefix(steps[i], name) || strings.HasPrefix(name, steps[i])) {
				d = words.Far - 1
			}
			if d < distance || d == distance && d < words.Far && name < best {
				best, distance = name, d
			}
		}
		return best, best != ""
	}
	return "", false
}

// Schemaless reports whether nothing in the snapshot says which fields a custom kind
// has: without its CRD, what the API server adds or drops by itself looks like the
// work of a webhook or of a person.
func (s *Application) Schemaless(ref drift.ResourceRef) bool {
	if !strings.Contains(ref.Group, ".") || scheme.Scheme.IsGroupRegistered(ref.Group) || servedByAPIServer(ref.Group) {
		return false
	}
	_, found := s.Crd(ref.Group, ref.Kind)
	return !found
}

// servedByAPIServer reports whether a group is Kubernetes' own, though Argo CD does
// not know its types.
func servedByAPIServer(group string) bool {
	return group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io"
}

// NoCRD says what cannot be told without the CRD of a kind.
func NoCRD(kind string) string {
	return fmt.Sprintf("the snapshot has no CRD of %s, so defaults and unknown fields cannot be told apart; take it with --kubeconfig", kind)
}

// Shape returns what is known of the resource's kind, and whether anything is.
func (r *Resource) Shape() (kind.Shape, bool) {
	if !r.shapeKnown {
		r.shapeKnown = true
		r.shapeFound, r.hasShape = r.findShape()
	}
	return r.shapeFound, r.hasShape
}

func (r *Resource) findShape() (kind.Shape, bool) {
	version := r.Ref.Version
	if found := drift.RefOf(r.Target); found.Version != "" {
		version = found.Version
	}
	if crd, ok := r.Application.Crd(r.Ref.Group, r.Ref.Kind); ok {
		for _, v := range object.List(crd, "spec", "versions") {
			if object.Text(v, "name") == version {
				root := object.Map(v, "schema", "openAPIV3Schema")
				return kind.Shape{CRD: root}, root != nil
			}
		}
		root := object.Map(crd, "spec", "validation", "openAPIV3Schema")
		return kind.Shape{CRD: root}, root != nil
	}
	goType, known := scheme.Scheme.AllKnownTypes()[schema.GroupVersionKind{Group: r.Ref.Group, Version: version, Kind: r.Ref.Kind}]
	return kind.Shape{GoType: goType}, known
}

// StatusIsPlain reports whether the kind's CRD has no status subresource, so that
// status is a field like others.
func (r *Resource) StatusIsPlain() bool {
	crd, ok := r.Application.Crd(r.Ref.Group, r.Ref.Kind)
	if !ok {
		return false
	}
	version := drift.RefOf(r.Target).Version
	for _, v := range object.List(crd, "spec", "versions") {
		if object.Text(v, "name") == version {
			_, has := object.At(object.Map(v, "subresources"), "status")
			_, all := object.At(crd, "spec", "subresources", "status")
			return !has && !all
		}
	}
	return false
}

// BuiltIn reports whether the kind is Kubernetes' own.
func (r *Resource) BuiltIn() bool {
	found, known := r.Shape()
	return known && found.GoType != nil
}

// Crd returns the CustomResourceDefinition of a kind: a live one before one that
// Git renders.
func (s *Application) Crd(group, kind string) (object.Object, bool) {
	s.crdsOnce.Do(func() {
		s.crds = map[[2]string]object.Object{}
		found := slices.Clone(s.Related.Of("apiextensions.k8s.io", "CustomResourceDefinition"))
		for _, r := range s.ByKind("apiextensions.k8s.io", "CustomResourceDefinition") {
			found = append(found, r.Live, r.Target)
		}
		for _, crd := range slices.Backward(found) {
			s.crds[[2]string{object.Text(crd, "spec", "group"), object.Text(crd, "spec", "names", "kind")}] = crd
		}
	})
	found, known := s.crds[[2]string{group, kind}]
	return found, known
}
