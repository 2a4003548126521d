package classify_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// TestSecretsInMessages holds that no value of a Secret stands in a report because
// somebody's message quoted it, in whatever form, or because an ignore rule threw it.
func TestSecretsInMessages(t *testing.T) {
	const secrets = `
application:
  metadata: {name: web, namespace: argocd}
  spec: {project: default, ignoreDifferences: [{kind: Secret, jqPathExpressions: [".data | error"]}]}
  status:
    sync: {status: OutOfSync, revision: one}
    operationState:
      phase: Failed
      message: "one or more objects failed to apply: value hunter2-hunter2 is not allowed"
      syncResult: {revision: one, resources: [{kind: Secret, version: v1, name: db, namespace: web, status: SyncFailed, message: "Error from server: map[data:map[p:aHVudGVyMi1odW50ZXIy]], hunter2-hunter2 denied"}]}
resources:
- KIND
  target: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, data: {p: bmV3LW5ldy1uZXc=}}
  live: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, data: {p: aHVudGVyMi1odW50ZXIy}}
`
	for name, ref := range map[string]string{
		"as it is":      "kind: Secret\n  name: db",
		"another group": "kind: Secret\n  group: core\n  name: db",
		"another case":  "kind: secret\n  name: db",
	} {
		t.Run(name, func(t *testing.T) {
			report := classifyText(t, strings.Replace(secrets, "KIND", ref, 1))
			said := string(encoded(t, report))
			for _, value := range []string{"hunter2-hunter2", "aHVudGVyMi1odW50ZXIy", "bmV3LW5ldy1uZXc=", "new-new-new"} {
				if strings.Contains(said, value) {
					t.Errorf("the report has %q:\n%s", value, said)
				}
			}
			if len(report.Findings) == 0 || len(report.Findings[0].Evidence) == 0 {
				t.Errorf("nothing is said: %s", said)
			}
		})
	}
}

