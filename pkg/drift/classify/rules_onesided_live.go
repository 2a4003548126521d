package classify

import (
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// liveOnly asks a rule only about what is live, or listed by Argo CD as live, and
// that Git does not render.
func liveOnly(match func(*resource) (claim, bool)) func(*resource) (claim, bool) {
	return func(r *resource) (claim, bool) {
		listed := r.live != nil || r.status != nil && r.status.RequiresPruning
		if r.ofHook() || r.situation.incomparable || r.target != nil || !listed || otherGroup(r) {
			return claim{}, false
		}
		return match(r)
	}
}

// beingPruned: the object is being deleted already, and its finalizers keep it.
// Evidence and source: as of deletionStuck.
func beingPruned(r *resource) (claim, bool) { return r.beingDeleted() }

// hookLeftover: a finished run lies about: a hook that its delete policy keeps, or
// a run with a generated name, which no render ever names again.
// Evidence: Argo CD lists it as requiring pruning, and it is a hook, or it has
// ended and its name was generated. Counter-evidence: a hook that is not listed so
// is where it belongs. Source: controller/state.go (hooks have no sync status);
// docs, resource hooks.
func hookLeftover(r *resource) (claim, bool) {
	if r.situation.incomparable || r.target != nil && !r.given.Hook || r.live == nil {
		return claim{}, false
	}
	how, done := ended(r.live)
	if op := r.situation.app.Status.OperationState; r.target != nil && (!done || failedRun(how) || op != nil && inFlight(op)) {
		return claim{}, false
	}
	marked := isHook(r.live)
	generated := object.Text(r.live, "metadata", "generateName")
	byName := generated != "" && strings.HasPrefix(r.ref.Name, generated)
	listed := r.status != nil && (r.status.RequiresPruning || r.status.Status == v1alpha1.SyncStatusCodeOutOfSync)
	if marked && !listed || !marked && (!byName || !done) {
		return claim{}, false
	}
	c := claim{confidence: drift.Likely, sync: drift.Noop}
	if marked {
		c.confidence = drift.Certain
		kind := words.First(object.Annotation(r.live, mark.Hook), object.Annotation(r.live, mark.HelmHook))
		policy := words.First(object.Annotation(r.live, mark.Hook+"-delete-policy"), object.Annotation(r.live, mark.HelmHook+"-delete-policy"), "none, so BeforeHookCreation")
		c.evidence = append(c.evidence, fmt.Sprintf("it is a %s hook with delete policy %s; Argo CD lists it, but a sync never prunes hooks", kind, policy))
	} else {
		c.evidence = append(c.evidence, fmt.Sprintf("its name was generated from %q, so no render ever names it again", generated))
		effect, sentence := r.situation.pruneEffect()
		c.sync = effect
		c.evidence = append(c.evidence, sentence)
		r.nameLoss(&c)
	}
	if done {
		c.evidence = append(c.evidence, "it has ended: "+how)
	}
	return c, true
}

// failedRun reports whether a run ended badly, as ended words it.
func failedRun(how string) bool {
	return strings.HasPrefix(how, "Failed") || how == "Error" || how == "Succeeded=False"
}

// nameLoss names the object that a destructive sync deletes.
func (r *resource) nameLoss(c *claim) {
	if c.sync != drift.Destructive {
		return
	}
	loss := r.ref.Words() + " would be deleted"
	if made := object.Text(r.live, "metadata", "creationTimestamp"); made != "" {
		loss += "; it exists since " + made
	}
	if writer, known := owners.LastWriter(r.live); known {
		loss += ", last written by " + owners.By(writer)
	}
	c.loss = append(c.loss, loss)
}

// trackingLabelCopied: an operator copied Argo CD's mark from its parent to an
// object that it made itself, so Argo CD takes the object for the Application's.
// Evidence: the tracking id names another object; or, where labels track, Argo CD
// never applied the object and somebody else did, or it has an owner.
// Counter-evidence: Argo CD applied it (pending-prune). Where the id names another
// object Argo CD itself sees the mistake and leaves it alone. Source:
// controller/state.go, isSelfReferencedObj; #5792, #1729, ClusterSecret#146.
func trackingLabelCopied(r *resource) (claim, bool) {
	if r.live == nil {
		return claim{}, false
	}
	if foreignID(r) {
		return claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{
			fmt.Sprintf("its tracking id %q was written for another object; Argo CD neither counts nor prunes it", object.Annotation(r.live, mark.TrackingID)),
		}}, true
	}
	s := r.situation
	if owners.WrittenByArgo(r.live) || object.Annotation(r.live, mark.TrackingID) != "" || s.settings.tracking == trackAnnotation && r.status == nil {
		return claim{}, false
	}
	all := object.List(r.live, "metadata", "ownerReferences")
	writer, known := owners.LastWriter(r.live)
	made := known && owners.RoleOf(r.ref.Kind, writer) == owners.Controller
	if len(all) == 0 && !made {
		return claim{}, false
	}
	effect, sentence := s.pruneEffect()
	c := claim{confidence: grade(len(all) > 0, made), sync: effect}
	c.evidence = append(c.evidence, fmt.Sprintf("it carries %s=%s, but Argo CD never applied it", s.settings.instanceLabel, object.Text(r.live, "metadata", "labels", s.settings.instanceLabel)))
	if len(all) > 0 {
		c.evidence = append(c.evidence, fmt.Sprintf("it belongs to %s %s", object.Text(all[0], "kind"), object.Text(all[0], "name")))
	}
	if known {
		c.evidence = append(c.evidence, "it was written by "+owners.By(writer))
	}
	if f, failed := r.failure(); failed {
		c.evidence = append(c.evidence, "the last sync could not delete it: "+r.quote(f.message))
	}
	c.evidence = append(c.evidence, sentence)
	r.nameLoss(&c)
	return c, true
}

