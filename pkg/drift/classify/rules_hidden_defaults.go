package classify

import (
	"encoding/json"
	"slices"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// isDefault reports whether the value is what the API server fills in where Git
// says nothing.
func (r *resource) isDefault(steps []string, v any) bool {
	if pinned, has := r.pinned(); has {
		if filled, found := r.items.Follow(pinned, r.live, steps); found && value.Equal(filled, v) {
			return true
		}
	}
	if !r.builtIn() {
		return false
	}
	filled, found := r.items.Follow(r.defaulted(), r.live, steps)
	return found && value.Equal(filled, v)
}

// defaulted is Git's manifest of one of Kubernetes' own kinds with the defaults that
// are known for it, made once.
func (r *resource) defaulted() object.Object {
	if r.defaultedTarget == nil {
		r.defaultedTarget = kind.WithDefaults(r.target)
	}
	return r.defaultedTarget
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
	filled := kind.WithDefaults(bare)
	return slices.DeleteFunc(found, func(one addition) bool {
		v, back := one.pointer.Value(filled)
		return back && taken.Has(one.pointer) && value.Equal(v, one.value)
	})
}
