package tracking

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// AutosyncEmptyGuard answers: Git renders nothing that is live, so everything requires
// pruning, and automated sync refuses to wipe out the Application. A sync by hand
// with --prune, or allowEmpty, has no such guard.
// Evidence: the SyncError condition, and nothing less: an Application whose only resource
// left Git looks the same. What is said of the single resources stands beside it, all but
// that Git no longer renders them. Source: controller/appcontroller.go, autoSync.
func AutosyncEmptyGuard(s *state.Application) []rule.Answer {
	c := rule.Answer{Mechanism: drift.AutosyncEmptyGuard, Confidence: drift.Certain, Sync: drift.Destructive}
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionSyncError) {
		if strings.Contains(message, "auto-sync will wipe out all resources") {
			c.Evidence = append(c.Evidence, "Argo CD reports a SyncError: "+s.Quote(message))
		}
	}
	if len(c.Evidence) == 0 {
		return nil
	}
	if allRequirePruning(s) {
		c.Evidence = append(c.Evidence, allOf(len(s.Object.Status.Resources)))
	}
	kept := 0
	for _, r := range s.Resources {
		switch {
		case r.Live == nil || r.Target != nil:
		case staysThere(r):
			kept++
		case len(c.Loss) < mostLosses:
			c.Loss = append(c.Loss, r.Ref.Words()+" would be deleted by a sync with pruning")
		}
	}
	if len(c.Loss) == 0 && kept > 0 && kept >= len(s.Object.Status.Resources) {
		c.Sync = drift.Noop
		c.Evidence = append(c.Evidence, "no sync would delete any of them, as the other findings say")
	}
	return []rule.Answer{c}
}

// mostLosses is how many objects the guard names.
const mostLosses = 20

// staysThere reports whether a sync with pruning does not delete what Git no longer
// renders, because a rule says so that is asked before the one about pruning.
func staysThere(r *state.Resource) bool {
	return slices.ContainsFunc([]func(*state.Resource) (rule.Answer, bool){BeingPruned, HookLeftover, LabelCopied, OthersResource, PruneProtected}, func(match func(*state.Resource) (rule.Answer, bool)) bool {
		c, found := match(r)
		return found && c.Sync != drift.Destructive
	})
}

// allOf says how many resources require pruning when all do.
func allOf(n int) string {
	if n == 1 {
		return "the only resource requires pruning"
	}
	return fmt.Sprintf("all %d resources require pruning", n)
}

// allRequirePruning reports whether Argo CD would prune every resource it lists.
func allRequirePruning(s *state.Application) bool {
	return len(s.Object.Status.Resources) > 0 && !slices.ContainsFunc(s.Object.Status.Resources, func(r v1alpha1.ResourceStatus) bool { return !r.RequiresPruning })
}
