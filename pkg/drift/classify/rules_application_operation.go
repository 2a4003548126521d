package classify

import (
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// longMinutes is from when on an operation that waits for one object counts as
// stuck: the default progressDeadlineSeconds of a Deployment.
const longMinutes = 10

// operationInFlight says what the operation in flight does: it waits for a hook, for the
// health of an early wave, for a deletion, for a confirmation, or simply has not
// ended. The message tells what it waits for (gitops-engine, setRunningPhase); its
// age, and what is known of that object, tell waiting from being stuck. Without a
// time the answer is possible at best.
// Sources: gitops-engine sync_context.go; #6880, #4979, #21055, #10561.
func operationInFlight(s *situation) []claim {
	op := s.app.Status.OperationState
	if op == nil || !inFlight(op) {
		if s.app.Operation == nil {
			return nil
		}
		return []claim{{mechanism: drift.SyncInProgress, confidence: drift.Possible, sync: drift.Waits, evidence: []string{"an operation is requested and has not started"}}}
	}
	if strings.Contains(op.Message, "blocked by sync window") || retriesOldRevision(s) {
		return nil // rules of their own
	}
	c := claim{confidence: drift.Certain, sync: drift.Waits, evidence: []string{fmt.Sprintf("the operation is %s since %s: %s", op.Phase, stamp(op.StartedAt), s.quote(op.Message))}}
	waiting := waitsFor(op.Message)
	found := s.find(waiting.ref)
	trouble := s.trouble(waiting.ref, found)
	age, known := s.since(op.StartedAt)
	stuck := len(trouble) > 0 || !known || age >= longMinutes
	switch {
	case strings.Contains(op.Message, "pruning confirmation"):
		c.mechanism = drift.PruneProtected
		return []claim{c}
	case waiting.deletion, waiting.what == "" || !stuck:
		c.mechanism = drift.SyncInProgress
		if !known {
			c.confidence = drift.Likely
		}
	case waiting.what == hookWait:
		c.mechanism = drift.HookStuck
	default:
		c.mechanism = drift.WaveBlocked
	}
	if c.mechanism != drift.SyncInProgress {
		if waiting.ref.Name != "" {
			c.about = &found.ref
		}
		c.evidence = append(c.evidence, trouble...)
		c.confidence = grade(len(trouble) > 0, known && age >= longMinutes)
	}
	if known {
		c.evidence = append(c.evidence, "it has been running for "+minutes(age))
	} else {
		c.evidence = append(c.evidence, "the time of the snapshot is unknown, so its age is too")
	}
	return []claim{c}
}

// minutes says how long something takes.
func minutes(age float64) string {
	if age < 1 {
		return "less than a minute"
	}
	return words.Plural(int(age), "minute")
}

// grade turns two independent signs into a confidence.
func grade(a, b bool) drift.Confidence {
	switch {
	case a && b:
		return drift.Certain
	case a || b:
		return drift.Likely
	}
	return drift.Possible
}

// inFlight reports whether the operation has not ended.
func inFlight(op *v1alpha1.OperationState) bool {
	return op.Phase == synccommon.OperationRunning || op.Phase == synccommon.OperationTerminating
}

// failing reports whether the last operation failed, or failed and is being retried.
func failing(op *v1alpha1.OperationState) bool {
	return op != nil && (op.Phase == synccommon.OperationFailed || op.Phase == synccommon.OperationError || op.Phase == synccommon.OperationRunning && op.RetryCount > 0)
}

// Words of setRunningPhase for what an operation waits for.
const (
	hookWait     = "completion of hook"
	healthWait   = "healthy state of"
	deletionWait = "deletion of"
)

// wait is what a running operation waits for.
type wait struct {
	what     string
	deletion bool
	ref      drift.ResourceRef
}

// waitsFor reads "waiting for healthy state of apps/Deployment/web and 2 more resources".
func waitsFor(message string) wait {
	for _, what := range []string{hookWait, healthWait, deletionWait} {
		_, rest, found := strings.Cut(message, "waiting for "+what+" ")
		if !found {
			continue
		}
		rest, _, _ = strings.Cut(rest, " ")
		parts := strings.Split(rest, "/")
		w := wait{what: what, deletion: what == deletionWait}
		if len(parts) == 3 {
			w.ref = drift.ResourceRef{Group: parts[0], Kind: parts[1], Name: parts[2]}
		}
		return w
	}
	return wait{}
}

// find returns the resource of that group, kind and name, whatever its namespace;
// the entry has no live object when it is only known elsewhere.
func (s *situation) find(ref drift.ResourceRef) *resource {
	if ref.Name == "" {
		return &resource{situation: s, ref: ref}
	}
	for _, r := range s.resources {
		if r.ref.Group == ref.Group && r.ref.Kind == ref.Kind && r.ref.Name == ref.Name {
			return r
		}
	}
	found := &resource{situation: s, ref: ref}
	for of, result := range s.results() {
		if of.Group == ref.Group && of.Kind == ref.Kind && of.Name == ref.Name {
			found.ref.Namespace, found.ref.Version = of.Namespace, result.Version
		}
	}
	for _, o := range s.related.of(ref.Group, ref.Kind) {
		if object.Text(o, "metadata", "name") == ref.Name {
			found.live, found.ref = o, drift.RefOf(o)
		}
	}
	return found
}

// trouble are the signs, other than time, that an object will not get ready or
// complete by itself.
func (s *situation) trouble(ref drift.ResourceRef, r *resource) []string {
	if ref.Name == "" {
		return nil
	}
	var signs []string
	name := ref.Words()
	if r.live == nil && r.target != nil && hasTTL(r.target) {
		signs = append(signs, name+" is gone, and its TTL deletes it after it ends: nothing will ever report its completion")
	}
	if r.live == nil && r.given != nil && r.target != nil && r.situation.created(r.ref) && len(signs) == 0 {
		signs = append(signs, name+" is gone, although the sync created it: nothing will ever report its completion")
	}
	if suspended, _ := object.At(r.live, "spec", "suspend"); suspended == true {
		signs = append(signs, name+" is suspended (spec.suspend)")
	}
	if paused, _ := object.At(r.live, "spec", "paused"); paused == true {
		signs = append(signs, name+" is paused (spec.paused)")
	}
	if since := object.Text(r.live, "metadata", "deletionTimestamp"); since != "" && len(object.List(r.live, "metadata", "finalizers")) > 0 {
		signs = append(signs, fmt.Sprintf("%s is being deleted since %s and has finalizers", name, since))
	}
	for _, condition := range object.List(r.live, "status", "conditions") {
		reason := object.Text(condition, "reason")
		if reason == "ProgressDeadlineExceeded" || object.Text(condition, "type") == "ReplicaFailure" && object.Text(condition, "status") == "True" {
			signs = append(signs, fmt.Sprintf("%s: %s: %s", name, reason, s.quote(object.Text(condition, "message"))))
		}
	}
	return append(signs, s.podTrouble(r)...)
}

// created reports whether the operation lists the object as created and still running.
func (s *situation) created(ref drift.ResourceRef) bool {
	result, found := s.results()[drift.KeyOf(ref)]
	return found && result.HookPhase == synccommon.OperationRunning
}

// waitingReasons are those of a container that does not start by itself.
var waitingReasons = map[string]bool{
	"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true, "CrashLoopBackOff": true,
	"CreateContainerConfigError": true, "CreateContainerError": true, "RunContainerError": true, "ErrImageNeverPull": true,
}

// podTrouble are the signs at the Pods of a workload.
func (s *situation) podTrouble(r *resource) []string {
	var signs []string
	for _, pod := range s.podsOf(r) {
		for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
			for _, container := range object.List(pod, "status", kind) {
				waiting := object.Map(container, "state", "waiting")
				if reason := object.Text(waiting, "reason"); waitingReasons[reason] {
					signs = append(signs, fmt.Sprintf("Pod %s: container %s: %s: %s", object.Text(pod, "metadata", "name"), object.Text(container, "name"), reason, s.quote(object.Text(waiting, "message"))))
				}
			}
		}
		for _, condition := range object.List(pod, "status", "conditions") {
			if object.Text(condition, "type") == "PodScheduled" && object.Text(condition, "reason") == "Unschedulable" {
				signs = append(signs, fmt.Sprintf("Pod %s cannot be scheduled: %s", object.Text(pod, "metadata", "name"), s.quote(object.Text(condition, "message"))))
			}
		}
		if len(signs) > 3 {
			break
		}
	}
	return signs
}

