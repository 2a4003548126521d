package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWatchCRDsReadsEverythingInPages(t *testing.T) {
	var all []map[string]any
	for i := range 3*pageSize + 1 {
		all = append(all, crd(fmt.Sprintf("Kind%d", i), "grey"))
	}
	api := newFakeAPI(t, all...)
	api.start(t)
	crds, _ := follow(t, api)
	synced(t, crds)
	if got := crds.Current().Len(); got != len(all) {
		t.Errorf("%d definitions, want %d", got, len(all))
	}
	if got := api.largestPage(); got != pageSize {
		t.Errorf("the largest page had %d CRDs, want %d: whole CRDs fill the memory", got, pageSize)
	}
}

func TestWatchCRDsFollows(t *testing.T) {
	api := newFakeAPI(t, crd("Ship", "grey"))
	api.start(t)
	crds, _ := follow(t, api)
	synced(t, crds)
	before := crds.Current()

	api.put("ADDED", crd("Buoy", "red"))
	eventually(t, "the new kind is known", func() bool { return colour(crds, "Buoy") == "red" })
	api.put("MODIFIED", crd("Ship", "blue"))
	eventually(t, "the new default is known", func() bool { return colour(crds, "Ship") == "blue" })
	api.put("DELETED", crd("Buoy", "red"))
	eventually(t, "the old kind is gone", func() bool { return colour(crds, "Buoy") == "" })

	if before.Len() != 1 {
		t.Error("a set that was handed out has changed")
	}
}

func TestOneBrokenCRDHurtsNoOther(t *testing.T) {
	broken := crd("Wreck", "black")
	version := broken["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	version["schema"] = map[string]any{"openAPIV3Schema": map[string]any{"properties": map[string]any{"a": map[string]any{"default": 1}}}}
	hopeless := crd("Nothing", "none")
	hopeless["spec"].(map[string]any)["versions"] = "none"
	api := newFakeAPI(t, crd("Ship", "grey"), broken, hopeless)
	api.start(t)
	crds, log := follow(t, api)
	synced(t, crds)
	if colour(crds, "Ship") != "grey" {
		t.Error("the good CRD is not known")
	}
	if got := crds.State().Refused; got != 2 {
		t.Errorf("%d refused, want 2", got)
	}
	for _, name := range []string{"wrecks.test.moorpin.dev", "nothings.test.moorpin.dev"} {
		if strings.Count(log.String(), name) == 0 {
			t.Errorf("the log does not name %s:\n%s", name, log)
		}
	}
}

func TestUnreachableAtStart(t *testing.T) {
	api := newFakeAPI(t, crd("Ship", "grey"))
	crds, log := follow(t, api)
	eventually(t, "the trouble is seen", func() bool { return crds.State().Err != nil })
	patience, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := crds.WaitSynced(patience)
	if err == nil || !strings.Contains(err.Error(), api.address) {
		t.Errorf("want an error that names %s, have %v", api.address, err)
	}
	if crds.Current().Len() != 0 || crds.State().Synced || !crds.State().LastContact.IsZero() {
		t.Errorf("something is known of a cluster that never answered: %+v", crds.State())
	}
	api.start(t)
	synced(t, crds)
	if colour(crds, "Ship") != "grey" || crds.State().Err != nil || crds.State().LastContact.IsZero() {
		t.Errorf("the watch has not recovered: %+v", crds.State())
	}
	for _, line := range []string{"cannot read CRDs from the cluster", "the cluster answers again"} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("want %q once in the log:\n%s", line, log)
		}
	}
}

func TestLostLater(t *testing.T) {
	api := newFakeAPI(t, crd("Ship", "grey"))
	api.start(t)
	crds, _ := follow(t, api)
	synced(t, crds)
	api.stop()
	eventually(t, "the trouble is seen", func() bool { return crds.State().Err != nil })
	if colour(crds, "Ship") != "grey" {
		t.Error("what was known is forgotten")
	}
	api.put("", crd("Ship", "blue"))
	api.start(t)
	eventually(t, "the watch is back", func() bool { return crds.State().Err == nil })
	api.put("MODIFIED", crd("Ship", "green"))
	eventually(t, "news arrive again", func() bool { return colour(crds, "Ship") == "green" })
}

func TestForbiddenSaysWhatToGrant(t *testing.T) {
	api := newFakeAPI(t)
	api.refuseWith(http.StatusForbidden)
	api.start(t)
	crds, _ := follow(t, api)
	eventually(t, "the trouble is seen", func() bool { return crds.State().Err != nil })
	if err := crds.State().Err; !strings.Contains(err.Error(), "grant get, list and watch on customresourcedefinitions") {
		t.Errorf("the error does not say what to do: %v", err)
	}
}

func TestConfig(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good")
	err := os.WriteFile(good, []byte(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "https://a.example"}}], contexts: [{name: a, context: {cluster: a}}]}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	config, err := Config(good)
	if err != nil || config.Host != "https://a.example" {
		t.Errorf("kubeconfig: %v, %v", config, err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	_, err = Config(missing)
	if err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing file is not named: %v", err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	_, err = Config("")
	if !errors.Is(err, ErrNoCluster) {
		t.Errorf("outside a cluster: %v", err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	_, err = Config("")
	if !errors.Is(err, ErrNoCluster) {
		t.Errorf("in a pod without a token: %v", err)
	}
}

// follow watches until the test ends, and then waits for the watch's end.
func follow(t *testing.T, api *fakeAPI) (*CRDs, *lockedBuffer) {
	t.Helper()
	log := &lockedBuffer{}
	ctx, cancel := context.WithCancel(context.Background())
	crds, err := WatchCRDs(ctx, &rest.Config{Host: "http://" + api.address}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		select {
		case <-crds.Done():
		case <-time.After(10 * time.Second):
			t.Error("the watch goes on after its context")
		}
	})
	return crds, log
}

func synced(t *testing.T, crds *CRDs) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := crds.WaitSynced(ctx)
	if err != nil {
		t.Fatal(err)
	}
}

// colour is the default that the current set knows for a kind.
func colour(crds *CRDs, kind string) string {
	definition, found := crds.Current().Definition(runtimeschema.GroupKind{Group: "test.moorpin.dev", Kind: kind})
	if !found || definition.Version("v1").Root == nil {
		return ""
	}
	for _, field := range definition.Version("v1").Root.Fields {
		if text, ok := field.Default.(string); ok && field.Name == "colour" {
			return text
		}
	}
	return ""
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("waited 20 s in vain until %s", what)
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(text)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
