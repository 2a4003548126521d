package manifests

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bases are the ways to install Argo CD that have an argocd-server.
var bases = []string{"cluster-install", "namespace-install", "ha/cluster-install", "ha/namespace-install"}

// made builds an overlay.
func made(t *testing.T, o Overlay) []*unstructured.Unstructured {
	t.Helper()
	objects, err := o.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// find returns the only object of a kind and name.
func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

func id(object *unstructured.Unstructured) string {
	return strings.Join([]string{object.GetKind(), object.GetNamespace(), object.GetName()}, "/")
}

func isOurs(object *unstructured.Unstructured) bool {
	return strings.HasPrefix(object.GetName(), "moorpin")
}

// container returns a container of a Pod template by its name, from containers or
// initContainers.
func container(t *testing.T, object *unstructured.Unstructured, list, name string) map[string]any {
	t.Helper()
	for _, item := range slice(t, object.Object, "spec", "template", "spec", list) {
		if found := item.(map[string]any); found["name"] == name {
			return found
		}
	}
	t.Fatalf("%s has no container %s among its %s", id(object), name, list)
	return nil
}

func slice(t *testing.T, object map[string]any, fields ...string) []any {
	t.Helper()
	found, _, err := unstructured.NestedSlice(object, fields...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
