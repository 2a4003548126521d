package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// release is the Argo CD of all tests here.
var release Release

func TestMain(m *testing.M) {
	if os.Getenv(starterEnv) != "" {
		os.Exit(startAndWait())
	}
	var err error
	if release, err = FindRelease(os.Getenv(ReleaseEnv)); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestPlane is the walk that every end-to-end test relies on: start, create,
// sync, compare, apply, stop.
func TestPlane(t *testing.T) {
	bystander := exec.CommandContext(t.Context(), "sleep", "600")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bystander.Process.Kill(); _ = bystander.Wait() })

	p := StartForTest(t, Options{ArgoCD: true, Release: release})
	repository := newRepository(t, map[string]string{"app/settings.yaml": configMap})
	application := Application{
		Name: "demo", Namespace: "demo", Source: map[string]any{"repoURL": repository.URL(), "path": "app"},
	}
	if err := p.CreateApplication(t.Context(), application); err != nil {
		t.Fatal(err)
	}
	before, err := p.RefreshApplication(t.Context(), "demo", RefreshNormal)
	if err != nil || before.Sync != "OutOfSync" {
		t.Fatalf("an Application that was never synced is %s (error %v), want OutOfSync", before, err)
	}
	checkSynced(t, p, "demo")
	changed, err := repository.Commit(t.Context(), "change", map[string]string{
		"app/settings.yaml": strings.ReplaceAll(configMap, "blue", "green"),
	})
	if err != nil {
		t.Fatal(err)
	}
	after, err := p.RefreshApplication(t.Context(), "demo", RefreshHard)
	if err != nil || after.Sync != "OutOfSync" || after.Revision != changed {
		t.Errorf("after a commit: %s (error %v), want OutOfSync at %s", after, err, changed)
	}
	checkSynced(t, p, "demo")

	t.Run("a wait that ends without success tells why", func(t *testing.T) { checkWaitError(t, p, repository) })
	t.Run("a definition and its object in one stream", func(t *testing.T) { checkApply(t, p) })
	t.Logf("memory: %s", residentMemory(t, p))
	checkStop(t, p, bystander.Process.Pid)
	checkCached(t)
}

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  colour: blue
`

func newRepository(t *testing.T, files map[string]string) *Repository {
	t.Helper()
	repository, err := NewRepository(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Commit(t.Context(), "first", files); err != nil {
		t.Fatal(err)
	}
	return repository
}

func checkSynced(t *testing.T, p *Plane, name string) {
	t.Helper()
	status, err := p.Sync(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if status.Sync != "Synced" || status.Health != "Healthy" || len(status.Resources) != 1 {
		t.Fatalf("after a sync: %s, want one resource, Synced and Healthy", status)
	}
}

func checkWaitError(t *testing.T, p *Plane, repository *Repository) {
	t.Helper()
	err := p.CreateApplication(t.Context(), Application{
		Name: "astray", Namespace: "demo", Source: map[string]any{"repoURL": repository.URL(), "path": "nowhere"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.RefreshApplication(t.Context(), "astray", RefreshNormal); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = p.WaitForApplication(ctx, "astray", func(s Status) bool { return s.Sync == "Synced" })
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), "ComparisonError") {
		t.Errorf("error is %v, want the deadline and the condition that the Application has", err)
	}
}

func checkApply(t *testing.T, p *Plane) {
	t.Helper()
	if err := p.ApplyFiles(t.Context(), "demo", filepath.Join("testdata", "widget.yaml")); err != nil {
		t.Fatal(err)
	}
	widgets, err := p.Resource(t.Context(), schema.FromAPIVersionAndKind("example.com/v1", "Widget"), "demo")
	if err != nil {
		t.Fatal(err)
	}
	live, err := widgets.Get(t.Context(), "first", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	size, _, err := unstructured.NestedString(live.Object, "spec", "size")
	if err != nil || size != "small" {
		t.Errorf("size is %q (error %v), want the default of the schema", size, err)
	}
}

func checkStop(t *testing.T, p *Plane, bystander int) {
	t.Helper()
	begin := time.Now()
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("stopped in %s", time.Since(begin).Round(time.Millisecond))
	if again := p.Stop(); again != nil {
		t.Errorf("the second Stop answers %v", again)
	}
	if len(p.Processes()) != 6 {
		t.Errorf("processes are %v, want six", p.Processes())
	}
	for name, id := range p.Processes() {
		if alive(id) {
			t.Errorf("%s (process %d) is alive after Stop", name, id)
		}
	}
	if !alive(bystander) {
		t.Error("Stop ended a process that it had not started")
	}
	if _, err := os.Stat(p.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary work folder is left behind: %v", err)
	}
}

// checkCached starts again and sees that nothing is built.
func checkCached(t *testing.T) {
	t.Helper()
	log := &bytes.Buffer{}
	p := StartForTest(t, Options{Log: log})
	if _, err := release.ToolPath(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "building") {
		t.Errorf("the second start built again:\n%s", log)
	}
	if len(p.Processes()) != 2 || p.ServerURL() != "" {
		t.Errorf("processes are %v and the server %q, want no Argo CD", p.Processes(), p.ServerURL())
	}
}

// TestStockPlugin covers what the options add: Argo CD's own plugin server,
// and a login.
func TestStockPlugin(t *testing.T) {
	p := StartForTest(t, Options{
		ArgoCD: true, Release: release, Auth: true, StockPlugin: filepath.Join("testdata", "cat-plugin.yaml"),
	})
	repository := newRepository(t, map[string]string{"app/settings.yaml": configMap})
	err := p.CreateApplication(t.Context(), Application{
		Name: "demo", Namespace: "demo", Source: map[string]any{
			"repoURL": repository.URL(), "path": "app", "plugin": map[string]any{"name": "cat-v1"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSynced(t, p, "demo")

	var compared struct{ Items []map[string]any }
	if err := p.GetAPI(t.Context(), "/api/v1/applications/demo/managed-resources", &compared); err != nil {
		t.Fatal(err)
	}
	if len(compared.Items) != 1 {
		t.Errorf("compared %d objects, want 1", len(compared.Items))
	}
	err = p.sendAPI(t.Context(), "", request{method: http.MethodGet, path: "/api/v1/applications"})
	var refused *APIError
	if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("without a token: %v, want 401", err)
	}
}

func TestStartRefuses(t *testing.T) {
	cases := map[string]struct {
		reason  string
		options Options
		path    string
		want    string
	}{
		"long path": {
			reason:  "the socket of a plugin in it could not be bound",
			options: Options{Dir: filepath.Join(t.TempDir(), strings.Repeat("long", 20))},
			path:    os.Getenv("PATH"),
			want:    "unix sockets",
		},
		"nothing installed": {
			reason:  "all that is missing is named at once, with the remedy",
			options: Options{ArgoCD: true},
			path:    t.TempDir(),
			want:    "etcd, redis-server, git; on Debian and Ubuntu: apt-get install etcd-server redis-server",
		},
		"plugin absent": {
			reason:  "the stock plugin's configuration cannot be read",
			options: Options{ArgoCD: true, StockPlugin: filepath.Join(t.TempDir(), "plugin.yaml")},
			path:    os.Getenv("PATH"),
			want:    "read stock plugin",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tc.path)
			p, err := Start(t.Context(), tc.options)
			if err == nil {
				t.Fatalf("%s: started nevertheless, stop: %v", tc.reason, p.Stop())
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error is %q, want it to contain %q", tc.reason, err, tc.want)
			}
		})
	}
}

// alive is false for a zombie, too: init may take seconds to reap an orphan.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// memory sums the resident memory of the plane, as Linux tells it.
func residentMemory(t *testing.T, p *Plane) string {
	t.Helper()
	total, list := 0, []string{}
	for name, id := range p.Processes() {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", id))
		if err != nil {
			t.Fatal(err)
		}
		var size, resident int
		if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
			t.Fatal(err)
		}
		mebibytes := resident * os.Getpagesize() >> 20
		total += mebibytes
		list = append(list, fmt.Sprintf("%s %d", name, mebibytes))
	}
	return fmt.Sprintf("%d MiB (%s)", total, strings.Join(list, ", "))
}
