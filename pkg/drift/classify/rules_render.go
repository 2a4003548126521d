package classify

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/moorpin/moorpin/pkg/drift"
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
func (r *resource) appliedByArgo(d *difference) bool {
	if r.lastApplied != nil {
		return d.inApplied == d.inLive && (!d.inLive || equal(d.applied, d.live))
	}
	if !d.inLive {
		return true
	}
	w := r.writersOf(d)
	return w.argo || r.appliedParts(d, w)
}

// moved reports whether live is still what Argo CD applied last, and Git says something
// else since.
func (r *resource) moved(d *difference) bool {
	rendered := r.situation.rendering()
	switch {
	case rendered == sameSource:
		return false
	case r.lastApplied != nil:
		return r.appliedByArgo(d) && (d.inGit != d.inApplied || !equal(d.git, d.applied))
	case rendered == newSource && d.inLive:
		w := r.writersOf(d)
		return w.role == nobody && slices.ContainsFunc(w.all, func(owner drift.Owner) bool { return r.roleOf(owner) == argo && owner.Operation == "Apply" })
	}
	return false
}

// appliedParts reports whether Argo CD owns the field with others, or nobody is known to own anything.
func (r *resource) appliedParts(d *difference, w writers) bool {
	return d.inTarget && w.role == nobody && !r.hasOwners()
}

// renderedAnew reports whether Git's value is new although neither Git nor the
// Application moved.
func (r *resource) renderedAnew(d *difference) bool {
	return r.situation.rendering() == sameSource && r.lastApplied != nil && (d.inApplied || d.inGit) && d.inApplied == d.inLive && !equal(d.applied, d.git)
}

// render: the same revision renders another value each time. Evidence: live is what
// Argo CD applied, Git's value differs, and the revision is the one synced last.
// Counter-evidence: Git moved (git-ahead). Which of the three it is, the values say:
// only a time, only a checksum, or opaque.
func render(r *resource, open []*difference) []claim {
	if r.situation.rendering() != sameSource {
		return nil
	}
	var claims []claim
	for _, d := range open {
		if !d.inGit || !r.appliedByArgo(d) || r.lastApplied != nil && d.inApplied && equal(d.applied, d.git) {
			continue
		}
		if r.lastApplied == nil && !churns(d) {
			// Without a record of what was applied, only the values tell a render from
			// a webhook.
			continue
		}
		c := r.churn(d)
		c.differences = []*difference{d}
		c.evidence = append(c.evidence, "Argo CD applied the live value, and the revision is the one that was synced: the same source renders another value")
		claims = append(claims, c)
	}
	return claims
}

func (r *resource) churn(d *difference) claim {
	// A Job template makes Pods at its next run, and restarts none.
	inTemplate := slices.Contains(d.steps, "template") && !slices.Contains(d.steps, "jobTemplate") || r.ref.Kind == "Pod"
	name := strings.ToLower(d.steps[len(d.steps)-1])
	secret := r.secret(d.pointer)
	switch {
	case !secret && d.inLive && timeLike(d.live, d.target):
		c := claim{mechanism: drift.TimestampRender, confidence: drift.Certain, sync: drift.Safe, evidence: []string{fmt.Sprintf("%s is a time: %s in Git, %s live", d.pointer, r.show(d.pointer, d.target, true), r.show(d.pointer, d.live, true))}}
		if inTemplate {
			c.sync = drift.OverwritesLive
			c.evidence = append(c.evidence, "it stands in a Pod template, so a sync restarts the Pods")
		}
		return c
	case d.inLive && !secret && isChecksum(name, d.live, d.target):
		return claim{mechanism: drift.ChecksumChurn, confidence: drift.Certain, sync: drift.OverwritesLive, evidence: []string{
			string(d.pointer) + " is a checksum of something that renders differently each time; a sync restarts what it stands in",
		}}
	}
	c := claim{mechanism: drift.RandomRender, confidence: drift.Possible, sync: drift.Destructive, loss: []string{r.inUse(d)}, evidence: []string{
		string(d.pointer) + " is rendered anew each time; a sync replaces the value that is in use",
	}}
	if secret || opaque(d.live) && opaque(d.target) {
		c.confidence = drift.Certain
	}
	return c
}

func churns(d *difference) bool {
	return d.inLive && d.inTarget && (timeLike(d.live, d.target) || isChecksum(strings.ToLower(d.steps[len(d.steps)-1]), d.live, d.target) || opaque(d.live) && opaque(d.target))
}

