package values

import (
	"encoding/json"
	"slices"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// withoutFilled leaves out what the API server filled in beside another change: what
// comes back by itself when all the additions are taken away.
func withoutFilled(r *state.Resource, found []addition) []addition {
	if len(found) == 0 || !r.BuiltIn() {
		return found
	}
	data, err := json.Marshal(r.Live)
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
