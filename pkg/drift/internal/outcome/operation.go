// Package outcome reads what came of the last sync: what the operation did or waits for,
// what refused an object and in which words, whether Git moved since, and whether
// somebody wants what differs.
//
// It knows the words of the API server, of kubectl and of Argo CD. A message that it does
// not know is unexplained, never guessed at.
package outcome

import (
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// RetriesOldRevision reports whether the running operation retries, after a
// failure, another revision than the one that is compared now.
func RetriesOldRevision(s *state.Application) bool {
	op := s.Object.Status.OperationState
	if op == nil || !InFlight(op) || op.RetryCount == 0 {
		return false
	}
	tried, compared := state.SyncedRevision(op), s.Revision()
	return state.IsCommit(tried) && state.IsCommit(compared) && tried != compared
}

// LongMinutes is from when on an operation that waits for one object counts as
// stuck: the default progressDeadlineSeconds of a Deployment.
const LongMinutes = 10

// InFlight reports whether the operation has not ended.
func InFlight(op *v1alpha1.OperationState) bool {
	return op.Phase == synccommon.OperationRunning || op.Phase == synccommon.OperationTerminating
}

// Failing reports whether the last operation failed, or failed and is being retried.
func Failing(op *v1alpha1.OperationState) bool {
	return op != nil && (op.Phase == synccommon.OperationFailed || op.Phase == synccommon.OperationError || op.Phase == synccommon.OperationRunning && op.RetryCount > 0)
}

// Words of setRunningPhase for what an operation waits for.
const (
	HookWait     = "completion of hook"
	healthWait   = "healthy state of"
	deletionWait = "deletion of"
)

// Wait is what a running operation waits for.
type Wait struct {
	What     string
	Deletion bool
	Ref      drift.ResourceRef
}

// WaitsFor reads "waiting for healthy state of apps/Deployment/web and 2 more resources".
func WaitsFor(message string) Wait {
	for _, what := range []string{HookWait, healthWait, deletionWait} {
		_, rest, found := strings.Cut(message, "waiting for "+what+" ")
		if !found {
			continue
		}
		rest, _, _ = strings.Cut(rest, " ")
		parts := strings.Split(rest, "/")
		w := Wait{What: what, Deletion: what == deletionWait}
		if len(parts) == 3 {
			w.Ref = drift.ResourceRef{Group: parts[0], Kind: parts[1], Name: parts[2]}
		}
		return w
	}
	return Wait{}
}

// WaitingSince is since when an operation waits for an object at most: it has come to it no
// earlier than Argo CD last wrote it, nor before the object's own conditions last changed.
func WaitingSince(op *v1alpha1.OperationState, r *state.Resource) metav1.Time {
	since := op.StartedAt
	later := func(spelled string) {
		if at, err := state.ParseTime(spelled); err == nil && since.Before(&at) {
			since = at
		}
	}
	if r == nil || r.Live == nil {
		return since
	}
	later(object.Text(r.Live, "metadata", "creationTimestamp"))
	later(r.LastWrite())
	for _, condition := range object.List(r.Live, "status", "conditions") {
		later(object.Text(condition, "lastTransitionTime"))
		later(object.Text(condition, "lastUpdateTime"))
	}
	return since
}

// Trouble are the signs, other than time, that an object will not get ready or
// complete by itself.
func Trouble(s *state.Application, ref drift.ResourceRef, r *state.Resource) []string {
	if ref.Name == "" {
		return nil
	}
	var signs []string
	name := ref.Words()
	if r.Live == nil && r.Target != nil && state.HasTTL(r.Target) {
		signs = append(signs, name+" is gone, and its TTL deletes it after it ends: nothing will ever report its completion")
	}
	if r.Live == nil && r.Given != nil && r.Target != nil && created(r.Application, r.Ref) && len(signs) == 0 {
		signs = append(signs, name+" is gone, although the sync created it: nothing will ever report its completion")
	}
	if suspended, _ := object.At(r.Live, "spec", "suspend"); suspended == true {
		signs = append(signs, name+" is suspended (spec.suspend)")
	}
	if paused, _ := object.At(r.Live, "spec", "paused"); paused == true {
		signs = append(signs, name+" is paused (spec.paused)")
	}
	if since := object.Text(r.Live, "metadata", "deletionTimestamp"); since != "" && len(object.List(r.Live, "metadata", "finalizers")) > 0 {
		signs = append(signs, fmt.Sprintf("%s is being deleted since %s and has finalizers", name, since))
	}
	for _, condition := range object.List(r.Live, "status", "conditions") {
		reason := object.Text(condition, "reason")
		if reason == "ProgressDeadlineExceeded" || object.Text(condition, "type") == "ReplicaFailure" && object.Text(condition, "status") == "True" {
			signs = append(signs, fmt.Sprintf("%s: %s: %s", name, reason, s.Quote(object.Text(condition, "message"))))
		}
	}
	return append(signs, podTrouble(s, r)...)
}

// created reports whether the operation lists the object as created and still running.
func created(s *state.Application, ref drift.ResourceRef) bool {
	result, found := s.Results()[drift.KeyOf(ref)]
	return found && result.HookPhase == synccommon.OperationRunning
}

// waitingReasons are those of a container that does not start by itself.
var waitingReasons = map[string]bool{
	"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true, "CrashLoopBackOff": true,
	"CreateContainerConfigError": true, "CreateContainerError": true, "RunContainerError": true, "ErrImageNeverPull": true,
}

// podTrouble are the signs at the Pods of a workload.
func podTrouble(s *state.Application, r *state.Resource) []string {
	var signs []string
	for _, pod := range s.PodsOf(r) {
		for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
			for _, container := range object.List(pod, "status", kind) {
				waiting := object.Map(container, "state", "waiting")
				if reason := object.Text(waiting, "reason"); waitingReasons[reason] {
					signs = append(signs, fmt.Sprintf("Pod %s: container %s: %s: %s", object.Text(pod, "metadata", "name"), object.Text(container, "name"), reason, s.Quote(object.Text(waiting, "message"))))
				}
			}
		}
		for _, condition := range object.List(pod, "status", "conditions") {
			if object.Text(condition, "type") == "PodScheduled" && object.Text(condition, "reason") == "Unschedulable" {
				signs = append(signs, fmt.Sprintf("Pod %s cannot be scheduled: %s", object.Text(pod, "metadata", "name"), s.Quote(object.Text(condition, "message"))))
			}
		}
		if len(signs) > 3 {
			break
		}
	}
	return signs
}

