package tracking

import (
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// BeingPruned answers: the object is being deleted already, and its finalizers keep it.
// Evidence and source: as of deletionStuck.
func BeingPruned(r *state.Resource) (rule.Answer, bool) { return outcome.BeingDeleted(r) }

// HookLeftover answers: a finished run lies about: a hook that its delete policy keeps, or
// a run with a generated name, which no render ever names again.
// Evidence: Argo CD lists it as requiring pruning, and it is a hook, or it has
// ended and its name was generated. Counter-evidence: a hook that is not listed so
// is where it belongs. Source: controller/state.go (hooks have no sync status);
// docs, resource hooks.
func HookLeftover(r *state.Resource) (rule.Answer, bool) {
	if r.Application.Incomparable || r.Target != nil && !r.Given.Hook || r.Live == nil {
		return rule.Answer{}, false
	}
	how, done := state.Ended(r.Live)
	_, failed := state.EndedBadly(r.Live)
	if op := r.Application.Object.Status.OperationState; r.Target != nil && (!done || failed || op != nil && outcome.InFlight(op)) {
		return rule.Answer{}, false
	}
	marked := state.IsHook(r.Live)
	generated := object.Text(r.Live, "metadata", "generateName")
	byName := generated != "" && strings.HasPrefix(r.Ref.Name, generated)
	listed := r.Status != nil && (r.Status.RequiresPruning || r.Status.Status == v1alpha1.SyncStatusCodeOutOfSync)
	if marked && !listed || !marked && (!byName || !done) {
		return rule.Answer{}, false
	}
	c := rule.Answer{Confidence: drift.Likely, Sync: drift.Noop}
	if marked {
		c.Confidence = drift.Certain
		kind := words.First(object.Annotation(r.Live, mark.Hook), object.Annotation(r.Live, mark.HelmHook))
		policy := words.First(object.Annotation(r.Live, mark.Hook+"-delete-policy"), object.Annotation(r.Live, mark.HelmHook+"-delete-policy"), "none, so BeforeHookCreation")
		c.Evidence = append(c.Evidence, fmt.Sprintf("it is a %s hook with delete policy %s; Argo CD lists it, but a sync never prunes hooks", kind, policy))
	} else {
		c.Evidence = append(c.Evidence, fmt.Sprintf("its name was generated from %q, so no render ever names it again", generated))
		effect, sentence := r.Application.PruneEffect()
		c.Sync = effect
		c.Evidence = append(c.Evidence, sentence)
		rule.NameLoss(r, &c)
	}
	if done {
		c.Evidence = append(c.Evidence, "it has ended: "+how)
	}
	return c, true
}

// LabelCopied answers: an operator copied Argo CD's mark from its parent to an
// object that it made itself, so Argo CD takes the object for the Application's.
// Evidence: the tracking id names another object; or, where labels track, Argo CD
// never applied the object and somebody else did, or it has an owner.
// Counter-evidence: Argo CD applied it (pending-prune). Where the id names another
// object Argo CD itself sees the mistake and leaves it alone. Source:
// controller/state.go, isSelfReferencedObj; #5792, #1729, ClusterSecret#146.
func LabelCopied(r *state.Resource) (rule.Answer, bool) {
	if r.Live == nil {
		return rule.Answer{}, false
	}
	if state.ForeignID(r) {
		return rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{
			fmt.Sprintf("its tracking id %q was written for another object; Argo CD neither counts nor prunes it", object.Annotation(r.Live, mark.TrackingID)),
		}}, true
	}
	s := r.Application
	if owners.WrittenByArgo(r.Live) || object.Annotation(r.Live, mark.TrackingID) != "" || s.Settings.Tracking == state.TrackAnnotation && r.Status == nil {
		return rule.Answer{}, false
	}
	all := object.List(r.Live, "metadata", "ownerReferences")
	writer, known := owners.LastWriter(r.Live)
	made := known && owners.RoleOf(r.Ref.Kind, writer) == owners.Controller
	if len(all) == 0 && !made {
		return rule.Answer{}, false
	}
	effect, sentence := s.PruneEffect()
	c := rule.Answer{Confidence: rule.Grade(len(all) > 0, made), Sync: effect}
	c.Evidence = append(c.Evidence, fmt.Sprintf("it carries %s=%s, but Argo CD never applied it", s.Settings.InstanceLabel, object.Text(r.Live, "metadata", "labels", s.Settings.InstanceLabel)))
	if len(all) > 0 {
		c.Evidence = append(c.Evidence, fmt.Sprintf("it belongs to %s %s", object.Text(all[0], "kind"), object.Text(all[0], "name")))
	}
	if known {
		c.Evidence = append(c.Evidence, "it was written by "+owners.By(writer))
	}
	if f, failed := outcome.FailureOf(r); failed {
		c.Evidence = append(c.Evidence, "the last sync could not delete it: "+r.Quote(f.Message))
	}
	c.Evidence = append(c.Evidence, sentence)
	rule.NameLoss(r, &c)
	return c, true
}

// OthersResource answers: the live object is marked for another Application, which is the
// one to prune it.
// Evidence: the tracking id. Source: controller/state.go.
func OthersResource(r *state.Resource) (rule.Answer, bool) {
	app, claimed := r.Claimant()
	if !claimed || object.Annotation(r.Live, mark.TrackingID) == "" || r.Application.Settings.Tracking == state.TrackLabel {
		return rule.Answer{}, false
	}
	return rule.Answer{Confidence: drift.Likely, Sync: drift.Noop, Evidence: []string{fmt.Sprintf("the live object is marked for Application %s", app)}}, true
}

