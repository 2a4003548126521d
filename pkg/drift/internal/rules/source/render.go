// Package source has the rules about where Git's value comes from: a commit that is not
// synced yet, a source that renders another value each time, and what admission makes of
// it on the way to the cluster.
package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// Render answers: the same revision renders another value each time. Evidence: live is what
// Argo CD applied, Git's value differs, and the revision is the one synced last.
// Counter-evidence: Git moved (git-ahead). Which of the three it is, the values say:
// only a time, only a checksum, or something that looks random. A part of an object that
// comes or goes is none of them, nor is another word or number: either the source renders
// the object twice, or it draws in something from elsewhere that has changed.
func Render(r *state.Resource, open []*diff.Difference) []rule.Answer {
	if outcome.Rendering(r.Application) != outcome.SameSource {
		return nil
	}
	var answers []rule.Answer
	repeated := r.Repeated()
	for _, d := range open {
		if !d.InGit || !outcome.AppliedByArgo(r, d) || r.LastApplied != nil && d.InApplied && value.Equal(d.Applied, d.Git) {
			continue
		}
		if r.LastApplied == nil && !diff.Churns(d) {
			// Without a record of what was applied, only the values tell a render from
			// a webhook.
			continue
		}
		c := churn(r, d, repeated)
		c.Differences = []*diff.Difference{d}
		c.Evidence = append(c.Evidence, "Argo CD applied the live value, and the revision is the one that was synced: the same source renders another value")
		answers = append(answers, c)
	}
	return answers
}

func churn(r *state.Resource, d *diff.Difference, repeated []string) rule.Answer {
	// A Job template makes Pods at its next run, and restarts none.
	inTemplate := slices.Contains(d.Steps, "template") && !slices.Contains(d.Steps, "jobTemplate") || r.Ref.Kind == "Pod"
	name := strings.ToLower(d.Steps[len(d.Steps)-1])
	secret := r.Secret(d.Pointer)
	switch {
	case !secret && d.InLive && value.TimeLike(d.Live, d.Target):
		c := rule.Answer{Mechanism: drift.TimestampRender, Confidence: drift.Certain, Sync: drift.Safe, Evidence: []string{fmt.Sprintf("%s is a time: %s in Git, %s live", d.Pointer, r.Show(d.Pointer, d.Target, true), r.Show(d.Pointer, d.Live, true))}}
		if inTemplate {
			c.Sync = drift.OverwritesLive
			c.Evidence = append(c.Evidence, "it stands in a Pod template, so a sync restarts the Pods")
		}
		return c
	case d.InLive && !secret && value.Checksum(name, d.Live, d.Target):
		return rule.Answer{Mechanism: drift.ChecksumChurn, Confidence: drift.Certain, Sync: drift.OverwritesLive, Evidence: []string{
			string(d.Pointer) + " is a checksum of something that renders differently each time; a sync restarts what it stands in",
		}}
	}
	if !random(d, secret) {
		return otherRender(r, d, repeated)
	}
	c := rule.Answer{Mechanism: drift.RandomRender, Confidence: drift.Possible, Sync: drift.Destructive, Loss: []string{rule.InUse(r, d)}, Evidence: []string{
		string(d.Pointer) + " is rendered anew each time; a sync replaces the value that is in use",
	}}
	if secret || value.Opaque(d.Live) && value.Opaque(d.Target) {
		c.Confidence = drift.Certain
	}
	return c
}

// random reports whether two values of a field look drawn anew at each render.
func random(d *diff.Difference, secret bool) bool {
	if !d.InLive || !d.InTarget || value.Nested(d.Live) || value.Nested(d.Target) {
		return false
	}
	if name := d.Steps[len(d.Steps)-1]; name == "image" || name == "tag" {
		return false // digests and commits
	}
	return secret || value.Opaque(d.Live) && value.Opaque(d.Target) || value.RandomParts(d.Live, d.Target)
}

// otherRender is the answer about a render that is another one and not random.
func otherRender(r *state.Resource, d *diff.Difference, repeated []string) rule.Answer {
	c := rule.Answer{Mechanism: drift.RepeatedResource, Confidence: drift.Likely, Sync: drift.OverwritesLive, Evidence: slices.Clone(repeated)}
	if d.InLive {
		c.Loss = []string{rule.InUse(r, d)}
	}
	if len(repeated) > 0 {
		c.Evidence = append(c.Evidence, "what is live is one of the manifests, and what Argo CD compares with is another")
		return c
	}
	c.Mechanism, c.Confidence = drift.Unexplained, drift.Possible
	c.Summary = "The same revision renders something else than was synced, and nothing random: what the source draws in from elsewhere may have changed."
	c.Evidence = []string{fmt.Sprintf("%s is no value that looks random", d.Pointer)}
	return c
}