// othersResource: the live object is marked for another Application, which is the
// one to prune it.
// Evidence: the tracking id. Source: controller/state.go.
func othersResource(r *resource) (claim, bool) {
	app, claimed := r.claimant()
	if !claimed || object.Annotation(r.live, mark.TrackingID) == "" || r.situation.settings.tracking == trackLabel {
		return claim{}, false
	}
	return claim{confidence: drift.Likely, sync: drift.Noop, evidence: []string{fmt.Sprintf("the live object is marked for Application %s", app)}}, true
}

// pruneProtected: Git no longer renders the object, and it says itself that it is
// not to be pruned, or not without a confirmation.
// Evidence: Prune=false or Prune=confirm in its sync options as they are
// now, whatever the last sync found; IgnoreExtraneous in its compare options. An operation
// that waits for the confirmation already is waited for. Source:
// gitops-engine sync_context.go, pruneObject; #17188, #8134, #25193.
func pruneProtected(r *resource) (claim, bool) {
	c := claim{confidence: drift.Certain, sync: drift.Noop}
	policy := r.situation.app.Spec.SyncPolicy
	switch {
	case hasOption(r.live, mark.SyncOptions, synccommon.SyncOptionDisablePrune):
		c.evidence = append(c.evidence, "its sync options say Prune=false: no sync prunes it")
	case hasOption(r.live, mark.SyncOptions, synccommon.SyncOptionPruneRequireConfirm):
		c.evidence = append(c.evidence, "its sync options say Prune=confirm: nothing deletes it before somebody confirms, and a sync waits for that")
		c.sync = drift.Waits
	case policy != nil && policy.SyncOptions.HasOption(synccommon.SyncOptionDisablePrune) && !r.situation.settings.version.before(3, 0):
		c.confidence = drift.Likely
		c.evidence = append(c.evidence, "the Application's sync options say Prune=false")
	case hasOption(r.live, mark.CompareOptions, "IgnoreExtraneous"):
		effect, sentence := r.situation.pruneEffect()
		c.sync = effect
		c.evidence = append(c.evidence, "its compare options say IgnoreExtraneous: it does not make the Application OutOfSync", sentence)
		r.nameLoss(&c)
	default:
		return claim{}, false
	}
	if op := r.situation.app.Status.OperationState; op != nil && inFlight(op) && strings.Contains(op.Message, "pruning confirmation") {
		c.sync = drift.Waits
		c.evidence = append(c.evidence, "the operation waits: "+r.situation.quote(op.Message))
	}
	return c, true
}

// pendingPrune: Argo CD applied the object, Git no longer renders it, and nothing
// has pruned it yet.
// Evidence: no target; requiresPruning; Argo CD among its managers. Counter-evidence:
// rules before this one. A sync deletes it when the Application prunes; otherwise
// only --prune does. Source: gitops-engine sync_context.go, pruneObject.
func pendingPrune(r *resource) (claim, bool) {
	effect, sentence := r.situation.pruneEffect()
	c := claim{confidence: drift.Possible, sync: effect, evidence: []string{"it is live, and Git does not render it"}}
	if r.status != nil && r.status.RequiresPruning {
		c.confidence = drift.Likely
		c.evidence = append(c.evidence, "Argo CD lists it as requiring pruning")
	}
	if r.live != nil && owners.WrittenByArgo(r.live) {
		c.confidence = grade(true, r.status != nil && r.status.RequiresPruning)
		c.evidence = append(c.evidence, "Argo CD applied it")
	}
	if r.result != nil && r.result.Status == synccommon.ResultCodePruneSkipped {
		c.evidence = append(c.evidence, "the last sync skipped it: "+r.quote(r.result.Message))
	}
	if r.result != nil && r.result.Status == synccommon.ResultCodeSynced {
		c.evidence = append(c.evidence, "the last sync still applied it, so it left Git since")
	}
	if f, failed := r.failure(); failed {
		c.evidence = append(c.evidence, "the last sync could not delete it: "+r.quote(f.message))
	}
	c.evidence = append(c.evidence, sentence)
	r.nameLoss(&c)
	return c, true
}

// requiresPruningUnseen answers for what Argo CD lists as requiring pruning and the
// snapshot does not hold, as reporters leave hooks out: hooks, or all else.
// Evidence: status.resources alone, so it is likely at best.
func requiresPruningUnseen(hooks bool) func(*situation) []claim {
	return func(s *situation) []claim {
		if s.incomparable {
			return nil
		}
		seen := make(map[drift.Key]bool, len(s.resources))
		for _, r := range s.resources {
			seen[drift.KeyOf(r.ref)] = true
		}
		var claims []claim
		for i := range s.app.Status.Resources {
			status := &s.app.Status.Resources[i]
			ref := drift.ResourceRef{Group: status.Group, Version: status.Version, Kind: status.Kind, Namespace: status.Namespace, Name: status.Name}
			if !status.RequiresPruning || status.Hook != hooks || seen[drift.KeyOf(ref)] {
				continue
			}
			effect, sentence := s.pruneEffect()
			if hooks {
				effect, sentence = drift.Noop, "it is a hook, and a sync never prunes hooks"
			}
			c := claim{confidence: drift.Likely, sync: effect, about: &ref, evidence: []string{"Argo CD lists it as requiring pruning; the snapshot does not hold it", sentence}}
			r := &resource{situation: s, ref: ref}
			r.nameLoss(&c)
			claims = append(claims, c)
		}
		return claims
	}
}
