package kube

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// asked is one request to write.
type asked struct {
	Method, Path, Type, Query string
	Body                      map[string]any
}

// serveWrites is an API server of ConfigMaps and Widgets that notes what it is asked
// to write and answers with a status and a message, or with what it was sent.
func serveWrites(t *testing.T, code int, message string) (*Objects, *[]asked) {
	t.Helper()
	resources := map[string]any{
		"/api": map[string]any{"kind": "APIVersions", "versions": []any{"v1"}},
		"/apis": map[string]any{"kind": "APIGroupList", "groups": []any{
			map[string]any{"name": "test.moorpin.dev", "versions": []any{map[string]any{"groupVersion": "test.moorpin.dev/v1", "version": "v1"}}},
		}},
		"/api/v1": map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{map[string]any{"name": "configmaps", "kind": "ConfigMap", "namespaced": true}}},
		"/apis/test.moorpin.dev/v1": map[string]any{"kind": "APIResourceList", "groupVersion": "test.moorpin.dev/v1", "resources": []any{
			map[string]any{"name": "widgets", "kind": "Widget", "namespaced": true},
		}},
	}
	var requests []asked
	server := httptest.NewServer(http.HandlerFunc(func(reply http.ResponseWriter, request *http.Request) {
		reply.Header().Set("Content-Type", "application/json")
		if answer, ok := resources[request.URL.Path]; ok {
			_, _ = reply.Write(mustJSON(answer))
			return
		}
		data, _ := io.ReadAll(request.Body)
		one := asked{Method: request.Method, Path: request.URL.Path, Type: request.Header.Get("Content-Type"), Query: request.URL.RawQuery}
		_ = json.Unmarshal(data, &one.Body)
		requests = append(requests, one)
		if code != 0 {
			reply.WriteHeader(code)
			reason := map[int]string{403: "Forbidden", 422: "Invalid", 409: "AlreadyExists", 400: "BadRequest", 500: "InternalError"}[code]
			_, _ = reply.Write(mustJSON(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message}))
			return
		}
		answer := maps.Clone(one.Body)
		answer["apiVersion"], answer["kind"] = "v1", "ConfigMap"
		_, _ = reply.Write(mustJSON(answer))
	}))
	t.Cleanup(server.Close)
	objects, err := NewObjects(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return objects, &requests
}

func configMap(applied string, data map[string]any) map[string]any {
	metadata := map[string]any{"name": "c", "namespace": "web"}
	if applied != "" {
		metadata["annotations"] = map[string]any{lastApplied: applied}
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
}

// TestDryRun holds that what is sent is what a sync sends, and that it is always a dry run.
func TestDryRun(t *testing.T) {
	const path = "/api/v1/namespaces/web/configmaps"
	git := configMap("", map[string]any{"a": "git"})
	const applied = `{"apiVersion":"v1","data":{"a":"git"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c","namespace":"web"}}` + "\n"
	tests := map[string]struct {
		reason       string
		target, live map[string]any
		serverSide   bool
		want         []asked
	}{
		"server-side": {
			reason: "Argo CD applies by force, under its own name", target: git, live: configMap("", map[string]any{"a": "live"}), serverSide: true,
			want: []asked{{"PATCH", path + "/c", "application/apply-patch+yaml", "dryRun=All&fieldManager=argocd-controller&force=true", git}},
		},
		"missing": {
			reason: "kubectl notes what it applies", target: git,
			want: []asked{{"POST", path, "application/json", "dryRun=All&fieldManager=argocd-controller", configMap(applied, map[string]any{"a": "git"})}},
		},
		"three-way": {
			reason: "what Git dropped goes, what others added stays", target: git,
			live: configMap(string(mustJSON(configMap("", map[string]any{"a": "git", "b": "dropped"}))), map[string]any{"a": "live", "b": "dropped", "c": "theirs"}),
			want: []asked{{"PATCH", path + "/c", "application/strategic-merge-patch+json", "dryRun=All&fieldManager=argocd-controller", map[string]any{
				"data": map[string]any{"a": "git", "b": nil}, "metadata": map[string]any{"annotations": map[string]any{lastApplied: applied}},
			}}},
		},
		"custom kind": {
			reason: "custom kinds have no strategic merge", target: map[string]any{"apiVersion": "test.moorpin.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "web"}, "spec": map[string]any{"list": []any{"git"}}},
			live: map[string]any{"apiVersion": "test.moorpin.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "web"}, "spec": map[string]any{"list": []any{"live"}}},
			want: []asked{{"PATCH", "/apis/test.moorpin.dev/v1/namespaces/web/widgets/w", "application/merge-patch+json", "dryRun=All&fieldManager=argocd-controller", map[string]any{
				"spec": map[string]any{"list": []any{"git"}}, "metadata": map[string]any{"annotations": map[string]any{
					lastApplied: `{"apiVersion":"test.moorpin.dev/v1","kind":"Widget","metadata":{"annotations":{},"name":"w","namespace":"web"},"spec":{"list":["git"]}}` + "\n",
				}},
			}}},
		},
		"nothing": {reason: "kubectl sends no empty patch", target: git, live: configMap(applied, map[string]any{"a": "git", "c": "theirs"})},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects, requests := serveWrites(t, 0, "")
			before := string(mustJSON(test.target)) + string(mustJSON(test.live))
			if _, err := objects.DryRun(t.Context(), test.target, test.serverSide, test.live); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, *requests); diff != "" {
				t.Errorf("%s: -want +got:\n%s", test.reason, diff)
			}
			if after := string(mustJSON(test.target)) + string(mustJSON(test.live)); after != before {
				t.Errorf("the caller's objects changed: %s", after)
			}
		})
	}
}

