package drift

import (
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"
)

// failedWithoutDrift makes a rule about what the last sync could not apply and
// that no flagged field or missing object stands for: a hook, or an object that
// does not differ (any more). A sync applies all resources again, so it fails again.
func failedWithoutDrift(mechanism Mechanism) func(*situation) []claim {
	return func(s *situation) []claim {
		op := s.app.Status.OperationState
		if s.blind || op == nil || op.SyncResult == nil || !failing(op) {
			return nil
		}
		byKey := make(map[key]*resource, len(s.resources))
		for _, r := range s.resources {
			byKey[keyOf(r.ref)] = r
		}
		var claims []claim
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
			current := syncedRevision(op) == "" || syncedRevision(op) == s.revision()
			c := r.failedClaim(failure{result.Message, current})
			if c.mechanism != mechanism {
				continue
			}
			c.about = &ref
			claims = append(claims, c)
		}
		return claims
	}
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
