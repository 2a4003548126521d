package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

var soak = flag.Duration("soak", 15*time.Second, "how `LONG` TestSoak goes on; growth shows after some minutes")

// Sizes of the Application under load: half of its resources are Deployments, half
// ConfigMaps, and every seventh is edited by hand.
const (
	loadedResources = 200
	loadedName      = "loaded"
)

// loadedApp makes the Application once for all tests of this file.
func loadedApp(t *testing.T) {
	t.Helper()
	if _, err := plane.ApplicationStatus(t.Context(), loadedName); err == nil {
		return
	}
	var files strings.Builder
	for i := range loadedResources / 2 {
		name := fmt.Sprintf("part-%03d", i)
		files.WriteString(strings.NewReplacer("name: front", "name: "+name, "app: front", "app: "+name, "name: settings", "name: "+name).Replace(selectedApp))
		files.WriteString("---\n")
	}
	repository, err := controlplane.NewRepository(t.Context(), filepath.Join(plane.Dir(), "repositories", loadedName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Commit(t.Context(), "Add the application", map[string]string{"app/app.yaml": files.String()}); err != nil {
		t.Fatal(err)
	}
	settle(t, controlplane.Application{Name: loadedName, Namespace: loadedName, Source: pathSource(repository, "app")})
	for i := 0; i < loadedResources/2; i += 7 {
		editPart(t, i, "red")
		place := partsOf(t, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
		patch := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:1.28-hotfix"}]}}}}`)
		if _, err := place.Patch(t.Context(), fmt.Sprintf("part-%03d", i), types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
			t.Fatal(err)
		}
	}
	if status := refreshThrice(t, loadedName); status.Sync != "OutOfSync" || len(status.Resources) != loadedResources {
		t.Fatalf("want %d resources that drift: %s", loadedResources, status)
	}
}

func partsOf(t *testing.T, kind schema.GroupVersionKind) dynamic.ResourceInterface {
	t.Helper()
	place, err := plane.Resource(t.Context(), kind, loadedName)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// editPart edits one of the ConfigMaps as a person does.
func editPart(t *testing.T, nth int, colour string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"data":{"colour":%q}}`, colour)
	place := partsOf(t, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	if _, err := place.Patch(t.Context(), fmt.Sprintf("part-%03d", nth), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
}

// asArgoCD are the headers that argocd-server sends.
func asArgoCD() map[string]string {
	return map[string]string{
		"Moorpin-Secret": proxySecret, "Argocd-Application-Name": controlplane.Namespace + ":" + loadedName, "Argocd-Project-Name": "default",
		"Argocd-Username": "load", "Accept-Encoding": "gzip", "Content-Type": "application/json",
	}
}

func reportFrom(address string) call {
	return call{method: http.MethodGet, url: address + "/api/v1/report", headers: asArgoCD()}
}

// loadedBackend is a backend with a token and without limits of how often it may be asked.
func loadedBackend(t *testing.T, args ...string) *backend {
	t.Helper()
	token, err := plane.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return startBackend(t, append([]string{
		"--secret-file", secretFile(t, proxySecret), "--server", plane.ServerURL(), "--auth-token-file", secretFile(t, token),
		"--kubeconfig", plane.Kubeconfig(), "--rate", "0", "--rate-per-user", "0", "--scan", "0", "--log-level", "warn",
	}, args...)...)
}

// loadedSnapshot is the snapshot of the Application, and a function that makes another
// one of it each time, so that no answer is there already.
func loadedSnapshot(t *testing.T) func(nth int) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "loaded.json")
	moorpin(t, "extension", "snapshot", loadedName, "--server", plane.ServerURL(), "-o", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(data) || !strings.Contains(string(data), `"red"`) {
		t.Fatalf("the snapshot lacks the edits:\n%s", lastBytes(data, 1000))
	}
	before, after, _ := strings.Cut(string(data), `"red"`)
	t.Logf("the snapshot has %d KiB", len(data)>>10)
	return func(nth int) []byte { return fmt.Appendf(nil, "%s\"red-%d\"%s", before, nth, after) }
}

// TestLoad: a report of 200 resources is answered 200 times a second from the cache,
// without an error; how many a second without it is reported.
func TestLoad(t *testing.T) {
	loadedApp(t)
	b := loadedBackend(t)
	t.Run("cached", func(t *testing.T) {
		first, err := reportFrom(b.url).do(t.Context())
		if err != nil || first.status != http.StatusOK {
			t.Fatalf("%d %s %v", first.status, lastBytes(first.body, 500), err)
		}
		wantLoadedReport(t, b)
		counted := atRate(t.Context(), 200, 15*time.Second, func(int) call { return reportFrom(b.url) })
		t.Logf("200 a second from the cache: %s; %.0f MiB", counted, b.memory(t))
		counted.check(t)
		if p99 := counted.percentile(0.99); p99 > time.Second {
			t.Errorf("p99 is %s", p99)
		}
	})
	t.Run("cached, flat out", func(t *testing.T) {
		counted := flatOut(t.Context(), 8, 5*time.Second, func(int) call { return reportFrom(b.url) })
		t.Logf("%d a second: %s; %.0f MiB", len(counted.took)/5, counted, b.memory(t))
		counted.check(t)
	})
	t.Run("posted, never seen before", func(t *testing.T) {
		snapshot := loadedSnapshot(t)
		counted := flatOut(t.Context(), 4, 10*time.Second, func(nth int) call {
			return call{method: http.MethodPost, url: b.url + "/api/v1/classify", headers: asArgoCD(), body: snapshot(nth)}
		})
		t.Logf("%.1f a second: %s; %.0f MiB", float64(len(counted.took))/10, counted, b.memory(t))
		counted.check(t)
	})
	t.Run("asked again each time", func(t *testing.T) {
		impatient := loadedBackend(t, "--fresh", "1ns")
		counted := flatOut(t.Context(), 4, 10*time.Second, func(int) call { return reportFrom(impatient.url) })
		t.Logf("%.1f a second: %s; %.0f MiB", float64(len(counted.took))/10, counted, impatient.memory(t))
		counted.check(t)
	})
}

// wantLoadedReport fails unless the report is about what was edited.
func wantLoadedReport(t *testing.T, b *backend) {
	t.Helper()
	plain := reportFrom(b.url)
	delete(plain.headers, "Accept-Encoding")
	got, err := plain.do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Report struct {
			Counts map[string]int `json:"counts"`
		} `json:"report"`
	}
	if err := json.Unmarshal(got.body, &answer); err != nil || answer.Report.Counts["manual-edit"] < 2*loadedResources/2/7 {
		t.Fatalf("want the edits, have %v: %v %s", answer.Report.Counts, err, lastBytes(got.body, 500))
	}
	t.Logf("the answer has %d KiB: %v", len(got.body)>>10, answer.Report.Counts)
}

// TestRestart: two instances are replaced one after the other under load, and no
// request is lost. A balancer asks who is ready, as Kubernetes does for a Service.
func TestRestart(t *testing.T) {
	loadedApp(t)
	front := &balancer{all: map[*backend]bool{}}
	var serving []*backend
	for range 2 {
		b := loadedBackend(t)
		serving = append(serving, b)
		front.add(b)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go front.probe(ctx)
	address := front.serve(t)
	result := make(chan *tally)
	go func() { result <- atRate(ctx, 100, 20*time.Second, func(int) call { return reportFrom(address) }) }()
	for _, old := range serving {
		time.Sleep(time.Second)
		b := loadedBackend(t)
		front.add(b)
		old.stop(t)
		front.remove(old)
	}
	counted := <-result
	t.Logf("%s", counted)
	counted.check(t)
}

// TestSoak: under everything that comes in over time, no request is lost, and what the
// backend holds stays the same.
func TestSoak(t *testing.T) {
	loadedApp(t)
	secret := secretFile(t, proxySecret)
	b := loadedBackend(t, "--secret-file", secret, "--fresh", "500ms", "--scan", "10s", "--cache", "64") // a small cache is soon full
	snapshot := loadedSnapshot(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan *tally)
	go func() { result <- atRate(ctx, 40, *soak, func(nth int) call { return soaking(b, nth, snapshot) }) }()
	var memory, routines []float64
	pause := max(time.Second, *soak/40)
	for begin, nth := time.Now(), 0; time.Since(begin)+pause < *soak; nth++ {
		time.Sleep(pause)
		editPart(t, 0, fmt.Sprintf("red-%d", nth))
		if err := os.WriteFile(secret, fmt.Appendf(nil, "a-secret-of-its-own-%d", nth), 0o600); err != nil {
			t.Fatal(err)
		}
		memory, routines = append(memory, b.memory(t)), append(routines, b.measure(t, "go_goroutines"))
	}
	counted := <-result
	t.Logf("%s: %s\nMiB %.0f\ngoroutines %.0f", *soak, counted, memory, routines)
	counted.check(t)
	if *soak < 5*time.Minute {
		return // too short to tell growth from a start
	}
	for name, series := range map[string][]float64{"memory": memory, "goroutines": routines} {
		early, late := mean(series[len(series)/4:len(series)/2]), mean(series[len(series)*3/4:])
		if late > early*1.25+20 {
			t.Errorf("%s grows: %.0f in the second quarter, %.0f in the last", name, early, late)
		}
	}
}

func mean(series []float64) float64 {
	sum := 0.0
	for _, value := range series {
		sum += value
	}
	return sum / float64(max(1, len(series)))
}

// soaking is the nth request of the soak: mostly reports, some snapshots, some that
// are to be refused.
func soaking(b *backend, nth int, snapshot func(int) []byte) call {
	c := reportFrom(b.url)
	switch nth % 40 {
	case 1, 21:
		c.method, c.url, c.body = http.MethodPost, b.url+"/api/v1/classify", snapshot(nth)
	case 5:
		c.headers["Moorpin-Secret"], c.want = "a-secret-that-nobody-knows", http.StatusForbidden
	case 9:
		c.headers["Argocd-Application-Name"], c.want = "argocd:none", http.StatusBadGateway // Argo CD tells nobody that it does not exist
	case 13:
		c.url, c.want = b.url+"/api/v1/nothing", http.StatusNotFound
	case 17:
		c.method, c.url, c.body = http.MethodPost, b.url+"/api/v1/classify", []byte(strings.Repeat("[", 100_000))
		c.want = http.StatusBadRequest
	case 25:
		c.url = b.url + "/api/v1/capabilities"
	}
	return c
}
