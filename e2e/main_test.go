// Package e2e holds Moorpin's promises against the real thing: a kube-apiserver and
// an Argo CD, built and started by package controlplane. There is one file for each
// promise, and each first shows the fault without Moorpin.
package e2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/crds"
)

// plane is the control plane of all tests of this package but the oracle's.
var plane *controlplane.Plane

func TestMain(m *testing.M) {
	release, err := controlplane.FindRelease(os.Getenv(controlplane.ReleaseEnv))
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // there is no test yet to report to
		os.Exit(1)
	}
	options := controlplane.Options{ArgoCD: true, Release: release, Auth: true, StockPlugin: "controlplane/testdata/cat-plugin.yaml"}
	os.Exit(controlplane.RunTests(m, options, func(started *controlplane.Plane) { plane = started }))
}

// buildMoorpin builds the binary once for all tests.
var buildMoorpin = sync.OnceValues(func() (string, error) {
	path := filepath.Join(plane.Dir(), "moorpin")
	output, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, "github.com/moorpin/moorpin").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build moorpin: %w: %s", err, output)
	}
	return path, nil
})

// startSidecar runs `moorpin cmp serve` beside repo-server until the test ends.
func startSidecar(t testing.TB, args ...string) {
	t.Helper()
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(plane.PluginDir(), "moorpin.sock")
	ctx, cancel := context.WithCancel(context.Background())
	arguments := append([]string{"cmp", "serve", "--kubeconfig", plane.Kubeconfig(), "--work-dir", t.TempDir()}, args...)
	sidecar := exec.CommandContext(ctx, binary, arguments...)
	sidecar.Env = append(os.Environ(), "ARGOCD_PLUGINSOCKFILEPATH="+plane.PluginDir(), "PATH="+plane.ToolPath()+string(os.PathListSeparator)+os.Getenv("PATH"))
	sidecar.Cancel = func() error { return sidecar.Process.Signal(syscall.SIGTERM) }
	sidecar.WaitDelay = 30 * time.Second
	log, err := os.Create(filepath.Join(t.TempDir(), "sidecar.log"))
	if err != nil {
		t.Fatal(err)
	}
	sidecar.Stdout, sidecar.Stderr = log, log
	if err := sidecar.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = sidecar.Wait()
		if _, err := os.Stat(socket); err == nil {
			t.Errorf("the sidecar left its socket %s behind", socket)
		}
		if t.Failed() {
			if _, err := log.Seek(0, io.SeekStart); err == nil {
				_, _ = io.Copy(t.Output(), log)
			}
		}
	})
	waitForSocket(t, socket)
}

func waitForSocket(t testing.TB, socket string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		connection, err := net.Dial("unix", socket)
		if err == nil {
			_ = connection.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the sidecar does not answer: %v", err)
		}
	}
}

// installCRDs applies the CRDs of one module whose group is given.
func installCRDs(t testing.TB, group string) {
	t.Helper()
	all, err := crds.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, crd := range all {
		if crd.Group() == group {
			objects = append(objects, &unstructured.Unstructured{Object: crd.Content})
		}
	}
	if len(objects) == 0 {
		t.Fatalf("no CRDs of group %s", group)
	}
	if err := plane.Apply(t.Context(), "", objects...); err != nil {
		t.Fatal(err)
	}
}

// newRepository makes a Git repository with the given files.
func newRepository(t testing.TB, files map[string]string) *controlplane.Repository {
	t.Helper()
	repository, err := controlplane.NewRepository(t.Context(), filepath.Join(t.TempDir(), "repository"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Commit(t.Context(), "Add the application", files); err != nil {
		t.Fatal(err)
	}
	return repository
}

// settle creates the Application, syncs it, refreshes it hard three times, and
// returns the verdict that then stands.
func settle(t *testing.T, application controlplane.Application) controlplane.Status {
	t.Helper()
	if err := plane.CreateApplication(t.Context(), application); err != nil {
		t.Fatal(err)
	}
	if _, err := plane.Sync(t.Context(), application.Name); err != nil {
		t.Fatal(err)
	}
	return refreshThrice(t, application.Name)
}

func refreshThrice(t *testing.T, name string) controlplane.Status {
	t.Helper()
	var status controlplane.Status
	for range 3 {
		var err error
		if status, err = plane.RefreshApplication(t.Context(), name, controlplane.RefreshHard); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s", status)
	return status
}

// wantSync fails unless Argo CD's verdict is the wanted one, for the wanted kind where
// it is OutOfSync.
func wantSync(t *testing.T, status controlplane.Status, want, kind string) {
	t.Helper()
	if status.Sync != want {
		t.Fatalf("want %s: %s", want, status)
	}
	drifting := 0
	for _, resource := range status.Resources {
		if resource.Sync != "OutOfSync" {
			continue
		}
		drifting++
		if resource.Kind != kind {
			t.Errorf("%s %s is OutOfSync, which this test does not mean to show", resource.Kind, resource.Name)
		}
	}
	if (want == "OutOfSync") != (drifting > 0) {
		t.Errorf("%d resources are OutOfSync: %s", drifting, status)
	}
}

// through returns the source with the plugin named.
func through(source map[string]any) map[string]any {
	named := maps.Clone(source)
	named["plugin"] = map[string]any{"name": "moorpin"}
	return named
}

// pathSource is a source of plain manifests.
func pathSource(repository *controlplane.Repository, path string) map[string]any {
	return map[string]any{"repoURL": repository.URL(), "targetRevision": "main", "path": path}
}

var serverSideApply = map[string]any{"syncOptions": []any{"ServerSideApply=true", "CreateNamespace=true"}}
