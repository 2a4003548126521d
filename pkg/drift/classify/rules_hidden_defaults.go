package classify

import (
	"encoding/json"
	"slices"

	"github.com/argoproj/gitops-engine/pkg/utils/kube/scheme"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// isDefault reports whether the value is what the API server fills in where Git
// says nothing.
func (r *resource) isDefault(steps []string, value any) bool {
	if pinned, has := r.pinned(); has {
		if filled, found := r.items.follow(pinned, r.live, steps); found && equal(filled, value) {
			return true
		}
	}
	if !r.builtIn() {
		return false
	}
	filled, found := r.items.follow(r.defaulted(), r.live, steps)
	return found && equal(filled, value)
}

// defaulted is Git's manifest of one of Kubernetes' own kinds with the defaults that
// are known for it, made once.
func (r *resource) defaulted() object.Object {
	if r.defaultedTarget == nil {
		r.defaultedTarget = withDefaults(r.target)
	}
	return r.defaultedTarget
}

// withDefaults returns an object of one of Kubernetes' own kinds with the defaults
// that are known for it; an empty one when it does not fit its kind.
func withDefaults(plain object.Object) object.Object {
	ref := drift.RefOf(plain)
	typed, err := scheme.Scheme.New(schema.GroupVersionKind{Group: ref.Group, Version: ref.Version, Kind: ref.Kind})
	if err != nil {
		return object.Object{}
	}
	data, err := json.Marshal(plain)
	if err == nil {
		err = json.Unmarshal(data, typed)
	}
	if err != nil {
		return object.Object{}
	}
	scheme.Scheme.Default(typed)
	filled := object.Object{}
	if data, err = json.Marshal(typed); err == nil {
		err = kjson.Unmarshal(data, &filled)
	}
	if err != nil {
		return object.Object{}
	}
	return filled
}

// withoutFilled leaves out what the API server filled in beside another change: what
// comes back by itself when all the additions are taken away.
func (r *resource) withoutFilled(found []addition) []addition {
	if len(found) == 0 || !r.builtIn() {
		return found
	}
	data, err := json.Marshal(r.live)
	if err != nil {
		return found
	}
	var bare object.Object
	if kjson.Unmarshal(data, &bare) != nil {
		return found
	}
	taken := fieldpath.NewSet()
	for _, one := range found {
		steps := one.pointer.Steps()
		above, _ := one.pointer.Parent().Value(bare)
		if holder, ok := above.(map[string]any); ok { // an item of a list comes with no default
			delete(holder, steps[len(steps)-1])
			taken.Insert(one.pointer)
		}
	}
	filled := withDefaults(bare)
	return slices.DeleteFunc(found, func(one addition) bool {
		value, back := one.pointer.Value(filled)
		return back && taken.Has(one.pointer) && equal(value, one.value)
	})
}
