package classify

import (
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
)

// replaces reports whether a sync replaces the object instead of merging into it, and
// whether it deletes the object for that. Namespaces and CRDs are never deleted so.
// Source: gitops-engine sync_context.go, applyObject.
func (r *resource) replaces() (replaces, deletes bool) {
	policy := r.situation.app.Spec.SyncPolicy
	on := func(option string) bool {
		return hasOption(r.target, mark.SyncOptions, option) || policy != nil && policy.SyncOptions.HasOption(option)
	}
	replaces = on("Replace=true")
	core := r.ref.Group == "" && r.ref.Kind == "Namespace" || r.ref.Group == "apiextensions.k8s.io" && r.ref.Kind == "CustomResourceDefinition"
	return replaces, replaces && !core && hasOption(r.target, mark.SyncOptions, "Force=true")
}

// heedReplacing makes worse what is said of resources that a sync replaces: all that
// only live has is lost, and with Force=true the object itself.
func (s *situation) heedReplacing(findings []drift.Finding) []drift.Finding {
	about := byResource(findings)
	for _, r := range s.resources {
		if s.ctx.Err() != nil {
			break
		}
		if r.target == nil || r.live == nil || r.given.Hook {
			continue
		}
		replaces, deletes := r.replaces()
		if !replaces {
			continue
		}
		for _, i := range about[drift.KeyOf(r.ref)] {
			if f := &findings[i]; len(f.Fields) > 0 {
				r.heedReplacing(f, deletes)
			}
		}
	}
	return findings
}

// byResource are the places of the findings about each resource.
func byResource(findings []drift.Finding) map[drift.Key][]int {
	about := make(map[drift.Key][]int, len(findings))
	for i := range findings {
		of := drift.KeyOf(findings[i].Resource)
		about[of] = append(about[of], i)
	}
	return about
}

func (r *resource) heedReplacing(f *drift.Finding, deletes bool) {
	if deletes {
		f.Sync = drift.Worse(f.Sync, drift.Destructive)
		f.Evidence = append(slices.Clone(f.Evidence), "Replace=true and Force=true are set: a sync deletes the object and creates it anew")
		f.Loss = append(slices.Clone(f.Loss), r.ref.Words()+" itself, until it is there again")
		return
	}
	if f.Flagged {
		return // the rules know whose value it is
	}
	f.Sync = drift.Worse(f.Sync, drift.OverwritesLive)
	f.Evidence = append(slices.Clone(f.Evidence), "Replace=true is set: a sync puts Git's manifest in the object's place, without what only live has")
	f.Loss = slices.Clone(f.Loss)
	for _, field := range f.Fields {
		f.Loss = append(f.Loss, string(field.Pointer)+", which only live has")
	}
}
