package recorder

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/drift"
)

// excluded tells whether Argo CD warns that it leaves the object out.
func excluded(ref drift.ResourceRef, application map[string]any) bool {
	conditions, _, _ := unstructured.NestedSlice(application, "status", "conditions")
	for _, condition := range conditions {
		fields, _ := condition.(map[string]any)
		message, _ := fields["message"].(string)
		if fields["type"] == "ExcludedResourceWarning" && strings.Contains(message, ref.Kind+" "+ref.Name+" ") {
			return true
		}
	}
	return false
}
