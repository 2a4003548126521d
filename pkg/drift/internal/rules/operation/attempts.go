package operation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// AutosyncGaveUp answers: an automated sync failed, and Argo CD does not try the same
// revision again; or the operation still retries a revision that Git has left
// behind. What made it fail is another finding, where it still stands: then this
// one would say nothing new.
// Evidence: a SyncError condition "Failed (last) sync attempt to ..."; or automated
// sync, OutOfSync, and a failed operation at the revision compared now; or a
// running retry at another revision. Counter-evidence: nothing is OutOfSync, or the
// failure is known and would be met again.
// Source: controller/appcontroller.go, autoSync and alreadyAttemptedSync; #18442, #12904.
func AutosyncGaveUp(s *state.Application) []rule.Answer {
	op := s.Object.Status.OperationState
	if outcome.RetriesOldRevision(s) {
		return []rule.Answer{{
			Mechanism: drift.AutosyncGaveUp, Confidence: drift.Certain, Sync: drift.Waits,
			Summary: "The operation still retries a revision that Git has left behind; nothing newer is synced until it ends.",
			Evidence: []string{
				fmt.Sprintf("the operation retries revision %s (attempt %d): %s", state.Short(state.SyncedRevision(op)), op.RetryCount, s.Quote(op.Message)),
				"the comparison is with revision " + state.Short(s.Revision()),
			},
		}}
	}
	if _, enabled := s.Automated(); !enabled || s.Incomparable || op != nil && outcome.InFlight(op) || outcome.FailsAgain(s) {
		return nil
	}
	c := rule.Answer{Mechanism: drift.AutosyncGaveUp, Confidence: drift.Certain, Sync: drift.Safe}
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionSyncError) {
		if strings.Contains(message, "sync attempt to") && strings.HasPrefix(message, "Failed") {
			c.Evidence = append(c.Evidence, "Argo CD reports a SyncError: "+s.Quote(message))
		}
	}
	if len(c.Evidence) == 0 {
		outOfSync := s.Object.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync
		if !outOfSync || !outcome.Failing(op) || state.SyncedRevision(op) == "" || state.SyncedRevision(op) != s.Revision() {
			return nil
		}
		c.Confidence = drift.Likely
		c.Evidence = append(c.Evidence, fmt.Sprintf("the last sync of revision %s ended as %s: %s", state.Short(state.SyncedRevision(op)), op.Phase, s.Quote(op.Message)))
	}
	if op != nil && op.RetryCount > 0 {
		c.Evidence = append(c.Evidence, "it was retried "+words.Plural(int(op.RetryCount), "time"))
	}
	if op != nil && outcome.Unreached(op.Message) {
		c.Evidence = append(c.Evidence, "an admission webhook could not be reached, which is no refusal: once it answers, the same sync can succeed")
	}
	c.Evidence = append(c.Evidence, "Argo CD tries no revision twice by itself: a new commit or a sync by hand starts the next one")
	return []rule.Answer{c}
}

// HookFailed answers: a hook of the last sync failed. A hook before or among the resources
// stops every further sync; one after them leaves the resources applied.
// Evidence: an entry of syncResult with a hook type and phase Failed or Error; or the live
// hook, which has failed since the operation began. Counter-evidence: the operation
// succeeded since. Where the operation was of another revision, Git may have mended the
// hook. Source: gitops-engine sync_context.go; the hook's own message is its Job's
// condition.
func HookFailed(s *state.Application) []rule.Answer {
	op := s.Object.Status.OperationState
	if op == nil || op.Phase == synccommon.OperationSucceeded {
		return nil
	}
	answers := failedByResult(s, op)
	known := map[drift.Key]bool{}
	for i := range answers {
		known[drift.KeyOf(*answers[i].About)] = true
	}
	for _, r := range append(slices.Clone(s.Resources), s.Find(outcome.WaitsFor(op.Message).Ref)) {
		if c, failed := failedLive(r, op); failed && !known[drift.KeyOf(r.Ref)] {
			known[drift.KeyOf(r.Ref)] = true
			answers = append(answers, c)
		}
	}
	if tried := state.SyncedRevision(op); tried != "" && tried != s.Revision() {
		for i := range answers {
			answers[i].Confidence = drift.Likely
			answers[i].Evidence = append(answers[i].Evidence, fmt.Sprintf("that was at revision %s; the comparison is with %s", state.Short(tried), state.Short(s.Revision())))
		}
	}
	return answers
}

// failedLive is the answer about a hook that has failed by itself, whether or not Argo CD
// has noted it. One that failed before the operation began is another sync's.
func failedLive(r *state.Resource, op *v1alpha1.OperationState) (rule.Answer, bool) {
	how, failed := state.EndedBadly(r.Live)
	if !failed || !state.IsHook(r.Live) {
		return rule.Answer{}, false
	}
	if made, err := state.ParseTime(object.Text(r.Live, "metadata", "creationTimestamp")); err == nil && !made.IsZero() && !op.StartedAt.IsZero() && made.Before(&op.StartedAt) {
		return rule.Answer{}, false
	}
	ref := r.Ref
	c := rule.Answer{Mechanism: drift.HookFailed, Confidence: drift.Certain, Sync: drift.WillFail, About: &ref, Evidence: []string{"the live hook has ended: " + how}}
	for _, condition := range object.List(r.Live, "status", "conditions") {
		if said := object.Text(condition, "message"); said != "" && object.Text(condition, "type") == "Failed" {
			c.Evidence = append(c.Evidence, r.Ref.Words()+": "+r.Quote(said))
		}
	}
	if state.AfterResources(r.Live) {
		c.Sync = drift.Noop
		c.Evidence = append(c.Evidence, "the resources themselves were applied before the hook ran")
	}
	if outcome.InFlight(op) {
		c.Sync = drift.Worse(c.Sync, drift.Waits)
	}
	return c, true
}

