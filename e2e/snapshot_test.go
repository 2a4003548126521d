package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/pkg/drift"
)

const editedApp = `apiVersion: apps/v1
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
kind: Secret
metadata:
  name: database
stringData:
  password: hush-of-git
`

// TestSnapshot: an Application that somebody edits by hand is OutOfSync, and from the
// outside, with no more than the API of Argo CD, Moorpin says who did it, what a sync
// would cost, and shows no Secret on the way.
func TestSnapshot(t *testing.T) {
	repository := newRepository(t, map[string]string{"app/app.yaml": editedApp})
	application := controlplane.Application{Name: "storefront", Namespace: "storefront", Source: pathSource(repository, "app"), SyncPolicy: map[string]any{"syncOptions": []any{"CreateNamespace=true"}}}
	wantSync(t, settle(t, application), "Synced", "")

	deployments, err := plane.Resource(t.Context(), schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "storefront")
	if err != nil {
		t.Fatal(err)
	}
	edit := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:1.28-hotfix"}]}}}}`)
	if _, err := deployments.Patch(t.Context(), "front", types.StrategicMergePatchType, edit, metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	wantSync(t, refreshThrice(t, "storefront"), "OutOfSync", "Deployment")

	file := filepath.Join(t.TempDir(), "storefront.json")
	moorpin(t, "extension", "snapshot", "storefront", "--server", plane.ServerURL(), "--kubeconfig", plane.Kubeconfig(), "-o", file)
	snapshot, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hush-of-git", "aHVzaC1vZi1naXQ"} {
		if strings.Contains(string(snapshot), secret) {
			t.Errorf("the snapshot holds the value of a Secret")
		}
	}

	var report drift.Report
	if err := json.Unmarshal([]byte(moorpin(t, "extension", "classify", "-o", "json", file)), &report); err != nil {
		t.Fatal(err)
	}
	flagged := 0
	for _, f := range report.Findings {
		if !f.Flagged {
			continue
		}
		flagged++
		if f.Mechanism != drift.ManualEdit || f.Resource.Name != "front" || len(f.Fields) != 1 || f.Fields[0].Pointer != "/spec/template/spec/containers/0/image" || f.Fields[0].Owner == nil || f.Fields[0].Owner.Manager != "kubectl-edit" {
			t.Errorf("want a manual edit of the image by kubectl-edit, have %+v", f)
		}
	}
	if flagged != 1 || report.Sync != drift.OverwritesLive {
		t.Errorf("want one flagged finding and %s, have %d and %s", drift.OverwritesLive, flagged, report.Sync)
	}
	t.Logf("\n%s", moorpin(t, "extension", "classify", file))
}

// moorpin runs the binary and returns what it writes.
func moorpin(t *testing.T, args ...string) string {
	t.Helper()
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	token, err := plane.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), binary, args...)
	command.Env = append(os.Environ(), "HOME="+t.TempDir(), "ARGOCD_SERVER=", "ARGOCD_AUTH_TOKEN="+token)
	var said strings.Builder
	command.Stderr = &said
	output, err := command.Output()
	if err != nil {
		t.Fatalf("moorpin %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	if said.Len() > 0 {
		t.Errorf("moorpin %s says: %s", strings.Join(args, " "), said.String())
	}
	return string(output)
}
