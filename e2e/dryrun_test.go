package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/pkg/drift"
)

const selectedApp = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: front
spec:
  replicas: 1
  selector:
    matchLabels: {app: front}
  template:
    metadata:
      labels: {app: front}
    spec:
      containers:
      - name: nginx
        image: nginx:1.27
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  colour: blue
  size: small
`

// TestDryRun: with --dry-run the API server itself says what a sync would do, in its
// own words, and nothing is written on the way. What a person changed stays a loss.
func TestDryRun(t *testing.T) {
	for name, options := range map[string][]any{"client-side": {"CreateNamespace=true"}, "server-side": {"CreateNamespace=true", "ServerSideApply=true"}} {
		t.Run(name, func(t *testing.T) { dryRunOf(t, "dry-"+name, options) })
	}
}

func dryRunOf(t *testing.T, name string, options []any) {
	t.Helper()
	repository := newRepository(t, map[string]string{"app/app.yaml": selectedApp})
	application := controlplane.Application{Name: name, Namespace: name, Source: pathSource(repository, "app"), SyncPolicy: map[string]any{"syncOptions": options}}
	wantSync(t, settle(t, application), "Synced", "")

	settings, err := plane.Resource(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, name)
	if err != nil {
		t.Fatal(err)
	}
	edited, err := settings.Patch(t.Context(), "settings", types.MergePatchType, []byte(`{"data":{"colour":"red"}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"})
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.ReplaceAll(selectedApp, "{app: front}", "{app: back}") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: added}\ndata: {a: b}\n" +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: broken}\ndata: {a b: c}\n" // no rule knows what a key may be
	if _, err := repository.Commit(t.Context(), "Select other Pods", map[string]string{"app/app.yaml": moved}); err != nil {
		t.Fatal(err)
	}
	refreshThrice(t, name)

	file := filepath.Join(t.TempDir(), "snapshot.json")
	moorpin(t, "extension", "snapshot", name, "--server", plane.ServerURL(), "--kubeconfig", plane.Kubeconfig(), "--dry-run", "-o", file)
	if _, err := settings.Get(t.Context(), "added", metav1.GetOptions{}); err == nil {
		t.Error("the dry run created an object")
	}
	if now, err := settings.Get(t.Context(), "settings", metav1.GetOptions{}); err != nil || now.GetResourceVersion() != edited.GetResourceVersion() {
		t.Errorf("the dry run wrote an object: %v", err)
	}

	var report drift.Report
	if err := json.Unmarshal([]byte(moorpin(t, "extension", "classify", "-o", "json", file)), &report); err != nil {
		t.Fatal(err)
	}
	wants := map[string]struct {
		sync drift.Sync
		says string
	}{
		"front":    {drift.WillFail, "a dry run of the sync is refused (immutable-field): Deployment.apps \"front\" is invalid: spec.selector: Invalid value"},
		"settings": {drift.OverwritesLive, "a dry run of the sync changes 1 field of the object"},
		"broken":   {drift.WillFail, "a dry run of the sync is refused (invalid-manifest): ConfigMap \"broken\" is invalid: data[a b]"},
		"added":    {drift.Safe, "a dry run of the sync creates it"},
	}
	for _, f := range report.Findings {
		want, known := wants[f.Resource.Name]
		if said := strings.Join(f.Evidence, "\n"); !known || f.Sync != want.sync || !strings.Contains(said, want.says) {
			t.Errorf("%s %s: sync is %s and the evidence\n%s", f.Resource.Kind, f.Resource.Name, f.Sync, said)
		}
		delete(wants, f.Resource.Name)
	}
	for name := range wants {
		t.Errorf("no finding about %s", name)
	}
	t.Logf("\n%s", moorpin(t, "extension", "classify", file))
}
