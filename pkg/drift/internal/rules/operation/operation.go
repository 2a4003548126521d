// Package operation has the rules about what the operation does: it runs, waits, is kept
// from starting, gave up, or repeats itself.
package operation

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// InFlight says what the operation in flight does: it waits for a hook, for the
// health of an early wave, for a deletion, for a confirmation, or simply has not
// ended. The message tells what it waits for (gitops-engine, setRunningPhase); since when
// it can wait for that object, and what is known of it, tell waiting from being stuck: a
// later wave begins long after the operation. Without a time the answer is possible at
// best.
// Sources: gitops-engine sync_context.go; #6880, #4979, #21055, #10561.
func InFlight(s *state.Application) []rule.Answer {
	op := s.Object.Status.OperationState
	if op == nil || !outcome.InFlight(op) {
		if s.Object.Operation == nil {
			return nil
		}
		return []rule.Answer{{Mechanism: drift.SyncInProgress, Confidence: drift.Possible, Sync: drift.Waits, Evidence: []string{"an operation is requested and has not started"}}}
	}
	if strings.Contains(op.Message, "blocked by sync window") || outcome.RetriesOldRevision(s) {
		return nil // rules of their own
	}
	c := rule.Answer{Confidence: drift.Certain, Sync: drift.Waits, Evidence: []string{fmt.Sprintf("the operation is %s since %s: %s", op.Phase, state.Stamp(op.StartedAt), s.Quote(op.Message))}}
	waiting := outcome.WaitsFor(op.Message)
	found := s.Find(waiting.Ref)
	trouble := outcome.Trouble(s, waiting.Ref, found)
	age, known := s.Since(outcome.WaitingSince(op, found))
	stuck := len(trouble) > 0 || !known || age >= outcome.LongMinutes
	_, failed := state.EndedBadly(found.Live)
	switch {
	case waiting.What == outcome.HookWait && failed:
		c.Mechanism = drift.SyncInProgress // it waits no longer than until Argo CD looks
	case strings.Contains(op.Message, "pruning confirmation"):
		c.Mechanism = drift.PruneProtected
		return []rule.Answer{c}
	case waiting.Deletion, waiting.What == "" || !stuck:
		c.Mechanism = drift.SyncInProgress
		if !known {
			c.Confidence = drift.Likely
		}
	case waiting.What == outcome.HookWait:
		c.Mechanism = drift.HookStuck
	default:
		c.Mechanism = drift.WaveBlocked
	}
	if c.Mechanism != drift.SyncInProgress {
		if waiting.Ref.Name != "" {
			c.About = &found.Ref
		}
		c.Evidence = append(c.Evidence, trouble...)
		c.Confidence = rule.Grade(len(trouble) > 0, known && age >= outcome.LongMinutes)
	}
	if known {
		running, _ := s.Since(op.StartedAt)
		c.Evidence = append(c.Evidence, "it has been running for "+state.Minutes(running))
		if waiting.Ref.Name != "" && running-age >= 1 {
			c.Evidence = append(c.Evidence, fmt.Sprintf("%s was applied or changed %s ago: earlier waves took the rest of the time", found.Ref.Words(), state.Minutes(age)))
		}
	} else {
		c.Evidence = append(c.Evidence, "the time of the snapshot is unknown, so its age is too")
	}
	return []rule.Answer{c}
}

// dependency finds what a Pod waits for, in the words of the kubelet, the
// scheduler and the controllers.
var dependency = regexp.MustCompile(`(?i)\b(secret|configmap|serviceaccount|persistentvolumeclaim|priorityclass|runtimeclass)s?\s+(?:\S+\s+)?"([^"]+)" not found|references non-existent (secret|config) key|no PriorityClass with name (\S+)|couldn't find key \S+ in (secret|configmap)|object "[^"]+"/"[^"]+" not registered|unbound immediate persistentvolumeclaims|unable to retrieve some image pull secrets`)

// MissingDependency answers: everything is applied, and Pods wait for an object that is not
// there.
// Evidence: a container, a condition or an event says which object is not found.
// Counter-evidence: the object is a hook's or belongs to another workload. Source:
// the kubelet's and the controllers' messages.
func MissingDependency(s *state.Application) []rule.Answer {
	found := &waiters{application: s, answers: map[drift.Key]*rule.Answer{}}
	for _, pod := range s.Related.Of("", "Pod") {
		for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
			for _, container := range object.List(pod, "status", kind) {
				found.add(drift.RefOf(pod), object.Text(container, "state", "waiting", "message"))
			}
		}
		found.addConditions(pod)
	}
	for _, set := range s.Related.Of("apps", "ReplicaSet") {
		found.addConditions(set)
	}
	for _, r := range s.Resources {
		if r.Live != nil {
			found.addConditions(r.Live)
		}
	}
	for _, e := range s.Events {
		if strings.HasPrefix(e.Reason, "Failed") || e.Reason == "CreateContainerConfigError" {
			found.add(e.Involved, e.Message)
		}
	}
	answers := make([]rule.Answer, 0, len(found.order))
	for _, of := range found.order {
		answers = append(answers, *found.answers[of])
	}
	return answers
}

// waiters are the workloads that wait for something that is not there.
type waiters struct {
	application *state.Application
	answers     map[drift.Key]*rule.Answer
	order       []drift.Key
}

// add takes what an object, or an event about it, says, when that names something
// missing.
func (w *waiters) add(ref drift.ResourceRef, message string) {
	if !dependency.MatchString(message) {
		return
	}
	owner := w.application.WorkloadOf(ref)
	of := drift.KeyOf(owner)
	c, known := w.answers[of]
	if !known {
		c = &rule.Answer{Mechanism: drift.MissingDependency, Confidence: drift.Likely, Sync: drift.Noop, About: &owner}
		if op := w.application.Object.Status.OperationState; op != nil && outcome.InFlight(op) {
			c.Sync = drift.Waits
		}
		w.answers[of] = c
		w.order = append(w.order, of)
	}
	if len(c.Evidence) < 5 {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%s: %s", ref.Words(), w.application.Quote(message)))
	}
}

func (w *waiters) addConditions(o object.Object) {
	for _, condition := range object.List(o, "status", "conditions") {
		if message := object.Text(condition, "message"); message != "" {
			w.add(drift.RefOf(o), message)
		}
	}
}
