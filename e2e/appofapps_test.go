package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

// childApplication writes a child as people write it: with values that say nothing.
func childApplication(name, repoURL string) string {
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: %[1]s
  namespace: argocd
spec:
  project: default
  source:
    repoURL: %[2]s
    targetRevision: main
    path: leaf
    directory: {}
  destination:
    server: https://kubernetes.default.svc
    namespace: %[1]s
  syncPolicy:
    automated:
      prune: false
      allowEmpty: false
      selfHeal: true
    syncOptions:
    - CreateNamespace=true
    managedNamespaceMetadata: {}
  ignoreDifferences:
  - group: ""
    kind: ConfigMap
    jsonPointers:
    - /data/generated
    jqPathExpressions: []
  info: []
`, name, repoURL)
}

// TestAppOfApps: a root Application whose children set values that Argo CD's own typed
// client leaves out is OutOfSync for ever. Through Moorpin it is Synced.
func TestAppOfApps(t *testing.T) {
	startSidecar(t)
	repository := newRepository(t, map[string]string{
		"leaf/configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: leaf}\ndata: {a: b}\n",
	})
	files := map[string]string{}
	for _, root := range []string{"native", "moorpin"} {
		for _, child := range []string{"a", "b"} {
			name := root + "-child-" + child
			files[root+"/"+child+".yaml"] = childApplication(name, repository.URL())
		}
	}
	if _, err := repository.Commit(t.Context(), "Add the children", files); err != nil {
		t.Fatal(err)
	}
	settleRoot := func(name string, source map[string]any) controlplane.Status {
		settle(t, controlplane.Application{Name: "root-" + name, Namespace: "argocd", Source: source, SyncPolicy: map[string]any{"syncOptions": []any{"ServerSideApply=true"}}})
		for _, child := range []string{"a", "b"} {
			waitForChild(t, name+"-child-"+child)
		}
		return refreshThrice(t, "root-"+name)
	}
	native := settleRoot("native", pathSource(repository, "native"))
	wantSync(t, native, "OutOfSync", "Application")
	pinned := settleRoot("moorpin", through(pathSource(repository, "moorpin")))
	wantSync(t, pinned, "Synced", "")
	if len(pinned.Resources) != 2 {
		t.Errorf("want both children: %s", pinned)
	}
}

// waitForChild returns once a child has synced by itself: then Argo CD's typed client
// has written it back.
func waitForChild(t *testing.T, name string) {
	t.Helper()
	_, err := plane.WaitForApplication(t.Context(), name, func(status controlplane.Status) bool {
		return status.Sync == "Synced" && status.Operation.Phase == "Succeeded"
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // the write of the operation's end
}
