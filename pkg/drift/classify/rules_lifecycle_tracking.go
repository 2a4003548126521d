package classify

import (
	"fmt"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// trackingMissing: the live object lacks Argo CD's mark and nobody else claims it:
// it was there before the Application was. A sync adopts it.
// Evidence: the flagged difference is the mark itself, which live lacks.
// Counter-evidence: Argo CD applied the object before and a later client-side apply
// took the mark away (foreign-apply), or the mark names another Application
// (shared-resource). Source: util/argo/resource_tracking.go.
func trackingMissing(r *resource, open []*diff.Difference) []claim {
	var taken []*diff.Difference
	for _, d := range open {
		if r.tracks(d) && d.InTarget && !d.InLive {
			taken = append(taken, d)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	if _, claimed := r.claimant(); claimed {
		return nil
	}
	c := claim{mechanism: drift.TrackingMissing, differences: taken, confidence: drift.Certain, sync: drift.Safe}
	c.evidence = append(c.evidence, "the live object lacks Argo CD's tracking mark, and no other Application claims it")
	writer, known := owners.LastWriter(r.live)
	switch {
	case owners.WrittenByArgo(r.live):
		if known && owners.RoleOf(r.ref.Kind, writer) == owners.Applier {
			return nil
		}
		c.confidence = drift.Likely
		c.evidence = append(c.evidence, "Argo CD applied the object before, so the mark was taken away since")
	case known:
		c.evidence = append(c.evidence, fmt.Sprintf("Argo CD never applied it; %s wrote it at %s", writer.Manager, words.First(writer.Time, "an unknown time")))
	default:
		c.confidence = drift.Likely
		c.evidence = append(c.evidence, "managedFields do not say who made it")
	}
	return []claim{c}
}

// sharedResource: two Applications render the same object, and the other one
// applied it last. What it wrote goes with its mark; every sync overwrites the
// other's.
// Evidence: the live mark names another Application, and the differing value is
// what that one applied. Counter-evidence: the label's value is no known
// Application and not written by Argo CD (instance-label-conflict). Sources:
// controller/state.go (SharedResourceWarning); #2600, #8811, #15467, #18166.
func sharedResource(r *resource, open []*diff.Difference) []claim {
	app, claimed := r.claimant()
	if !claimed || !r.sharedWith(app) {
		return nil
	}
	c := claim{mechanism: drift.SharedResource, confidence: drift.Certain, sync: r.situation.sharedEffect()}
	for _, d := range open {
		if r.tracks(d) || r.writtenByArgo(d) {
			c.differences = append(c.differences, d)
		}
	}
	if len(c.differences) == 0 {
		return nil
	}
	c.evidence = append(c.evidence, fmt.Sprintf("the live object is marked for Application %s", app))
	if known, found := r.situation.knownApplication(app); found {
		c.evidence = append(c.evidence, known)
	}
	c.evidence = append(c.evidence, r.situation.sharedWarning(r.ref)...)
	when := "an unknown time"
	if owner, found := owners.OfField(r.live, "metadata", "annotations", mark.TrackingID); found && owner.Time != "" {
		when = owner.Time
	}
	c.evidence = append(c.evidence, fmt.Sprintf("it was marked by Argo CD's manager at %s", when))
	for _, d := range c.differences {
		if d.InLive && len(c.loss) < 20 {
			c.loss = append(c.loss, fmt.Sprintf("%s as Application %s applied it", d.Pointer, app))
		}
	}
	return []claim{c}
}

// sharedEffect is what a sync does to a shared object: it overwrites it, unless the
// Application asks to fail instead. Source: controller/sync.go, hasSharedResourceCondition.
func (s *situation) sharedEffect() drift.Sync {
	if policy := s.app.Spec.SyncPolicy; policy != nil && policy.SyncOptions.HasOption("FailOnSharedResource=true") {
		return drift.WillFail
	}
	return drift.OverwritesLive
}

// sharedWith reports whether the mark on the live object is another Application's
// doing. An annotation names an Application by construction; a label may be any
// tool's.
func (r *resource) sharedWith(app string) bool {
	if object.Annotation(r.live, mark.TrackingID) != "" {
		return true
	}
	owner, found := owners.OfField(r.live, "metadata", "labels", r.situation.settings.instanceLabel)
	if found && owner.Manager != mark.Manager {
		return false
	}
	if _, known := r.situation.knownApplication(app); known {
		return true
	}
	return found && owner.Manager == mark.Manager && object.Text(r.lastApplied, "metadata", "labels", r.situation.settings.instanceLabel) == app
}

// writtenByArgo reports whether the live side of a difference is what Argo CD
// itself applied, for whichever Application: as last-applied says, else as
// managedFields do. What live lacks, the other manifest lacked.
func (r *resource) writtenByArgo(d *diff.Difference) bool {
	if r.lastApplied != nil {
		return d.InApplied == d.InLive && (!d.InLive || value.Equal(d.Applied, d.Live))
	}
	if !d.InLive {
		return true
	}
	owner, found := owners.Newest(r.writersOf(d).all)
	return found && owners.RoleOf(r.ref.Kind, owner) == owners.Argo
}

// instanceLabelConflict: the label that Argo CD tracks with is also set by somebody
// else: the chart, an operator, another tool.
// Evidence: labels track, and the label's live value is neither this Application's
// name nor a known other's. Counter-evidence: the value names an Application
// (shared-resource), or the label is missing (tracking-missing). The sync fights
// when a program wrote the label, and when nobody knows who did; after a person's
// edit it is safe.
// Source: #3603, cert-manager-olm#70.
func instanceLabelConflict(r *resource, open []*diff.Difference) []claim {
	s := r.situation
	if s.settings.tracking == trackAnnotation && !r.labelTracked() {
		return nil
	}
	c := claim{mechanism: drift.InstanceLabelConflict, confidence: drift.Likely, sync: drift.FightsController}
	for _, d := range open {
		if len(d.Steps) == 3 && d.Steps[0] == "metadata" && d.Steps[1] == "labels" && d.Steps[2] == s.settings.instanceLabel && d.InLive {
			c.differences = append(c.differences, d)
			c.evidence = append(c.evidence, fmt.Sprintf("%s is the label that Argo CD tracks with; live it is %q", s.settings.instanceLabel, words.Show(d.Live)))
		}
	}
	if len(c.differences) == 0 {
		return nil
	}
	owner, found := owners.OfField(r.live, "metadata", "labels", s.settings.instanceLabel)
	if found {
		c.evidence = append(c.evidence, fmt.Sprintf("%s wrote it at %s", owner.Manager, words.First(owner.Time, "an unknown time")))
		c.confidence = drift.Certain
	}
	if role := owners.RoleOf(r.ref.Kind, owner); found && (role == owners.Argo || role == owners.Person || role == owners.Applier) {
		c.sync = drift.Safe // nobody writes it again
	} else {
		c.loss = append(c.loss, fmt.Sprintf("label %s=%v", s.settings.instanceLabel, c.differences[0].Live))
	}
	return []claim{c}
}
