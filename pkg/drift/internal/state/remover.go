package state

import (
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// SharedWith reports whether the mark on the live object is another Application's
// doing. An annotation names an Application by construction; a label may be any
// tool's.
func (r *Resource) SharedWith(app string) bool {
	if object.Annotation(r.Live, mark.TrackingID) != "" {
		return true
	}
	owner, found := owners.OfField(r.Live, "metadata", "labels", r.Application.Settings.InstanceLabel)
	if found && owner.Manager != mark.Manager {
		return false
	}
	if _, known := r.Application.KnownApplication(app); known {
		return true
	}
	return found && owner.Manager == mark.Manager && object.Text(r.LastApplied, "metadata", "labels", r.Application.Settings.InstanceLabel) == app
}

// WrittenByArgo reports whether the live side of a difference is what Argo CD
// itself applied, for whichever Application: as last-applied says, else as
// managedFields do. What live lacks, the other manifest lacked.
func (r *Resource) WrittenByArgo(d *diff.Difference) bool {
	if r.LastApplied != nil {
		return d.InApplied == d.InLive && (!d.InLive || value.Equal(d.Applied, d.Live))
	}
	if !d.InLive {
		return true
	}
	owner, found := owners.Newest(r.WritersOf(d).All)
	return found && owners.RoleOf(r.Ref.Kind, owner) == owners.Argo
}

// Remover is who wrote the object itself after Argo CD last did. Taking a field away
// leaves no other trace in managedFields.
func (r *Resource) Remover() (drift.Owner, bool) {
	last := r.LastWrite()
	var later []drift.Owner
	for _, owner := range r.Ownership().Entries {
		if role := owners.RoleOf(r.Ref.Kind, owner); role != owners.Argo && role != owners.Nobody && owner.Subresource == "" && owner.Time != "" && owner.Time >= last && r.writesSpec(owner) {
			later = append(later, owner)
		}
	}
	return owners.Newest(later)
}

// writesSpec reports whether an entry owns more of the object than its status.
func (r *Resource) writesSpec(owner drift.Owner) bool {
	i := slices.Index(r.Ownership().Entries, owner)
	for name := range r.Live {
		if set := r.Ownership().Exact[fieldpath.Of(name)] | r.Ownership().Within[fieldpath.Of(name)]; name != "status" && set&(1<<i) != 0 {
			return true
		}
	}
	return false
}
