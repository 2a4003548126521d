package classify

import (
	"strings"
	"testing"
)

// alone is an Application with automated pruning whose only resource left Git.
func alone(metadata, status string) string {
	return `
application:
  spec: {syncPolicy: {automated: {prune: true}}}
  status:
    sync: {status: OutOfSync}
    resources: [{version: v1, kind: ConfigMap, namespace: web, name: settings, status: OutOfSync, requiresPruning: true}]
` + status + `
resources: [{target: null, live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, managedFields: [{manager: argocd-controller, operation: Update, time: "2026-01-01T00:00:00Z"}]` + metadata + `}}}]`
}

// That the guard against emptying an Application would have reason to hold back is no
// evidence that it does, and where it does it hides nothing that is known of a resource.
func TestEmptyGuard(t *testing.T) {
	const held = `    conditions: [{type: SyncError, message: "Skipping sync attempt to [aaaaaaa]: auto-sync will wipe out all resources"}]`
	const protected = `, annotations: {argocd.argoproj.io/sync-options: "Prune=false"}`
	const going = `, deletionTimestamp: "2026-01-02T09:00:00Z", finalizers: [example.com/hold]`
	const copied = `, annotations: {argocd.argoproj.io/tracking-id: "web:apps/Deployment:web/api"}`
	const noLoss = "autosync-empty-guard Application/web noop certain"
	situations{
		"no condition":              {"the only resource left Git", alone("", ""), []string{"pending-prune ConfigMap/settings destructive certain"}},
		"no condition, protected":   {"it says that it stays", alone(protected, ""), []string{"prune-protected ConfigMap/settings noop certain"}},
		"no condition, being gone":  {"it is being deleted already", alone(going, ""), []string{"deletion-stuck ConfigMap/settings wait likely"}},
		"no condition, copied mark": {"the mark was written for another object", alone(copied, ""), []string{"tracking-label-copied ConfigMap/settings noop certain"}},
		"held":                      {"Argo CD says so", alone("", held), []string{"autosync-empty-guard Application/web destructive certain"}},
		"held, protected":           {"nothing can be lost", alone(protected, held), []string{noLoss, "prune-protected ConfigMap/settings noop certain"}},
		"held, being gone":          {"a sync deletes nothing more", alone(going, held), []string{noLoss, "deletion-stuck ConfigMap/settings wait likely"}},
		"held, copied mark":         {"Argo CD never prunes it", alone(copied, held), []string{noLoss, "tracking-label-copied ConfigMap/settings noop certain"}},
	}.run(t)
	_, report := judge(t, alone(protected, held))
	for i := range report.Findings {
		if said := strings.Join(report.Findings[i].Loss, "\n"); strings.Contains(said, "would be deleted") {
			t.Errorf("what cannot happen is called a loss: %s", said)
		}
	}
}