// BeingDeleted is the answer about a live object that waits for its finalizers.
func BeingDeleted(r *state.Resource) (rule.Answer, bool) {
	since := object.Text(r.Live, "metadata", "deletionTimestamp")
	finalizers := object.List(r.Live, "metadata", "finalizers")
	if since == "" {
		return rule.Answer{}, false
	}
	// Namespaces keep theirs in the spec.
	finalizers = append(append([]any{}, finalizers...), object.List(r.Live, "spec", "finalizers")...)
	if len(finalizers) == 0 {
		return rule.Answer{}, false
	}
	names := make([]string, 0, len(finalizers))
	for _, name := range finalizers {
		names = append(names, words.Show(name))
	}
	c := rule.Answer{Mechanism: drift.DeletionStuck, Sync: drift.Waits, Evidence: []string{
		fmt.Sprintf("%s is being deleted since %s and waits for the finalizers %s", r.Ref.Words(), since, strings.Join(names, ", ")),
	}}
	for _, condition := range object.List(r.Live, "status", "conditions") {
		if kind := object.Text(condition, "type"); strings.Contains(kind, "Remaining") || strings.Contains(kind, "Deletion") && object.Text(condition, "status") == "True" {
			c.Evidence = append(c.Evidence, kind+": "+r.Quote(object.Text(condition, "message")))
		}
	}
	if r.Ref.Group == "" && r.Ref.Kind == "Namespace" {
		// Nothing can be created in a namespace that is going away.
		c.Sync = drift.WillFail
	}
	age, known := r.Application.SinceText(since)
	c.Confidence = rule.Grade(known && age >= LongMinutes, false)
	return c, true
}
