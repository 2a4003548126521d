package kube

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// serveOne is an API server with one ConfigMap, argocd-cm. It keeps what is applied, and
// answers a write with the status that it is given.
func serveOne(t *testing.T, status int, reason string) (*ConfigMaps, *http.Request, map[string]any) {
	t.Helper()
	var asked http.Request
	applied := map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(reply http.ResponseWriter, request *http.Request) {
		reply.Header().Set("Content-Type", "application/json")
		failure := func(code int, reason string) {
			reply.WriteHeader(code)
			_, _ = reply.Write(mustJSON(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "reason": reason, "code": code}))
		}
		object := map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "argocd-cm"}}
		switch {
		case request.URL.Path != "/api/v1/namespaces/argocd/configmaps/argocd-cm":
			failure(http.StatusNotFound, "NotFound")
		case request.Method == http.MethodPatch && status != 0:
			failure(status, reason)
		case request.Method == http.MethodPatch:
			body, err := io.ReadAll(request.Body)
			if err == nil {
				err = json.Unmarshal(body, &applied)
			}
			if err != nil {
				t.Error(err)
			}
			asked = *request
			_, _ = reply.Write(mustJSON(object))
		default:
			_, _ = reply.Write(mustJSON(object))
		}
	}))
	t.Cleanup(server.Close)
	maps, err := NewConfigMaps(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return maps, &asked, applied
}

func settingsToApply() map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "b"},
		"metadata": map[string]any{"name": "argocd-cm", "namespace": "argocd", "resourceVersion": "5"},
	}
}

func TestConfigMaps(t *testing.T) {
	maps, asked, applied := serveOne(t, 0, "")
	if found, there, err := maps.Get(t.Context(), "argocd", "argocd-cm"); err != nil || !there || found["kind"] != "ConfigMap" {
		t.Errorf("a ConfigMap: %v, %t, %v", found, there, err)
	}
	if found, there, err := maps.Get(t.Context(), "argocd", "other"); err != nil || there {
		t.Errorf("one that is not there: %v, %v", found, err)
	}
	for _, force := range []bool{false, true} {
		if err := maps.Apply(t.Context(), "somebody", settingsToApply(), force); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(settingsToApply(), applied); diff != "" {
			t.Errorf("-want +applied:\n%s", diff)
		}
		query := asked.URL.Query()
		if query.Get("fieldManager") != "somebody" || (query.Get("force") == "true") != force || asked.Header.Get("Content-Type") != "application/apply-patch+yaml" {
			t.Errorf("want a server-side apply with force %t: %s %s", force, asked.URL, asked.Header.Get("Content-Type"))
		}
	}
}

func TestConfigMapsRefused(t *testing.T) {
	tests := map[string]struct {
		status       int
		reason, says string
	}{
		"changed meanwhile": {http.StatusConflict, "Conflict", "nothing was written; try again"},
		"forbidden":         {http.StatusForbidden, "Forbidden", "grant get and patch"},
		"invalid":           {http.StatusUnprocessableEntity, "Invalid", "apply ConfigMap argocd/argocd-cm"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			maps, _, _ := serveOne(t, test.status, test.reason)
			if err := maps.Apply(t.Context(), "somebody", settingsToApply(), false); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("want %q: %v", test.says, err)
			}
		})
	}
}
