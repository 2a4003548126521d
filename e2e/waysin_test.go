package e2e

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

// TestWaysIn: an Application comes to Moorpin by its plugin's name, by a file in Git
// without any edit of the Application, or by discovery. Each is first shown OutOfSync.
func TestWaysIn(t *testing.T) {
	installCRDs(t, "external-secrets.io")
	repository := newRepository(t, map[string]string{
		"plain/secrets.yaml":           secretsApp,
		"opted/secrets.yaml":           secretsApp,
		"kustomize/secrets.yaml":       secretsApp,
		"kustomize/kustomization.yaml": "resources: [secrets.yaml]\n",
	})
	settleWay := func(t *testing.T, name string, source map[string]any, want string) {
		t.Helper()
		kind := map[string]string{"OutOfSync": "ExternalSecret"}[want]
		status := settle(t, controlplane.Application{Name: name, Namespace: name, Source: source, SyncPolicy: serverSideApply})
		wantSync(t, status, want, kind)
		if len(status.Resources) != 2 {
			t.Errorf("want both ExternalSecrets: %s", status)
		}
	}
	t.Run("by name", func(t *testing.T) {
		startSidecar(t)
		source := pathSource(repository, "kustomize")
		source["kustomize"] = map[string]any{"nameSuffix": "-x"}
		settleWay(t, "named-native", source, "OutOfSync")
		delete(source, "kustomize")
		source["plugin"] = map[string]any{"name": "moorpin", "parameters": []any{
			map[string]any{"name": "kustomize", "string": "nameSuffix: -x"},
		}}
		settleWay(t, "named-moorpin", source, "Synced")
		status, err := plane.ApplicationStatus(t.Context(), "named-moorpin")
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range status.Resources {
			if !strings.HasSuffix(resource.Name, "-x") {
				t.Errorf("the former block is not obeyed: %s", resource.Name)
			}
		}
	})

	t.Run("by a file in Git", func(t *testing.T) {
		startSidecar(t)
		source := pathSource(repository, "opted")
		settleWay(t, "opted-in", source, "OutOfSync")
		_, err := repository.Commit(t.Context(), "Opt in", map[string]string{"opted/.argocd-source.yaml": "plugin: {name: moorpin}\n"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plane.Sync(t.Context(), "opted-in"); err != nil {
			t.Fatal(err)
		}
		wantSync(t, refreshThrice(t, "opted-in"), "Synced", "")
	})

	t.Run("by discovery", func(t *testing.T) {
		settleWay(t, "discovered", pathSource(repository, "plain"), "OutOfSync")
		startSidecar(t, "--discovery")
		if _, err := plane.RefreshApplication(t.Context(), "discovered", controlplane.RefreshHard); err != nil {
			t.Fatal(err)
		}
		if _, err := plane.Sync(t.Context(), "discovered"); err != nil {
			t.Fatal(err)
		}
		wantSync(t, refreshThrice(t, "discovered"), "Synced", "")
	})
}
