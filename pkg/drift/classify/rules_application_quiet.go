package classify

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
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/object"
)

// controllerStale: the application controller does not reconcile the Application,
// so its status is old and no operation will start.
// Evidence: "Failed to load live state"; a refresh or an operation that nobody
// takes up; a reconciledAt many refresh intervals back. Counter-evidence: periodic
// refresh is off and nothing is pending; or the old status is merely wrong
// (stale-comparison). Without a time, the newest time in the
// snapshot is the least that it can be. Source: controller/appcontroller.go,
// needRefreshAppStatus; controller/state.go.
func controllerStale(s *situation) []claim {
	c := claim{mechanism: drift.ControllerStale, confidence: drift.Certain, sync: drift.Blocked}
	for _, message := range s.comparisonErrors().live {
		c.incomparable = true
		c.evidence = append(c.evidence, "Argo CD reports a ComparisonError: "+s.quote(message))
	}
	if len(c.evidence) > 0 {
		return []claim{c}
	}
	reconciled := s.app.Status.ReconciledAt
	if reconciled == nil {
		return nil
	}
	age, known := s.since(*reconciled)
	if !known {
		c.confidence = drift.Possible
		age = s.newestTime().Sub(reconciled.Time).Minutes()
	}
	pending := s.pending()
	limit, periodic := s.refreshLimit()
	switch {
	case len(pending) > 0 && age >= pendingMinutes:
		if known && periodic && age < limit {
			c.confidence = drift.Likely
		}
	case periodic && age >= limit && len(pending) == 0 && len(staleComparison(s)) == 0:
		if known && age < 4*limit {
			c.confidence = drift.Likely
		}
	default:
		return nil
	}
	c.evidence = append(c.evidence, pending...)
	c.evidence = append(c.evidence, fmt.Sprintf("the Application was last reconciled at %s, at least %d minutes before the snapshot", stamp(*reconciled), int(age)))
	return []claim{c}
}

// pendingMinutes is how long a controller at work leaves a request at most.
const pendingMinutes = 5

// pending are the requests that the controller has not taken up.
func (s *situation) pending() []string {
	var requests []string
	if refresh := s.app.Annotations[mark.Refresh]; refresh != "" {
		requests = append(requests, fmt.Sprintf("a %s refresh is requested and pending", refresh))
	}
	if op := s.app.Status.OperationState; s.app.Operation != nil && (op == nil || !inFlight(op)) {
		requests = append(requests, "an operation is requested and has not started")
	}
	return requests
}

// refreshLimit is the age in minutes from which on a status is too old, twenty
// refresh intervals and at least two hours, and whether there is a periodic refresh
// at all.
func (s *situation) refreshLimit() (minutes float64, periodic bool) {
	var interval metav1.Duration
	given := s.settings.argocdCM["timeout.reconciliation"]
	if given == "" || interval.UnmarshalJSON([]byte(`"`+given+`"`)) != nil {
		return 120, true
	}
	return max(120, 20*interval.Minutes()), interval.Duration > 0
}

// newestTime is the newest time that the snapshot mentions: the snapshot itself
// cannot be older.
func (s *situation) newestTime() metav1.Time {
	var newest metav1.Time
	take := func(spelled string) {
		if parsed, err := parseTime(spelled); err == nil && newest.Before(&parsed) {
			newest = parsed
		}
	}
	for _, r := range s.resources {
		for _, owner := range owners.Entries(r.live) {
			take(owner.Time)
		}
	}
	for _, e := range s.events {
		take(e.time)
	}
	if newest.Before(&s.settings.commit.time) {
		newest = s.settings.commit.time
	}
	return newest
}

