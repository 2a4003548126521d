// Package refusal has the rules about writes that the API server or Argo CD refuses, from
// what the last sync said and from what is known to be refused: immutable fields, kinds
// that nobody serves, keys that stand twice.
package refusal

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/object"
)

// FailedApply answers for the differences that the last sync could not apply, or
// that the next one foreseeably cannot: immutable fields, conflicting list keys, a
// resourceVersion in Git, an annotation that gets too long.
// Evidence: the resource's result of the last sync, or the operation's message that
// names it; without any, the rules of the API for the fields that differ.
// Counter-evidence: the last sync applied the resource. Sources: #12439, #14910,
// #1068, #5882 (immutable); #8128, #5704 (too long); #4864, #24704 (list keys).
func FailedApply(r *state.Resource, open []*diff.Difference) []rule.Answer {
	if f, found := outcome.FailureOf(r); found {
		c := outcome.Explain(r, f)
		named := fieldsNamed(r, f.Message, open)
		if f.Current || len(named) > 0 {
			c.Differences = alongside(r, named, open)
			return []rule.Answer{c}
		}
	}
	for _, foresee := range []func(*state.Resource, []*diff.Difference) (rule.Answer, bool){
		removedVersion, resourceVersionInGit, mergeKeyConflict, immutableField, annotationTooLong,
	} {
		if c, found := foresee(r, open); found {
			c.Differences = alongside(r, c.Differences, open)
			return []rule.Answer{c}
		}
	}
	return nil
}

// fieldPath finds the paths of fields in a message of the API server, such as
// "spec.ports[1].name: Duplicate value".
var fieldPath = regexp.MustCompile(`(?:^|[\s\[,(])([a-zA-Z][\w.\[\]"/-]*): (?:Invalid value|Forbidden|Duplicate value|Required value|Unsupported value|Too long|Too many)`)

// fieldsNamed are the differences at the fields that a message names.
func fieldsNamed(r *state.Resource, message string, open []*diff.Difference) []*diff.Difference {
	var named []*diff.Difference
	taken := map[*diff.Difference]bool{}
	for _, match := range fieldPath.FindAllStringSubmatch(message, 20) {
		steps := pathSteps(match[1])
		for _, d := range open {
			if diff.Within(steps, d.Steps) && !taken[d] {
				taken[d] = true
				named = append(named, d)
			}
		}
	}
	if fixed := immutable(r, named); len(fixed) > 0 {
		return fixed
	}
	return named
}

// alongside are the differences that stay as they are because of one refusal: those
// that it is about, and all that Git changed in the same object, for an object is
// applied as a whole. What somebody else changed live has a cause of its own. When
// nothing else is left, the refusal is about everything.
func alongside(r *state.Resource, about, open []*diff.Difference) []*diff.Difference {
	meant := make(map[*diff.Difference]bool, len(about))
	for _, d := range about {
		meant[d] = true
	}
	var taken []*diff.Difference
	for _, d := range open {
		if meant[d] || changedByGit(r, d) {
			taken = append(taken, d)
		}
	}
	if len(taken) == 0 {
		return open
	}
	return taken
}

// changedByGit reports whether nobody but Argo CD wrote the live side of the
// difference, so that it is Git's side that moved.
func changedByGit(r *state.Resource, d *diff.Difference) bool {
	if r.LastApplied != nil && d.InApplied == d.InLive && value.Equal(d.Applied, d.Live) {
		return true
	}
	role := r.WritersOf(d).Role
	return role == owners.Nobody || role == owners.Argo
}

// pathSteps splits "spec.ports[1].name"; of a list only its own name is kept, for
// the index is that of the merged list.
func pathSteps(path string) []string {
	path, _, _ = strings.Cut(path, "[")
	return strings.Split(path, ".")
}

// removedVersion is versionNotServed for an object that is live in another version.
func removedVersion(r *state.Resource, open []*diff.Difference) (rule.Answer, bool) {
	c, found := VersionNotServed(r)
	c.Mechanism, c.Differences = drift.RemovedAPIVersion, open
	return c, found
}

// resourceVersionInGit: the manifest was exported from a cluster with the marks
// that the API server sets; the next write is refused as outdated.
// Evidence: metadata.resourceVersion or uid is rendered and differs.
// Counter-evidence: neither is in Git. Source: S1.7; kubernetes optimistic locking.
func resourceVersionInGit(r *state.Resource, open []*diff.Difference) (rule.Answer, bool) {
	if !outcome.PinsVersion(r) {
		return rule.Answer{}, false
	}
	c := rule.Answer{Mechanism: drift.ResourceVersionInGit, Confidence: drift.Certain, Sync: drift.WillFail}
	for _, d := range open {
		if diff.SetByServer(d) {
			c.Differences = append(c.Differences, d)
			c.Evidence = append(c.Evidence, fmt.Sprintf("Git renders %s, which only the API server sets", d.Pointer))
		}
	}
	return c, len(c.Differences) > 0
}

