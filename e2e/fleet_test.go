package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/crowd"
	"github.com/moorpin/moorpin/extension/fleet"
	"github.com/moorpin/moorpin/pkg/drift"
)

var (
	applicationKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}
	podKind         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

const (
	// unwatched is a namespace that Argo CD does not look at: what is there stays as written.
	unwatched          = "crowd"
	resourcesEach      = 50
	mostMegabytes      = 300
	smallFleet         = 5
	configMapsOfAnyone = 10
)

// crowdSize is how many Applications are made up: 2000 with MOORPIN_FULL=1.
func crowdSize() int {
	if os.Getenv("MOORPIN_FULL") == "1" {
		return 2000
	}
	return 400
}

// TestFleetFromAbove: of 400 Applications with 20 000 resources, in full 2000 with
// 100 000, on a real API server, the overview by kubeconfig takes less than 300 MB, and
// counts right; the time is reported.
func TestFleetFromAbove(t *testing.T) {
	size := crowdSize()
	fillCrowd(t, size)
	crashingPod(t)

	var o fleet.Overview
	cost := measured(t, &o, "--kubeconfig", plane.Kubeconfig(), "--namespace", unwatched)
	t.Logf("%d Applications, %d resources: %s", o.Applications, o.Resources, cost)
	if cost.megabytes > mostMegabytes {
		t.Errorf("%s, want at most %d MB", cost, mostMegabytes)
	}
	if o.Applications != size || o.Resources != size*resourcesEach || len(o.Problems) > 0 {
		t.Errorf("%d Applications, %d resources, problems %v", o.Applications, o.Resources, o.Problems)
	}
	counts := map[drift.Mechanism]int{}
	for _, m := range o.Mechanisms {
		counts[m.Mechanism] = m.Applications
	}
	if diff := cmp.Diff(map[drift.Mechanism]int{drift.PendingPrune: size / 20, drift.ManifestGenerationError: size / 50}, counts); diff != "" {
		t.Errorf("Applications by mechanism, -want +got:\n%s", diff)
	}
	if len(o.Behind) != size/40 || o.Unread != size/10+size/40 {
		t.Errorf("%d ill behind their drift, %d unread resources", len(o.Behind), o.Unread)
	}
	restarts := map[string]int{}
	for _, b := range o.Behind {
		if b.Restarts == nil {
			t.Fatalf("the restarts of %s were not read", b.Application)
		}
		restarts[b.Application] = *b.Restarts
	}
	if restarts[unwatched+"/app-0000"] != 7 {
		t.Errorf("restarts are %v", restarts)
	}
}

// fillCrowd writes the made-up fleet, and takes it away after the test.
func fillCrowd(t *testing.T, size int) {
	t.Helper()
	makeNamespace(t, unwatched)
	applications, err := plane.Resource(t.Context(), applicationKind, unwatched)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A collection may be too large for one request; what is deleted stays deleted.
		err := retry.OnError(retry.DefaultBackoff, apierrors.IsServerTimeout, func() error {
			return applications.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})
		})
		if err != nil && !apierrors.IsTimeout(err) {
			t.Error(err)
		}
	})
	begin := time.Now()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range size {
		group.Go(func() error {
			app := &unstructured.Unstructured{Object: crowd.Application(i, resourcesEach)}
			app.SetNamespace(unwatched)
			app.SetUID("")
			app.SetResourceVersion("")
			// An old one would be a mechanism of its own.
			if err := unstructured.SetNestedField(app.Object, begin.UTC().Format(time.RFC3339), "status", "reconciledAt"); err != nil {
				return err
			}
			_, err := applications.Create(ctx, app, metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %d Applications in %s", size, time.Since(begin).Round(time.Millisecond))
}

func makeNamespace(t *testing.T, name string) {
	t.Helper()
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	if err := plane.Apply(t.Context(), "", namespace); err != nil {
		t.Fatal(err)
	}
}

// crashingPod is a Pod of a Deployment of the first Application, which restarted seven
// times, as far as the API server knows.
func crashingPod(t *testing.T) {
	t.Helper()
	const namespace = "team-0"
	makeNamespace(t, namespace)
	pods, err := plane.Resource(t.Context(), podKind, namespace)
	if err != nil {
		t.Fatal(err)
	}
	pod := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "workload-2-abc-x", "ownerReferences": []any{
			map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "workload-2-abc", "uid": "5f0a", "controller": true},
		}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "nginx"}}},
	}}
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		none := int64(0)
		if err := pods.Delete(context.Background(), pod.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &none}); err != nil {
			t.Error(err)
		}
	})
	status := []byte(`{"status":{"containerStatuses":[{"name":"a","image":"nginx","imageID":"","ready":false,"restartCount":7}]}}`)
	if _, err := pods.Patch(t.Context(), pod.GetName(), types.MergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// cost is what a process took, and the most memory that it had.
type cost struct {
	clock, processor time.Duration
	megabytes        int64
}

func (c cost) String() string {
	return fmt.Sprintf("%.1f s by the clock, %.1f s of the processor, %d MB at most", c.clock.Seconds(), c.processor.Seconds(), c.megabytes)
}

// measured runs `moorpin extension fleet`.
func measured(t *testing.T, into *fleet.Overview, args ...string) cost {
	t.Helper()
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	token, err := plane.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), binary, append([]string{"extension", "fleet", "-o", "json"}, args...)...)
	command.Env = append(os.Environ(), "HOME="+t.TempDir(), "ARGOCD_SERVER=", "ARGOCD_AUTH_TOKEN="+token)
	var said strings.Builder
	command.Stderr = &said
	begin := time.Now()
	var output bytes.Buffer
	command.Stdout = &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	peak := make(chan int64, 1)
	ended := make(chan struct{})
	go func() { peak <- peakOf(command.Process.Pid, ended) }()
	err = command.Wait()
	took := time.Since(begin)
	close(ended)
	if err != nil || said.Len() > 0 {
		t.Fatalf("moorpin %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	if err := json.Unmarshal(output.Bytes(), into); err != nil {
		t.Fatal(err)
	}
	state := command.ProcessState
	return cost{clock: took, processor: state.UserTime() + state.SystemTime(), megabytes: <-peak}
}