// staleComparison: the status is about another state than the snapshot: it says
// OutOfSync where nothing differs, or that a resource requires pruning while Git
// renders it. Such a status comes from an outdated cache.
// Evidence: the snapshot's own comparison. Counter-evidence: something that could
// not be compared here, an operation in flight, or a resource that the status
// flags and the snapshot lacks. A sync would find nothing to do, except where the
// cached render is empty and pruning is on. Source: #18153, #24408, #15058.
func staleComparison(s *situation) []claim {
	op := s.app.Status.OperationState
	if s.incomparable || len(s.pending()) > 0 || s.app.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync || op != nil && inFlight(op) {
		return nil
	}
	c := claim{mechanism: drift.StaleComparison, confidence: drift.Likely, sync: drift.Noop}
	rendered := 0
	for _, r := range s.resources {
		if r.target != nil && r.status != nil && r.status.RequiresPruning && !r.ofHook() && !r.status.Hook {
			rendered++
		}
	}
	if rendered > 0 {
		c.evidence = append(c.evidence, fmt.Sprintf("%d resources are said to require pruning, but Git renders them", rendered))
		if s.prunes() {
			c.sync = drift.Destructive
			c.evidence = append(c.evidence, "the Application prunes automatically: a sync that uses the same cached render deletes them")
		}
		return []claim{c}
	}
	if len(s.resources) == 0 || s.drifts() || !s.covered() {
		return nil
	}
	c.evidence = append(c.evidence, "Argo CD's status says OutOfSync, but nothing in the snapshot differs")
	reconciled := s.app.Status.ReconciledAt
	written := s.newestTime()
	if reconciled != nil && reconciled.Before(&written) {
		c.evidence = append(c.evidence, fmt.Sprintf("the status is of %s, and the cluster was written to at %s", stamp(*reconciled), stamp(written)))
	} else {
		c.confidence = drift.Possible
		c.evidence = append(c.evidence, "the status may be outdated, or Moorpin cannot see the difference")
	}
	return []claim{c}
}

// covered reports whether the snapshot shows, comparably and on both sides, every
// resource that the status flags.
func (s *situation) covered() bool {
	compared := map[drift.Key]bool{}
	for _, r := range s.resources {
		leftover := r.target == nil && r.live != nil && r.status != nil && (r.status.RequiresPruning || r.status.Status == v1alpha1.SyncStatusCodeOutOfSync)
		if r.compareError != nil || leftover {
			return false
		}
		compared[drift.KeyOf(r.ref)] = true
	}
	flagged := false
	for _, status := range s.app.Status.Resources {
		if status.Status != v1alpha1.SyncStatusCodeOutOfSync {
			continue
		}
		flagged = true
		if !compared[drift.Key{Group: status.Group, Kind: status.Kind, Namespace: status.Namespace, Name: status.Name}] {
			return false
		}
	}
	return flagged || len(s.app.Status.Resources) == 0
}

