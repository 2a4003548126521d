package state

import (
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
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
