package report_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/extension/report"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func secret(field, value string) object {
	o := named("v1", "Secret", "web", "db")
	o[field] = object{"password": value}
	return o
}

func encoded(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) }

// TestSecretsAreMasked holds that no value of a Secret reaches the snapshot from
// anywhere, and that equal ones stay equal.
func TestSecretsAreMasked(t *testing.T) {
	applied := secret("stringData", "hush-applied")
	applied["metadata"].(object)["annotations"] = object{lastApplied: text(t, secret("data", encoded("hush-older")))}
	live := secret("data", encoded("hush-live"))
	live["metadata"].(object)["annotations"] = object{
		lastApplied: text(t, applied), "other.example.com/original": text(t, secret("data", encoded("hush-live"))), "note": "{no JSON",
	}
	from := shop(t)
	items := []any{
		object{
			"kind": "Secret", "namespace": "web", "name": "db", "targetState": text(t, secret("stringData", "hush-live")), "liveState": text(t, live),
			"normalizedLiveState": text(t, live), "predictedLiveState": text(t, secret("data", encoded("hush-predicted"))),
		},
		object{"kind": "Secret", "namespace": "web", "name": "odd", "targetState": text(t, object{
			"kind": "Secret", "apiVersion": "v1", "data": []any{"hush-list"}, "stringData": object{"a": object{"b": "hush-deep"}, "n": 4711, "null": nil},
			"metadata": object{"annotations": object{lastApplied: "hush-text"}},
		}), "liveState": `{"metadata":{"annotations":{"` + lastApplied + `":"{hush-broken"}},"data":{"a":"hush-untyped"}}`},
		object{"group": "example.com", "kind": "Bundle", "name": "b", "targetState": text(t, object{
			"apiVersion": "example.com/v1", "kind": "Bundle", "spec": object{"manifests": []any{secret("data", "hush-inside"), secret("data", "hush-beside")}},
			"metadata": object{"annotations": object{"policy": "{ \"kinds\": [\"Secret\"], \"a\": \"<\" }"}},
		}), "liveState": text(t, object{"spec": object{"manifests": []any{secret("data", "hush-beside"), secret("data", "hush-inside")}}})},
	}
	from.answers[appPath+"/managed-resources"] = object{"items": items}
	from.answers[appPath].(object)["spec"].(object)["source"] = object{"helm": object{"valuesObject": object{"extra": []any{secret("stringData", "hush-values")}}}}
	from.answers[appPath+"/resource?front-1"] = object{"manifest": strings.ReplaceAll(text(t, secret("data", "hush-related")), `"db"`, `"other"`)}

	from.answers[appPath+"/events"] = object{"items": []any{object{
		"metadata": object{"name": "e1", "namespace": "web", "annotations": object{lastApplied: text(t, secret("data", "hush-annotated"))}}, "about": secret("data", "hush-event"),
	}}}

	snapshot, _ := collect(t, from, report.Options{Compared: true})
	whole, err := json.Marshal(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"hush", encoded("hush")[:5], "4711"} {
		if i := strings.Index(string(whole), word); i >= 0 {
			t.Errorf("%q got out: %s", word, whole[max(0, i-200):min(len(whole), i+40)])
		}
	}
	db := snapshot.Resources[0]
	target := db.Target["stringData"].(object)["password"]
	if got := db.Live["data"].(object)["password"]; got != target || target != "++++++++" {
		t.Errorf("equal values got the masks %v and %v", target, got)
	}
	var inner object
	annotations := db.Live["metadata"].(object)["annotations"].(object)
	if err := json.Unmarshal([]byte(annotations[lastApplied].(string)), &inner); err != nil {
		t.Fatal(err)
	}
	if got := inner["stringData"].(object)["password"]; got == target {
		t.Errorf("different values got the same mask %v", got)
	}
	if annotations["note"] != "++++++++" {
		t.Errorf("what looks like an object but is none stays: %v", annotations["note"])
	}
	bundle := snapshot.Resources[2]
	var moved []any
	for _, side := range []object{bundle.Target, bundle.Live} {
		for _, inside := range side["spec"].(object)["manifests"].([]any) {
			moved = append(moved, inside.(object)["data"].(object)["password"])
		}
	}
	if moved[0] != moved[3] || moved[1] != moved[2] || moved[0] == moved[1] {
		t.Errorf("values that changed places got the masks %v", moved)
	}
	if got := bundle.Target["metadata"].(object)["annotations"].(object)["policy"]; got != `{ "kinds": ["Secret"], "a": "<" }` {
		t.Errorf("an annotation without a Secret became %v", got)
	}
	if data := snapshot.Resources[1].Target["stringData"].(object); data["null"] != nil {
		t.Errorf("null became %v", data["null"])
	}
}

// TestMasksOfArgoCD holds that what Argo CD masked comes through unchanged.
func TestMasksOfArgoCD(t *testing.T) {
	live := secret("data", "++++++++++++")
	live["metadata"].(object)["annotations"] = object{lastApplied: text(t, secret("data", "++++++++++++++++"))}
	from := shop(t)
	from.answers[appPath+"/managed-resources"] = object{"items": []any{object{
		"kind": "Secret", "namespace": "web", "name": "db", "targetState": text(t, secret("data", "++++++++")), "liveState": text(t, live),
	}}}
	snapshot, _ := collect(t, from, report.Options{})
	got := snapshot.Resources[0]
	if text(t, got.Target) != text(t, secret("data", "++++++++")) || text(t, got.Live) != text(t, live) {
		t.Errorf("target %v, live %v", got.Target, got.Live)
	}
}
