// Package tracking has the rules about whose a resource is and how long it lives: marks of
// this and of other Applications, hooks and what they leave, pruning, deletion, kinds that
// Argo CD leaves alone.
package tracking

import (
	"fmt"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// MarkMissing answers: the live object lacks Argo CD's mark and nobody else answers it:
// it was there before the Application was. A sync adopts it.
// Evidence: the flagged difference is the mark itself, which live lacks.
// Counter-evidence: Argo CD applied the object before and a later client-side apply
// took the mark away (foreign-apply), or the mark names another Application
// (shared-resource). Source: util/argo/resource_tracking.go.
func MarkMissing(r *state.Resource, open []*diff.Difference) []rule.Answer {
	var taken []*diff.Difference
	for _, d := range open {
		if r.Tracks(d) && d.InTarget && !d.InLive {
			taken = append(taken, d)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	if _, claimed := r.Claimant(); claimed {
		return nil
	}
	c := rule.Answer{Mechanism: drift.TrackingMissing, Differences: taken, Confidence: drift.Certain, Sync: drift.Safe}
	c.Evidence = append(c.Evidence, "the live object lacks Argo CD's tracking mark, and no other Application claims it")
	writer, known := owners.LastWriter(r.Live)
	switch {
	case owners.WrittenByArgo(r.Live):
		if known && owners.RoleOf(r.Ref.Kind, writer) == owners.Applier {
			return nil
		}
		c.Confidence = drift.Likely
		c.Evidence = append(c.Evidence, "Argo CD applied the object before, so the mark was taken away since")
	case known:
		c.Evidence = append(c.Evidence, fmt.Sprintf("Argo CD never applied it; %s wrote it at %s", writer.Manager, words.First(writer.Time, "an unknown time")))
	default:
		c.Confidence = drift.Likely
		c.Evidence = append(c.Evidence, "managedFields do not say who made it")
	}
	return []rule.Answer{c}
}

// SharedResource answers: two Applications render the same object, and the other one
// applied it last. What it wrote goes with its mark; every sync overwrites the
// other's.
// Evidence: the live mark names another Application, and the differing value is
// what that one applied. Counter-evidence: the label's value is no known
// Application and not written by Argo CD (instance-label-conflict). Sources:
// controller/state.go (SharedResourceWarning); #2600, #8811, #15467, #18166.
func SharedResource(r *state.Resource, open []*diff.Difference) []rule.Answer {
	app, claimed := r.Claimant()
	if !claimed || !r.SharedWith(app) {
		return nil
	}
	c := rule.Answer{Mechanism: drift.SharedResource, Confidence: drift.Certain, Sync: sharedEffect(r.Application)}
	for _, d := range open {
		if r.Tracks(d) || r.WrittenByArgo(d) {
			c.Differences = append(c.Differences, d)
		}
	}
	if len(c.Differences) == 0 {
		return nil
	}
	c.Evidence = append(c.Evidence, fmt.Sprintf("the live object is marked for Application %s", app))
	if known, found := r.Application.KnownApplication(app); found {
		c.Evidence = append(c.Evidence, known)
	}
	c.Evidence = append(c.Evidence, sharedWarning(r.Application, r.Ref)...)
	when := "an unknown time"
	if owner, found := owners.OfField(r.Live, "metadata", "annotations", mark.TrackingID); found && owner.Time != "" {
		when = owner.Time
	}
	c.Evidence = append(c.Evidence, fmt.Sprintf("it was marked by Argo CD's manager at %s", when))
	for _, d := range c.Differences {
		if d.InLive && len(c.Loss) < 20 {
			c.Loss = append(c.Loss, fmt.Sprintf("%s as Application %s applied it", d.Pointer, app))
		}
	}
	return []rule.Answer{c}
}

// sharedEffect is what a sync does to a shared object: it overwrites it, unless the
// Application asks to fail instead. Source: controller/sync.go, hasSharedResourceCondition.
func sharedEffect(s *state.Application) drift.Sync {
	if policy := s.Object.Spec.SyncPolicy; policy != nil && policy.SyncOptions.HasOption("FailOnSharedResource=true") {
		return drift.WillFail
	}
	return drift.OverwritesLive
}

// InstanceLabelConflict answers: the label that Argo CD tracks with is also set by somebody
// else: the chart, an operator, another tool.
// Evidence: labels track, and the label's live value is neither this Application's
// name nor a known other's. Counter-evidence: the value names an Application
// (shared-resource), or the label is missing (tracking-missing). The sync fights
// when a program wrote the label, and when nobody knows who did; after a person's
// edit it is safe.
// Source: #3603, cert-manager-olm#70.
func InstanceLabelConflict(r *state.Resource, open []*diff.Difference) []rule.Answer {
	s := r.Application
	if s.Settings.Tracking == state.TrackAnnotation && !r.LabelTracked() {
		return nil
	}
	c := rule.Answer{Mechanism: drift.InstanceLabelConflict, Confidence: drift.Likely, Sync: drift.FightsController}
	for _, d := range open {
		if len(d.Steps) == 3 && d.Steps[0] == "metadata" && d.Steps[1] == "labels" && d.Steps[2] == s.Settings.InstanceLabel && d.InLive {
			c.Differences = append(c.Differences, d)
			c.Evidence = append(c.Evidence, fmt.Sprintf("%s is the label that Argo CD tracks with; live it is %q", s.Settings.InstanceLabel, words.Show(d.Live)))
		}
	}
	if len(c.Differences) == 0 {
		return nil
	}
	owner, found := owners.OfField(r.Live, "metadata", "labels", s.Settings.InstanceLabel)
	if found {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%s wrote it at %s", owner.Manager, words.First(owner.Time, "an unknown time")))
		c.Confidence = drift.Certain
	}
	if role := owners.RoleOf(r.Ref.Kind, owner); found && (role == owners.Argo || role == owners.Person || role == owners.Applier) {
		c.Sync = drift.Safe // nobody writes it again
	} else {
		c.Loss = append(c.Loss, fmt.Sprintf("label %s=%v", s.Settings.InstanceLabel, c.Differences[0].Live))
	}
	return []rule.Answer{c}
}
