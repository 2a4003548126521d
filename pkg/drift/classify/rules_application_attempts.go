package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// autosyncEmptyGuard: Git renders nothing that is live, so everything requires
// pruning, and automated sync refuses to wipe out the Application. A sync by hand
// with --prune, or allowEmpty, has no such guard.
// Evidence: the SyncError condition; or prune without allowEmpty and nothing but
// resources that require pruning. Counter-evidence: the current render has
// resources (stale-comparison). Source: controller/appcontroller.go, autoSync.
func autosyncEmptyGuard(s *situation) []claim {
	c := claim{mechanism: drift.AutosyncEmptyGuard, confidence: drift.Certain, sync: drift.Destructive}
	for _, message := range s.conditions(v1alpha1.ApplicationConditionSyncError) {
		if strings.Contains(message, "auto-sync will wipe out all resources") {
			c.evidence = append(c.evidence, "Argo CD reports a SyncError: "+s.quote(message))
		}
	}
	policy, enabled := s.automated()
	guarded := enabled && policy["prune"] == true && policy["allowEmpty"] != true
	all := s.allRequirePruning()
	if len(c.evidence) == 0 {
		if !guarded || !all || s.rendersAny() || s.incomparable {
			return nil
		}
		c.confidence = drift.Likely
	}
	if all {
		// One cause, one finding: the resources left Git together.
		c.incomparable = !s.rendersAny()
		c.evidence = append(c.evidence, allOf(len(s.app.Status.Resources)))
	}
	for i, r := range s.resources {
		if r.live != nil && r.target == nil && i < 20 {
			c.loss = append(c.loss, r.ref.Words()+" would be deleted by a sync with pruning")
		}
	}
	return []claim{c}
}

// allOf says how many resources require pruning when all do.
func allOf(n int) string {
	if n == 1 {
		return "the only resource requires pruning"
	}
	return fmt.Sprintf("all %d resources require pruning", n)
}

// allRequirePruning reports whether Argo CD would prune every resource it lists.
func (s *situation) allRequirePruning() bool {
	return len(s.app.Status.Resources) > 0 && !slices.ContainsFunc(s.app.Status.Resources, func(r v1alpha1.ResourceStatus) bool { return !r.RequiresPruning })
}

// rendersAny reports whether the snapshot has anything that Git renders.
func (s *situation) rendersAny() bool {
	return slices.ContainsFunc(s.resources, func(r *resource) bool { return r.target != nil })
}

// autosyncGaveUp: an automated sync failed, and Argo CD does not try the same
// revision again; or the operation still retries a revision that Git has left
// behind. What made it fail is another finding, where it still stands: then this
// one would say nothing new.
// Evidence: a SyncError condition "Failed (last) sync attempt to ..."; or automated
// sync, OutOfSync, and a failed operation at the revision compared now; or a
// running retry at another revision. Counter-evidence: nothing is OutOfSync, or the
// failure is known and would be met again.
// Source: controller/appcontroller.go, autoSync and alreadyAttemptedSync; #18442, #12904.
func autosyncGaveUp(s *situation) []claim {
	op := s.app.Status.OperationState
	if retriesOldRevision(s) {
		return []claim{{
			mechanism: drift.AutosyncGaveUp, confidence: drift.Certain, sync: drift.Waits,
			summary: "The operation still retries a revision that Git has left behind; nothing newer is synced until it ends.",
			evidence: []string{
				fmt.Sprintf("the operation retries revision %s (attempt %d): %s", short(syncedRevision(op)), op.RetryCount, s.quote(op.Message)),
				"the comparison is with revision " + short(s.revision()),
			},
		}}
	}
	if _, enabled := s.automated(); !enabled || s.incomparable || op != nil && inFlight(op) || s.failsAgain() {
		return nil
	}
	c := claim{mechanism: drift.AutosyncGaveUp, confidence: drift.Certain, sync: drift.Safe}
	for _, message := range s.conditions(v1alpha1.ApplicationConditionSyncError) {
		if strings.Contains(message, "sync attempt to") && strings.HasPrefix(message, "Failed") {
			c.evidence = append(c.evidence, "Argo CD reports a SyncError: "+s.quote(message))
		}
	}
	if len(c.evidence) == 0 {
		outOfSync := s.app.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync
		if !outOfSync || !failing(op) || syncedRevision(op) == "" || syncedRevision(op) != s.revision() {
			return nil
		}
		c.confidence = drift.Likely
		c.evidence = append(c.evidence, fmt.Sprintf("the last sync of revision %s ended as %s: %s", short(syncedRevision(op)), op.Phase, s.quote(op.Message)))
	}
	if op != nil && op.RetryCount > 0 {
		c.evidence = append(c.evidence, "it was retried "+words.Plural(int(op.RetryCount), "time"))
	}
	if op != nil && unreached(op.Message) {
		c.evidence = append(c.evidence, "an admission webhook could not be reached, which is no refusal: once it answers, the same sync can succeed")
	}
	c.evidence = append(c.evidence, "Argo CD tries no revision twice by itself: a new commit or a sync by hand starts the next one")
	return []claim{c}
}

