package tracking

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

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