// mergeKeyConflict: the key by which a list of ports is merged was changed on one
// side, so the merge keeps both items and the API server refuses two of one name.
// Evidence: the predicted list has two items of one name or node port, which
// neither side has. Counter-evidence: the target itself has them
// (duplicate-list-key). Source: #4864, #24704; kubernetes/kubernetes#39188.
func mergeKeyConflict(r *state.Resource, open []*diff.Difference) (rule.Answer, bool) {
	c := rule.Answer{Mechanism: drift.MergeKeyConflict, Confidence: drift.Likely, Sync: drift.WillFail}
	judged := map[string]string{}
	for _, d := range open {
		steps, found := portsAbove(d.Steps)
		if !found || r.Application.Ctx.Err() != nil {
			continue
		}
		held := strings.Join(steps, "\x00")
		doubled, known := judged[held]
		if !known {
			doubled = doubles(r.Predicted, steps)
			if doubles(r.Live, steps) != "" || doubles(r.Target, steps) != "" {
				doubled = ""
			}
			judged[held] = doubled
		}
		if doubled == "" {
			continue
		}
		c.Differences = append(c.Differences, d)
		c.Evidence = append(c.Evidence, fmt.Sprintf("merged, /%s would have two items with %s", strings.Join(steps, "/"), doubled))
	}
	return c, len(c.Differences) > 0
}

// portsAbove is the path of the list of ports that holds the field.
func portsAbove(steps []string) ([]string, bool) {
	for i := len(steps) - 1; i > 0; i-- {
		if steps[i-1] == "ports" && value.IsIndex(steps[i]) {
			return steps[:i], true
		}
	}
	return nil, false
}

// doubles finds what two items of a list of ports share that must be unique.
func doubles(document object.Object, steps []string) string {
	node, _ := diff.Follow(document, document, steps)
	items, _ := node.([]any)
	for _, name := range []string{"name", "nodePort"} {
		seen := map[string]bool{}
		for _, item := range items {
			v, found := object.At(item, name)
			if spelled := value.Canonical(v); found && seen[spelled] {
				return name + " " + spelled
			} else if found {
				seen[spelled] = true
			}
		}
	}
	return ""
}

// maxAnnotations is the API server's limit for all annotations of an object, in bytes.
const maxAnnotations = 256 << 10

// annotationTooLong: a client-side apply writes the whole manifest into an
// annotation, and that exceeds the limit.
// Evidence: the rendered object is larger than the limit. Counter-evidence: the
// sync is server-side or replaces. Source: #8128, #5704, helm-charts#1500.
func annotationTooLong(r *state.Resource, open []*diff.Difference) (rule.Answer, bool) {
	if !tooLong(r) {
		return rule.Answer{}, false
	}
	return rule.Answer{
		Mechanism: drift.AnnotationTooLong, Differences: open, Confidence: drift.Likely, Sync: drift.WillFail,
		Evidence: []string{fmt.Sprintf("the rendered object has more than %d bytes, and a client-side apply keeps it in an annotation", maxAnnotations)},
	}, true
}

// tooLong reports whether a client-side apply of the target exceeds the limit.
func tooLong(r *state.Resource) bool {
	replaces, _ := r.Replaces()
	return !replaces && !r.SyncsServerSide() && value.Size(r.Target, maxAnnotations) > maxAnnotations
}

// FailedWithoutDrift answers: a sync applies all resources again, so what it could not apply
// fails again, though nothing of it differs.
func FailedWithoutDrift(s *state.Application) []rule.Answer {
	var answers []rule.Answer
	if unnamed, failed := outcome.UnnamedFailure(s); failed && unnamed.Of == nil {
		answers = append(answers, unnamedAnswer(s, unnamed.Failure))
	}
	for _, refused := range outcome.RefusedUnseen(s) {
		c := outcome.Explain(refused.Of, refused.Failure)
		c.About = &refused.Ref
		answers = append(answers, c)
	}
	return answers
}

// unnamedAnswer is about the Application: which of its objects was refused, nobody said.
func unnamedAnswer(s *state.Application, f outcome.Failure) rule.Answer {
	nameless := &state.Resource{Application: s, Given: &drift.Resource{}, Ref: s.Ref()}
	c := outcome.Explain(nameless, f)
	c.Confidence = drift.Likely
	c.Evidence = []string{"the last sync, of this revision, failed: " + s.Quote(f.Message), "the message names no object, and it may be about several; argocd app get --show-operation lists them"}
	if c.Summary == "" {
		c.Summary = "The last sync failed at one of the objects. " + c.Mechanism.Summary()
	}
	return c
}
