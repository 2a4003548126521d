package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/extension/report"
)

// hidden is the value of a Secret, told apart by where it hides.
func hidden(where string) string { return "s3cr3t-" + where }

func encodedValue(where string) string {
	return base64.StdEncoding.EncodeToString([]byte(hidden(where)))
}

// leaky is a snapshot with the values of Secrets in every place where they can hide.
func leaky(t *testing.T) object {
	t.Helper()
	applied := func(where string) string {
		text, err := json.Marshal(object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": "s"}, "data": object{"k": encodedValue(where)}, "stringData": object{"l": hidden(where)}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	of := func(side string) object {
		return object{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": object{
				"name": "s", "namespace": "web", "uid": "u-" + side,
				"annotations":   object{"kubectl.kubernetes.io/last-applied-configuration": applied(side + "-applied"), "copy.example.com/of": applied(side + "-copy")},
				"managedFields": []object{{"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": object{"f:data": object{"f:k": object{}}}}},
			},
			"data":       object{"k": encodedValue(side + "-data"), "gone-" + side: encodedValue(side + "-alone")},
			"stringData": object{"k": hidden(side + "-string")},
		}
	}
	list := object{"apiVersion": "v1", "kind": "List", "metadata": object{"name": "l", "namespace": "web"}, "items": []object{of("list")}}
	app := application("argocd", "shop", "default")
	app["metadata"].(object)["annotations"] = object{"kubectl.kubernetes.io/last-applied-configuration": applied("application")}
	app["status"] = object{
		"sync": object{"status": "OutOfSync"},
		"resources": []object{
			{"version": "v1", "kind": "Secret", "namespace": "web", "name": "s", "status": "OutOfSync"},
			{"version": "v1", "kind": "Secret", "namespace": "web", "name": "orphan", "status": "OutOfSync", "requiresPruning": true},
			{"group": "example.com", "version": "v1", "kind": "Bundle", "namespace": "web", "name": "b", "status": "OutOfSync", "requiresPruning": true},
		},
	}
	lost := object{"apiVersion": "example.com/v1", "kind": "Bundle", "metadata": object{"name": "b", "namespace": "web", "annotations": object{"argocd.argoproj.io/tracking-id": "shop:example.com/Bundle:web/b"}}, "spec": object{"template": of("template")}}
	orphan := of("orphan")
	orphan["metadata"].(object)["name"] = "orphan"
	return object{
		"application": app,
		"resources": []object{
			{"version": "v1", "kind": "Secret", "namespace": "web", "name": "s", "target": of("target"), "live": of("live"), "normalizedLive": of("normalized"), "predictedLive": of("predicted")},
			{"version": "v1", "kind": "Secret", "namespace": "web", "name": "orphan", "live": orphan},
			{"version": "v1", "kind": "List", "namespace": "web", "name": "l", "target": list, "live": list},
			{"group": "example.com", "version": "v1", "kind": "Bundle", "namespace": "web", "name": "b", "live": lost},
		},
		"related": []object{of("related")},
		"events":  []object{{"apiVersion": "v1", "kind": "Event", "reason": "Failed", "message": "x", "metadata": object{"name": "e", "namespace": "web", "annotations": object{"of": applied("event")}}, "involvedObject": of("involved")}},
	}
}

func TestAttackSecretsInEveryPlace(t *testing.T) {
	b := start(t, api.Options{Reporter: report.NewService(report.ServiceOptions{})})
	posted := leaky(t)
	for path, body := range map[string]object{
		"/api/v1/classify":    posted,
		"/api/v1/rollback":    posted,
		"/api/v1/fixes/prove": {"snapshot": posted, "rules": []object{{"kind": "Secret", "jsonPointers": []string{"/data"}}}},
	} {
		t.Run(path, func(t *testing.T) {
			got := b.ask(t, http.MethodPost, path, body)
			if got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
			text := got.body + b.log.String()
			for _, leak := range []string{"s3cr3t", base64.StdEncoding.EncodeToString([]byte("s3cr3t"))[:7]} {
				if at := strings.Index(text, leak); at >= 0 {
					t.Errorf("a value leaks: ...%s", text[max(0, at-200):min(len(text), at+100)])
				}
			}
			if path == "/api/v1/classify" && !strings.Contains(got.body, `"name":"s"`) {
				t.Errorf("the Secret is not in the report at all: %s", got.body)
			}
		})
	}
}

func TestAttackHostileStrings(t *testing.T) {
	hostile := "<script>alert(1)</script>\x1b[31m\x00\u202e\n# injected: true\n---\nkind: Injected"
	app := application("argocd", "shop", "default")
	app["status"] = object{
		"sync":       object{"status": "OutOfSync"},
		"conditions": []object{{"type": "ComparisonError", "message": hostile}},
		"resources":  []object{{"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "c", "status": "OutOfSync", "requiresPruning": true}},
	}
	live := object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "c", "namespace": "web", "labels": object{"x": hostile}, "annotations": object{"argocd.argoproj.io/tracking-id": "shop:/ConfigMap:web/c"}}, "data": object{"k": hostile}}
	body := object{"application": app, "resources": []object{{"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "c", "live": live}}}
	b := start(t, api.Options{Reporter: report.NewService(report.ServiceOptions{})})
	for path, media := range map[string]string{"/api/v1/classify": "application/json", "/api/v1/rollback": "text/yaml; charset=utf-8"} {
		got := b.ask(t, http.MethodPost, path, body)
		if got.status != http.StatusOK || got.header.Get("Content-Type") != media || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v %s", path, got.status, got.header, got.body)
		}
		if strings.ContainsAny(got.body, "\x1b\x00") {
			t.Errorf("%s: control characters as they were: %q", path, got.body)
		}
		if strings.Contains(got.body, "\nkind: Injected") || strings.Contains(got.body, "\n# injected") {
			t.Errorf("%s: a string left its place: %s", path, got.body)
		}
		if disposition := got.header.Get("Content-Disposition"); path == "/api/v1/rollback" && disposition != `attachment; filename="rollback_argocd_shop.yaml"` {
			t.Errorf("Content-Disposition %q", disposition)
		}
	}
	if strings.Contains(b.log.String(), "script") {
		t.Errorf("a body reached the log:\n%s", b.log)
	}
}

// TestAttackQuotedSecret: a condition quotes what the snapshot's own Secrets hold.
func TestAttackQuotedSecret(t *testing.T) {
	posted := leaky(t)
	posted["application"].(object)["status"].(object)["conditions"] = []object{{
		"type": "ComparisonError", "message": "cannot apply " + hidden("live-string") + " and " + hidden("template-data") + ` with k: "a1b2"`,
	}}
	posted["resources"].([]object)[0]["live"].(object)["stringData"].(object)["k2"] = "a1b2"
	b := start(t, api.Options{Reporter: report.NewService(report.ServiceOptions{})})
	got := b.ask(t, http.MethodPost, "/api/v1/classify", posted)
	if got.status != http.StatusOK || !strings.Contains(got.body, "cannot apply (hidden) and (hidden)") {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, leak := range []string{"s3cr3t", "a1b2"} {
		if at := strings.Index(got.body, leak); at >= 0 {
			t.Errorf("a value leaks: ...%s", got.body[max(0, at-200):min(len(got.body), at+100)])
		}
	}
}