// PruneProtected answers: Git no longer renders the object, and it says itself that it is
// not to be pruned, or not without a confirmation.
// Evidence: Prune=false or Prune=confirm in its sync options as they are
// now, whatever the last sync found; IgnoreExtraneous in its compare options. An operation
// that waits for the confirmation already is waited for. Source:
// gitops-engine sync_context.go, pruneObject; #17188, #8134, #25193.
func PruneProtected(r *state.Resource) (rule.Answer, bool) {
	c := rule.Answer{Confidence: drift.Certain, Sync: drift.Noop}
	policy := r.Application.Object.Spec.SyncPolicy
	switch {
	case state.HasOption(r.Live, mark.SyncOptions, synccommon.SyncOptionDisablePrune):
		c.Evidence = append(c.Evidence, "its sync options say Prune=false: no sync prunes it")
	case state.HasOption(r.Live, mark.SyncOptions, synccommon.SyncOptionPruneRequireConfirm):
		c.Evidence = append(c.Evidence, "its sync options say Prune=confirm: nothing deletes it before somebody confirms, and a sync waits for that")
		c.Sync = drift.Waits
	case policy != nil && policy.SyncOptions.HasOption(synccommon.SyncOptionDisablePrune) && !r.Application.Settings.Version.Before(3, 0):
		c.Confidence = drift.Likely
		c.Evidence = append(c.Evidence, "the Application's sync options say Prune=false")
	case state.HasOption(r.Live, mark.CompareOptions, "IgnoreExtraneous"):
		effect, sentence := r.Application.PruneEffect()
		c.Sync = effect
		c.Evidence = append(c.Evidence, "its compare options say IgnoreExtraneous: it does not make the Application OutOfSync", sentence)
		rule.NameLoss(r, &c)
	default:
		return rule.Answer{}, false
	}
	if op := r.Application.Object.Status.OperationState; op != nil && outcome.InFlight(op) && strings.Contains(op.Message, "pruning confirmation") {
		c.Sync = drift.Waits
		c.Evidence = append(c.Evidence, "the operation waits: "+r.Application.Quote(op.Message))
	}
	return c, true
}

// PendingPrune answers: Argo CD applied the object, Git no longer renders it, and nothing
// has pruned it yet.
// Evidence: no target; requiresPruning; Argo CD among its managers. Counter-evidence:
// rules before this one. A sync deletes it when the Application prunes; otherwise
// only --prune does. Source: gitops-engine sync_context.go, pruneObject.
func PendingPrune(r *state.Resource) (rule.Answer, bool) {
	effect, sentence := r.Application.PruneEffect()
	c := rule.Answer{Confidence: drift.Possible, Sync: effect, Evidence: []string{"it is live, and Git does not render it"}}
	if r.Status != nil && r.Status.RequiresPruning {
		c.Confidence = drift.Likely
		c.Evidence = append(c.Evidence, "Argo CD lists it as requiring pruning")
	}
	if r.Live != nil && owners.WrittenByArgo(r.Live) {
		c.Confidence = rule.Grade(true, r.Status != nil && r.Status.RequiresPruning)
		c.Evidence = append(c.Evidence, "Argo CD applied it")
	}
	if r.Result != nil && r.Result.Status == synccommon.ResultCodePruneSkipped {
		c.Evidence = append(c.Evidence, "the last sync skipped it: "+r.Quote(r.Result.Message))
	}
	if r.Result != nil && r.Result.Status == synccommon.ResultCodeSynced {
		c.Evidence = append(c.Evidence, "the last sync still applied it, so it left Git since")
	}
	if f, failed := outcome.FailureOf(r); failed {
		c.Evidence = append(c.Evidence, "the last sync could not delete it: "+r.Quote(f.Message))
	}
	c.Evidence = append(c.Evidence, sentence)
	rule.NameLoss(r, &c)
	return c, true
}

// RequiresPruningUnseen answers for what Argo CD lists as requiring pruning and the
// snapshot does not hold, as reporters leave hooks out: hooks, or all else.
// Evidence: status.resources alone, so it is likely at best.
func RequiresPruningUnseen(hooks bool) func(*state.Application) []rule.Answer {
	return func(s *state.Application) []rule.Answer {
		if s.Incomparable {
			return nil
		}
		seen := make(map[drift.Key]bool, len(s.Resources))
		for _, r := range s.Resources {
			seen[drift.KeyOf(r.Ref)] = true
		}
		var answers []rule.Answer
		for i := range s.Object.Status.Resources {
			status := &s.Object.Status.Resources[i]
			ref := drift.ResourceRef{Group: status.Group, Version: status.Version, Kind: status.Kind, Namespace: status.Namespace, Name: status.Name}
			if !status.RequiresPruning || status.Hook != hooks || seen[drift.KeyOf(ref)] {
				continue
			}
			effect, sentence := s.PruneEffect()
			if hooks {
				effect, sentence = drift.Noop, "it is a hook, and a sync never prunes hooks"
			}
			c := rule.Answer{Confidence: drift.Likely, Sync: effect, About: &ref, Evidence: []string{"Argo CD lists it as requiring pruning; the snapshot does not hold it", sentence}}
			r := &state.Resource{Application: s, Ref: ref}
			rule.NameLoss(r, &c)
			answers = append(answers, c)
		}
		return answers
	}
}
