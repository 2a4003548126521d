package application

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/health"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// ControllerStale answers: the application controller does not reconcile the Application,
// so its status is old and no operation will start.
// Evidence: "Failed to load live state"; a refresh or an operation that nobody
// takes up; a reconciledAt many refresh intervals back. Counter-evidence: periodic
// refresh is off and nothing is pending; or the old status is merely wrong
// (stale-comparison). Without a time, the newest time in the
// snapshot is the least that it can be. Source: controller/appcontroller.go,
// needRefreshAppStatus; controller/state.go.
func ControllerStale(s *state.Application) []rule.Answer {
	c := rule.Answer{Mechanism: drift.ControllerStale, Confidence: drift.Certain, Sync: drift.Blocked}
	for _, message := range outcome.ErrorsOf(s).Live {
		c.Incomparable = true
		c.Evidence = append(c.Evidence, "Argo CD reports a ComparisonError: "+s.Quote(message))
	}
	if len(c.Evidence) > 0 {
		return []rule.Answer{c}
	}
	reconciled := s.Object.Status.ReconciledAt
	if reconciled == nil {
		return nil
	}
	age, known := s.Since(*reconciled)
	if !known {
		c.Confidence = drift.Possible
		age = newestTime(s).Sub(reconciled.Time).Minutes()
	}
	pending := pending(s)
	limit, periodic := refreshLimit(s)
	switch {
	case len(pending) > 0 && age >= pendingMinutes:
		if known && periodic && age < limit {
			c.Confidence = drift.Likely
		}
	case periodic && age >= limit && len(pending) == 0 && len(StaleComparison(s)) == 0:
		if known && age < 4*limit {
			c.Confidence = drift.Likely
		}
	default:
		return nil
	}
	c.Evidence = append(c.Evidence, pending...)
	c.Evidence = append(c.Evidence, fmt.Sprintf("the Application was last reconciled at %s, at least %d minutes before the snapshot", state.Stamp(*reconciled), int(age)))
	return []rule.Answer{c}
}

// pendingMinutes is how long a controller at work leaves a request at most.
const pendingMinutes = 5

// pending are the requests that the controller has not taken up.
func pending(s *state.Application) []string {
	var requests []string
	if refresh := s.Object.Annotations[mark.Refresh]; refresh != "" {
		requests = append(requests, fmt.Sprintf("a %s refresh is requested and pending", refresh))
	}
	if op := s.Object.Status.OperationState; s.Object.Operation != nil && (op == nil || !outcome.InFlight(op)) {
		requests = append(requests, "an operation is requested and has not started")
	}
	return requests
}

// refreshLimit is the age in minutes from which on a status is too old, twenty
// refresh intervals and at least two hours, and whether there is a periodic refresh
// at all.
func refreshLimit(s *state.Application) (minutes float64, periodic bool) {
	var interval metav1.Duration
	given := s.Settings.ArgocdCM["timeout.reconciliation"]
	if given == "" || interval.UnmarshalJSON([]byte(`"`+given+`"`)) != nil {
		return 120, true
	}
	return max(120, 20*interval.Minutes()), interval.Duration > 0
}

// newestTime is the newest time that the snapshot mentions: the snapshot itself
// cannot be older.
func newestTime(s *state.Application) metav1.Time {
	var newest metav1.Time
	take := func(spelled string) {
		if parsed, err := state.ParseTime(spelled); err == nil && newest.Before(&parsed) {
			newest = parsed
		}
	}
	for _, r := range s.Resources {
		for _, owner := range owners.Entries(r.Live) {
			take(owner.Time)
		}
	}
	for _, e := range s.Events {
		take(e.Time)
	}
	if newest.Before(&s.Settings.Commit.Time) {
		newest = s.Settings.Commit.Time
	}
	return newest
}

// StaleComparison answers: the status is about another state than the snapshot: it says
// OutOfSync where nothing differs, or that a resource requires pruning while Git
// renders it. Such a status comes from an outdated cache.
// Evidence: the snapshot's own comparison. Counter-evidence: something that could
// not be compared here, an operation in flight, or a resource that the status
// flags and the snapshot lacks. A sync would find nothing to do, except where the
// cached render is empty and pruning is on. Source: #18153, #24408, #15058.
func StaleComparison(s *state.Application) []rule.Answer {
	op := s.Object.Status.OperationState
	if s.Incomparable || len(pending(s)) > 0 || s.Object.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync || op != nil && outcome.InFlight(op) {
		return nil
	}
	c := rule.Answer{Mechanism: drift.StaleComparison, Confidence: drift.Likely, Sync: drift.Noop}
	rendered := 0
	for _, r := range s.Resources {
		if r.Target != nil && r.Status != nil && r.Status.RequiresPruning && !r.OfHook() && !r.Status.Hook {
			rendered++
		}
	}
	if rendered > 0 {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%d resources are said to require pruning, but Git renders them", rendered))
		if s.Prunes() {
			c.Sync = drift.Destructive
			c.Evidence = append(c.Evidence, "the Application prunes automatically: a sync that uses the same cached render deletes them")
		}
		return []rule.Answer{c}
	}
	if len(s.Resources) == 0 || s.Drifts() || !covered(s) {
		return nil
	}
	c.Evidence = append(c.Evidence, "Argo CD's status says OutOfSync, but nothing in the snapshot differs")
	reconciled := s.Object.Status.ReconciledAt
	written := newestTime(s)
	if reconciled != nil && reconciled.Before(&written) {
		c.Evidence = append(c.Evidence, fmt.Sprintf("the status is of %s, and the cluster was written to at %s", state.Stamp(*reconciled), state.Stamp(written)))
	} else {
		c.Confidence = drift.Possible
		c.Evidence = append(c.Evidence, "the status may be outdated, or Moorpin cannot see the difference")
	}
	return []rule.Answer{c}
}

