package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// deletionStuck: something is being deleted and its finalizers keep it there: an
// object that Git still renders, or the Application itself when none of its objects
// is what it waits for. Nothing can be synced
// into what is being deleted.
// Evidence: a deletionTimestamp with finalizers. Counter-evidence: it is young.
// Source: gitops-engine sync_context.go ("waiting for deletion of"); #17894, #17465.
func deletionStuck(s *situation) []claim {
	var claims []claim
	held := slices.ContainsFunc(s.resources, func(r *resource) bool {
		_, found := r.beingDeleted()
		return found
	})
	if s.app.DeletionTimestamp != nil && len(s.app.Finalizers) > 0 && !held {
		c := claim{mechanism: drift.DeletionStuck, sync: drift.Waits, evidence: []string{
			fmt.Sprintf("the Application is being deleted since %s; its finalizers are %s", stamp(*s.app.DeletionTimestamp), strings.Join(s.app.Finalizers, ", ")),
		}}
		age, known := s.since(*s.app.DeletionTimestamp)
		c.confidence = grade(known && age >= longMinutes, false)
		claims = append(claims, c)
	}
	for _, r := range s.resources {
		if r.target == nil || r.live == nil {
			continue
		}
		if c, found := r.beingDeleted(); found {
			ref := r.ref
			c.about = &ref
			claims = append(claims, c)
		}
	}
	return claims
}

// beingDeleted is the claim about a live object that waits for its finalizers.
func (r *resource) beingDeleted() (claim, bool) {
	since := object.Text(r.live, "metadata", "deletionTimestamp")
	finalizers := object.List(r.live, "metadata", "finalizers")
	if since == "" {
		return claim{}, false
	}
	// Namespaces keep theirs in the spec.
	finalizers = append(append([]any{}, finalizers...), object.List(r.live, "spec", "finalizers")...)
	if len(finalizers) == 0 {
		return claim{}, false
	}
	names := make([]string, 0, len(finalizers))
	for _, name := range finalizers {
		names = append(names, words.Show(name))
	}
	c := claim{mechanism: drift.DeletionStuck, sync: drift.Waits, evidence: []string{
		fmt.Sprintf("%s is being deleted since %s and waits for the finalizers %s", r.ref.Words(), since, strings.Join(names, ", ")),
	}}
	for _, condition := range object.List(r.live, "status", "conditions") {
		if kind := object.Text(condition, "type"); strings.Contains(kind, "Remaining") || strings.Contains(kind, "Deletion") && object.Text(condition, "status") == "True" {
			c.evidence = append(c.evidence, kind+": "+r.quote(object.Text(condition, "message")))
		}
	}
	if r.ref.Group == "" && r.ref.Kind == "Namespace" {
		// Nothing can be created in a namespace that is going away.
		c.sync = drift.WillFail
	}
	age, known := r.situation.sinceText(since)
	c.confidence = grade(known && age >= longMinutes, false)
	return c, true
}

// sharedWarnings: Argo CD warns that an object is part of another Application, and
// no flagged field shows it, as when the mark itself is ignored.
// Evidence: SharedResourceWarning. Counter-evidence: the mark is a flagged
// difference (sharedResource answers there). Source: controller/state.go; #8811.
func sharedWarnings(s *situation) []claim {
	type named struct{ kind, name string }
	byName := map[named][]*resource{}
	for _, r := range s.resources {
		of := named{r.ref.Kind, r.ref.Name}
		byName[of] = append(byName[of], r)
	}
	var claims []claim
	for _, message := range s.conditions(v1alpha1.ApplicationConditionSharedResourceWarning) {
		kind, name, ok := sharedName(message)
		if !ok {
			continue
		}
		c := claim{mechanism: drift.SharedResource, confidence: drift.Certain, sync: s.sharedEffect(), evidence: []string{"Argo CD warns: " + s.quote(message)}}
		c.about = &drift.ResourceRef{Kind: kind, Name: name}
		seen := false
		for _, r := range byName[named{kind, name}] {
			app, claimed := r.claimant()
			if seen = r.flagsMark() || r.live == nil || r.target == nil || !claimed && r.live != nil; seen {
				break
			}
			ref := r.ref
			c.about = &ref
			c.evidence = append(c.evidence, fmt.Sprintf("the live object is marked for Application %s, and the mark is not compared", app))
			c.hidden = append(c.hidden, drift.Field{Pointer: mark.TrackingPointer, Live: object.Annotation(r.live, mark.TrackingID), InLive: true})
		}
		if !seen {
			claims = append(claims, c)
		}
	}
	return claims
}

// flagsMark reports whether a flagged difference is at Argo CD's mark.
func (r *resource) flagsMark() bool {
	return slices.ContainsFunc(r.differences, r.tracks)
}

// sharedName reads "Kind/name is part of applications a/b and c".
func sharedName(message string) (kind, name string, ok bool) {
	object, _, found := strings.Cut(message, " is part of applications ")
	kind, name, slash := strings.Cut(object, "/")
	return kind, name, found && slash && kind != "" && name != ""
}

// sharedWarning is Argo CD's warning about the object, as evidence.
func (s *situation) sharedWarning(ref drift.ResourceRef) []string {
	for _, message := range s.conditions(v1alpha1.ApplicationConditionSharedResourceWarning) {
		if kind, name, ok := sharedName(message); ok && kind == ref.Kind && name == ref.Name {
			return []string{"Argo CD warns: " + s.quote(message)}
		}
	}
	return nil
}

// repeatedResource: Git renders the same object more than once, and the last one
// wins.
// Evidence: RepeatedResourceWarning. Source: controller/state.go,
// DeduplicateTargetObjects; docs, multiple_sources.
func repeatedResource(s *situation) []claim {
	byKey := make(map[drift.Key]*resource, len(s.resources))
	for _, r := range s.resources {
		byKey[drift.KeyOf(r.ref)] = r
	}
	var claims []claim
	for _, message := range s.conditions(v1alpha1.ApplicationConditionRepeatedResourceWarning) {
		named, _, found := strings.Cut(strings.TrimPrefix(message, "Resource "), " appeared ")
		parts := strings.Split(named, "/")
		if !found || len(parts) != 4 {
			continue
		}
		ref := drift.ResourceRef{Group: parts[0], Kind: parts[1], Namespace: parts[2], Name: parts[3]}
		c := claim{mechanism: drift.RepeatedResource, confidence: drift.Certain, sync: drift.Noop, about: &ref, evidence: []string{"Argo CD warns: " + s.quote(message), "the last one in the order of rendering is compared and applied, the others never are"}}
		if r, found := byKey[drift.KeyOf(ref)]; found && r.drifts() && r.live != nil {
			ref.Version = r.ref.Version
			c.sync = drift.OverwritesLive
			c.evidence = append(c.evidence, "the live object differs from the last one")
		}
		claims = append(claims, c)
	}
	return claims
}
