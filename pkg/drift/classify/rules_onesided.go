package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// oneSidedRules answer for what only Git or only the cluster has; the first that
// answers has the resource. Hooks are nobody's: Argo CD leaves them out of the
// comparison. Where Argo CD could not load one side, all resources seem one-sided,
// and no rule speaks.
var oneSidedRules = []oneSidedRule{
	{drift.DeletionStuck, liveOnly(beingPruned)},
	{drift.HookLeftover, hookLeftover},
	{drift.TrackingLabelCopied, liveOnly(trackingLabelCopied)},
	{drift.SharedResource, liveOnly(othersResource)},
	{drift.PruneProtected, liveOnly(pruneProtected)},
	{drift.PendingPrune, liveOnly(pendingPrune)},
	{drift.ExcludedResource, gitOnly(excludedResource)},
	{drift.ProjectNotPermitted, gitOnly(kindNotPermitted)},
	{drift.Unexplained, gitOnly(failedCreation)},
	{drift.ResourceVersionInGit, gitOnly(versionedCreation)},
	{drift.RemovedAPIVersion, gitOnly(versionNotServed)},
	{drift.MissingCRD, gitOnly(kindNotServed)},
	{drift.AnnotationTooLong, gitOnly(creationTooLong)},
	{drift.TTLDeleted, gitOnly(ttlDeleted)},
	{drift.ResourceMissing, gitOnly(resourceMissing)},
}

// gitOnly asks a rule only about what Git renders and the cluster lacks.
func gitOnly(match func(*resource) (claim, bool)) func(*resource) (claim, bool) {
	return func(r *resource) (claim, bool) {
		if r.ofHook() || r.situation.incomparable || r.target == nil || r.live != nil {
			return claim{}, false
		}
		return match(r)
	}
}

// excludedResource: Argo CD is told to leave the kind alone, so it neither finds
// nor applies the object.
// Evidence: the warning, or resource.exclusions. Source: controller/state.go.
func excludedResource(r *resource) (claim, bool) {
	how, excluded := r.excluded()
	if !excluded {
		return claim{}, false
	}
	return claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{how}}, true
}

// kindNotPermitted: the AppProject does not permit the kind or the namespace.
// Evidence: the AppProject's lists of kinds; Argo CD marks such a resource Unknown.
// Counter-evidence: the last sync created it. Source: controller/sync.go,
// WithPermissionValidator.
func kindNotPermitted(r *resource) (claim, bool) {
	if r.result != nil && r.result.Status == synccommon.ResultCodeSynced {
		return claim{}, false
	}
	why := r.forbidden()
	if len(why) == 0 {
		return claim{}, false
	}
	c := claim{confidence: drift.Likely, sync: drift.Blocked, evidence: why}
	if f, failed := r.failure(); failed && failureOf(f.message) == drift.ProjectNotPermitted {
		c.confidence = drift.Certain
		c.evidence = append(c.evidence, "the last sync failed here: "+r.quote(f.message))
	}
	return c, true
}

// failedCreation: the last sync tried to create the object and was refused; the
// mechanism is what refused it.
// Evidence: the resource's result, or the operation's message that names it.
func failedCreation(r *resource) (claim, bool) {
	f, failed := r.failure()
	if !failed {
		return claim{}, false
	}
	c := r.failedClaim(f)
	return c, true
}

// versionedCreation: an object with a resourceVersion cannot be created.
// Evidence: metadata.resourceVersion in Git. Source: kubernetes, rest.BeforeCreate.
func versionedCreation(r *resource) (claim, bool) {
	if object.Text(r.target, "metadata", "resourceVersion") == "" {
		return claim{}, false
	}
	return claim{confidence: drift.Certain, sync: drift.WillFail, evidence: []string{"Git renders metadata.resourceVersion, with which nothing can be created"}}, true
}

// versionNotServed: the cluster serves the kind, but not the version in Git.
// Evidence: the CRD's served versions. Counter-evidence: the CRD is rendered along.
// Source: #5374, #9145.
func versionNotServed(r *resource) (claim, bool) {
	// What the cluster serves of Kubernetes' own kinds, no snapshot says.
	if _, found := r.situation.crd(r.ref.Group, r.ref.Kind); !found || r.builtIn() {
		return claim{}, false
	}
	how := r.servedOtherwise()
	if how == "" {
		return claim{}, false
	}
	return claim{confidence: drift.Likely, sync: drift.WillFail, evidence: []string{how}}, true
}

// kindNotServed: nothing in the snapshot serves the kind. Without an error of a
// sync this is only a possibility, for the snapshot may lack the CRD.
// Evidence: the snapshot brings CRDs of other custom kinds, but not this one's, and
// no object of the kind is live. Counter-evidence: the kind is Kubernetes' own, or
// the CRD is rendered along. Source: #6489, #2873, #15095.
func kindNotServed(r *resource) (claim, bool) {
	s := r.situation
	if _, found := s.crd(r.ref.Group, r.ref.Kind); found || !strings.Contains(r.ref.Group, ".") || r.servedOtherwise() != "" || r.result != nil && r.result.Status == synccommon.ResultCodeSynced {
		return claim{}, false
	}
	if len(s.related.of("apiextensions.k8s.io", "CustomResourceDefinition")) == 0 || s.livesOf(r.ref.Group, r.ref.Kind) {
		return claim{}, false
	}
	return claim{confidence: drift.Possible, sync: drift.WillFail, evidence: []string{fmt.Sprintf("the snapshot holds other CRDs, but none of %s in %s", r.ref.Kind, r.ref.Group)}}, true
}