// podsOf are the related Pods of a workload: those that its selector picks, or
// that name it as their owner.
func (s *situation) podsOf(r *resource) []object.Object {
	if r.live == nil || s.ctx.Err() != nil {
		return nil
	}
	selector := object.Map(r.live, "spec", "selector", "matchLabels")
	var pods []object.Object
	for _, pod := range s.related.of("", "Pod") {
		if object.Text(pod, "metadata", "namespace") != object.Text(r.live, "metadata", "namespace") {
			continue
		}
		if owns(r.ref, pod) || len(selector) > 0 && holds(object.Map(pod, "metadata", "labels"), selector) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// owns reports whether an object names the resource among its owners.
func owns(ref drift.ResourceRef, o object.Object) bool {
	for _, owner := range object.List(o, "metadata", "ownerReferences") {
		if object.Text(owner, "kind") == ref.Kind && object.Text(owner, "name") == ref.Name {
			return true
		}
	}
	return false
}

// holds reports whether labels has all that the selector asks for.
func holds(labels, selector map[string]any) bool {
	for name, v := range selector {
		if found, ok := labels[name]; !ok || !value.Equal(found, v) {
			return false
		}
	}
	return true
}

// since returns the minutes that passed since the time, and whether they are known.
func (s *situation) since(start metav1.Time) (minutes float64, known bool) {
	now, known := s.now()
	if !known || start.IsZero() {
		return 0, false
	}
	return now.Sub(start.Time).Minutes(), true
}

// sinceText is since for a time as an object spells it.
func (s *situation) sinceText(start string) (minutes float64, known bool) {
	parsed, err := parseTime(start)
	if err != nil {
		return 0, false
	}
	return s.since(parsed)
}

// stamp spells a time, or says that it is unknown.
func stamp(t metav1.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}
