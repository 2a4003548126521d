package classify

import (
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
)

// writers are the owners of a flagged field by their roles.
type writers struct {
	all []drift.Owner
	// argo tells that Argo CD owns the field: its live value is what Argo CD
	// applied, or what admission made of it.
	argo bool
	// last is the newest owner other than Argo CD, in the role that it plays.
	last drift.Owner
	role owners.Role
}

// ownership says who owns the fields of the live object; it is read once.
func (r *resource) ownership() *owners.Ownership {
	if r.owners == nil {
		r.owners = owners.Of(r.live)
	}
	return r.owners
}

// writersOf reads who wrote the live value of a difference.
func (r *resource) writersOf(d *diff.Difference) writers {
	if !d.InLive {
		return writers{}
	}
	w := writers{all: r.ownership().At(d.Pointer)}
	var others []drift.Owner
	for _, owner := range w.all {
		if owners.RoleOf(r.ref.Kind, owner) == owners.Argo {
			w.argo = true
		} else {
			others = append(others, owner)
		}
	}
	if last, found := owners.Newest(others); found {
		w.last, w.role = last, owners.RoleOf(r.ref.Kind, last)
	}
	return w
}

// lastWrite is the time of Argo CD's newest write to the object itself, or "".
func (r *resource) lastWrite() string {
	var last string
	for _, owner := range r.ownership().Entries {
		if owners.RoleOf(r.ref.Kind, owner) == owners.Argo && owner.Subresource == "" && owner.Time > last {
			last = owner.Time
		}
	}
	return last
}

// hasOwners tells whether the live object says at all who wrote it.
func (r *resource) hasOwners() bool {
	return len(r.ownership().Entries) > 0
}
