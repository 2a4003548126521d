package classify

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// rendering says what is known of whether Git moved since the last sync.
type rendering int

// What can be known.
const (
	renderUnknown rendering = iota
	sameSource              // the compared revision and source are those of the last sync
	newSource               // Git, or the Application's source, moved on
)

// rendering compares what was compared now with what was synced last.
func (s *situation) rendering() rendering {
	status := &s.app.Status
	revision, revisions, known := s.synced()
	if !known {
		return renderUnknown
	}
	if status.Sync.Revision != revision || !slices.Equal(status.Sync.Revisions, revisions) {
		return newSource
	}
	if status.OperationState != nil && status.OperationState.SyncResult != nil && status.OperationState.Phase.Successful() {
		result := status.OperationState.SyncResult
		compared := status.Sync.ComparedTo
		if compared.Source.RepoURL != "" && result.Source.RepoURL != "" && !reflect.DeepEqual(compared.Source, result.Source) ||
			len(compared.Sources) > 0 && len(result.Sources) > 0 && !reflect.DeepEqual(compared.Sources, result.Sources) {
			return newSource
		}
	}
	return sameSource
}

// synced returns the revisions of the last sync that succeeded.
func (s *situation) synced() (revision string, revisions []string, known bool) {
	status := &s.app.Status
	if state := status.OperationState; state != nil && state.SyncResult != nil && state.Phase.Successful() {
		return state.SyncResult.Revision, state.SyncResult.Revisions, true
	}
	if len(status.History) > 0 {
		last := status.History[len(status.History)-1]
		return last.Revision, last.Revisions, true
	}
	return "", nil, false
}

// appliedByArgo reports whether the live value is the one that Argo CD applied
// last, as far as that can be known.
func (r *resource) appliedByArgo(d *diff.Difference) bool {
	if r.lastApplied != nil {
		return d.InApplied == d.InLive && (!d.InLive || value.Equal(d.Applied, d.Live))
	}
	if !d.InLive {
		return true
	}
	w := r.writersOf(d)
	return w.argo || r.appliedParts(d, w)
}

// moved reports whether live is still what Argo CD applied last, and Git says something
// else since.
func (r *resource) moved(d *diff.Difference) bool {
	rendered := r.situation.rendering()
	switch {
	case rendered == sameSource:
		return false
	case r.lastApplied != nil:
		return r.appliedByArgo(d) && (d.InGit != d.InApplied || !value.Equal(d.Git, d.Applied))
	case rendered == newSource && d.InLive:
		w := r.writersOf(d)
		return w.role == owners.Nobody && slices.ContainsFunc(w.all, func(owner drift.Owner) bool {
			return owners.RoleOf(r.ref.Kind, owner) == owners.Argo && owner.Operation == "Apply"
		})
	}
	return false
}

// appliedParts reports whether Argo CD owns the field with others, or nobody is known to own anything.
func (r *resource) appliedParts(d *diff.Difference, w writers) bool {
	return d.InTarget && w.role == owners.Nobody && !r.hasOwners()
}

// renderedAnew reports whether Git's value is new although neither Git nor the
// Application moved.
func (r *resource) renderedAnew(d *diff.Difference) bool {
	return r.situation.rendering() == sameSource && r.lastApplied != nil && (d.InApplied || d.InGit) && d.InApplied == d.InLive && !value.Equal(d.Applied, d.Git)
}

// render: the same revision renders another value each time. Evidence: live is what
// Argo CD applied, Git's value differs, and the revision is the one synced last.
// Counter-evidence: Git moved (git-ahead). Which of the three it is, the values say:
// only a time, only a checksum, or opaque.
func render(r *resource, open []*diff.Difference) []claim {
	if r.situation.rendering() != sameSource {
		return nil
	}
	var claims []claim
	for _, d := range open {
		if !d.InGit || !r.appliedByArgo(d) || r.lastApplied != nil && d.InApplied && value.Equal(d.Applied, d.Git) {
			continue
		}
		if r.lastApplied == nil && !diff.Churns(d) {
			// Without a record of what was applied, only the values tell a render from
			// a webhook.
			continue
		}
		c := r.churn(d)
		c.differences = []*diff.Difference{d}
		c.evidence = append(c.evidence, "Argo CD applied the live value, and the revision is the one that was synced: the same source renders another value")
		claims = append(claims, c)
	}
	return claims
}