// covered reports whether the snapshot shows, comparably and on both sides, every
// resource that the status flags.
func covered(s *state.Application) bool {
	compared := map[drift.Key]bool{}
	for _, r := range s.Resources {
		leftover := r.Target == nil && r.Live != nil && r.Status != nil && (r.Status.RequiresPruning || r.Status.Status == v1alpha1.SyncStatusCodeOutOfSync)
		if r.CompareError != nil || leftover {
			return false
		}
		compared[drift.KeyOf(r.Ref)] = true
	}
	flagged := false
	for _, status := range s.Object.Status.Resources {
		if status.Status != v1alpha1.SyncStatusCodeOutOfSync {
			continue
		}
		flagged = true
		if !compared[drift.Key{Group: status.Group, Kind: status.Kind, Namespace: status.Namespace, Name: status.Name}] {
			return false
		}
	}
	return flagged || len(s.Object.Status.Resources) == 0
}

// ManagedNamespaceMetadata answers: the Application is OutOfSync without any difference,
// because the metadata wanted for its namespace changed since the last sync; or it
// is never applied, because Git renders the namespace itself.
// Evidence: spec and syncResult differ; or a rendered Namespace without the wanted
// metadata. Source: controller/state.go, isManagedNamespace; #12661, #13074, #14666.
func ManagedNamespaceMetadata(s *state.Application) []rule.Answer {
	if s.Object.Spec.SyncPolicy == nil || s.Object.Spec.SyncPolicy.ManagedNamespaceMetadata == nil {
		return nil
	}
	wanted := s.Object.Spec.SyncPolicy.ManagedNamespaceMetadata
	for _, r := range s.Resources {
		if r.Target == nil || r.Ref.Group != "" || r.Ref.Kind != "Namespace" || r.Ref.Name != s.Object.Spec.Destination.Namespace {
			continue
		}
		missing := append(absent("labels", wanted.Labels, r.Target), absent("annotations", wanted.Annotations, r.Target)...)
		if len(missing) == 0 {
			break
		}
		ref := r.Ref
		return []rule.Answer{{
			Mechanism: drift.ManagedNamespaceMetadata, Confidence: drift.Certain, Sync: drift.Noop, About: &ref,
			Summary:  "managedNamespaceMetadata is never applied, because Git renders the namespace itself and that manifest wins.",
			Evidence: append([]string{"Git renders " + r.Ref.Words() + ", so managedNamespaceMetadata has no effect"}, missing...),
		}}
	}
	if !s.Object.HasChangedManagedNamespaceMetadata() {
		return nil
	}
	c := rule.Answer{Mechanism: drift.ManagedNamespaceMetadata, Confidence: drift.Certain, Sync: drift.Safe, Evidence: []string{
		"spec.syncPolicy.managedNamespaceMetadata differs from what the last sync applied",
	}}
	if !s.Object.Spec.SyncPolicy.SyncOptions.HasOption("CreateNamespace=true") {
		c.Evidence = append(c.Evidence, "the sync option CreateNamespace=true is missing, without which a sync does not touch the namespace")
		c.Sync = drift.Noop
	}
	return []rule.Answer{c}
}

// absent says which wanted entries the object lacks or has otherwise.
func absent(what string, wanted map[string]string, o object.Object) []string {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if object.Text(o, "metadata", what, name) != wanted[name] {
			missing = append(missing, fmt.Sprintf("%s %s=%s is wanted and not rendered", strings.TrimSuffix(what, "s"), name, wanted[name]))
		}
	}
	return missing
}