var (
	clock = regexp.MustCompile(`(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{8})([T _]?(UTC)?[ _-]?\d{1,2}[:.-]?\d{2}([:.-]?\d{2})?(\.\d+)?)?( ?(Z|UTC|[A-Z]{3,4}|[+-]\d{2}:?\d{2}))*( m=[+-][\d.]+)?`)
	epoch = regexp.MustCompile(`\b1\d{9}(\d{3}|\d{6}|\d{9})?\b`)
	rfc1x = regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}`)
)

// timeLike reports whether two values differ in a time alone.
func timeLike(live, target any) bool {
	a, b := plain(live), plain(target)
	for _, pattern := range []*regexp.Regexp{clock, epoch, rfc1x} {
		if pattern.MatchString(a) && pattern.MatchString(b) && pattern.ReplaceAllString(a, "") == pattern.ReplaceAllString(b, "") {
			return true
		}
	}
	return false
}

var digest = regexp.MustCompile(`^(sha\d+[:-])?[0-9a-f]{6,128}$`)

// isChecksum reports whether a field is a digest of something else, by its name and values.
func isChecksum(name string, live, target any) bool {
	a, b := plain(live), plain(target)
	if !strings.Contains(name, "checksum") && !strings.Contains(name, "hash") && !strings.Contains(name, "digest") && !strings.Contains(name, "sha") && !strings.Contains(name, "fingerprint") {
		return false
	}
	return digest.MatchString(a) && digest.MatchString(b) || opaque(live) && opaque(target)
}

// run is a stretch of letters and digits.
var run = regexp.MustCompile(`[A-Za-z0-9]{8,}`)

// opaque reports whether a value looks random: a PEM block or base64 of one, or a
// text without spaces that holds eight or more letters and digits in a row, mixed as
// words and versions are not. References to images are none.
func opaque(value any) bool {
	spelled := plain(value)
	if strings.Contains(spelled, "-----BEGIN ") {
		return true
	}
	if decoded, err := base64.StdEncoding.DecodeString(spelled); err == nil && len(decoded) > 5 {
		if strings.Contains(string(decoded), "-----BEGIN ") || !utf8.Valid(decoded) {
			return true
		}
	}
	if strings.ContainsAny(spelled, " \n") {
		return false
	}
	return slices.ContainsFunc(run.FindAllString(spelled, -1), mixed)
}

// mixed reports whether letters and digits, or cases, change too often for a word.
func mixed(text string) bool {
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 0
		case c >= 'a':
			return 1
		}
		return 2
	}
	changes, distinct := 0, map[byte]bool{text[0]: true}
	for i := 1; i < len(text); i++ {
		distinct[text[i]] = true
		if kind(text[i]) != kind(text[i-1]) {
			changes++
		}
	}
	return changes >= 3 && len(distinct) >= min(len(text)/2, 8)
}

// isBundle reports whether a value is base64 of a PEM certificate.
func isBundle(value any) bool {
	decoded, err := base64.StdEncoding.DecodeString(plain(value))
	return err == nil && strings.Contains(string(decoded), "-----BEGIN CERTIFICATE")
}

// gitAhead: Git has moved and was not synced since. Evidence: live is what was
// applied last, Git's value differs from it, and the revision or the source is not
// the one of the last sync.
func gitAhead(r *resource, d *difference) (claim, bool) {
	rendered := r.situation.rendering()
	w := r.writersOf(d)
	if !r.appliedByArgo(d) && (d.inGit == d.inApplied || w.role != nobody) {
		return claim{}, false
	}
	if r.lastApplied != nil && d.inGit == d.inApplied && equal(d.git, d.applied) {
		return claim{}, false
	}
	if rendered == sameSource {
		return claim{}, false
	}
	c := claim{confidence: drift.Certain, sync: drift.Safe, evidence: []string{
		fmt.Sprintf("Git wants %s at %s, and live still has what was applied last", r.show(d.pointer, d.target, d.inTarget), d.pointer),
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
	return first(revision, "(none)")
}

// webhookInjection: fields that nobody owns were appended when the object was
// admitted, and show because the list is compared as a whole. Evidence: live-only,
// no owner but Argo CD's, which a mutating webhook leaves. Counter-evidence: the
// CRD's default (answered before), another owner.
func webhookInjection(r *resource, d *difference) (claim, bool) {
	if !d.inLive || d.inTarget || d.inGit || d.inApplied || !r.hasOwners() {
		return claim{}, false
	}
	w := r.writersOf(d)
	if w.role != nobody && !w.argo {
		return claim{}, false
	}
	c := claim{confidence: drift.Possible, sync: drift.Noop, evidence: []string{
		string(d.pointer) + " is in no manifest, and no other manager owns it: admission added it",
	}}
	c.confidence = r.admitted(&c)
	return c, true
}

// webhookOverwrite: a declared value was changed when the object was admitted.
// Evidence: it differs from what was applied although Argo CD still owns it and
// nobody wrote it since, which only admission leaves.
func webhookOverwrite(r *resource, d *difference) (claim, bool) {
	w := r.writersOf(d)
	if !d.inGit || !r.hasOwners() || d.inLive && !w.argo {
		return claim{}, false
	}
	if r.lastApplied != nil && (!d.inApplied || !equal(d.applied, d.git)) {
		return claim{}, false
	}
	if !d.inLive {
		if remover, found := r.remover(); len(r.webhooks()) == 0 || found && r.roleOf(remover) == person {
			return claim{}, false
		}
	}
	c := claim{sync: drift.Noop, evidence: []string{fmt.Sprintf(
		"%s was applied as %s and is %s live, and Argo CD is its only owner: admission changed it",
		d.pointer, r.show(d.pointer, d.git, true), r.show(d.pointer, d.live, d.inLive))}}
	c.confidence = r.admitted(&c)
	if !d.inLive {
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
	return unique(found)
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
func unexplained(r *resource, left []*difference) claim {
	c := claim{mechanism: drift.Unexplained, differences: left, confidence: drift.Possible, sync: drift.OverwritesLive}
	for _, d := range left {
		if d.inLive {
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