// GitAhead answers: Git has moved and was not synced since. Evidence: live is what was
// applied last, Git's value differs from it, and the revision or the source is not
// the one of the last sync.
func GitAhead(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	rendered := outcome.Rendering(r.Application)
	w := r.WritersOf(d)
	if !outcome.AppliedByArgo(r, d) && (d.InGit == d.InApplied || w.Role != owners.Nobody && !outcome.DeclaredAnew(r, d)) {
		return rule.Answer{}, false
	}
	if r.LastApplied != nil && d.InGit == d.InApplied && value.Equal(d.Git, d.Applied) {
		return rule.Answer{}, false
	}
	if rendered == outcome.SameSource {
		return rule.Answer{}, false
	}
	c := rule.Answer{Confidence: drift.Certain, Sync: drift.Safe, Evidence: []string{
		fmt.Sprintf("Git wants %s at %s, and live still has what was applied last", r.Show(d.Pointer, d.Target, d.InTarget), d.Pointer),
	}}
	if rendered == outcome.NewSource {
		revision, revisions, _ := r.Application.Synced()
		c.Evidence = append(c.Evidence, fmt.Sprintf("the compared revision %s is not the one synced last, %s", state.Revisions(r.Application.Object.Status.Sync.Revision, r.Application.Object.Status.Sync.Revisions), state.Revisions(revision, revisions)))
	} else {
		c.Confidence = drift.Likely
	}
	return c, true
}

// WebhookInjection answers: fields that nobody owns were appended when the object was
// admitted, and show because the list is compared as a whole. Evidence: live-only,
// no owner but Argo CD's, which a mutating webhook leaves. Counter-evidence: the
// CRD's default (answered before), another owner.
func WebhookInjection(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if !d.InLive || d.InTarget || d.InGit || d.InApplied || !r.HasOwners() {
		return rule.Answer{}, false
	}
	w := r.WritersOf(d)
	if w.Role != owners.Nobody && !w.Argo {
		return rule.Answer{}, false
	}
	c := rule.Answer{Confidence: drift.Possible, Sync: drift.Noop, Evidence: []string{
		string(d.Pointer) + " is in no manifest, and no other manager owns it: admission added it",
	}}
	c.Confidence = admitted(r, &c)
	return c, true
}

// WebhookOverwrite answers: a declared value was changed when the object was admitted.
// Evidence: it differs from what was applied although Argo CD still owns it and
// nobody wrote it since, which only admission leaves.
func WebhookOverwrite(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	w := r.WritersOf(d)
	if !d.InGit || !r.HasOwners() || d.InLive && !w.Argo {
		return rule.Answer{}, false
	}
	if r.LastApplied != nil && (!d.InApplied || !value.Equal(d.Applied, d.Git)) {
		return rule.Answer{}, false
	}
	if !d.InLive {
		if remover, found := r.Remover(); len(r.Webhooks()) == 0 || found && owners.RoleOf(r.Ref.Kind, remover) == owners.Person {
			return rule.Answer{}, false
		}
	}
	c := rule.Answer{Sync: drift.Noop, Evidence: []string{fmt.Sprintf(
		"%s was applied as %s and is %s live, and Argo CD is its only owner: admission changed it",
		d.Pointer, r.Show(d.Pointer, d.Git, true), r.Show(d.Pointer, d.Live, d.InLive))}}
	c.Confidence = admitted(r, &c)
	if !d.InLive {
		c.Confidence = drift.Likely // what somebody takes away leaves no trace
	}
	return c, true
}

// admitted says how sure it is that admission changed the object, by the mutating
// webhooks that are asked for it.
func admitted(r *state.Resource, c *rule.Answer) drift.Confidence {
	found := r.Webhooks()
	if len(found) == 0 {
		return drift.Likely
	}
	c.Evidence = append(c.Evidence, "mutating webhooks are asked for the kind: "+strings.Join(found, ", "))
	return drift.Certain
}

// Unexplained is what no rule answers for. The worst is assumed of a sync: the
// live value may be wanted.
func Unexplained(r *state.Resource, left []*diff.Difference) rule.Answer {
	c := rule.Answer{Mechanism: drift.Unexplained, Differences: left, Confidence: drift.Possible, Sync: drift.OverwritesLive}
	for _, d := range left {
		if d.InLive {
			c.Loss = append(c.Loss, rule.Lost(r, d))
		} else {
			c.Evidence = append(c.Evidence, state.PutBack(d))
		}
	}
	c.Evidence = append(c.Evidence, "ruled out: a schema default, another spelling, another order, a tool of people, a controller, a webhook, a newer revision")
	if !r.HasOwners() {
		c.Evidence = append(c.Evidence, "the live object has no managedFields, so nobody can say who wrote it")
	}
	return c
}
