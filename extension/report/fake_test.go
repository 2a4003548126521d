package report_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// fake is an Argo CD that answers by path: with JSON, or a status. What it has no
// answer for is forbidden.
type fake struct {
	answers map[string]any

	guard sync.Mutex
	asked []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.URL.EscapedPath()
	if name := r.URL.Query().Get("resourceName"); name != "" {
		key += "?" + name
	}
	f.guard.Lock()
	f.asked = append(f.asked, key)
	f.guard.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer, ok := f.answers[key]
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"error":"permission denied","code":7,"message":"permission denied"}`)
		return
	}
	if status, ok := answer.(int); ok {
		w.WriteHeader(status)
		return
	}
	if text, ok := answer.(string); ok {
		_, _ = fmt.Fprint(w, text)
		return
	}
	data, err := json.Marshal(answer)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
	_, _ = w.Write(data)
}

func (f *fake) client(t testing.TB) *argocd.Client {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	client, err := argocd.New(argocd.Config{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

type object = map[string]any

const appPath = "/api/v1/applications/shop"

// text is an object as the API puts it into strings.
func text(t testing.TB, o any) string {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func named(apiVersion, kind, namespace, name string) object {
	return object{"apiVersion": apiVersion, "kind": kind, "metadata": object{"name": name, "namespace": namespace}}
}

// shop is an Argo CD with one Application that has a bit of everything.
func shop(t testing.TB) *fake {
	t.Helper()
	deployment := named("apps/v1", "Deployment", "web", "front")
	hook := named("batch/v1", "Job", "", "migrate")
	hook["metadata"].(object)["annotations"] = object{"argocd.argoproj.io/hook": "PreSync"}
	generated := named("batch/v1", "Job", "web", "")
	generated["metadata"] = object{"generateName": "smoke-", "namespace": "web", "annotations": object{"helm.sh/hook": "post-install"}}
	revision := strings.Repeat("0a", 20)
	node := func(group, version, kind, name, health string) object {
		return object{"group": group, "version": version, "kind": kind, "namespace": "web", "name": name, "uid": "uid-" + name, "health": object{"status": health}}
	}
	live := func(apiVersion, kind, name string) object {
		return object{"manifest": text(t, named(apiVersion, kind, "web", name))}
	}
	return &fake{answers: map[string]any{
		appPath: object{
			"metadata": object{"name": "shop", "namespace": "argocd"},
			"spec":     object{"project": "team", "destination": object{"server": "https://kubernetes.default.svc", "namespace": "web"}},
			"status": object{
				"sync": object{"status": "OutOfSync", "revision": revision},
				"resources": []any{
					object{"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "web", "name": "front", "status": "OutOfSync"},
					object{"group": "batch", "version": "v1", "kind": "Job", "namespace": "web", "name": "migrate", "hook": true},
				},
				"operationState": object{"syncResult": object{"resources": []any{
					object{"group": "batch", "version": "v1", "kind": "Job", "namespace": "web", "name": "migrate", "hookType": "PreSync"},
					object{"group": "batch", "version": "v1", "kind": "Job", "namespace": "web", "name": "gone", "hookType": "PostSync"},
					object{"group": "batch", "version": "v1beta1", "kind": "Job", "namespace": "web", "name": "migrate", "hookType": "PreSync"},
					object{"group": "batch", "version": "v1", "kind": "Job", "namespace": "web", "name": "smoke-0a0a0a0-postsync-1", "hookType": "PostSync"},
				}}},
				"conditions": []any{
					object{"type": "SharedResourceWarning", "message": "Service/front is part of applications argocd/shop and team/other"},
					object{"type": "SharedResourceWarning", "message": "Service/x is part of applications argocd/shop and other"},
					object{"type": "SharedResourceWarning", "message": "of another form, and <b>hostile</b>"},
				},
			},
		},
		appPath + "/managed-resources": object{"items": []any{object{
			"group": "apps", "kind": "Deployment", "namespace": "web", "name": "front",
			"targetState": text(t, deployment), "liveState": text(t, deployment), "normalizedLiveState": text(t, deployment), "predictedLiveState": text(t, deployment),
		}}},
		appPath + "/resource-tree": object{"nodes": []any{
			node("apps", "v1", "Deployment", "front", "Degraded"), node("batch", "v1", "Job", "migrate", "Healthy"),
			node("autoscaling", "v2", "HorizontalPodAutoscaler", "front", "Healthy"), node("", "v1", "Pod", "front-1", "Degraded"), node("", "v1", "Pod", "lost", "Progressing"),
			node("", "v1", "Pod", "well", "Healthy"), node("apps", "v1", "ReplicaSet", "well", "Healthy"),
		}},
		appPath + "/manifests":                           object{"manifests": []any{text(t, deployment), text(t, named("batch/v1", "Job", "web", "gone")), text(t, hook), text(t, generated)}},
		appPath + "/resource?migrate":                    live("batch/v1", "Job", "migrate"),
		appPath + "/resource?front":                      live("autoscaling/v2", "HorizontalPodAutoscaler", "front"),
		appPath + "/resource?front-1":                    live("v1", "Pod", "front-1"),
		appPath + "/events":                              object{"items": []any{object{"metadata": object{"name": "e1", "namespace": "argocd", "managedFields": []any{}}, "reason": "OperationCompleted"}}},
		appPath + "/events?front":                        object{"items": []any{object{"metadata": object{"name": "e2", "namespace": "web"}, "reason": "FailedCreate"}}},
		appPath + "/events?lost":                         object{"items": nil},
		appPath + "/events?front-1":                      object{"items": []any{object{"metadata": object{"name": "e2", "namespace": "web"}, "reason": "FailedCreate"}}},
		appPath + "/revisions/" + revision + "/metadata": object{"date": "2026-01-02T03:04:05Z"},
		"/api/version":                                   object{"Version": "v2.14.21+abc"},
		"/api/v1/settings": object{
			"appLabelKey": "app.kubernetes.io/instance", "trackingMethod": "annotation", "controllerNamespace": "argocd",
			"resourceOverrides": object{
				"*/*":                   object{"ignoreDifferences": "jqPathExpressions: []\njsonPointers:\n- /status\nmanagedFieldsManagers: []\n"},
				"example.com/Quiet":     object{"health.lua": "return {}", "ignoreDifferences": "jqPathExpressions: []\njsonPointers: []\nmanagedFieldsManagers: []\n"},
				"example.com/Quantity":  object{"ignoreDifferences": "jsonPointers: []\n", "knownTypeFields": []any{object{"field": "spec.cpu", "type": "core/v1/ResourceList"}}},
				"example.com/Unrelated": object{"ignoreResourceUpdates": "jsonPointers:\n- /status\n"},
			},
		},
	}}
}