// TestDryRunRefused holds that only a no to the object itself is one to the sync.
func TestDryRunRefused(t *testing.T) {
	git, live := configMap("", map[string]any{"a": "git"}), configMap("", map[string]any{"a": "live"})
	for message, row := range map[string]struct {
		code    int
		refusal bool
	}{
		`ConfigMap "c" is invalid: data: Forbidden: field is immutable when immutable is set`:                                         {422, true},
		`admission webhook "policy.example.com" denied the request: no`:                                                               {403, true},
		`configmaps "c" is forbidden: exceeded quota: q`:                                                                              {403, true},
		`Internal error occurred: failed calling webhook "m.example.com": no endpoints available`:                                     {500, true},
		`configmaps "c" is forbidden: User "me" cannot patch resource "configmaps" in API group "" in the namespace "web"`:            {403, false},
		`roles.rbac.authorization.k8s.io "r" is forbidden: user "me" (groups=["g"]) is attempting to grant RBAC permissions not held`: {403, false},
		`admission webhook "side.example.com" does not support dry run`:                                                               {400, false},
		`configmaps "c" already exists`:                     {409, false},
		`Internal error occurred: etcdserver: no leader`:    {500, false},
		`the server is currently unable to handle requests`: {503, false},
	} {
		objects, _ := serveWrites(t, row.code, message)
		_, err := objects.DryRun(t.Context(), git, false, live)
		refusal, refused := errors.AsType[*RefusalError](err)
		if err == nil || refused != row.refusal {
			t.Errorf("%s: %T %v", message, err, err)
		}
		if refused && refusal.Error() != message {
			t.Errorf("the words changed: %s", refusal)
		}
		if !refused && strings.Contains(message, "cannot patch") && !strings.Contains(err.Error(), "needs the verbs patch and create") {
			t.Errorf("the error does not say what to do: %v", err)
		}
	}
	objects, requests := serveWrites(t, 0, "")
	unknown := map[string]any{"apiVersion": "none.example.com/v1", "kind": "Nothing", "metadata": map[string]any{"name": "n", "namespace": "web"}}
	if _, err := objects.DryRun(t.Context(), unknown, false, nil); err == nil || !strings.Contains(err.Error(), "no matches for kind") {
		t.Errorf("a kind that is not served: %v", err)
	}
	duplicate := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}}
	if _, err := objects.DryRun(t.Context(), duplicate, false, nil); err == nil || len(*requests) != 0 {
		t.Errorf("an object without its namespace: %v", err)
	}
}