// TestNoSecretInAnyOutput holds, with Secrets of random values that everybody quotes,
// that a value of any length is nowhere where a value stands, and a longer one nowhere.
func TestNoSecretInAnyOutput(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 7))
		values := map[string]string{}
		for _, key := range []string{"p", "user.name", "tls-key", "t", "applied"} {
			values[key] = secretValue(random, 1+random.IntN(12))
		}
		values["long"] = secretValue(random, 100+random.IntN(400))
		snapshot := quotingSecrets(random, values)
		report, err := classify.Classify(t.Context(), snapshot, classify.Options{Prove: true, Guard: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range report.Findings {
			for _, f := range report.Findings[i].Fields {
				if report.Findings[i].Resource.Kind == "Secret" && ofSecret(f.Pointer) && (f.InLive && !masked(f.Live) || f.InTarget && !masked(f.Target)) {
					t.Errorf("seed %d: %s is %v and %v", seed, f.Pointer, f.Target, f.Live)
				}
			}
		}
		said := string(encoded(t, report))
		for key, value := range values {
			if len(value) >= 6 {
				for _, spelling := range []string{value, base64.StdEncoding.EncodeToString([]byte(value)), value[:min(len(value), 90)]} {
					if strings.Contains(said, spelling) {
						t.Errorf("seed %d: the report has %q:\n%s", seed, spelling, said)
					}
				}
			}
			for _, form := range []string{"%s: %s", "%s=%s", `%s\":\"%s\"`, "map[%s:%s]"} {
				if placed := fmt.Sprintf(form, key, value); strings.Contains(said, placed) {
					t.Errorf("seed %d: the report has %q:\n%s", seed, placed, said)
				}
			}
			if placed := `\"` + value + `\"`; strings.Contains(said, placed) {
				t.Errorf("seed %d: the report has %q:\n%s", seed, placed, said)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func masked(value any) bool {
	text, ok := value.(string)
	return ok && strings.Trim(text, "+") == ""
}

func ofSecret(pointer fieldpath.Pointer) bool {
	steps := pointer.Steps()
	return steps[0] == "data" || steps[0] == "stringData" || len(steps) > 2 && strings.HasSuffix(steps[2], "last-applied-configuration")
}

// secretValue is a text that stands in no report by chance.
func secretValue(random *rand.Rand, length int) string {
	text := make([]byte, length)
	for i := range text {
		text[i] = "QXZJW9"[random.IntN(6)]
	}
	return string(text)
}

// quotingSecrets is an Application with Secrets whose values stand in messages of all
// who write messages, and in a rule.
func quotingSecrets(random *rand.Rand, values map[string]string) *drift.Snapshot {
	encode := func(key string) string { return base64.StdEncoding.EncodeToString([]byte(values[key])) }
	secret := func(name string, data map[string]any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name, "namespace": "x", "annotations": map[string]any{}}, "data": data}
	}
	var messages []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		for _, form := range []string{"data[%s]: Invalid value: %q: no", "%s: %s", "%s=%s is wrong", `{"%s":"%s"}`, "map[%s:%s]", "%s='%s'"} {
			messages = append(messages, fmt.Sprintf(form, key, values[key]))
		}
	}
	message := func() string {
		random.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		return "denied the request: " + strings.Repeat("x ", random.IntN(150)) + strings.Join(messages[:1+random.IntN(4)], ", ")
	}
	live := secret("db", map[string]any{"p": encode("p"), "long": encode("long")})
	live["metadata"].(map[string]any)["annotations"].(map[string]any)["kubectl.kubernetes.io/last-applied-configuration"] = fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"stringData":{"applied":%q}}`, values["applied"])
	target := secret("db", map[string]any{"p": encode("user.name")})
	target["stringData"] = map[string]any{"user.name": values["user.name"], "t": values["t"]}
	snapshot := snapshotOf(drift.Resource{
		ResourceRef: drift.ResourceRef{Version: "v1", Kind: "Secret", Namespace: "x", Name: "db"}, Target: target, Live: live, DryRun: &drift.DryRun{Error: message()},
	}, configMapOf("c", message(), "plain"))
	snapshot.Related = []map[string]any{{"apiVersion": "v1", "kind": "SecretList", "items": []any{map[string]any{"metadata": map[string]any{"name": "k"}, "data": map[string]any{"tls-key": encode("tls-key")}}}}}
	snapshot.Events = []map[string]any{{"reason": "Failed", "message": `secret "s" not found: ` + message(), "involvedObject": map[string]any{"kind": "Pod", "name": "a", "namespace": "x"}}}
	snapshot.Application["spec"] = map[string]any{"ignoreDifferences": []any{map[string]any{"kind": "Secret", "jqPathExpressions": []any{
		fmt.Sprintf(`.data.p |= %q`, values["long"]), fmt.Sprintf(`.data.p * %q`, values["p"]),
	}}}}
	snapshot.Application["status"] = map[string]any{
		"sync":       map[string]any{"status": "OutOfSync", "revision": "one"},
		"conditions": []any{map[string]any{"type": "SyncError", "message": message()}, map[string]any{"type": "UnknownError", "message": message()}},
		"operationState": map[string]any{"phase": "Failed", "message": message(), "operation": map[string]any{}, "syncResult": map[string]any{"revision": "one", "resources": []any{
			map[string]any{"kind": "Secret", "version": "v1", "name": "db", "namespace": "x", "status": "SyncFailed", "message": message()},
			map[string]any{"kind": "ConfigMap", "version": "v1", "name": "c", "namespace": "x", "status": "SyncFailed", "message": message()},
		}}},
	}
	return snapshot
}

func configMapOf(name, refused, value string) drift.Resource {
	object := func(value string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "x"}, "data": map[string]any{"a": value}}
	}
	return drift.Resource{
		ResourceRef: drift.ResourceRef{Version: "v1", Kind: "ConfigMap", Namespace: "x", Name: name}, Target: object(value), Live: object(value + "!"), DryRun: &drift.DryRun{Error: refused},
	}
}
