package outcome

import (
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// Wanted reports whether somebody made the two sides differ: a person live, or Git.
func Wanted(r *state.Resource, d *diff.Difference) bool {
	return Edited(d, r.WritersOf(d)) || Moved(r, d)
}

// Edited reports whether a person wrote the live value: the newest of its writers is a
// tool of people, and it is not the one that Argo CD applied.
func Edited(d *diff.Difference, by state.Writers) bool {
	return by.Role == owners.Person && (!by.Argo || d.InApplied && !value.Equal(d.Applied, d.Live))
}