func (r *resource) churn(d *diff.Difference) claim {
	// A Job template makes Pods at its next run, and restarts none.
	inTemplate := slices.Contains(d.Steps, "template") && !slices.Contains(d.Steps, "jobTemplate") || r.ref.Kind == "Pod"
	name := strings.ToLower(d.Steps[len(d.Steps)-1])
	secret := r.secret(d.Pointer)
	switch {
	case !secret && d.InLive && value.TimeLike(d.Live, d.Target):
		c := claim{mechanism: drift.TimestampRender, confidence: drift.Certain, sync: drift.Safe, evidence: []string{fmt.Sprintf("%s is a time: %s in Git, %s live", d.Pointer, r.show(d.Pointer, d.Target, true), r.show(d.Pointer, d.Live, true))}}
		if inTemplate {
			c.sync = drift.OverwritesLive
			c.evidence = append(c.evidence, "it stands in a Pod template, so a sync restarts the Pods")
		}
		return c
	case d.InLive && !secret && value.Checksum(name, d.Live, d.Target):
		return claim{mechanism: drift.ChecksumChurn, confidence: drift.Certain, sync: drift.OverwritesLive, evidence: []string{
			string(d.Pointer) + " is a checksum of something that renders differently each time; a sync restarts what it stands in",
		}}
	}
	c := claim{mechanism: drift.RandomRender, confidence: drift.Possible, sync: drift.Destructive, loss: []string{r.inUse(d)}, evidence: []string{
		string(d.Pointer) + " is rendered anew each time; a sync replaces the value that is in use",
	}}
	if secret || value.Opaque(d.Live) && value.Opaque(d.Target) {
		c.confidence = drift.Certain
	}
	return c
}

// gitAhead: Git has moved and was not synced since. Evidence: live is what was
// applied last, Git's value differs from it, and the revision or the source is not
// the one of the last sync.
func gitAhead(r *resource, d *diff.Difference) (claim, bool) {
	rendered := r.situation.rendering()
	w := r.writersOf(d)
	if !r.appliedByArgo(d) && (d.InGit == d.InApplied || w.role != owners.Nobody) {
		return claim{}, false
	}
	if r.lastApplied != nil && d.InGit == d.InApplied && value.Equal(d.Git, d.Applied) {
		return claim{}, false
	}
	if rendered == sameSource {
		return claim{}, false
	}
	c := claim{confidence: drift.Certain, sync: drift.Safe, evidence: []string{
		fmt.Sprintf("Git wants %s at %s, and live still has what was applied last", r.show(d.Pointer, d.Target, d.InTarget), d.Pointer),
	}}
	if rendered == newSource {
		revision, revisions, _ := r.situation.synced()
		c.evidence = append(c.evidence, fmt.Sprintf("the compared revision %s is not the one synced last, %s", named2(r.situation.app.Status.Sync.Revision, r.situation.app.Status.Sync.Revisions), named2(revision, revisions)))
	} else {
		c.confidence = drift.Likely
	}
	return c, true
}

func named2(revision string, revisions []string) string {
	if len(revisions) > 0 {
		return strings.Join(revisions, ", ")
	}
	return words.First(revision, "(none)")
}

// webhookInjection: fields that nobody owns were appended when the object was
// admitted, and show because the list is compared as a whole. Evidence: live-only,
// no owner but Argo CD's, which a mutating webhook leaves. Counter-evidence: the
// CRD's default (answered before), another owner.
func webhookInjection(r *resource, d *diff.Difference) (claim, bool) {
	if !d.InLive || d.InTarget || d.InGit || d.InApplied || !r.hasOwners() {
		return claim{}, false
	}
	w := r.writersOf(d)
	if w.role != owners.Nobody && !w.argo {
		return claim{}, false
	}
	c := claim{confidence: drift.Possible, sync: drift.Noop, evidence: []string{
		string(d.Pointer) + " is in no manifest, and no other manager owns it: admission added it",
	}}
	c.confidence = r.admitted(&c)
	return c, true
}

