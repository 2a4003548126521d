package classify_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
)

// wantedApp has moved to a commit that was not synced yet, or not.
func wantedApp(compared string) string {
	return `
application:
  metadata: {name: web, namespace: argocd}
  spec: {project: default}
  status:
    sync: {status: OutOfSync, revision: ` + compared + `}
    operationState: {phase: Succeeded, syncResult: {revision: one}}
resources:
`
}

// TestWantedDifferences: however alike two values are, a person who wrote one of them
// and a commit that changed it want the difference. Each pair of values is judged
// thrice: live written by a person, Git ahead of what was applied, and neither.
func TestWantedDifferences(t *testing.T) {
	const widget, deployment = "example.com/v1 Widget", "apps/v1 Deployment"
	for name, row := range map[string]struct {
		kind, path string // of the field, steps by dots
		git, live  string // flow YAML
		mechanism  drift.Mechanism
		sync       drift.Sync
	}{
		"quantity":       {widget, "spec.size", "1024Mi", "1Gi", drift.QuantityFormat, drift.HarmlessFlap},
		"version":        {widget, "spec.version", `"1.10"`, `"1.1"`, drift.WebhookOverwrite, drift.Noop},
		"duration":       {widget, "spec.interval", "60s", "1m0s", drift.ValueCanonicalised, drift.Noop},
		"host in case":   {widget, "spec.host", "Shop.Example.com", "shop.example.com", drift.ValueCanonicalised, drift.Noop},
		"word in case":   {widget, "spec.tier", "Standard", "standard", drift.WebhookOverwrite, drift.Noop},
		"space":          {widget, "spec.tier", `"a "`, "a", drift.ValueCanonicalised, drift.Noop},
		"order of args":  {deployment, "spec.template.spec.containers.0.args", "[a, b]", "[b, a]", drift.ListReordered, drift.HarmlessFlap},
		"order of items": {widget, "spec.routes", "[{to: a}, {to: b}]", "[{to: b}, {to: a}]", drift.ListReordered, drift.HarmlessFlap},
	} {
		for state, want := range map[string]struct {
			manager, compared, applied string
			mechanism                  drift.Mechanism
			sync                       drift.Sync
		}{
			"by a person": {"kubectl-edit", "one", row.git, drift.ManualEdit, drift.OverwritesLive},
			"Git moved":   {"argocd-controller", "two", row.live, drift.GitAhead, drift.Safe},
			"neither":     {"argocd-controller", "one", row.git, row.mechanism, row.sync},
		} {
			t.Run(name+" "+state, func(t *testing.T) {
				snapshot := wantedApp(want.compared) + "- " + jsonText(t, map[string]any{
					"target": wantedObject(t, row.kind, row.path, row.git),
					"live": withRecord(wantedObject(t, row.kind, row.path, row.live), row.path, want.manager,
						jsonText(t, wantedObject(t, row.kind, row.path, want.applied))),
				})
				report := classifyText(t, snapshot)
				f := report.Findings[0]
				if len(report.Findings) != 1 || f.Mechanism != want.mechanism || f.Sync != want.sync {
					t.Errorf("have %s with %s, want %s with %s: %s\n%q", f.Mechanism, report.Sync, want.mechanism, want.sync, report.Verdict, f.Evidence)
				}
			})
		}
	}
}

// wantedObject is an object with one field, given as flow YAML.
func wantedObject(t *testing.T, kind, path, value string) map[string]any {
	t.Helper()
	var content any
	if err := yaml.Unmarshal([]byte(value), &content); err != nil {
		t.Fatal(err)
	}
	steps := strings.Split(path, ".")
	for _, step := range slices.Backward(steps) {
		if step == "0" {
			item, _ := content.(map[string]any)
			item["name"] = "c"
			content = []any{item}
			continue
		}
		content = map[string]any{step: content}
	}
	object, _ := content.(map[string]any)
	version, name, _ := strings.Cut(kind, " ")
	object["apiVersion"], object["kind"] = version, name
	object["metadata"] = map[string]any{"name": "w", "namespace": "web"}
	return object
}

// withRecord adds what a client-side apply leaves: the annotation, and who owns the field.
func withRecord(object map[string]any, path, manager, applied string) map[string]any {
	owned := map[string]any{}
	for _, step := range slices.Backward(strings.Split(path, ".")) {
		if step == "0" {
			owned = map[string]any{`k:{"name":"c"}`: owned}
			continue
		}
		owned = map[string]any{"f:" + step: owned}
	}
	object["metadata"] = map[string]any{
		"name": "w", "namespace": "web",
		"annotations":   map[string]any{"kubectl.kubernetes.io/last-applied-configuration": applied},
		"managedFields": []any{map[string]any{"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": owned}},
	}
	return object
}

func jsonText(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
