package main

import (
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application"
)

// meaning is a field whose empty value says something else than its absence, to at
// least one reader of what is stored in the cluster. It is never dropped, although
// Argo CD's typed client leaves it out when it writes the object: nobody but the
// user does write it, and until then every reader sees the empty value.
type meaning struct {
	kind string
	// pointer is the end of the field's pointer: generators stand at several places.
	pointer string
	reason  string
	source  string
}

const sourceNamespaceMetadata = "pkg/apis/application/v1alpha1/types.go, HasChangedManagedNamespaceMetadata"

// Reviewed against Argo CD v2.14.21, by reading every place that compares a field of
// the three kinds with nil. Where in doubt, a value belongs here.
var meanings = []meaning{
	{
		kind: application.AppProjectKind, pointer: "/spec/namespaceResourceWhitelist",
		reason: "an empty list permits no kind at all, an absent one permits every kind",
		source: "pkg/apis/application/v1alpha1/app_project_types.go, IsGroupKindPermitted",
	},
	{
		kind: application.ApplicationKind, pointer: "/spec/syncPolicy/managedNamespaceMetadata/labels",
		reason: "compared deeply with what the last sync has recorded, where it is absent: an empty map makes the Application OutOfSync",
		source: sourceNamespaceMetadata,
	},
	{
		kind: application.ApplicationKind, pointer: "/spec/syncPolicy/managedNamespaceMetadata/annotations",
		reason: "as its labels",
		source: sourceNamespaceMetadata,
	},
	{
		kind: application.ApplicationSetKind, pointer: "/syncPolicy/managedNamespaceMetadata/labels",
		reason: "as an Application's, which is made of it",
		source: sourceNamespaceMetadata,
	},
	{
		kind: application.ApplicationSetKind, pointer: "/syncPolicy/managedNamespaceMetadata/annotations",
		reason: "as an Application's, which is made of it",
		source: sourceNamespaceMetadata,
	},
	{
		kind: application.ApplicationSetKind, pointer: "/clusterDecisionResource/labelSelector/matchLabels",
		reason: "an empty map selects every resource, without any selector the generator fails; beside a name it is the other way round",
		source: "applicationset/generators/duck_type.go, GenerateParams",
	},
	{
		kind: application.ApplicationSetKind, pointer: "/clusterDecisionResource/labelSelector/matchExpressions",
		reason: "as matchLabels",
		source: "applicationset/generators/duck_type.go, GenerateParams",
	},
	{
		kind: application.ApplicationSetKind, pointer: "/scmProvider/filters/*/pathsExist",
		reason: "even an empty list turns the filter into one of branches, which is applied at another step",
		source: "applicationset/services/scm_provider/utils.go, compileFilters",
	},
	{
		kind: application.ApplicationSetKind, pointer: "/scmProvider/filters/*/pathsDoNotExist",
		reason: "as pathsExist",
		source: "applicationset/services/scm_provider/utils.go, compileFilters",
	},
}

// meaningOf returns why a field must not be dropped, and whether there is such a reason.
func meaningOf(kind, pointer string) (meaning, bool) {
	for _, m := range meanings {
		if m.kind == kind && strings.HasSuffix(pointer, m.pointer) {
			return m, true
		}
	}
	return meaning{}, false
}
