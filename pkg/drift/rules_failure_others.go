package drift

import (
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"
)

// refusal is what the last sync could not apply.
type refusal struct {
	failure

	// ref is as the sync's result has it; of lacks both sides where the snapshot does
	// not hold the object.
	ref ResourceRef
	of  *resource
}

// refusedUnseen is what the last sync could not apply and that no flagged field or
// missing object stands for: a hook, or an object that does not differ (any more).
func (s *situation) refusedUnseen() []refusal {
	op := s.app.Status.OperationState
	if s.incomparable || op == nil || op.SyncResult == nil || !failing(op) {
		return nil
	}
	byKey := make(map[key]*resource, len(s.resources))
	for _, r := range s.resources {
		byKey[keyOf(r.ref)] = r
	}
	current := syncedRevision(op) == "" || syncedRevision(op) == s.revision()
	var refused []refusal
	for _, result := range op.SyncResult.Resources {
		if result == nil || result.Status != synccommon.ResultCodeSyncFailed || passing(result.Message) {
			continue
		}
		ref := ResourceRef{Group: result.Group, Version: result.Version, Kind: result.Kind, Namespace: result.Namespace, Name: result.Name}
		r, listed := lookup(byKey, &ref)
		if listed && r.drifts() && result.HookType == "" {
			continue
		}
		if !listed {
			r = &resource{situation: s, given: &Resource{}, ref: ref}
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
func lookup(byKey map[key]*resource, ref *ResourceRef) (*resource, bool) {
	if r, listed := byKey[keyOf(*ref)]; listed {
		return r, true
	}
	r, listed := byKey[key{group: ref.Group, kind: ref.Kind, name: ref.Name}]
	if listed {
		ref.Namespace = ""
	}
	return r, listed
}