// UnhealthyNotDrift answers: nothing differs, and a workload is Degraded or Progressing,
// which no sync changes.
// Evidence: Synced, no difference, and the health that Argo CD lists for the
// resource, or that its own checks find. Counter-evidence: an operation in flight,
// a deletion, or a dependency that is known to be missing. Source: controller/health.go.
func UnhealthyNotDrift(s *state.Application) []rule.Answer {
	op := s.Object.Status.OperationState
	if s.Incomparable || !ill(s.Object.Status.Health.Status) || s.Object.DeletionTimestamp != nil || s.Object.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync ||
		s.Drifts() || op != nil && outcome.InFlight(op) {
		return nil
	}
	said := fmt.Sprintf("nothing differs, and the Application is %s", s.Object.Status.Health.Status)
	var answers []rule.Answer
	for _, r := range s.Resources {
		state, message := healthOf(r)
		if !ill(state) || r.OfHook() || state == health.HealthStatusProgressing && !lasts(s, r) {
			continue
		}
		ref := r.Ref
		c := rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, About: &ref, Evidence: []string{said, strings.TrimSuffix(fmt.Sprintf("%s is %s: %s", r.Ref.Words(), state, s.Quote(message)), ": ")}}
		c.Evidence = append(c.Evidence, outcome.Trouble(s, r.Ref, r)...)
		answers = append(answers, c)
	}
	if len(answers) == 0 && s.Object.Status.Health.Status == health.HealthStatusDegraded {
		answers = append(answers, rule.Answer{Confidence: drift.Likely, Sync: drift.Noop, Evidence: []string{said}})
	}
	return answers
}

// lasts reports whether a resource makes progress for longer than a rollout should
// take, or a Pod of it is in trouble. A rollout that has just begun is none's illness.
func lasts(s *state.Application, r *state.Resource) bool {
	if len(outcome.Trouble(s, r.Ref, r)) > 0 {
		return true
	}
	if longIll(s, r) {
		return true
	}
	since := s.Object.Status.Health.LastTransitionTime
	if op := s.Object.Status.OperationState; since == nil && op != nil {
		since = op.FinishedAt
	}
	if since == nil {
		return false
	}
	minutes, known := s.Since(*since)
	return known && minutes > outcome.LongMinutes
}

// longIll reports whether the resource itself, its Pods or events about them say that it
// is not well for longer than a rollout should take.
func longIll(s *state.Application, r *state.Resource) bool {
	long := func(since string) bool {
		minutes, known := s.SinceText(since)
		return known && minutes > outcome.LongMinutes
	}
	for _, o := range append([]object.Object{r.Live}, s.PodsOf(r)...) {
		for _, condition := range object.List(o, "status", "conditions") {
			if slices.Contains(wellWords, object.Text(condition, "type")) && object.Text(condition, "status") == "False" && long(object.Text(condition, "lastTransitionTime")) {
				return true
			}
		}
	}
	return slices.ContainsFunc(s.Events, func(e state.Event) bool {
		return (e.Reason == "BackOff" || e.Reason == "Unhealthy" || e.Reason == "FailedScheduling") && long(e.First) && s.WorkloadOf(e.Involved) == r.Ref
	})
}

// wellWords are the conditions that say of an object that it is well.
var wellWords = []string{"Available", "Ready", "Healthy", "Synced", "Reconciled", "ContainersReady"}

// ill reports whether a health is one that somebody has to look into.
func ill(status health.HealthStatusCode) bool {
	return status == health.HealthStatusDegraded || status == health.HealthStatusProgressing
}

// healthOf is the resource's health: as Argo CD lists it, else as its built-in checks
// find it, which they do for Kubernetes' own kinds.
func healthOf(r *state.Resource) (status health.HealthStatusCode, message string) {
	if r.Status != nil && r.Status.Health != nil {
		return r.Status.Health.Status, r.Status.Health.Message
	}
	if r.Live == nil || r.Unfit != nil {
		return "", ""
	}
	defer func() {
		if recover() != nil { // an object of a shape that the checks do not expect
			status, message = "", ""
		}
	}()
	found, err := health.GetResourceHealth(&unstructured.Unstructured{Object: r.Live}, nil)
	if err != nil || found == nil {
		return "", ""
	}
	return found.Status, found.Message
}

// InSync is the answer for an Application about which nothing else is to be said.
func InSync(s *state.Application) rule.Answer {
	c := rule.Answer{Mechanism: drift.None, Confidence: drift.Certain, Sync: drift.NothingToDo, Evidence: []string{"what Git renders and what is live are the same, as Argo CD compares them"}}
	if s.Object.Status.Sync.Status != v1alpha1.SyncStatusCodeSynced {
		c.Confidence = drift.Likely
	}
	return c
}

// NotCompared is the answer for an Application about which nothing is to be said, but that
// Argo CD has not compared: what the snapshot shows may not be all of it.
func NotCompared(s *state.Application) rule.Answer {
	said := "Argo CD's status says no sync status"
	if s.Object.Status.Sync.Status != "" {
		said = "Argo CD's status says " + string(s.Object.Status.Sync.Status)
	}
	c := rule.Answer{Mechanism: drift.Unexplained, Confidence: drift.Possible, Sync: drift.Noop, Summary: "Argo CD has not compared the Application: whether it is in sync is not known.", Evidence: []string{said}}
	if len(s.Resources) == 0 {
		c.Sync = drift.OverwritesLive
		c.Evidence = append(c.Evidence, "the snapshot has no resources, so that what a sync does is not known")
	} else {
		c.Evidence = append(c.Evidence, "nothing in the snapshot differs, but it may lack resources")
	}
	return c
}