// failsAgain reports whether it is known why the last sync could not apply something, so
// that another sync meets it again.
func (s *situation) failsAgain() bool {
	known := func(r *resource, f failure) bool { return r.mechanismOf(f) != drift.Unexplained }
	return slices.ContainsFunc(s.refusedUnseen(), func(refused refusal) bool { return known(refused.of, refused.failure) }) ||
		slices.ContainsFunc(s.resources, func(r *resource) bool {
			f, failed := r.failure()
			return failed && r.drifts() && known(r, f)
		})
}

// retriesOldRevision reports whether the running operation retries, after a
// failure, another revision than the one that is compared now.
func retriesOldRevision(s *situation) bool {
	op := s.app.Status.OperationState
	if op == nil || !inFlight(op) || op.RetryCount == 0 {
		return false
	}
	tried, compared := syncedRevision(op), s.revision()
	return isCommit(tried) && isCommit(compared) && tried != compared
}

// syncedRevision is the revision that an operation applies: the resolved one,
// else the one asked for. Several sources are joined.
func syncedRevision(op *v1alpha1.OperationState) string {
	if op == nil {
		return ""
	}
	if op.SyncResult != nil {
		if resolved := words.First(strings.Join(op.SyncResult.Revisions, ","), op.SyncResult.Revision); resolved != "" {
			return resolved
		}
	}
	if op.Operation.Sync == nil {
		return ""
	}
	return words.First(strings.Join(op.Operation.Sync.Revisions, ","), op.Operation.Sync.Revision)
}

// revision is the one that Argo CD compares with now.
func (s *situation) revision() string {
	return words.First(strings.Join(s.app.Status.Sync.Revisions, ","), s.app.Status.Sync.Revision)
}

