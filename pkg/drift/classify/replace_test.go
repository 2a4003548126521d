package classify_test

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// TestReplacing: what replaces an object loses what only live has, and with Force=true
// the object itself.
func TestReplacing(t *testing.T) {
	const snapshot = `
application: {metadata: {name: web, namespace: argocd}, spec: {project: default}, status: {sync: {status: OutOfSync, revision: two}, operationState: {phase: Succeeded, syncResult: {revision: one}}}}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, annotations: {argocd.argoproj.io/sync-options: "OPTIONS"}}, data: {a: GIT}}
  live:
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: c
      namespace: web
      labels: {team: mine}
      annotations:
        argocd.argoproj.io/sync-options: "OPTIONS"
        kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web","annotations":{"argocd.argoproj.io/sync-options":"OPTIONS"}},"data":{"a":"one"}}'
      managedFields:
      - {manager: argocd-controller, operation: Update, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}
      - {manager: kubectl-label, operation: Update, apiVersion: v1, time: "2026-01-02T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {".": {}, "f:team": {}}}}}
    data: {a: one}
`
	for name, row := range map[string]struct {
		options, git    string
		flagged, hidden drift.Sync
	}{
		"applied":               {"", "two", drift.Safe, drift.Noop},
		"replaced":              {"Replace=true", "two", drift.Safe, drift.OverwritesLive},
		"replaced with force":   {"Replace=true,Force=true", "two", drift.Destructive, drift.Destructive},
		"force without replace": {"Force=true", "two", drift.Safe, drift.Noop},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("OPTIONS", row.options, "GIT", row.git).Replace(snapshot)
			got := map[bool]drift.Sync{}
			for _, f := range classifyText(t, text).Findings {
				got[f.Flagged] = f.Sync
				if f.Sync.Severity() >= drift.OverwritesLive.Severity() && len(f.Loss) == 0 {
					t.Errorf("%s loses nothing", f.Mechanism)
				}
			}
			if got[true] != row.flagged || got[false] != row.hidden {
				t.Errorf("have %v, want %s and hidden %s", got, row.flagged, row.hidden)
			}
		})
	}
}

// TestOwnersTogether: a value that a person wrote and Argo CD applied since is nobody's
// manual edit.
func TestOwnersTogether(t *testing.T) {
	const entry = `{manager: NAME, operation: Update, apiVersion: v1, time: "2026-01-0TIMET00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}`
	owners := strings.NewReplacer("NAME", "kubectl-edit", "TIME", "1").Replace(entry) + ", " + strings.NewReplacer("NAME", "argocd-controller", "TIME", "2").Replace(entry)
	for applied, want := range map[string]drift.Mechanism{"live": drift.GitAhead, "other": drift.ManualEdit} {
		report := classifyText(t, `
application: {metadata: {name: web, namespace: argocd}, spec: {project: default}, status: {sync: {status: OutOfSync, revision: two}, operationState: {phase: Succeeded, syncResult: {revision: one}}}}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web}, data: {a: git}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, annotations: {"kubectl.kubernetes.io/last-applied-configuration": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"},"data":{"a":"`+applied+`"}}'}, managedFields: [`+owners+`]}, data: {a: live}}
`)
		if f := report.Findings[0]; f.Mechanism != want {
			t.Errorf("applied %s: %s, want %s: %q", applied, f.Mechanism, want, f.Evidence)
		}
	}
}
