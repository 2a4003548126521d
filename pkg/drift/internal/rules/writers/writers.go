// Package writers has the rules that judge by who wrote the live value: a person, another
// applier, an autoscaler, an operator.
package writers

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// written says who wrote the live value.
func written(r *state.Resource, d *diff.Difference, w state.Writers) string {
	return fmt.Sprintf("%s is %s live, written by %s", d.Pointer, r.Show(d.Pointer, d.Live, d.InLive), owners.By(w.Last))
}

// RolloutRestart answers: Git pins the annotation with which kubectl restarts Pods, and
// somebody restarted since. A sync puts the old time back, which restarts again.
func RolloutRestart(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if d.Steps[len(d.Steps)-1] != mark.RestartedAt && !mark.OnlyRestart(d.Live) && !mark.OnlyRestart(d.Target) {
		return rule.Answer{}, false
	}
	said := "Git pins " + mark.RestartedAt
	if !d.InGit {
		said = "Git does not have " + mark.RestartedAt + ", and a sync takes it away"
	}
	return rule.AnswerFor(r, d, drift.Certain, drift.OverwritesLive, said, written(r, d, r.WritersOf(d)), "a sync changes the Pod template and so restarts the Pods again"), true
}

// ManualEdit answers: a person changed a declared field. Evidence: the newest owner of the
// live value is a tool of people. Counter-evidence: Argo CD owns the value too (then
// it applied it), or a controller targets the field, which earlier rules answer for.
func ManualEdit(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	w := r.WritersOf(d)
	if !outcome.Edited(d, w) {
		return rule.Answer{}, false
	}
	evidence := []string{written(r, d, w)}
	confidence := drift.Certain
	if last := r.LastWrite(); last != "" && w.Last.Time != "" && w.Last.Time < last {
		confidence = drift.Likely
		evidence = append(evidence, "Argo CD last wrote the object at "+last)
	}
	if d.InApplied {
		evidence = append(evidence, fmt.Sprintf("Argo CD had applied %s", r.Show(d.Pointer, d.Applied, true)))
	}
	return rule.AnswerFor(r, d, confidence, drift.OverwritesLive, evidence...), true
}

// RemovedByHand answers: a declared field was applied and is gone, the schema knows it, and
// neither a webhook nor a controller is known to remove it. Removing a field leaves
// no trace in managedFields, so the worst is assumed.
func RemovedByHand(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if d.InLive && r.HasOwners() || !d.InGit || outcome.RenderedAnew(r, d) {
		return rule.Answer{}, false
	}
	if !d.InLive && d.InApplied && !value.Equal(d.Applied, d.Git) {
		return rule.Answer{}, false
	}
	evidence := []string{fmt.Sprintf("%s is declared in Git and %s, and managedFields do not say who changed it", d.Pointer, r.IsLive(d))}
	if d.InApplied {
		evidence = append(evidence, "it was applied before")
	}
	confidence := drift.Possible
	if remover, found := r.Remover(); found && !d.InLive {
		evidence = append(evidence, "after Argo CD, the object was written by "+owners.By(remover))
		confidence = drift.Likely
	}
	return rule.AnswerFor(r, d, confidence, drift.OverwritesLive, evidence...), true
}

// RemovedByController answers: a declared field was applied and is gone, and a controller
// was the last to write the object.
func RemovedByController(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	remover, found := r.Remover()
	if d.InLive || !d.InGit || !found || owners.RoleOf(r.Ref.Kind, remover) != owners.Controller || r.LastApplied != nil && (!d.InApplied || !value.Equal(d.Applied, d.Git)) ||
		r.LastApplied == nil && outcome.Rendering(r.Application) != outcome.SameSource {
		return rule.Answer{}, false
	}
	return rule.AnswerFor(r, d, drift.Likely, drift.FightsController, fmt.Sprintf("%s was applied and is gone; after Argo CD, the object was written by %s", d.Pointer, owners.By(remover))), true
}

