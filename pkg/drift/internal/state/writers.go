package state

import (
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/object"
)

// Writers are the owners of a flagged field by their roles.
type Writers struct {
	All []drift.Owner
	// Argo tells that Argo CD owns the field: its live value is what Argo CD
	// applied, or what admission made of it.
	Argo bool
	// Last is the newest owner other than Argo CD, in the role that it plays.
	Last drift.Owner
	Role owners.Role
}

// Ownership says who owns the fields of the live object; it is read once.
func (r *Resource) Ownership() *owners.Ownership {
	if r.owners == nil {
		r.owners = owners.Of(r.Live)
	}
	return r.owners
}

// WritersOf reads who wrote the live value of a difference.
func (r *Resource) WritersOf(d *diff.Difference) Writers {
	if !d.InLive {
		return Writers{}
	}
	w := Writers{All: r.Ownership().At(d.Pointer)}
	var others []drift.Owner
	for _, owner := range w.All {
		if owners.RoleOf(r.Ref.Kind, owner) == owners.Argo {
			w.Argo = true
		} else {
			others = append(others, owner)
		}
	}
	if last, found := owners.Newest(others); found {
		w.Last, w.Role = last, owners.RoleOf(r.Ref.Kind, last)
	}
	return w
}

// LastWrite is the time of Argo CD's newest write to the object itself, or "".
func (r *Resource) LastWrite() string {
	var last string
	for _, owner := range r.Ownership().Entries {
		if owners.RoleOf(r.Ref.Kind, owner) == owners.Argo && owner.Subresource == "" && owner.Time > last {
			last = owner.Time
		}
	}
	return last
}

// MadeOnly reports whether a writer made the object and has not written it since. The API
// server notes both times in one request.
func (r *Resource) MadeOnly(owner drift.Owner) bool {
	made, err := ParseTime(object.Text(r.Live, "metadata", "creationTimestamp"))
	wrote, errWrote := ParseTime(owner.Time)
	return err == nil && errWrote == nil && !made.IsZero() && !wrote.IsZero() && wrote.Sub(made.Time).Seconds() <= 1
}

// BeforeArgo reports whether a writer has not come again since Argo CD wrote the object.
func (r *Resource) BeforeArgo(owner drift.Owner) bool {
	last := r.LastWrite()
	return last != "" && owner.Time != "" && owner.Time < last
}

// HasOwners tells whether the live object says at all who wrote it.
func (r *Resource) HasOwners() bool {
	return len(r.Ownership().Entries) > 0
}
