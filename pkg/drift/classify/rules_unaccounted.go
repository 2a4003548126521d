package classify

import (
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// outdated are the mechanisms under which Argo CD's status may be about another moment
// than the snapshot, or nothing can be compared: what it lists for a resource is then
// accounted for.
var outdated = []drift.Mechanism{
	drift.StaleComparison, drift.ControllerStale, drift.SyncInProgress, drift.HookStuck, drift.WaveBlocked, drift.ManifestGenerationError, drift.ComparisonErrorSchema, drift.ProjectNotPermitted,
	drift.ManagedNamespaceMetadata,
}

// unaccounted are findings about the resources that Argo CD flags, or that cannot be
// compared, and about which no rule has said a word. None of them is in sync.
func (s *situation) unaccounted(findings []drift.Finding) []drift.Finding {
	about := map[drift.Key]bool{}
	explained := s.incomparable
	for i := range findings {
		about[drift.KeyOf(findings[i].Resource)] = true
		explained = explained || slices.Contains(outdated, findings[i].Mechanism)
	}
	var added []drift.Finding
	for _, r := range s.resources {
		if s.ctx.Err() != nil {
			break
		}
		if r.given.Hook || r.target == nil || r.live == nil || about[drift.KeyOf(r.ref)] {
			continue
		}
		if why := r.unaccounted(explained); why != "" {
			about[drift.KeyOf(r.ref)] = true
			added = append(added, s.finding(r, &claim{
				mechanism: drift.Unexplained, confidence: drift.Possible, sync: drift.OverwritesLive, evidence: []string{why},
				summary: "Argo CD flags the resource, and nothing that can be seen here differs.",
			}))
		}
	}
	return added
}

// unaccounted says why a resource without any difference is not in sync, or "".
// explained tells that a finding about the Application says why its status is wrong.
func (r *resource) unaccounted(explained bool) string {
	switch {
	case len(r.differences) > 0:
		return ""
	case r.modified && r.compareError == nil:
		return "Argo CD's comparison finds that the two sides differ, but no field of theirs does"
	case explained:
		return ""
	case r.compareError != nil:
		return "it cannot be compared: " + r.quote(r.compareError.Error())
	case r.saidOutOfSync() && !r.ofHook():
		return "Argo CD lists it as OutOfSync, but in the snapshot nothing of it differs"
	}
	return ""
}

// unseen is the claim for an Application that Argo CD calls OutOfSync, and of which
// the snapshot shows nothing that is.
func unseen(s *situation) claim {
	c := claim{mechanism: drift.Unexplained, confidence: drift.Possible, sync: drift.OverwritesLive, summary: "Argo CD calls the Application OutOfSync, and the snapshot does not show why."}
	c.evidence = []string{"Argo CD's status says OutOfSync, but nothing in the snapshot differs"}
	if listed := s.listedOutOfSync(); len(listed) > 0 {
		c.evidence = append(c.evidence, "it lists as OutOfSync: "+words.Some(listed))
	}
	return c
}

// listedOutOfSync are the resources that the status lists as OutOfSync.
func (s *situation) listedOutOfSync() []string {
	var names []string
	for _, listed := range s.app.Status.Resources {
		if listed.Status == v1alpha1.SyncStatusCodeOutOfSync {
			names = append(names, drift.ResourceRef{Kind: listed.Kind, Namespace: listed.Namespace, Name: listed.Name}.Words())
		}
	}
	return names
}