// ForeignTakeover answers: another manifest of the object was applied over Argo CD's: the
// last-applied-configuration is not the one that Argo CD wrote, because it lacks
// Argo CD's tracking although Argo CD has written the object before. All that differs
// from it belongs to the takeover, the lost tracking too.
func ForeignTakeover(r *state.Resource, open []*diff.Difference) []rule.Answer {
	applied := r.LastApplied
	if applied == nil || r.LastWrite() == "" || r.Tracked(applied) || !r.Tracked(r.Target) {
		return nil
	}
	owner, found := foreigner(r)
	if !found {
		return nil
	}
	var answers []rule.Answer
	for _, d := range open {
		w := r.WritersOf(d)
		tracking := d.Pointer == mark.TrackingPointer || d.Pointer == r.TrackingLabel()
		if !tracking && d.InLive && w.Role != owners.Applier && !d.InApplied {
			continue
		}
		c := rule.AnswerFor(r, d, drift.Certain, drift.OverwritesLive,
			"the last-applied-configuration is not Argo CD's: it lacks the tracking, and "+owners.By(owner)+" wrote it")
		if tracking {
			c.Loss = nil
		}
		c.Mechanism, c.Differences = drift.ForeignApply, []*diff.Difference{d}
		answers = append(answers, c)
	}
	return answers
}

// foreigner is the newest applier of whole manifests other than Argo CD. Who made the
// object before Argo CD took it over has not come again.
func foreigner(r *state.Resource) (drift.Owner, bool) {
	var found []drift.Owner
	for _, owner := range r.Ownership().Entries {
		if owners.RoleOf(r.Ref.Kind, owner) == owners.Applier && owner.Subresource == "" && (!r.MadeOnly(owner) || !r.BeforeArgo(owner)) {
			found = append(found, owner)
		}
	}
	return owners.Newest(found)
}

// ForeignApply answers: a declared field was written by something that applies manifests
// from elsewhere (kubectl apply, Helm, Terraform, Flux). Counter-evidence: it wrote before
// Argo CD did and not since, while Git moved: then Git declares the field anew.
func ForeignApply(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	w := r.WritersOf(d)
	if w.Role != owners.Applier || w.Argo || outcome.DeclaredAnew(r, d) {
		return rule.Answer{}, false
	}
	return rule.AnswerFor(r, d, drift.Certain, drift.OverwritesLive, written(r, d, w), w.Last.Manager+" applies whole manifests, so a second source has the object"), true
}

// MadeBefore answers: the object was there before Argo CD ever wrote it, made once by hand
// or by a script with another value than Git declares. Whoever made it does not come again.
// Evidence: kubectl owns the value, it has written nothing since the object was made, and
// Argo CD has written nothing at all. Counter-evidence: a tool that keeps what it made
// (foreign-apply).
func MadeBefore(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	w := r.WritersOf(d)
	if w.Role != owners.Applier || w.Argo || r.LastWrite() != "" || !r.MadeOnly(w.Last) || !strings.HasPrefix(w.Last.Manager, "kubectl") && w.Last.Manager != "before-first-apply" {
		return rule.Answer{}, false
	}
	c := rule.AnswerFor(r, d, drift.Likely, drift.OverwritesLive, written(r, d, w), "the object was made with it, and neither Argo CD nor "+w.Last.Manager+" has written the object since")
	c.Summary = "The object was there before Argo CD, with another value than Git declares."
	return c, true
}

// ApplicationSpecEdit answers: the spec of an Application that Git declares was changed in
// the UI, by the CLI (both through argocd-server) or by the image updater.
func ApplicationSpecEdit(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if r.Ref.Group != "argoproj.io" || r.Ref.Kind != "Application" || d.Steps[0] == "status" {
		return rule.Answer{}, false
	}
	w := r.WritersOf(d)
	if remover, found := r.Remover(); !d.InLive && found {
		w = state.Writers{Last: remover, Role: owners.RoleOf(r.Ref.Kind, remover)}
	}
	switch {
	case w.Argo || w.Role == owners.Nobody:
		return rule.Answer{}, false
	case strings.Contains(w.Last.Manager, "image-updater"):
		return rule.AnswerFor(r, d, drift.Certain, drift.FightsController, written(r, d, w)), true
	case strings.HasPrefix(w.Last.Manager, "argocd-server"):
		return rule.AnswerFor(r, d, drift.Certain, drift.OverwritesLive, written(r, d, w), "argocd-server writes what people do in the UI and with the CLI"), true
	}
	return rule.Answer{}, false
}
