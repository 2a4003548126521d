package tracking

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// DeletionStuck answers: something is being deleted and its finalizers keep it there: an
// object that Git still renders, or the Application itself when none of its objects
// is what it waits for. Nothing can be synced
// into what is being deleted.
// Evidence: a deletionTimestamp with finalizers. Counter-evidence: it is young.
// Source: gitops-engine sync_context.go ("waiting for deletion of"); #17894, #17465.
func DeletionStuck(s *state.Application) []rule.Answer {
	var answers []rule.Answer
	held := slices.ContainsFunc(s.Resources, func(r *state.Resource) bool {
		_, found := outcome.BeingDeleted(r)
		return found
	})
	if s.Object.DeletionTimestamp != nil && len(s.Object.Finalizers) > 0 && !held {
		c := rule.Answer{Mechanism: drift.DeletionStuck, Sync: drift.Waits, Evidence: []string{
			fmt.Sprintf("the Application is being deleted since %s; its finalizers are %s", state.Stamp(*s.Object.DeletionTimestamp), strings.Join(s.Object.Finalizers, ", ")),
		}}
		age, known := s.Since(*s.Object.DeletionTimestamp)
		c.Confidence = rule.Grade(known && age >= outcome.LongMinutes, false)
		answers = append(answers, c)
	}
	for _, r := range s.Resources {
		if r.Target == nil || r.Live == nil {
			continue
		}
		if c, found := outcome.BeingDeleted(r); found {
			ref := r.Ref
			c.About = &ref
			answers = append(answers, c)
		}
	}
	return answers
}

// SharedWarnings answers: Argo CD warns that an object is part of another Application, and
// no flagged field shows it, as when the mark itself is ignored.
// Evidence: SharedResourceWarning. Counter-evidence: the mark is a flagged
// difference (sharedResource answers there). Source: controller/state.go; #8811.
func SharedWarnings(s *state.Application) []rule.Answer {
	type named struct{ kind, name string }
	byName := map[named][]*state.Resource{}
	for _, r := range s.Resources {
		of := named{r.Ref.Kind, r.Ref.Name}
		byName[of] = append(byName[of], r)
	}
	var answers []rule.Answer
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionSharedResourceWarning) {
		kind, name, ok := sharedName(message)
		if !ok {
			continue
		}
		c := rule.Answer{Mechanism: drift.SharedResource, Confidence: drift.Certain, Sync: sharedEffect(s), Evidence: []string{"Argo CD warns: " + s.Quote(message)}}
		c.About = &drift.ResourceRef{Kind: kind, Name: name}
		seen := false
		for _, r := range byName[named{kind, name}] {
			app, claimed := r.Claimant()
			if seen = flagsMark(r) || r.Live == nil || r.Target == nil || !claimed && r.Live != nil; seen {
				break
			}
			ref := r.Ref
			c.About = &ref
			c.Evidence = append(c.Evidence, fmt.Sprintf("the live object is marked for Application %s, and the mark is not compared", app))
			c.Hidden = append(c.Hidden, drift.Field{Pointer: mark.TrackingPointer, Live: object.Annotation(r.Live, mark.TrackingID), InLive: true})
		}
		if !seen {
			answers = append(answers, c)
		}
	}
	return answers
}

// flagsMark reports whether a flagged difference is at Argo CD's mark.
func flagsMark(r *state.Resource) bool {
	return slices.ContainsFunc(r.Differences, r.Tracks)
}

// sharedName reads "Kind/name is part of applications a/b and c".
func sharedName(message string) (kind, name string, ok bool) {
	object, _, found := strings.Cut(message, " is part of applications ")
	kind, name, slash := strings.Cut(object, "/")
	return kind, name, found && slash && kind != "" && name != ""
}

// sharedWarning is Argo CD's warning about the object, as evidence.
func sharedWarning(s *state.Application, ref drift.ResourceRef) []string {
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionSharedResourceWarning) {
		if kind, name, ok := sharedName(message); ok && kind == ref.Kind && name == ref.Name {
			return []string{"Argo CD warns: " + s.Quote(message)}
		}
	}
	return nil
}

// RepeatedResource answers: Git renders the same object more than once, and the last one
// wins.
// Evidence: RepeatedResourceWarning. Source: controller/state.go,
// DeduplicateTargetObjects; docs, multiple_sources.
func RepeatedResource(s *state.Application) []rule.Answer {
	byKey := make(map[drift.Key]*state.Resource, len(s.Resources))
	for _, r := range s.Resources {
		byKey[drift.KeyOf(r.Ref)] = r
	}
	var answers []rule.Answer
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionRepeatedResourceWarning) {
		named, _, found := strings.Cut(strings.TrimPrefix(message, "Resource "), " appeared ")
		parts := strings.Split(named, "/")
		if !found || len(parts) != 4 {
			continue
		}
		ref := drift.ResourceRef{Group: parts[0], Kind: parts[1], Namespace: parts[2], Name: parts[3]}
		c := rule.Answer{Mechanism: drift.RepeatedResource, Confidence: drift.Certain, Sync: drift.Noop, About: &ref, Evidence: []string{"Argo CD warns: " + s.Quote(message), "the last one in the order of rendering is compared and applied, the others never are"}}
		if r, found := byKey[drift.KeyOf(ref)]; found && r.Drifts() && r.Live != nil {
			ref.Version = r.Ref.Version
			c.Sync = drift.OverwritesLive
			c.Evidence = append(c.Evidence, "the live object differs from the last one")
		}
		answers = append(answers, c)
	}
	return answers
}
