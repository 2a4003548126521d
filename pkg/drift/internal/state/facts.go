package state

import (
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/object"
)

// IsLive says what the field is live.
func (r *Resource) IsLive(d *diff.Difference) string {
	if !d.InLive {
		return "is not there live"
	}
	return "is " + r.Show(d.Pointer, d.Live, true) + " live"
}

// PutBack says what a sync does to a field that is gone live.
func PutBack(d *diff.Difference) string {
	return string(d.Pointer) + " was removed live; a sync puts it back"
}

// Compared is the live document that the pointers of the findings are about: as it was
// compared, else as it is.
func (r *Resource) Compared() object.Object {
	if r.Normalized != nil {
		return r.Normalized
	}
	return r.Live
}

// OutOfSync reports whether Argo CD calls a resource that cannot be compared OutOfSync.
func (r *Resource) OutOfSync() bool {
	if r.Status != nil && r.Status.Status != "" {
		return r.SaidOutOfSync()
	}
	return r.Live == nil || r.Target != nil || !HasOption(r.Live, mark.CompareOptions, "IgnoreExtraneous")
}

// SaidOutOfSync reports whether Argo CD lists the resource as OutOfSync.
func (r *Resource) SaidOutOfSync() bool {
	return r.Status != nil && r.Status.Status == v1alpha1.SyncStatusCodeOutOfSync
}

// Drifts reports whether Argo CD has anything to sync: a flagged difference, a
// resource that one side lacks, or changed metadata of the namespace.
func (s *Application) Drifts() bool {
	for _, r := range s.Resources {
		if r.Drifts() {
			return true
		}
	}
	return s.Object.HasChangedManagedNamespaceMetadata()
}

// Drifts reports whether Argo CD flags the resource.
func (r *Resource) Drifts() bool {
	if r.OfHook() || r.CompareError != nil {
		return false
	}
	switch {
	case r.Target != nil && r.Live != nil:
		return len(r.Differences) > 0
	case r.Target == nil:
		return r.Live != nil && !ForeignID(r)
	}
	return true
}

// Find returns the resource of that group, kind and name, whatever its namespace;
// the entry has no live object when it is only known elsewhere.
func (s *Application) Find(ref drift.ResourceRef) *Resource {
	if ref.Name == "" {
		return &Resource{Application: s, Ref: ref}
	}
	for _, r := range s.Resources {
		if r.Ref.Group == ref.Group && r.Ref.Kind == ref.Kind && r.Ref.Name == ref.Name {
			return r
		}
	}
	found := &Resource{Application: s, Ref: ref}
	for of, result := range s.Results() {
		if of.Group == ref.Group && of.Kind == ref.Kind && of.Name == ref.Name {
			found.Ref.Namespace, found.Ref.Version = of.Namespace, result.Version
		}
	}
	for _, o := range s.Related.Of(ref.Group, ref.Kind) {
		if object.Text(o, "metadata", "name") == ref.Name {
			found.Live, found.Ref = o, drift.RefOf(o)
		}
	}
	return found
}

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
