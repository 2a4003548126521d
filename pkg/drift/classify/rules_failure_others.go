package classify

import (
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
)

// refusal is what the last sync could not apply.
type refusal struct {
	failure

	// ref is as the sync's result has it; of lacks both sides where the snapshot does
	// not hold the object.
	ref drift.ResourceRef
	of  *resource
}

// refusedUnseen is what the last sync could not apply and that no flagged field or
// missing object stands for: a hook, or an object that does not differ (any more).
func (s *situation) refusedUnseen() []refusal {
	op := s.app.Status.OperationState
	if s.incomparable || op == nil || op.SyncResult == nil || !failing(op) {
		return nil
	}
	byKey := make(map[drift.Key]*resource, len(s.resources))
	for _, r := range s.resources {
		byKey[drift.KeyOf(r.ref)] = r
	}
	current := syncedRevision(op) == "" || syncedRevision(op) == s.revision()
	var refused []refusal
	for _, result := range op.SyncResult.Resources {
		if result == nil || result.Status != synccommon.ResultCodeSyncFailed || passing(result.Message) {
			continue
		}
		ref := drift.ResourceRef{Group: result.Group, Version: result.Version, Kind: result.Kind, Namespace: result.Namespace, Name: result.Name}
		r, listed := lookup(byKey, &ref)
		if listed && r.drifts() && result.HookType == "" {
			continue
		}
		if !listed {
			r = &resource{situation: s, given: &drift.Resource{}, ref: ref}
		}
		refused = append(refused, refusal{failure{result.Message, current}, ref, r})
	}
	return refused
}

// failedWithoutDrift: a sync applies all resources again, so what it could not apply
// fails again, though nothing of it differs.
func failedWithoutDrift(s *situation) []claim {
	var claims []claim
	for _, refused := range s.refusedUnseen() {
		c := refused.of.failedClaim(refused.failure)
		c.about = &refused.ref
		claims = append(claims, c)
	}
	return claims
}

// lookup finds the resource that a result is about. Argo CD notes a namespace for
// objects that have none, which is taken out of the reference.
func lookup(byKey map[drift.Key]*resource, ref *drift.ResourceRef) (*resource, bool) {
	if r, listed := byKey[drift.KeyOf(*ref)]; listed {
		return r, true
	}
	r, listed := byKey[drift.Key{Group: ref.Group, Kind: ref.Kind, Name: ref.Name}]
	if listed {
		ref.Namespace = ""
	}
	return r, listed
}
