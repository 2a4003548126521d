package outcome

import (
	"slices"

	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// FailsAgain reports whether it is known why the last sync could not apply something, so
// that another sync meets it again.
func FailsAgain(s *state.Application) bool {
	if _, failed := UnnamedFailure(s); failed {
		return true
	}
	known := func(r *state.Resource, f Failure) bool { return CauseOf(r, f) != drift.Unexplained }
	return slices.ContainsFunc(RefusedUnseen(s), func(refused Unseen) bool { return known(refused.Of, refused.Failure) }) ||
		slices.ContainsFunc(s.Resources, func(r *state.Resource) bool {
			f, failed := FailureOf(r)
			return failed && r.Drifts() && known(r, f)
		})
}

// Unseen is what the last sync could not apply.
type Unseen struct {
	Failure

	// Ref is as the sync's result has it; of lacks both sides where the snapshot does
	// not hold the object.
	Ref drift.ResourceRef
	Of  *state.Resource
}

// RefusedUnseen is what the last sync could not apply and that no flagged field or
// missing object stands for: a hook, or an object that does not differ (any more).
func RefusedUnseen(s *state.Application) []Unseen {
	op := s.Object.Status.OperationState
	if s.Incomparable || op == nil || op.SyncResult == nil || !Failing(op) {
		return nil
	}
	byKey := make(map[drift.Key]*state.Resource, len(s.Resources))
	for _, r := range s.Resources {
		byKey[drift.KeyOf(r.Ref)] = r
	}
	current := state.SyncedRevision(op) == "" || state.SyncedRevision(op) == s.Revision()
	var refused []Unseen
	for _, result := range op.SyncResult.Resources {
		if result == nil || result.Status != synccommon.ResultCodeSyncFailed || Passing(result.Message) {
			continue
		}
		ref := drift.ResourceRef{Group: result.Group, Version: result.Version, Kind: result.Kind, Namespace: result.Namespace, Name: result.Name}
		r, listed := resourceOf(byKey, &ref)
		if listed && r.Drifts() && result.HookType == "" {
			continue
		}
		if !listed {
			r = &state.Resource{Application: s, Given: &drift.Resource{}, Ref: ref}
		}
		if overcome(r, result.Message) || !current && gaveUp(r, result.Message) {
			continue
		}
		refused = append(refused, Unseen{Failure{Message: result.Message, Current: current}, ref, r})
	}
	return refused
}

// resourceOf finds the resource that a result is about. Argo CD notes a namespace for
// objects that have none, which is taken out of the reference.
func resourceOf(byKey map[drift.Key]*state.Resource, ref *drift.ResourceRef) (*state.Resource, bool) {
	if r, listed := byKey[drift.KeyOf(*ref)]; listed {
		return r, true
	}
	r, listed := byKey[drift.Key{Group: ref.Group, Kind: ref.Kind, Name: ref.Name}]
	if listed {
		ref.Namespace = ""
	}
	return r, listed
}