// failedByResult are the hooks that the operation itself lists as failed.
func failedByResult(s *state.Application, op *v1alpha1.OperationState) []rule.Answer {
	if op.SyncResult == nil {
		return nil
	}
	var answers []rule.Answer
	for _, result := range op.SyncResult.Resources {
		if result == nil || result.HookType == "" || result.HookPhase != synccommon.OperationFailed && result.HookPhase != synccommon.OperationError || result.Status == synccommon.ResultCodeSyncFailed {
			continue
		}
		c := rule.Answer{Mechanism: drift.HookFailed, Confidence: drift.Certain, Sync: drift.WillFail}
		c.About = &drift.ResourceRef{Group: result.Group, Version: result.Version, Kind: result.Kind, Namespace: result.Namespace, Name: result.Name}
		c.Evidence = append(c.Evidence, fmt.Sprintf("%s hook %s %s is %s: %s", result.HookType, result.Kind, result.Name, result.HookPhase, s.Quote(result.Message)))
		if result.HookType == synccommon.HookTypePostSync {
			c.Sync = drift.Noop
			c.Evidence = append(c.Evidence, "the resources themselves were applied before the hook ran")
		}
		answers = append(answers, c)
	}
	return answers
}

// SelfhealFight answers: Argo CD heals the same revision again and again, because somebody
// writes the field back after every sync.
// Evidence: autoHealAttemptsCount of two or more, with selfHeal on (Argo CD counts
// it down to zero once the Application stays Synced), and a field that another
// writer than Argo CD owns. Counter-evidence: one attempt, which is what selfHeal is
// for; a writer that a rule before this one knows better. Source:
// controller/appcontroller.go, shouldSelfHeal; #9023.
func SelfhealFight(r *state.Resource, open []*diff.Difference) []rule.Answer {
	attempts := healed(r.Application)
	if attempts < selfhealLimit {
		return nil
	}
	c := rule.Answer{Mechanism: drift.SelfhealFight, Confidence: drift.Likely, Sync: drift.FightsController, Evidence: []string{healedWords(r.Application, attempts)}}
	for _, d := range open {
		who, fights := fights(r, d)
		if !fights {
			continue
		}
		c.Differences = append(c.Differences, d)
		c.Evidence = append(c.Evidence, fmt.Sprintf("%s was written back by %s", d.Pointer, who))
		c.Loss = append(c.Loss, fmt.Sprintf("%s = %s, written by %s", d.Pointer, r.Show(d.Pointer, d.Live, d.InLive), who))
	}
	if len(c.Differences) == 0 {
		return nil
	}
	return []rule.Answer{c}
}

// fights reports whether somebody other than Argo CD keeps writing the live value,
// and who: a controller; whoever it is, once it came back more often than a person
// would; or one that left no trace but that the value is not what was applied and
// Argo CD lost it.
func fights(r *state.Resource, d *diff.Difference) (who string, fights bool) {
	w := r.WritersOf(d)
	switch {
	case w.Role == owners.Controller, w.Role != owners.Nobody && w.Role != owners.Argo && healed(r.Application) > selfhealLimit:
		return owners.By(w.Last), true
	case r.LastApplied != nil && d.InLive && d.InApplied && value.Equal(d.Applied, d.Live) && !diff.Churns(d) && outcome.Rendering(r.Application) == outcome.SameSource:
		return "somebody who applies as Argo CD does, such as another Argo CD", true
	case len(w.All) == 0 && r.HasOwners() && d.InLive && d.InApplied && !value.Equal(d.Applied, d.Live):
		return "somebody whom managedFields do not name", true
	}
	return "", false
}

// selfhealLimit is from how many attempts on healing counts as a fight.
const selfhealLimit = 2

// healed is how often Argo CD has healed the revision; 0 without selfHeal.
func healed(s *state.Application) int64 {
	op := s.Object.Status.OperationState
	policy, enabled := s.Automated()
	if !enabled || policy["selfHeal"] != true || op == nil || op.Operation.Sync == nil {
		return 0
	}
	return op.Operation.Sync.SelfHealAttemptsCount
}

func healedWords(s *state.Application, attempts int64) string {
	return fmt.Sprintf("Argo CD has healed revision %s %d times without the Application staying Synced", state.Short(state.SyncedRevision(s.Object.Status.OperationState)), attempts)
}

// SelfhealUnseen is selfhealFight for a moment at which no field shows the other
// writer: the attempts alone say that there is one.
func SelfhealUnseen(s *state.Application) []rule.Answer {
	attempts := healed(s)
	if attempts < selfhealLimit {
		return nil
	}
	for _, r := range s.Resources {
		r.Prepare()
		for _, d := range r.Differences {
			if _, fights := fights(r, d); fights {
				return nil
			}
		}
	}
	return []rule.Answer{{Confidence: drift.Possible, Sync: drift.FightsController, Evidence: []string{healedWords(s, attempts), "no field in the snapshot shows who else writes"}}}
}
