package ignore

import (
	"fmt"

	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// aimsByJQ holds a difference against what a jq path selects in either side. One that
// cannot be read, or selects nothing, was meant for the difference when it names its
// last field.
func aimsByJQ(r *state.Resource, path string, d *diff.Difference) (aims bool, why string) {
	e := r.Application.Expression(path)
	if e.Err != nil {
		return e.Mentions(d), fmt.Sprintf("the jq path %q cannot be used: %v", path, e.Err)
	}
	selected := r.Selection(path)
	switch {
	case selected.Err != nil:
		return e.Mentions(d), fmt.Sprintf("the jq path %q does not fit the object: %v", path, selected.Err)
	case selected.Places.Covers(d.Pointer) || selected.Places.Covers(d.TargetPointer):
		return true, ""
	case selected.Places.Len() == 0 && e.Mentions(d):
		return true, fmt.Sprintf("the jq path %q selects nothing in this object", path)
	}
	return false, ""
}