// livesOf reports whether an object of the kind is live, so that it is served.
func (s *situation) livesOf(group, kind string) bool {
	for _, r := range s.resources {
		if r.live != nil && r.ref.Group == group && r.ref.Kind == kind {
			return true
		}
	}
	return len(s.related.of(group, kind)) > 0
}

// creationTooLong: a client-side apply cannot create the object either.
// Evidence and source: as of annotationTooLong.
func creationTooLong(r *resource) (claim, bool) {
	return annotationTooLong(r, nil)
}

// ttlDeleted: the object ran to its end and was deleted by its TTL, as it says it
// should be. A sync runs it again.
// Evidence: a ttl field in the spec, and that it was there before: the last sync's
// result, an event, or an earlier deployment. Counter-evidence: it was never
// applied (resource-missing). Source: #8586, #13851, airbyte#15202.
func ttlDeleted(r *resource) (claim, bool) {
	if !hasTTL(r.target) {
		return claim{}, false
	}
	c := claim{confidence: drift.Certain, sync: drift.OverwritesLive, evidence: []string{"its spec says that it is deleted some time after it ends"}}
	c.loss = append(c.loss, r.ref.Words()+" has run already, and a sync runs it again")
	switch applied := r.result != nil && r.result.Status == synccommon.ResultCodeSynced; {
	case applied && r.result.Message != "":
		c.evidence = append(c.evidence, "the last sync applied it: "+r.quote(r.result.Message))
	case applied:
		c.evidence = append(c.evidence, "the last sync applied it")
	case len(r.saidOf()) > 0:
	case len(r.situation.app.Status.History) > 0:
		c.confidence = drift.Possible
		if r.situation.revision() == r.situation.app.Status.History.LastRevisionHistory().Revision {
			c.confidence = drift.Likely
		}
		c.evidence = append(c.evidence, "the Application was deployed before")
	default:
		return claim{}, false
	}
	c.evidence = append(c.evidence, r.saidOf()...)
	return c, true
}

// saidOf are the events about the resource that say it ended or went away.
func (r *resource) saidOf() []string {
	var said []string
	for _, e := range r.situation.events {
		about := e.involved.Kind == r.ref.Kind && e.involved.Name == r.ref.Name && (e.involved.Namespace == "" || e.involved.Namespace == r.ref.Namespace)
		word := strings.ToLower(e.reason)
		if about && (strings.Contains(word, "complet") || strings.Contains(word, "delet") || strings.Contains(word, "succe") || strings.Contains(word, "finish") || strings.Contains(word, "kill")) && len(said) < 4 {
			said = append(said, fmt.Sprintf("event %s at %s: %s", e.reason, words.First(e.time, "an unknown time"), r.situation.quote(e.message)))
		}
	}
	return said
}

// resourceMissing: Git renders the object and the cluster lacks it. A sync creates it.
// Evidence: no live object; when it was applied before, somebody deleted it.
// Counter-evidence: a TTL, a hook, or a refusal (rules before this one). Source:
// controller/state.go.
func resourceMissing(r *resource) (claim, bool) {
	c := claim{confidence: drift.Certain, sync: drift.Safe, evidence: []string{"Git renders it, and there is no live object"}}
	op := r.situation.app.Status.OperationState
	switch {
	case r.result != nil && r.result.Status == synccommon.ResultCodeSynced:
		c.evidence = append(c.evidence, fmt.Sprintf("the sync of %s applied it, so it was deleted since", stamp(finished(op))))
	case r.neverApplied():
		// Nobody deleted what Git has only just brought.
		c.mechanism = drift.GitAhead
		c.evidence = append(c.evidence, "no sync has applied it yet")
		if op != nil && syncedRevision(op) != "" && syncedRevision(op) != r.situation.revision() {
			c.evidence = append(c.evidence, fmt.Sprintf("the last sync was of revision %s, the comparison is with %s", short(syncedRevision(op)), short(r.situation.revision())))
		}
	}
	c.evidence = append(c.evidence, r.saidOf()...)
	if object.Text(r.target, "metadata", "name") == "" && object.Text(r.target, "metadata", "generateName") != "" {
		c.evidence = append(c.evidence, "it has generateName: every sync creates one more")
		c.confidence = drift.Likely
	}
	return c, true
}

// neverApplied reports whether the object came with a revision that was not synced
// as a whole, and was not applied by the last sync. Counter-evidence: an event that
// tells of its deletion.
func (r *resource) neverApplied() bool {
	op := r.situation.app.Status.OperationState
	if op == nil && len(r.situation.app.Status.History) == 0 || r.result != nil && r.result.Status == synccommon.ResultCodeSynced {
		return false
	}
	deleted := slices.ContainsFunc(r.situation.events, func(e event) bool {
		return e.involved.Kind == r.ref.Kind && e.involved.Name == r.ref.Name && words.Mentions(e.reason+" "+e.message, []string{"delet", "killing"})
	})
	return !deleted && r.situation.rendering() != sameSource
}

// finished is when the operation ended, or began when that is unknown.
func finished(op *v1alpha1.OperationState) metav1.Time {
	switch {
	case op == nil:
		return metav1.Time{}
	case op.FinishedAt != nil:
		return *op.FinishedAt
	}
	return op.StartedAt
}
