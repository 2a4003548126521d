// Package tracking has the rules about whose a resource is and how long it lives: marks of
// this and of other Applications, hooks and what they leave, pruning, deletion, kinds that
// Argo CD leaves alone.
package tracking

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// MarkMissing answers: the live object lacks Argo CD's mark and nobody else answers it:
// it was there before the Application was. A sync adopts it.
// Evidence: the flagged difference is the mark itself, which live lacks.
// Counter-evidence: Argo CD applied the object before and a later client-side apply
// took the mark away (foreign-apply), or the mark names another Application
// (shared-resource). Source: util/argo/resource_tracking.go.
func MarkMissing(r *state.Resource, open []*diff.Difference) []rule.Answer {
	var taken []*diff.Difference
	for _, d := range open {
		if r.Tracks(d) && d.InTarget && !d.InLive {
			taken = append(taken, d)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	if _, claimed := r.Claimant(); claimed {
		return nil
	}
	c := rule.Answer{Mechanism: drift.TrackingMissing, Differences: taken, Confidence: drift.Certain, Sync: drift.Safe}
	c.Evidence = append(c.Evidence, "the live object lacks Argo CD's tracking mark, and no other Application claims it")
	writer, known := owners.LastWriter(r.Live)
	switch {
	case owners.WrittenByArgo(r.Live):
		if known && owners.RoleOf(r.Ref.Kind, writer) == owners.Applier {
			return nil
		}
		c.Confidence = drift.Likely
		c.Evidence = append(c.Evidence, "Argo CD applied the object before, so the mark was taken away since")
	case known:
		c.Evidence = append(c.Evidence, fmt.Sprintf("Argo CD never applied it; %s wrote it at %s", writer.Manager, words.First(writer.Time, "an unknown time")))
	default:
		c.Confidence = drift.Likely
		c.Evidence = append(c.Evidence, "managedFields do not say who made it")
	}
	return []rule.Answer{c}
}

// SharedResource answers: two Applications render the same object, and the other one
// applied it last. What it wrote goes with its mark; every sync overwrites the
// other's.
// Evidence: the live mark names another Application, and the differing value is
// what that one applied. Counter-evidence: the label's value is no known
// Application and not written by Argo CD (instance-label-conflict). Sources:
// controller/state.go (SharedResourceWarning); #2600, #8811, #15467, #18166.
func SharedResource(r *state.Resource, open []*diff.Difference) []rule.Answer {
	app, claimed := r.Claimant()
	if !claimed || !r.SharedWith(app) {
		return nil
	}
	c := rule.Answer{Mechanism: drift.SharedResource, Confidence: drift.Certain, Sync: sharedEffect(r.Application)}
	for _, d := range open {
		if r.Tracks(d) || r.WrittenByArgo(d) {
			c.Differences = append(c.Differences, d)
		}
	}
	if len(c.Differences) == 0 {
		return nil
	}
	c.Evidence = append(c.Evidence, fmt.Sprintf("the live object is marked for Application %s", app))
	if known, found := r.Application.KnownApplication(app); found {
		c.Evidence = append(c.Evidence, known)
	}
	c.Evidence = append(c.Evidence, sharedWarning(r.Application, r.Ref)...)
	when := "an unknown time"
	if owner, found := owners.OfField(r.Live, "metadata", "annotations", mark.TrackingID); found && owner.Time != "" {
		when = owner.Time
	}
	c.Evidence = append(c.Evidence, fmt.Sprintf("it was marked by Argo CD's manager at %s", when))
	for _, d := range c.Differences {
		if d.InLive && len(c.Loss) < 20 {
			c.Loss = append(c.Loss, fmt.Sprintf("%s as Application %s applied it", d.Pointer, app))
		}
	}
	return []rule.Answer{c}
}

// sharedEffect is what a sync does to a shared object: it overwrites it, unless the
// Application asks to fail instead. Source: controller/sync.go, hasSharedResourceCondition.
func sharedEffect(s *state.Application) drift.Sync {
	if policy := s.Object.Spec.SyncPolicy; policy != nil && policy.SyncOptions.HasOption("FailOnSharedResource=true") {
		return drift.WillFail
	}
	return drift.OverwritesLive
}

// InstanceLabelConflict answers: the label that Argo CD tracks with is also set by somebody
// else: the chart, an operator, another tool.
// Evidence: labels track, and the label's live value is neither this Application's
// name nor a known other's. Counter-evidence: the value names an Application
// (shared-resource), or the label is missing (tracking-missing). The sync fights
// when a program wrote the label, and when nobody knows who did; after a person's
// edit it is safe.
// Source: #3603, cert-manager-olm#70.
func InstanceLabelConflict(r *state.Resource, open []*diff.Difference) []rule.Answer {
	s := r.Application
	if s.Settings.Tracking == state.TrackAnnotation && !r.LabelTracked() {
		return nil
	}
	c := rule.Answer{Mechanism: drift.InstanceLabelConflict, Confidence: drift.Likely, Sync: drift.FightsController}
	for _, d := range open {
		if len(d.Steps) == 3 && d.Steps[0] == "metadata" && d.Steps[1] == "labels" && d.Steps[2] == s.Settings.InstanceLabel && d.InLive {
			c.Differences = append(c.Differences, d)
			c.Evidence = append(c.Evidence, fmt.Sprintf("%s is the label that Argo CD tracks with; live it is %q", s.Settings.InstanceLabel, words.Show(d.Live)))
		}
	}
	if len(c.Differences) == 0 {
		return nil
	}
	owner, found := owners.OfField(r.Live, "metadata", "labels", s.Settings.InstanceLabel)
	if found {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%s wrote it at %s", owner.Manager, words.First(owner.Time, "an unknown time")))
		c.Confidence = drift.Certain
	}
	if role := owners.RoleOf(r.Ref.Kind, owner); found && (role == owners.Argo || role == owners.Person || role == owners.Applier) {
		c.Sync = drift.Safe // nobody writes it again
	} else {
		c.Loss = append(c.Loss, fmt.Sprintf("label %s=%v", s.Settings.InstanceLabel, c.Differences[0].Live))
	}
	return []rule.Answer{c}
}

// ExcludedWarnings answers: Git renders an object of a kind that Argo CD is told to leave
// alone; it is neither compared nor applied.
// Evidence: ExcludedResourceWarning. An object that the snapshot lists is answered
// for there. Source: controller/state.go; v3 upgrade notes.
func ExcludedWarnings(s *state.Application) []rule.Answer {
	var answers []rule.Answer
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionExcludedResourceWarning) {
		ref, ok := excludedName(message)
		if !ok || lists(s, ref) {
			continue
		}
		if !clusterWide(s, ref) {
			// The warning leaves it out; what names none goes to the destination's.
			ref.Namespace = s.Object.Spec.Destination.Namespace
		}
		answers = append(answers, rule.Answer{Mechanism: drift.ExcludedResource, Confidence: drift.Certain, Sync: drift.Noop, About: &ref, Evidence: []string{"Argo CD warns: " + s.Quote(message)}})
	}
	return answers
}

// clusterWide reports whether objects of the kind have no namespace: by the CRD,
// else by Kubernetes' own list.
func clusterWide(s *state.Application, ref drift.ResourceRef) bool {
	if crd, found := s.Crd(ref.Group, ref.Kind); found {
		return object.Text(crd, "spec", "scope") == "Cluster"
	}
	return slices.Contains(clusterKinds[ref.Group], ref.Kind)
}

// clusterKinds are Kubernetes' own kinds without a namespace, by group.
var clusterKinds = map[string][]string{
	"":                             {"Namespace", "Node", "PersistentVolume", "ComponentStatus"},
	"admissionregistration.k8s.io": {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"authentication.k8s.io":        {"TokenReview", "SelfSubjectReview"},
	"authorization.k8s.io":         {"SubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"IngressClass", "IPAddress", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "ResourceSlice", "DeviceTaintRule"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"StorageClass", "VolumeAttachment", "CSIDriver", "CSINode", "VolumeAttributesClass"},
}

// excludedName reads "Resource group/Kind name is excluded in the settings".
func excludedName(message string) (drift.ResourceRef, bool) {
	named, _, found := strings.Cut(strings.TrimPrefix(message, "Resource "), " is excluded in the settings")
	kind, name, space := strings.Cut(named, " ")
	slash := strings.LastIndex(kind, "/")
	if !found || !space || slash < 0 {
		return drift.ResourceRef{}, false
	}
	return drift.ResourceRef{Group: kind[:slash], Kind: kind[slash+1:], Name: name}, true
}

// lists reports whether the snapshot has an object of that group, kind and name
// with a target, which the rules for one-sided resources then answer for.
func lists(s *state.Application, ref drift.ResourceRef) bool {
	for _, r := range s.Resources {
		if r.Ref.Group == ref.Group && r.Ref.Kind == ref.Kind && r.Ref.Name == ref.Name && r.Target != nil && r.Live == nil {
			return true
		}
	}
	return false
}

// excluded reports whether Argo CD leaves the kind alone, and how that is known:
// by its warning, or by argocd-cm.
func excluded(r *state.Resource) (string, bool) {
	s := r.Application
	for _, message := range s.Conditions(v1alpha1.ApplicationConditionExcludedResourceWarning) {
		if ref, ok := excludedName(message); ok && ref.Group == r.Ref.Group && ref.Kind == r.Ref.Kind && ref.Name == r.Ref.Name {
			return "Argo CD warns: " + s.Quote(message), true
		}
	}
	exclusions := s.Settings.ArgocdCM["resource.exclusions"]
	if !strings.Contains(exclusions, r.Ref.Kind) && !strings.Contains(exclusions, "*") {
		return "", false
	}
	var filters []struct {
		APIGroups []string `json:"apiGroups"`
		Kinds     []string `json:"kinds"`
		Clusters  []string `json:"clusters"`
	}
	if yaml.Unmarshal([]byte(exclusions), &filters) != nil {
		return "", false
	}
	kind := schema.GroupKind{Group: r.Ref.Group, Kind: r.Ref.Kind}
	for _, filter := range filters {
		if state.Globs(filter.APIGroups, kind.Group) && state.Globs(filter.Kinds, kind.Kind) && state.Globs(filter.Clusters, s.Object.Spec.Destination.Server) {
			return "resource.exclusions in argocd-cm holds " + kind.String(), true
		}
	}
	return "", false
}
