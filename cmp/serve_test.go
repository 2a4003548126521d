package cmp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/util/app/discovery"
	"github.com/argoproj/argo-cd/v2/util/cmp"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/e2e/freeport"
	"github.com/moorpin/moorpin/pkg/cli"
)

// TestServe runs the whole sidecar and asks it as repo-server does.
func TestServe(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("ARGOCD_PLUGINSOCKFILEPATH", folder)
	work, metrics := filepath.Join(t.TempDir(), "work"), freeport.Address(t)
	leftover := filepath.Join(work, "slots", "left", "over")
	err := os.MkdirAll(leftover, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "moorpin-v1.sock")
	stop := serve(t, socket, "--plugin-version", "v1", "--work-dir", work, "--live=off", "--crds", "testdata/crds", "--metrics-address", metrics)

	_, err = os.Lstat(leftover)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what an earlier sidecar left is still there: %v", err)
	}
	got := askAsRepoServer(t, "moorpin-v1", "plain")
	want := []string{
		`{"apiVersion":"test.moorpin.dev/v1","kind":"Widget","metadata":{"name":"small","namespace":"shop"},"spec":{"parts":[{"colour":"grey","name":"a"},{"colour":"grey","name":"b"}],"size":"medium"}}`,
		`{"apiVersion":"v1","data":{"key":"value"},"kind":"ConfigMap","metadata":{"name":"plain"}}`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if body := get(t, "http://"+metrics+"/metrics"); !strings.Contains(body, `moorpin_cmp_requests_total{code="OK",rpc="GenerateManifest"} 1`) {
		t.Errorf("the request is not counted:\n%s", body)
	}
	get(t, "http://"+metrics+"/healthz")

	if code, errs := stop(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, errs)
	}
	for _, gone := range []string{socket, filepath.Join(work, "slots")} {
		_, err := os.Lstat(gone)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", gone, err)
		}
	}
}

func TestServeRefuses(t *testing.T) {
	folder, work := t.TempDir(), t.TempDir()
	t.Setenv("ARGOCD_PLUGINSOCKFILEPATH", folder)
	stop := serve(t, filepath.Join(folder, "moorpin.sock"), "--work-dir", work, "--live=off")
	plain := filepath.Join(t.TempDir(), "plain")
	err := os.WriteFile(plain, []byte{}, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason string
		args   []string
		says   string
	}{
		"live socket":         {"two sidecars of one name", []string{"--work-dir", t.TempDir()}, "another plugin server answers on"},
		"work folder in use":  {"two sidecars would remove each other's copies", []string{"--work-dir", work, "--name", "other"}, "another process works in"},
		"work folder a file":  {"a wrong flag", []string{"--work-dir", plain}, "--work-dir"},
		"socket folder":       {"a wrong mount", []string{"--work-dir", t.TempDir(), "--socket", "/proc/x.sock"}, "not writable"},
		"no cluster":          {"--live=on without one", []string{"--work-dir", t.TempDir(), "--live=on"}, "no cluster to ask"},
		"kubeconfig":          {"a wrong flag", []string{"--work-dir", t.TempDir(), "--live=on", "--kubeconfig", plain + ".none"}, plain + ".none"},
		"metrics address":     {"a wrong flag", []string{"--work-dir", t.TempDir(), "--metrics-address", "nowhere"}, "--metrics-address"},
		"crds do not exist":   {"a wrong flag", []string{"--work-dir", t.TempDir(), "--crds", plain + ".none"}, plain + ".none"},
		"unknown pin mode":    {"a wrong flag", []string{"--work-dir", t.TempDir(), "--pin=most"}, "most"},
		"negative queue size": {"a wrong flag", []string{"--work-dir", t.TempDir(), "--queue=-1"}, "--queue"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"serve", "--live=off"}, test.args...)
			code, _, errs := execute(t.Context(), "", args...)
			if code != cli.MistakeCode || !strings.Contains(errs, test.says) {
				t.Errorf("%s: want exit code 2 and %q, have %d:\n%s", test.reason, test.says, code, errs)
			}
		})
	}
	if code, errs := stop(); code != 0 {
		t.Errorf("the first one suffered: exit code %d:\n%s", code, errs)
	}
}

// TestServeWithoutItsCluster shows that an API server that is down stops
// nothing.
func TestServeWithoutItsCluster(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("ARGOCD_PLUGINSOCKFILEPATH", folder)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	err := os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "http://`+freeport.Address(t)+`"}}], contexts: [{name: a, context: {cluster: a}}]}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, filepath.Join(folder, "moorpin.sock"), "--work-dir", t.TempDir(), "--kubeconfig", kubeconfig, "--live-wait=50ms", "--crds", "testdata/crds")
	got := askAsRepoServer(t, "moorpin", "plain")
	if len(got) != 2 || !strings.Contains(got[0], `"size":"medium"`) {
		t.Errorf("the folder's CRDs are not used: %v", got)
	}
	code, errs := stop()
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, line := range []string{"cannot read CRDs from the cluster", "serving without the cluster's CRDs"} {
		if !strings.Contains(errs, line) {
			t.Errorf("want %q in the log:\n%s", line, errs)
		}
	}
}

// serve runs the command until stop is called, which returns its exit code
// and log. It returns when the socket is there.
func serve(t testing.TB, socket string, args ...string) (stop func() (int, string)) {
	t.Helper()
	keepEnvironment(t)
	ctx, cancel := context.WithCancel(context.Background())
	type end struct {
		code int
		errs string
	}
	ended := make(chan end, 1)
	go func() {
		code, _, errs := execute(ctx, "", append([]string{"serve"}, args...)...)
		ended <- end{code, errs}
	}()
	stop = func() (int, string) {
		cancel()
		last := <-ended
		ended <- last
		return last.code, last.errs
	}
	t.Cleanup(func() { stop() })
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		_, err := os.Lstat(socket)
		if err == nil {
			return stop
		}
		if len(ended) > 0 {
			break
		}
	}
	_, errs := stop()
	t.Fatalf("the sidecar does not serve:\n%s", errs)
	return stop
}

// askAsRepoServer finds the plugin by its name and has it render an app of
// testdata/repo.
func askAsRepoServer(t *testing.T, plugin, app string) []string {
	t.Helper()
	root, err := filepath.Abs("testdata/repo")
	if err != nil {
		t.Fatal(err)
	}
	return ask(t, plugin, root, app)
}

// ask finds a plugin by its name and has it render an app of a checkout.
func ask(t testing.TB, plugin, root, app string) []string {
	t.Helper()
	env := []string{"ARGOCD_APP_NAME=web", "ARGOCD_APP_PARAMETERS=null"}
	connection, client, err := discovery.DetectConfigManagementPlugin(t.Context(), filepath.Join(root, app), root, plugin, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	}()
	stream, err := client.GenerateManifest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = cmp.SendRepoStream(t.Context(), filepath.Join(root, app), root, stream, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := stream.CloseAndRecv()
	if err != nil {
		t.Fatal(err)
	}
	return reply.GetManifests()
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reply.Body)
	err = errors.Join(err, reply.Body.Close())
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, reply.Status, err)
	}
	return string(body)
}