// peakOf is the most memory in MB that a process had until it ended. What the system
// tells of an ended process counts its parent's memory, too.
func peakOf(pid int, ended <-chan struct{}) int64 {
	var peak int64
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err == nil {
			if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
				var kilobytes int64
				if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
					peak = kilobytes >> 10
				}
			}
		}
		select {
		case <-ended:
			return peak
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestFleetFields: through Argo CD's API, the fields of a small fleet are read, one
// Application is edited by hand and found, and the rate is told.
func TestFleetFields(t *testing.T) {
	var manifest strings.Builder
	for i := range configMapsOfAnyone {
		fmt.Fprintf(&manifest, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\ndata:\n  a: b\n", i)
	}
	repository := newRepository(t, map[string]string{"app/app.yaml": manifest.String()})
	for i := range smallFleet {
		name := fmt.Sprintf("small-%d", i)
		application := controlplane.Application{Name: name, Namespace: name, Source: pathSource(repository, "app")}
		if err := plane.CreateApplication(t.Context(), application); err != nil {
			t.Fatal(err)
		}
		if _, err := plane.Sync(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	configMaps, err := plane.Resource(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "small-3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := configMaps.Patch(t.Context(), "c1", types.MergePatchType, []byte(`{"data":{"a":"by hand"}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	for i := range smallFleet {
		if _, err := plane.RefreshApplication(t.Context(), fmt.Sprintf("small-%d", i), controlplane.RefreshHard); err != nil {
			t.Fatal(err)
		}
	}
	var o fleet.Overview
	cost := measured(t, &o, "--server", plane.ServerURL(), "--namespace", controlplane.Namespace, "--fields=all")
	if o.Fields == nil || o.Fields.Applications < smallFleet || len(o.Problems) > 0 {
		t.Fatalf("fields %+v, problems %v", o.Fields, o.Problems)
	}
	t.Logf("fields of %d Applications in %.2f s: %.1f a second; the whole command: %s", o.Fields.Applications, o.Fields.Seconds, o.Fields.PerSecond, cost)
	edited := false
	for i := range o.Affected {
		a := &o.Affected[i]
		if !strings.HasPrefix(a.Name, "small-") {
			continue // of another test
		}
		edited = a.Name == "small-3" && len(a.Counts) == 1 && a.Counts[0].Mechanism == drift.ManualEdit && a.Counts[0].Fields == 1
		if !edited {
			t.Errorf("%s/%s: %+v", a.Namespace, a.Name, a.Counts)
		}
	}
	if !edited {
		t.Error("the edit by hand was not found")
	}

	// Without the fields, the status says that something differs, and no more.
	table := moorpin(t, "extension", "fleet", "--server", plane.ServerURL(), "-o", "csv")
	if !strings.Contains(table, controlplane.Namespace+"/small-3,default,OutOfSync,Healthy") || !strings.Contains(table, ",unread,1,0,?") {
		t.Errorf("the edited Application is not among the drifting ones:\n%s", table)
	}
}
