package outcome

import (
	"reflect"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// Moves says what is known of whether Git moved since the last sync.
type Moves int

// What can be known.
const (
	Unknown    Moves = iota
	SameSource       // the compared revision and source are those of the last sync
	NewSource        // Git, or the Application's source, moved on
)

// Rendering compares what was compared now with what was synced last.
func Rendering(s *state.Application) Moves {
	status := &s.Object.Status
	revision, revisions, known := s.Synced()
	if !known {
		return Unknown
	}
	if status.Sync.Revision != revision || !slices.Equal(status.Sync.Revisions, revisions) {
		return NewSource
	}
	if status.OperationState != nil && status.OperationState.SyncResult != nil && status.OperationState.Phase.Successful() {
		result := status.OperationState.SyncResult
		compared := status.Sync.ComparedTo
		if compared.Source.RepoURL != "" && result.Source.RepoURL != "" && !reflect.DeepEqual(compared.Source, result.Source) ||
			len(compared.Sources) > 0 && len(result.Sources) > 0 && !reflect.DeepEqual(compared.Sources, result.Sources) {
			return NewSource
		}
	}
	return SameSource
}

// AppliedByArgo reports whether the live value is the one that Argo CD applied
// last, as far as that can be known.
func AppliedByArgo(r *state.Resource, d *diff.Difference) bool {
	if r.LastApplied != nil {
		return d.InApplied == d.InLive && (!d.InLive || value.Equal(d.Applied, d.Live))
	}
	if !d.InLive {
		return true
	}
	w := r.WritersOf(d)
	return w.Argo || appliedParts(r, d, w)
}

// Moved reports whether live is still what Argo CD applied last, and Git says something
// else since.
func Moved(r *state.Resource, d *diff.Difference) bool {
	rendered := Rendering(r.Application)
	switch {
	case rendered == SameSource:
		return false
	case r.LastApplied != nil:
		return AppliedByArgo(r, d) && (d.InGit != d.InApplied || !value.Equal(d.Git, d.Applied))
	case rendered == NewSource && d.InLive:
		w := r.WritersOf(d)
		return w.Role == owners.Nobody && slices.ContainsFunc(w.All, func(owner drift.Owner) bool {
			return owners.RoleOf(r.Ref.Kind, owner) == owners.Argo && owner.Operation == "Apply"
		})
	}
	return false
}

// DeclaredAnew reports whether Git declares since the last sync what another applier had
// left in the object before Argo CD wrote it: an apply would have taken the field.
func DeclaredAnew(r *state.Resource, d *diff.Difference) bool {
	w := r.WritersOf(d)
	return w.Role == owners.Applier && !w.Argo && d.InGit && r.BeforeArgo(w.Last) && Rendering(r.Application) == NewSource
}

// appliedParts reports whether Argo CD owns the field with others, or nobody is known to own anything.
func appliedParts(r *state.Resource, d *diff.Difference, w state.Writers) bool {
	return d.InTarget && w.Role == owners.Nobody && !r.HasOwners()
}

// RenderedAnew reports whether Git's value is new although neither Git nor the
// Application moved.
func RenderedAnew(r *state.Resource, d *diff.Difference) bool {
	return Rendering(r.Application) == SameSource && r.LastApplied != nil && (d.InApplied || d.InGit) && d.InApplied == d.InLive && !value.Equal(d.Applied, d.Git)
}

// EditedLiveOrInGit reports whether somebody made the two sides differ: a person live, or Git.
func EditedLiveOrInGit(r *state.Resource, d *diff.Difference) bool {
	return Edited(d, r.WritersOf(d)) || Moved(r, d)
}

// Edited reports whether a person wrote the live value: the newest of its writers is a
// tool of people, and it is not the one that Argo CD applied.
func Edited(d *diff.Difference, by state.Writers) bool {
	return by.Role == owners.Person && (!by.Argo || d.InApplied && !value.Equal(d.Applied, d.Live))
}
