package recorder

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// excluded tells whether Argo CD warns that it leaves the object out.
func excluded(ref Ref, application map[string]any) bool {
	conditions, _, _ := unstructured.NestedSlice(application, "status", "conditions")
	for _, condition := range conditions {
		fields, _ := condition.(map[string]any)
		message, _ := fields["message"].(string)
		if fields["type"] == "ExcludedResourceWarning" && strings.Contains(message, ref.Kind.Kind+" "+ref.Name+" ") {
			return true
		}
	}
	return false
}
