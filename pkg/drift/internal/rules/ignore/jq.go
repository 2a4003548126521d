package ignore

import (
	"context"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"

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
		return e.Mentions(d), fmt.Sprintf("the jq path %q does not fit the object: %s", path, jqError(r, selected.Err))
	case selected.Places.Covers(d.Pointer) || selected.Places.Covers(d.TargetPointer):
		return true, ""
	case selected.Places.Len() == 0 && e.Mentions(d):
		return true, fmt.Sprintf("the jq path %q selects nothing in this object", path)
	}
	return false, ""
}

// jqError says why a jq path ended. Its own words may be a part of what it has read, in any
// spelling: of a Secret only the kind of the error is told.
func jqError(r *state.Resource, err error) string {
	switch {
	case !r.IsSecret():
		return err.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "it takes too long"
	}
	if _, thrown := errors.AsType[gojq.ValueError](err); thrown {
		return "it ends in an error of its own (hidden, as the object is a Secret)"
	}
	return "it meets a value of another type (hidden, as the object is a Secret)"
}
