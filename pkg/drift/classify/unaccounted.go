package classify

import (
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// addUnaccounted adds findings about the resources that Argo CD flags, or that cannot be
// compared, and about which no rule has said a word. None of them is in sync.
func addUnaccounted(s *state.Application, findings []rule.Finding) []rule.Finding {
	about := map[drift.Key]bool{}
	explained := s.Incomparable
	for i := range findings {
		about[drift.KeyOf(findings[i].Resource)] = true
		explained = explained || slices.Contains(outdated, findings[i].Mechanism)
	}
	for _, r := range s.Resources {
		if s.Ctx.Err() != nil {
			break
		}
		if r.Given.Hook || r.Target == nil || r.Live == nil || about[drift.KeyOf(r.Ref)] {
			continue
		}
		if why := whyUnaccounted(r, explained); why != "" {
			about[drift.KeyOf(r.Ref)] = true
			summary := "Argo CD flags the resource, and nothing that can be seen here differs."
			if r.CompareError != nil {
				summary = "Moorpin cannot compare the resource: what differs is not known."
			}
			findings = append(findings, finding(s, r, &rule.Answer{Mechanism: drift.Unexplained, Confidence: drift.Possible, Sync: drift.OverwritesLive, Evidence: []string{why}, Summary: summary}))
		}
	}
	return findings
}

// whyUnaccounted says why a resource without any difference is not in sync, or "".
// explained tells that a finding about the Application says why its status is wrong.
func whyUnaccounted(r *state.Resource, explained bool) string {
	switch {
	case len(r.Differences) > 0:
		return ""
	case r.Unfit != nil:
		return "it cannot be compared: " + r.Quote(r.Unfit.Error())
	case r.Modified && r.CompareError == nil:
		return "Argo CD's comparison finds that the two sides differ, but no field of theirs does"
	case explained:
		return ""
	case r.CompareError != nil:
		return "it cannot be compared: " + r.Quote(r.CompareError.Error())
	case r.SaidOutOfSync() && !r.OfHook():
		return "Argo CD lists it as OutOfSync, but in the snapshot nothing of it differs"
	}
	return ""
}

// unseen is the answer for an Application that Argo CD calls OutOfSync, and of which
// the snapshot shows nothing that is.
func unseen(s *state.Application) rule.Answer {
	c := rule.Answer{Mechanism: drift.Unexplained, Confidence: drift.Possible, Sync: drift.OverwritesLive, Summary: "Argo CD calls the Application OutOfSync, and the snapshot does not show why."}
	c.Evidence = []string{"Argo CD's status says OutOfSync, but nothing in the snapshot differs"}
	if listed := listedOutOfSync(s); len(listed) > 0 {
		c.Evidence = append(c.Evidence, "it lists as OutOfSync: "+words.Some(listed))
	}
	return c
}

// listedOutOfSync are the resources that the status lists as OutOfSync.
func listedOutOfSync(s *state.Application) []string {
	var names []string
	for _, listed := range s.Object.Status.Resources {
		if listed.Status == v1alpha1.SyncStatusCodeOutOfSync {
			names = append(names, drift.ResourceRef{Kind: listed.Kind, Namespace: listed.Namespace, Name: listed.Name}.Words())
		}
	}
	return names
}
