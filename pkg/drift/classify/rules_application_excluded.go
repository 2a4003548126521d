package classify

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

// excludedWarnings: Git renders an object of a kind that Argo CD is told to leave
// alone; it is neither compared nor applied.
// Evidence: ExcludedResourceWarning. An object that the snapshot lists is answered
// for there. Source: controller/state.go; v3 upgrade notes.
func excludedWarnings(s *situation) []claim {
	var claims []claim
	for _, message := range s.conditions(v1alpha1.ApplicationConditionExcludedResourceWarning) {
		ref, ok := excludedName(message)
		if !ok || s.lists(ref) {
			continue
		}
		if !s.clusterWide(ref) {
			// The warning leaves it out; what names none goes to the destination's.
			ref.Namespace = s.app.Spec.Destination.Namespace
		}
		claims = append(claims, claim{mechanism: drift.ExcludedResource, confidence: drift.Certain, sync: drift.Noop, about: &ref, evidence: []string{"Argo CD warns: " + s.quote(message)}})
	}
	return claims
}

// clusterWide reports whether objects of the kind have no namespace: by the CRD,
// else by Kubernetes' own list.
func (s *situation) clusterWide(ref drift.ResourceRef) bool {
	if crd, found := s.crd(ref.Group, ref.Kind); found {
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
func (s *situation) lists(ref drift.ResourceRef) bool {
	for _, r := range s.resources {
		if r.ref.Group == ref.Group && r.ref.Kind == ref.Kind && r.ref.Name == ref.Name && r.target != nil && r.live == nil {
			return true
		}
	}
	return false
}

// excluded reports whether Argo CD leaves the kind alone, and how that is known:
// by its warning, or by argocd-cm.
func (r *resource) excluded() (string, bool) {
	s := r.situation
	for _, message := range s.conditions(v1alpha1.ApplicationConditionExcludedResourceWarning) {
		if ref, ok := excludedName(message); ok && ref.Group == r.ref.Group && ref.Kind == r.ref.Kind && ref.Name == r.ref.Name {
			return "Argo CD warns: " + s.quote(message), true
		}
	}
	exclusions := s.settings.argocdCM["resource.exclusions"]
	if !strings.Contains(exclusions, r.ref.Kind) && !strings.Contains(exclusions, "*") {
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
	kind := schema.GroupKind{Group: r.ref.Group, Kind: r.ref.Kind}
	for _, filter := range filters {
		if globs(filter.APIGroups, kind.Group) && globs(filter.Kinds, kind.Kind) && globs(filter.Clusters, s.app.Spec.Destination.Server) {
			return "resource.exclusions in argocd-cm holds " + kind.String(), true
		}
	}
	return "", false
}

// globs reports whether one of the patterns fits; no pattern fits everything.
// Patterns are those of argocd-cm: "*" stands for any text.
func globs(patterns []string, value string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, pattern := range patterns {
		if glob(pattern, value) {
			return true
		}
	}
	return false
}

func glob(pattern, value string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == value
	}
	if !strings.HasPrefix(value, parts[0]) {
		return false
	}
	value = value[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(value, part)
		if i < 0 {
			return false
		}
		value = value[i+len(part):]
	}
	return strings.HasSuffix(value, last)
}
