package classify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// soon is how long a hostile snapshot may take on a busy machine; what it is about
// took minutes, or all memory.
const soon = 60 * time.Second

// configMap is a snapshot of one ConfigMap with two states of its data.
func configMap(t *testing.T, live, target any) *drift.Snapshot {
	t.Helper()
	object := func(data any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": "x"}, "data": data}
	}
	return snapshotOf(drift.Resource{
		ResourceRef: drift.ResourceRef{Version: "v1", Kind: "ConfigMap", Namespace: "x", Name: "c"},
		Target:      object(target), Live: object(live), NormalizedLive: object(live), PredictedLive: object(target),
	})
}

func snapshotOf(resources ...drift.Resource) *drift.Snapshot {
	return &drift.Snapshot{
		Application: map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": "a", "namespace": "argocd"}},
		Resources:   resources,
	}
}

// classified explains a snapshot and fails where that takes too long.
func classified(t *testing.T, snapshot *drift.Snapshot) *drift.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	started := time.Now()
	report, err := classify.Classify(ctx, snapshot, classify.Options{Guard: true})
	if err != nil {
		t.Fatalf("Classify after %v: %v", time.Since(started), err)
	}
	t.Logf("classified in %v", time.Since(started))
	return report
}

func pointersOf(report *drift.Report) []string {
	var found []string
	for _, finding := range report.Findings {
		for _, field := range finding.Fields {
			found = append(found, string(field.Pointer))
		}
	}
	return found
}

// counted is a map of n fields that all have the value.
func counted(n int, value string) map[string]any {
	fields := make(map[string]any, n)
	for i := range n {
		fields[fmt.Sprintf("k%d", i)] = value
	}
	return fields
}

func TestLongKeyOverManyFields(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	state := func(value string) map[string]any {
		return map[string]any{"plain": value, long: counted(20_000, value)}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report := classified(t, configMap(t, state("1"), state("2")))
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 1024 {
		t.Errorf("%d MiB allocated for a snapshot of 3 MiB: the key is spelled for each field below it", used)
	}
	found := pointersOf(report)
	if len(found) != 2 || found[0] != "/data/"+long || found[1] != "/data/plain" {
		t.Errorf("%d fields, want the long key as a whole and the field beside it", len(found))
	}
	if report.Sync.Severity() < drift.OverwritesLive.Severity() {
		t.Errorf("a sync %s, but nobody has looked at what it overwrites", report.Sync)
	}
}

func TestManyFieldsAreAllNamed(t *testing.T) {
	const promised = 50_000
	report := classified(t, configMap(t, counted(promised, "1"), counted(promised, "2")))
	if found := pointersOf(report); len(found) != promised {
		t.Errorf("%d fields, want all %d", len(found), promised)
	}
}

func TestTooManyFieldsAreNamedTogether(t *testing.T) {
	one, other := counted(250_000, "1"), counted(250_000, "2")
	few, fewOthers := counted(3, "1"), counted(3, "2")
	found := classify.Differences(map[string]any{"data": one, "spec": few}, map[string]any{"data": other, "spec": fewOthers})
	if len(found) != 4 || found[0] != "/data" || found[1] != "/spec/k0" {
		t.Errorf("%d pointers, want /data and three fields of /spec", len(found))
	}
	// The limit is the snapshot's: what comes later is named by its fields of the top level.
	first := configMap(t, counted(180_000, "1"), counted(180_000, "2")).Resources[0]
	second := configMap(t, counted(30_000, "1"), counted(30_000, "2")).Resources[0]
	second.Name = "d"
	report := classified(t, snapshotOf(first, second))
	if found := pointersOf(report); len(found) != 180_001 {
		t.Errorf("%d fields, want 180000 of the first object and one of the second", len(found))
	}
}

func TestTooManyFieldsOfTheTopLevel(t *testing.T) {
	if found := classify.Differences(counted(250_000, "1"), counted(250_000, "2")); len(found) != 0 {
		t.Errorf("%d pointers, want none: there is nothing coarser to name", len(found))
	}
}

func TestLongListWithoutOrder(t *testing.T) {
	const n = 60_000
	items := func(prefix string) map[string]any {
		list := make([]any, n)
		for i := range list {
			list[i] = fmt.Sprint(prefix, i)
		}
		return map[string]any{"k": list}
	}
	report := classified(t, configMap(t, items("a"), items("b")))
	if found := pointersOf(report); len(found) != n {
		t.Errorf("%d fields, want all %d items", len(found), n)
	}
}

func TestLongListOfNamedItems(t *testing.T) {
	const n = 30_000
	items := func(value string, backwards bool) []any {
		list := make([]any, n)
		for i := range list {
			at := i
			if backwards {
				at = n - 1 - i
			}
			list[at] = map[string]any{"name": fmt.Sprint("i", i), "value": value}
		}
		return list
	}
	snapshot := configMap(t, map[string]any{"k": items("1", false)}, map[string]any{"k": items("2", false)})
	snapshot.Resources[0].Target["data"] = map[string]any{"k": items("2", true)}
	applied, err := json.Marshal(snapshot.Resources[0].Target)
	if err != nil {
		t.Fatal(err)
	}
	snapshot.Resources[0].Live["metadata"] = map[string]any{"name": "c", "namespace": "x", "annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(applied)}}
	if found := pointersOf(classified(t, snapshot)); len(found) != n {
		t.Errorf("%d fields, want all %d", len(found), n)
	}
}

func TestManyEventsPodsAndDeployments(t *testing.T) {
	const pods, deployments = 60_000, 30_000
	snapshot := snapshotOf()
	for i := range deployments {
		deployment := map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": fmt.Sprint("d", i), "namespace": "x"},
			"spec": map[string]any{"template": map[string]any{}},
		}
		snapshot.Resources = append(snapshot.Resources, drift.Resource{
			ResourceRef: drift.ResourceRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "x", Name: fmt.Sprint("d", i)},
			Target:      deployment, Live: deployment, NormalizedLive: deployment, PredictedLive: deployment,
		})
	}
	for i := range pods {
		name := fmt.Sprintf("d%d-7f-%d", i%deployments, i)
		pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "x"}}
		if i%2 == 0 {
			pod["metadata"] = map[string]any{"name": name, "namespace": "x", "ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name[:len(name)-1]}}}
		}
		snapshot.Related = append(snapshot.Related, pod)
		snapshot.Events = append(snapshot.Events, map[string]any{
			"reason": "Failed", "message": `secret "s" not found`,
			"involvedObject": map[string]any{"kind": "Pod", "apiVersion": "v1", "namespace": "x", "name": name},
		})
	}
	about := map[string]bool{}
	for _, finding := range classified(t, snapshot).Findings {
		if finding.Mechanism == drift.MissingDependency {
			about[finding.Resource.Name] = true
		}
	}
	if len(about) != deployments || !about["d12345"] {
		t.Errorf("%d workloads wait for the Secret, want %d", len(about), deployments)
	}
}

// TestManyJQPathsOverManyFields holds that a jq path runs once on an object, however
// much of it differs.
func TestManyJQPathsOverManyFields(t *testing.T) {
	const keys = 1000
	if found := pointersOf(classified(t, ruled(50, keys))); len(found) != keys {
		t.Errorf("%d fields, want all %d", len(found), keys)
	}
}