// managedNamespaceMetadata: the Application is OutOfSync without any difference,
// because the metadata wanted for its namespace changed since the last sync; or it
// is never applied, because Git renders the namespace itself.
// Evidence: spec and syncResult differ; or a rendered Namespace without the wanted
// metadata. Source: controller/state.go, isManagedNamespace; #12661, #13074, #14666.
func managedNamespaceMetadata(s *situation) []claim {
	if s.app.Spec.SyncPolicy == nil || s.app.Spec.SyncPolicy.ManagedNamespaceMetadata == nil {
		return nil
	}
	wanted := s.app.Spec.SyncPolicy.ManagedNamespaceMetadata
	for _, r := range s.resources {
		if r.target == nil || r.ref.Group != "" || r.ref.Kind != "Namespace" || r.ref.Name != s.app.Spec.Destination.Namespace {
			continue
		}
		missing := append(absent("labels", wanted.Labels, r.target), absent("annotations", wanted.Annotations, r.target)...)
		if len(missing) == 0 {
			break
		}
		ref := r.ref
		return []claim{{
			mechanism: drift.ManagedNamespaceMetadata, confidence: drift.Certain, sync: drift.Noop, about: &ref,
			summary:  "managedNamespaceMetadata is never applied, because Git renders the namespace itself and that manifest wins.",
			evidence: append([]string{"Git renders " + r.ref.Words() + ", so managedNamespaceMetadata has no effect"}, missing...),
		}}
	}
	if !s.app.HasChangedManagedNamespaceMetadata() {
		return nil
	}
	c := claim{mechanism: drift.ManagedNamespaceMetadata, confidence: drift.Certain, sync: drift.Safe, evidence: []string{
		"spec.syncPolicy.managedNamespaceMetadata differs from what the last sync applied",
	}}
	if !s.app.Spec.SyncPolicy.SyncOptions.HasOption("CreateNamespace=true") {
		c.evidence = append(c.evidence, "the sync option CreateNamespace=true is missing, without which a sync does not touch the namespace")
		c.sync = drift.Noop
	}
	return []claim{c}
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

// unhealthyNotDrift: nothing differs, and a workload is Degraded or Progressing,
// which no sync changes.
// Evidence: Synced, no difference, and the health that Argo CD lists for the
// resource, or that its own checks find. Counter-evidence: an operation in flight,
// a deletion, or a dependency that is known to be missing. Source: controller/health.go.
func unhealthyNotDrift(s *situation) []claim {
	op := s.app.Status.OperationState
	if s.incomparable || !ill(s.app.Status.Health.Status) || s.app.DeletionTimestamp != nil || s.app.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync ||
		s.drifts() || op != nil && inFlight(op) {
		return nil
	}
	said := fmt.Sprintf("nothing differs, and the Application is %s", s.app.Status.Health.Status)
	var claims []claim
	for _, r := range s.resources {
		state, message := r.health()
		if !ill(state) || r.ofHook() || state == health.HealthStatusProgressing && !s.lasts(r) {
			continue
		}
		ref := r.ref
		c := claim{confidence: drift.Certain, sync: drift.Noop, about: &ref, evidence: []string{said, strings.TrimSuffix(fmt.Sprintf("%s is %s: %s", r.ref.Words(), state, s.quote(message)), ": ")}}
		c.evidence = append(c.evidence, s.trouble(r.ref, r)...)
		claims = append(claims, c)
	}
	if len(claims) == 0 && s.app.Status.Health.Status == health.HealthStatusDegraded {
		claims = append(claims, claim{confidence: drift.Likely, sync: drift.Noop, evidence: []string{said}})
	}
	return claims
}

// lasts reports whether a resource makes progress for longer than a rollout should
// take, or a Pod of it is in trouble. A rollout that has just begun is none's illness.
func (s *situation) lasts(r *resource) bool {
	if len(s.trouble(r.ref, r)) > 0 {
		return true
	}
	since := s.app.Status.Health.LastTransitionTime
	if op := s.app.Status.OperationState; since == nil && op != nil {
		since = op.FinishedAt
	}
	if since == nil {
		return false
	}
	minutes, known := s.since(*since)
	return known && minutes > longMinutes
}

// ill reports whether a health is one that somebody has to look into.
func ill(status health.HealthStatusCode) bool {
	return status == health.HealthStatusDegraded || status == health.HealthStatusProgressing
}

// health is the resource's health: as Argo CD lists it, else as its built-in checks
// find it, which they do for Kubernetes' own kinds.
func (r *resource) health() (status health.HealthStatusCode, message string) {
	if r.status != nil && r.status.Health != nil {
		return r.status.Health.Status, r.status.Health.Message
	}
	if r.live == nil || r.unfit != nil {
		return "", ""
	}
	defer func() {
		if recover() != nil { // an object of a shape that the checks do not expect
			status, message = "", ""
		}
	}()
	found, err := health.GetResourceHealth(&unstructured.Unstructured{Object: r.live}, nil)
	if err != nil || found == nil {
		return "", ""
	}
	return found.Status, found.Message
}

// inSync is the claim for an Application about which nothing else is to be said.
func inSync(s *situation) claim {
	c := claim{mechanism: drift.None, confidence: drift.Certain, sync: drift.NothingToDo, evidence: []string{"what Git renders and what is live are the same, as Argo CD compares them"}}
	if s.app.Status.Sync.Status != v1alpha1.SyncStatusCodeSynced {
		c.confidence = drift.Likely
	}
	return c
}
