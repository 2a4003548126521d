package refusal

import (
	"fmt"
	"strings"

	synccommon "github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// KindNotPermitted answers: the AppProject does not permit the kind or the namespace.
// Evidence: the AppProject's lists of kinds; Argo CD marks such a resource Unknown.
// Counter-evidence: the last sync created it. Source: controller/sync.go,
// WithPermissionValidator.
func KindNotPermitted(r *state.Resource) (rule.Answer, bool) {
	if r.Result != nil && r.Result.Status == synccommon.ResultCodeSynced {
		return rule.Answer{}, false
	}
	why := r.Forbidden()
	if len(why) == 0 {
		return rule.Answer{}, false
	}
	c := rule.Answer{Confidence: drift.Likely, Sync: drift.Blocked, Evidence: why}
	if f, failed := outcome.FailureOf(r); failed && outcome.Cause(f.Message) == drift.ProjectNotPermitted {
		c.Confidence = drift.Certain
		c.Evidence = append(c.Evidence, "the last sync failed here: "+r.Quote(f.Message))
	}
	return c, true
}

// FailedCreation answers: the last sync tried to create the object and was refused; the
// mechanism is what refused it.
// Evidence: the resource's result, or the operation's message that names it.
func FailedCreation(r *state.Resource) (rule.Answer, bool) {
	f, failed := outcome.FailureOf(r)
	if !failed {
		return rule.Answer{}, false
	}
	c := outcome.Explain(r, f)
	return c, true
}

// VersionedCreation answers: an object with a resourceVersion cannot be created.
// Evidence: metadata.resourceVersion in Git. Source: kubernetes, rest.BeforeCreate.
func VersionedCreation(r *state.Resource) (rule.Answer, bool) {
	if object.Text(r.Target, "metadata", "resourceVersion") == "" {
		return rule.Answer{}, false
	}
	return rule.Answer{Confidence: drift.Certain, Sync: drift.WillFail, Evidence: []string{"Git renders metadata.resourceVersion, with which nothing can be created"}}, true
}

// VersionNotServed answers: the cluster serves the kind, but not the version in Git.
// Evidence: the CRD's served versions. Counter-evidence: the CRD is rendered along.
// Source: #5374, #9145.
func VersionNotServed(r *state.Resource) (rule.Answer, bool) {
	// What the cluster serves of Kubernetes' own kinds, no snapshot says.
	if _, found := r.Application.Crd(r.Ref.Group, r.Ref.Kind); !found || r.BuiltIn() {
		return rule.Answer{}, false
	}
	how := r.ServedOtherwise()
	if how == "" {
		return rule.Answer{}, false
	}
	return rule.Answer{Confidence: drift.Likely, Sync: drift.WillFail, Evidence: []string{how}}, true
}

// KindNotServed answers: nothing in the snapshot serves the kind. Without an error of a
// sync this is only a possibility, for the snapshot may lack the CRD.
// Evidence: the snapshot brings CRDs of other custom kinds, but not this one's, and
// no object of the kind is live. Counter-evidence: the kind is Kubernetes' own, or
// the CRD is rendered along. Source: #6489, #2873, #15095.
func KindNotServed(r *state.Resource) (rule.Answer, bool) {
	s := r.Application
	if _, found := s.Crd(r.Ref.Group, r.Ref.Kind); found || !strings.Contains(r.Ref.Group, ".") || r.ServedOtherwise() != "" || r.Result != nil && r.Result.Status == synccommon.ResultCodeSynced {
		return rule.Answer{}, false
	}
	if len(s.Related.Of("apiextensions.k8s.io", "CustomResourceDefinition")) == 0 || s.LivesOf(r.Ref.Group, r.Ref.Kind) {
		return rule.Answer{}, false
	}
	return rule.Answer{Confidence: drift.Possible, Sync: drift.WillFail, Evidence: []string{fmt.Sprintf("the snapshot holds other CRDs, but none of %s in %s", r.Ref.Kind, r.Ref.Group)}}, true
}

// CreationTooLong answers: a client-side apply cannot create the object either.
// Evidence and source: as of annotationTooLong.
func CreationTooLong(r *state.Resource) (rule.Answer, bool) {
	return annotationTooLong(r, nil)
}
