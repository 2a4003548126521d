package tracking

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// ExcludedResource answers: Argo CD is told to leave the kind alone, so it neither finds
// nor applies the object.
// Evidence: the warning, or resource.exclusions. Source: controller/state.go.
func ExcludedResource(r *state.Resource) (rule.Answer, bool) {
	how, excluded := excluded(r)
	if !excluded {
		return rule.Answer{}, false
	}
	return rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{how}}, true
}

// TTLDeleted answers: the object ran to its end and was deleted by its TTL, as it says it
// should be. A sync runs it again.
// Evidence: a ttl field in the spec, and that it was there before: the last sync's
// result, an event, or an earlier deployment. Counter-evidence: it was never
// applied (resource-missing). Source: #8586, #13851, airbyte#15202.
func TTLDeleted(r *state.Resource) (rule.Answer, bool) {
	if !state.HasTTL(r.Target) {
		return rule.Answer{}, false
	}
	c := rule.Answer{Confidence: drift.Certain, Sync: drift.OverwritesLive, Evidence: []string{"its spec says that it is deleted some time after it ends"}}
	c.Loss = append(c.Loss, r.Ref.Words()+" has run already, and a sync runs it again")
	switch applied := r.Result != nil && r.Result.Status == synccommon.ResultCodeSynced; {
	case applied && r.Result.Message != "":
		c.Evidence = append(c.Evidence, "the last sync applied it: "+r.Quote(r.Result.Message))
	case applied:
		c.Evidence = append(c.Evidence, "the last sync applied it")
	case len(saidAbout(r)) > 0:
	case len(r.Application.Object.Status.History) > 0:
		c.Confidence = drift.Possible
		if r.Application.Revision() == r.Application.Object.Status.History.LastRevisionHistory().Revision {
			c.Confidence = drift.Likely
		}
		c.Evidence = append(c.Evidence, "the Application was deployed before")
	default:
		return rule.Answer{}, false
	}
	c.Evidence = append(c.Evidence, saidAbout(r)...)
	return c, true
}

// saidAbout are the events about the resource that say it ended or went away.
func saidAbout(r *state.Resource) []string {
	var said []string
	for _, e := range r.Application.Events {
		about := e.Involved.Kind == r.Ref.Kind && e.Involved.Name == r.Ref.Name && (e.Involved.Namespace == "" || e.Involved.Namespace == r.Ref.Namespace)
		word := strings.ToLower(e.Reason)
		if about && (strings.Contains(word, "complet") || strings.Contains(word, "delet") || strings.Contains(word, "succe") || strings.Contains(word, "finish") || strings.Contains(word, "kill")) && len(said) < 4 {
			said = append(said, fmt.Sprintf("event %s at %s: %s", e.Reason, words.First(e.Time, "an unknown time"), r.Application.Quote(e.Message)))
		}
	}
	return said
}

// ResourceMissing answers: Git renders the object and the cluster lacks it. A sync creates it.
// Evidence: no live object; when it was applied before, somebody deleted it.
// Counter-evidence: a TTL, a hook, or a refusal (rules before this one). Source:
// controller/state.go.
func ResourceMissing(r *state.Resource) (rule.Answer, bool) {
	c := rule.Answer{Confidence: drift.Certain, Sync: drift.Safe, Evidence: []string{"Git renders it, and there is no live object"}}
	op := r.Application.Object.Status.OperationState
	switch {
	case r.Result != nil && r.Result.Status == synccommon.ResultCodeSynced:
		c.Evidence = append(c.Evidence, fmt.Sprintf("the sync of %s applied it, so it was deleted since", state.Stamp(finished(op))))
	case neverApplied(r):
		// Nobody deleted what Git has only just brought.
		c.Mechanism = drift.GitAhead
		c.Evidence = append(c.Evidence, "no sync has applied it yet")
		if op != nil && state.SyncedRevision(op) != "" && state.SyncedRevision(op) != r.Application.Revision() {
			c.Evidence = append(c.Evidence, fmt.Sprintf("the last sync was of revision %s, the comparison is with %s", state.Short(state.SyncedRevision(op)), state.Short(r.Application.Revision())))
		}
	}
	c.Evidence = append(c.Evidence, saidAbout(r)...)
	if object.Text(r.Target, "metadata", "name") == "" && object.Text(r.Target, "metadata", "generateName") != "" {
		c.Evidence = append(c.Evidence, "it has generateName: every sync creates one more")
		c.Confidence = drift.Likely
	}
	return c, true
}

// neverApplied reports whether the object came with a revision that was not synced
// as a whole, and was not applied by the last sync. Counter-evidence: an event that
// tells of its deletion.
func neverApplied(r *state.Resource) bool {
	op := r.Application.Object.Status.OperationState
	if op == nil && len(r.Application.Object.Status.History) == 0 || r.Result != nil && r.Result.Status == synccommon.ResultCodeSynced {
		return false
	}
	deleted := slices.ContainsFunc(r.Application.Events, func(e state.Event) bool {
		return e.Involved.Kind == r.Ref.Kind && e.Involved.Name == r.Ref.Name && words.Mentions(e.Reason+" "+e.Message, []string{"delet", "killing"})
	})
	return !deleted && outcome.Rendering(r.Application) != outcome.SameSource
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