// webhookOverwrite: a declared value was changed when the object was admitted.
// Evidence: it differs from what was applied although Argo CD still owns it and
// nobody wrote it since, which only admission leaves.
func webhookOverwrite(r *resource, d *diff.Difference) (claim, bool) {
	w := r.writersOf(d)
	if !d.InGit || !r.hasOwners() || d.InLive && !w.argo {
		return claim{}, false
	}
	if r.lastApplied != nil && (!d.InApplied || !value.Equal(d.Applied, d.Git)) {
		return claim{}, false
	}
	if !d.InLive {
		if remover, found := r.remover(); len(r.webhooks()) == 0 || found && owners.RoleOf(r.ref.Kind, remover) == owners.Person {
			return claim{}, false
		}
	}
	c := claim{sync: drift.Noop, evidence: []string{fmt.Sprintf(
		"%s was applied as %s and is %s live, and Argo CD is its only owner: admission changed it",
		d.Pointer, r.show(d.Pointer, d.Git, true), r.show(d.Pointer, d.Live, d.InLive))}}
	c.confidence = r.admitted(&c)
	if !d.InLive {
		c.confidence = drift.Likely // what somebody takes away leaves no trace
	}
	return c, true
}

// admitted says how sure it is that admission changed the object, by the mutating
// webhooks that are asked for it.
func (r *resource) admitted(c *claim) drift.Confidence {
	found := r.webhooks()
	if len(found) == 0 {
		return drift.Likely
	}
	c.evidence = append(c.evidence, "mutating webhooks are asked for the kind: "+strings.Join(found, ", "))
	return drift.Certain
}

// webhooks are the names of the mutating webhooks that are asked for the resource's kind.
func (r *resource) webhooks() []string {
	var found []string
	for _, configuration := range r.situation.related.of("admissionregistration.k8s.io", "MutatingWebhookConfiguration") {
		for _, webhook := range object.List(configuration, "webhooks") {
			for _, rule := range object.List(webhook, "rules") {
				if matches(object.List(rule, "apiGroups"), r.ref.Group) && matchesResource(object.List(rule, "resources"), r.ref.Kind) {
					found = append(found, object.Text(configuration, "metadata", "name")+"/"+object.Text(webhook, "name"))
				}
			}
		}
	}
	return words.Unique(found)
}

func matches(patterns []any, name string) bool {
	return slices.ContainsFunc(patterns, func(p any) bool { return p == "*" || p == name })
}

// matchesResource reports whether a plural resource name may be the kind's.
func matchesResource(patterns []any, kind string) bool {
	lower := strings.ToLower(kind)
	plurals := []string{lower + "s", lower + "es", strings.TrimSuffix(lower, "y") + "ies", lower}
	return slices.ContainsFunc(patterns, func(p any) bool {
		name, _ := p.(string)
		name, _, _ = strings.Cut(name, "/")
		return name == "*" || slices.Contains(plurals, name)
	})
}

// unexplained is what no rule answers for. The worst is assumed of a sync: the
// live value may be wanted.
func unexplained(r *resource, left []*diff.Difference) claim {
	c := claim{mechanism: drift.Unexplained, differences: left, confidence: drift.Possible, sync: drift.OverwritesLive}
	for _, d := range left {
		if d.InLive {
			c.loss = append(c.loss, r.lost(d))
		} else {
			c.evidence = append(c.evidence, putBack(d))
		}
	}
	c.evidence = append(c.evidence, "ruled out: a schema default, another spelling, another order, a tool of people, a controller, a webhook, a newer revision")
	if !r.hasOwners() {
		c.evidence = append(c.evidence, "the live object has no managedFields, so nobody can say who wrote it")
	}
	return c
}