// isCommit reports whether the revision is resolved and no branch or range.
func isCommit(revision string) bool {
	if len(revision) < 7 {
		return false
	}
	return !strings.ContainsFunc(revision, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef,", r) })
}

// short shortens a commit for a sentence.
func short(revision string) string {
	if isCommit(revision) && !strings.Contains(revision, ",") && len(revision) > 8 {
		return revision[:8]
	}
	return words.First(revision, "unknown")
}

// hookFailed: a hook of the last sync failed. A hook before or among the resources
// stops every further sync; one after them leaves the resources applied.
// Evidence: an entry of syncResult with a hook type and phase Failed or Error.
// Counter-evidence: the operation succeeded since. Source: gitops-engine
// sync_context.go; the hook's own message is its Job's condition.
func hookFailed(s *situation) []claim {
	op := s.app.Status.OperationState
	if op == nil || op.SyncResult == nil || op.Phase == synccommon.OperationSucceeded {
		return nil
	}
	var claims []claim
	for _, result := range op.SyncResult.Resources {
		if result == nil || result.HookType == "" || result.HookPhase != synccommon.OperationFailed && result.HookPhase != synccommon.OperationError || result.Status == synccommon.ResultCodeSyncFailed {
			continue
		}
		c := claim{mechanism: drift.HookFailed, confidence: drift.Certain, sync: drift.WillFail}
		c.about = &drift.ResourceRef{Group: result.Group, Version: result.Version, Kind: result.Kind, Namespace: result.Namespace, Name: result.Name}
		c.evidence = append(c.evidence, fmt.Sprintf("%s hook %s %s is %s: %s", result.HookType, result.Kind, result.Name, result.HookPhase, s.quote(result.Message)))
		if result.HookType == synccommon.HookTypePostSync {
			c.sync = drift.Noop
			c.evidence = append(c.evidence, "the resources themselves were applied before the hook ran")
		}
		claims = append(claims, c)
	}
	return claims
}

// selfhealFight: Argo CD heals the same revision again and again, because somebody
// writes the field back after every sync.
// Evidence: autoHealAttemptsCount of two or more, with selfHeal on (Argo CD counts
// it down to zero once the Application stays Synced), and a field that another
// writer than Argo CD owns. Counter-evidence: one attempt, which is what selfHeal is
// for; a writer that a rule before this one knows better. Source:
// controller/appcontroller.go, shouldSelfHeal; #9023.
func selfhealFight(r *resource, open []*diff.Difference) []claim {
	attempts := r.situation.healed()
	if attempts < selfhealLimit {
		return nil
	}
	c := claim{mechanism: drift.SelfhealFight, confidence: drift.Likely, sync: drift.FightsController, evidence: []string{healedWords(r.situation, attempts)}}
	for _, d := range open {
		who, fights := r.fights(d)
		if !fights {
			continue
		}
		c.differences = append(c.differences, d)
		c.evidence = append(c.evidence, fmt.Sprintf("%s was written back by %s", d.Pointer, who))
		c.loss = append(c.loss, fmt.Sprintf("%s = %s, written by %s", d.Pointer, r.show(d.Pointer, d.Live, d.InLive), who))
	}
	if len(c.differences) == 0 {
		return nil
	}
	return []claim{c}
}

// fights reports whether somebody other than Argo CD keeps writing the live value,
// and who: a controller; whoever it is, once it came back more often than a person
// would; or one that left no trace but that the value is not what was applied and
// Argo CD lost it.
func (r *resource) fights(d *diff.Difference) (who string, fights bool) {
	w := r.writersOf(d)
	switch {
	case w.role == owners.Controller, w.role != owners.Nobody && w.role != owners.Argo && r.situation.healed() > selfhealLimit:
		return owners.By(w.last), true
	case r.lastApplied != nil && d.InLive && d.InApplied && value.Equal(d.Applied, d.Live) && !diff.Churns(d) && r.situation.rendering() == sameSource:
		return "somebody who applies as Argo CD does, such as another Argo CD", true
	case len(w.all) == 0 && r.hasOwners() && d.InLive && d.InApplied && !value.Equal(d.Applied, d.Live):
		return "somebody whom managedFields do not name", true
	}
	return "", false
}

// selfhealLimit is from how many attempts on healing counts as a fight.
const selfhealLimit = 2

// healed is how often Argo CD has healed the revision; 0 without selfHeal.
func (s *situation) healed() int64 {
	op := s.app.Status.OperationState
	policy, enabled := s.automated()
	if !enabled || policy["selfHeal"] != true || op == nil || op.Operation.Sync == nil {
		return 0
	}
	return op.Operation.Sync.SelfHealAttemptsCount
}

func healedWords(s *situation, attempts int64) string {
	return fmt.Sprintf("Argo CD has healed revision %s %d times without the Application staying Synced", short(syncedRevision(s.app.Status.OperationState)), attempts)
}

// selfhealUnseen is selfhealFight for a moment at which no field shows the other
// writer: the attempts alone say that there is one.
func selfhealUnseen(s *situation) []claim {
	attempts := s.healed()
	if attempts < selfhealLimit {
		return nil
	}
	for _, r := range s.resources {
		r.prepare()
		for _, d := range r.differences {
			if _, fights := r.fights(d); fights {
				return nil
			}
		}
	}
	return []claim{{confidence: drift.Possible, sync: drift.FightsController, evidence: []string{healedWords(s, attempts), "no field in the snapshot shows who else writes"}}}
}
