package state

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// Replaces reports whether a sync replaces the object instead of merging into it, and
// whether it deletes the object for that. Namespaces and CRDs are never deleted so.
// Source: gitops-engine sync_context.go, applyObject.
func (r *Resource) Replaces() (replaces, deletes bool) {
	policy := r.Application.Object.Spec.SyncPolicy
	on := func(option string) bool {
		return HasOption(r.Target, mark.SyncOptions, option) || policy != nil && policy.SyncOptions.HasOption(option)
	}
	replaces = on("Replace=true")
	core := r.Ref.Group == "" && r.Ref.Kind == "Namespace" || r.Ref.Group == "apiextensions.k8s.io" && r.Ref.Kind == "CustomResourceDefinition"
	return replaces, replaces && !core && HasOption(r.Target, mark.SyncOptions, "Force=true")
}

// Respects reports whether a sync leaves ignored fields alone.
func (s *Application) Respects() bool {
	policy := s.Object.Spec.SyncPolicy
	return policy != nil && policy.SyncOptions.HasOption(mark.RespectOption)
}

// StrategyOf says how Argo CD compares the resource: the reporter's word, else the
// Application's options, else the resource's own.
func (s *Application) StrategyOf(r *Resource) drift.Strategy {
	if s.Settings.strategy != "" {
		return s.Settings.strategy
	}
	if s.serverSideDiff() {
		return drift.ServerSide
	}
	if s.Object.Spec.SyncPolicy == nil || !s.Object.Spec.SyncPolicy.SyncOptions.HasOption("ServerSideApply=true") {
		if !HasOption(r.Target, mark.SyncOptions, "ServerSideApply=true") {
			return drift.Legacy
		}
	}
	if s.Settings.Version.Before(3, 6) || HasOption(s.Snapshot.Application, mark.CompareOptions, "ServerSideDiff=false") {
		return drift.StructuredMerge
	}
	return drift.ServerSide
}

func (s *Application) serverSideDiff() bool {
	application := s.Snapshot.Application
	if HasOption(application, mark.CompareOptions, "ServerSideDiff=false") {
		return false
	}
	return HasOption(application, mark.CompareOptions, "ServerSideDiff=true") ||
		s.Settings.ArgocdCM["controller.diff.server.side"] == "true"
}

// HasOption reports whether the comma-separated options in an annotation hold the option.
func HasOption(o object.Object, name, option string) bool {
	for given := range strings.SplitSeq(object.Annotation(o, name), ",") {
		if strings.TrimSpace(given) == option {
			return true
		}
	}
	return false
}

// SyncsServerSide reports whether a sync of the resource is a server-side apply.
func (r *Resource) SyncsServerSide() bool {
	policy := r.Application.Object.Spec.SyncPolicy
	return !HasOption(r.Target, mark.SyncOptions, "ServerSideApply=false") &&
		(policy != nil && policy.SyncOptions.HasOption("ServerSideApply=true") ||
			HasOption(r.Target, mark.SyncOptions, "ServerSideApply=true"))
}

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
