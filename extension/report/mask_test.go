package report_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/weight"
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

// TestHeavyAnnotations: an annotation is read only where a Secret may be in it, and takes
// no more than its size says, however it is nested.
func TestHeavyAnnotations(t *testing.T) {
	deep := func(levels int, in string) string {
		return strings.Repeat(`{"":`, levels) + in + strings.Repeat("}", levels)
	}
	const inner = `{"apiVersion":"v1","kind":"Secret","data":{"k":"aHVzaA=="}}`
	for name, row := range map[string]struct {
		text, want, reason string
	}{
		"deep, of no Secret":     {deep(9_000, "1"), "", "nobody reads it"},
		"large, of no Secret":    {`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "", "nobody reads it"},
		"deep":                   {deep(9_000, inner), "++++++++", "no object is as deep"},
		"deep, in escapes":       {deep(9_000, strings.Replace(inner, "S", `\u0053`, 1)), "++++++++", "it may be a Secret"},
		"large":                  {`{"a":"` + strings.Repeat("x", 1<<20) + `","b":` + inner + `}`, "++++++++", "no annotation is as large"},
		"a Secret":               {`{"a":` + inner + `}`, `{"a":{"apiVersion":"v1","data":{"k":"++++++++"},"kind":"Secret"}}`, "as ever"},
		"a Secret, in escapes":   {`{"a":` + strings.Replace(inner, "Secret", `\u0053ecret`, 1) + `}`, `{"a":{"apiVersion":"v1","data":{"k":"++++++++"},"kind":"Secret"}}`, "JSON means the same"},
		"many below a long name": {`{"` + strings.Repeat("x", 100_000) + `":{"k":"Secret","a":{}` + strings.Repeat(`,"a":{}`, 15_000) + `}}`, "", "paths are no longer than their sums"},
	} {
		t.Run(name, func(t *testing.T) {
			o := named("v1", "ConfigMap", "web", "c")
			o["metadata"].(object)["annotations"] = object{"a": row.text}
			document := []byte(text(t, object{"application": object{"metadata": object{"name": "shop"}}, "related": []any{o}}))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			snapshot, err := report.Posted{Document: document}.Read()
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			want := row.want
			if want == "" {
				want = row.text
			}
			if got := tree(snapshot.Related[0], "metadata", "annotations")["a"].(string); got != want {
				t.Errorf("%s: have %.200s", row.reason, got)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
				t.Errorf("%d bytes took %d", len(document), took)
			}
		})
	}
}

// TestAnnotationsAreWeighed: what is read of an annotation is a part of what an
// Application may take while it is collected.
func TestAnnotationsAreWeighed(t *testing.T) {
	from := &plane{fake: shop(t)}
	o := named("v1", "ConfigMap", "web", "c")
	o["metadata"].(object)["annotations"] = object{"a": `{"a":[{"Secret":1}` + strings.Repeat(`,{"a":1}`, 25_000) + `]}`} // 200 KB
	from.fake.answers[appPath+"/managed-resources"] = object{"items": []any{object{"kind": "ConfigMap", "namespace": "web", "name": "c", "targetState": text(t, o)}}}
	s := report.NewService(report.ServiceOptions{Client: from.client(t), Classifier: &classifier{}, SnapshotMemory: 3 * 8 << 20, Timeout: time.Minute})
	_, err := s.Report(t.Context(), shopRef)
	if _, ok := errors.AsType[*weight.TooLargeError](err); !ok {
		t.Errorf("have %v", err)
	}
}
