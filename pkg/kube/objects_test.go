package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// serveObjects is an API server with endless Pods in namespace web, one Widget in every
// namespace, and a ClusterThing without namespaces that nobody may read.
func serveObjects(t *testing.T) *Objects {
	t.Helper()
	answers := map[string]any{
		"/api":  map[string]any{"kind": "APIVersions", "versions": []any{"v1"}},
		"/apis": map[string]any{"kind": "APIGroupList", "groups": []any{map[string]any{"name": "test.moorpin.dev", "versions": []any{map[string]any{"groupVersion": "test.moorpin.dev/v1", "version": "v1"}}}}},
		"/api/v1": map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
			map[string]any{"name": "pods", "kind": "Pod", "namespaced": true},
		}},
		"/apis/test.moorpin.dev/v1": map[string]any{"kind": "APIResourceList", "groupVersion": "test.moorpin.dev/v1", "resources": []any{
			map[string]any{"name": "widgets", "kind": "Widget", "namespaced": true}, map[string]any{"name": "clusterthings", "kind": "ClusterThing"},
		}},
		"/apis/test.moorpin.dev/v1/namespaces/web/widgets/w":                               thing("Widget", "w"),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.test.moorpin.dev": crd("Widget", "red"),
	}
	server := httptest.NewServer(http.HandlerFunc(func(reply http.ResponseWriter, request *http.Request) {
		reply.Header().Set("Content-Type", "application/json")
		answer, ok := answers[request.URL.Path]
		switch {
		case ok:
		case request.URL.Path == "/api/v1/namespaces/web/pods":
			answer = page(request.FormValue("limit"), request.FormValue("continue"))
		case request.URL.Path == "/apis/test.moorpin.dev/v1/widgets" && request.FormValue("limit") == "1":
			answer = map[string]any{"kind": "WidgetList", "apiVersion": "test.moorpin.dev/v1", "metadata": map[string]any{"continue": "x", "remainingItemCount": 41}, "items": []any{thing("Widget", "w")}}
		case request.URL.Path == "/apis/test.moorpin.dev/v1/clusterthings":
			reply.WriteHeader(http.StatusForbidden)
			answer = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}
		default:
			reply.WriteHeader(http.StatusNotFound)
			answer = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
		}
		_, _ = reply.Write(mustJSON(answer))
	}))
	t.Cleanup(server.Close)
	objects, err := NewObjects(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func thing(kind, name string) map[string]any {
	return map[string]any{"apiVersion": "test.moorpin.dev/v1", "kind": kind, "metadata": map[string]any{"name": name}}
}

// page is a part of an endless list.
func page(limit, from string) map[string]any {
	count, _ := strconv.Atoi(limit)
	begin, _ := strconv.Atoi(from)
	items := make([]any, count)
	for i := range items {
		items[i] = thing("Pod", fmt.Sprintf("p%d", begin+i))
	}
	return map[string]any{"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{"continue": strconv.Itoa(begin + count)}, "items": items}
}

func TestObjects(t *testing.T) {
	objects, ctx := serveObjects(t), t.Context()
	pods, more, err := objects.List(ctx, "", "Pod", "web")
	if err != nil || len(pods) != listMost || !more {
		t.Errorf("an endless list: %d objects, more is %t, %v", len(pods), more, err)
	}
	if found, more, err := objects.List(ctx, "keda.sh", "ScaledObject", "web"); err != nil || more || len(found) != 0 {
		t.Errorf("a kind that is not served: %v, %v", found, err)
	}
	if _, _, err := objects.List(ctx, "test.moorpin.dev", "ClusterThing", "web"); !apierrors.IsForbidden(err) {
		t.Errorf("a forbidden list: %v", err)
	}
	kind := runtimeschema.GroupKind{Group: "test.moorpin.dev", Kind: "Widget"}
	if found, ok, err := objects.Get(ctx, kind, "web", "w"); err != nil || !ok || found["kind"] != "Widget" {
		t.Errorf("an object: %v, %t, %v", found, ok, err)
	}
	if found, ok, err := objects.Get(ctx, kind, "web", "none"); err != nil || ok {
		t.Errorf("an object that is not there: %v, %v", found, err)
	}
	if found, ok, err := objects.Definition(ctx, "test.moorpin.dev", "Widget"); err != nil || !ok || found["kind"] != "CustomResourceDefinition" {
		t.Errorf("the CRD of a kind: %v, %t, %v", found, ok, err)
	}
	for _, kind := range []string{"ClusterThing", "Unknown"} {
		if _, ok, err := objects.Definition(ctx, "test.moorpin.dev", kind); err != nil || ok {
			t.Errorf("the CRD of %s: %t, %v", kind, ok, err)
		}
	}
}
