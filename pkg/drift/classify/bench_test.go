package classify_test

import (
	"encoding/json"
	"fmt"
	"testing"

	argodiff "github.com/argoproj/argo-cd/v2/util/argo/diff"
	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// BenchmarkClassify explains an Application whose Deployments drift in two fields
// each, one changed by a person and one by an autoscaler. The alternative in the
// same run is Argo CD's own in-process comparison of the same states, which says
// only that they differ.
func BenchmarkClassify(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		snapshot := large(n)
		b.Run(fmt.Sprintf("resources=%d/moorpin", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				report, err := classify.Classify(b.Context(), snapshot, classify.Options{})
				if err != nil || len(report.Findings) != 2*n {
					b.Fatalf("%d findings, want %d: %v", len(report.Findings), 2*n, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/resource")
		})
		b.Run(fmt.Sprintf("resources=%d/argocd", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !argoDiff(b, snapshot) {
					b.Fatal("nothing differs")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/resource")
		})
	}
}

func argoDiff(b *testing.B, snapshot *drift.Snapshot) bool {
	b.Helper()
	var lives, targets []*unstructured.Unstructured
	for _, r := range snapshot.Resources {
		lives, targets = append(lives, &unstructured.Unstructured{Object: r.Live}), append(targets, &unstructured.Unstructured{Object: r.Target})
	}
	config, err := argodiff.NewDiffConfigBuilder().WithDiffSettings(nil, nil, false, normalizers.IgnoreNormalizerOpts{}).
		WithTracking("app.kubernetes.io/instance", "annotation").WithNoCache().WithLogger(logr.Discard()).WithManager("argocd-controller").Build()
	if err != nil {
		b.Fatal(err)
	}
	result, err := argodiff.StateDiffs(lives, targets, config)
	if err != nil {
		b.Fatal(err)
	}
	return result.Modified
}

// large makes an Application of n Deployments.
func large(n int) *drift.Snapshot {
	snapshot := &drift.Snapshot{
		Application: map[string]any{
			"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": "large", "namespace": "argocd"},
			"spec": map[string]any{"project": "default", "source": map[string]any{"repoURL": "https://git.example.com/large.git", "path": "."}, "destination": map[string]any{"namespace": "large"}},
		},
		Settings: drift.Settings{drift.SettingTracking: "annotation"},
	}
	for i := range n {
		snapshot.Resources = append(snapshot.Resources, scaledAndEdited(fmt.Sprintf("web-%05d", i)))
		snapshot.Related = append(snapshot.Related, map[string]any{
			"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": map[string]any{"name": "web", "namespace": "large"},
			"spec": map[string]any{"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": fmt.Sprintf("web-%05d", i)}},
		})
	}
	return snapshot
}

func scaledAndEdited(name string) drift.Resource {
	deployment := func(replicas int64, image string) map[string]any {
		labels := map[string]any{"app": name}
		return map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": name, "namespace": "large", "annotations": map[string]any{"argocd.argoproj.io/tracking-id": "large:apps/Deployment:large/" + name}},
			"spec": map[string]any{
				"replicas": replicas, "selector": map[string]any{"matchLabels": labels},
				"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{
					"name": "web", "image": image, "ports": []any{map[string]any{"containerPort": int64(8080), "protocol": "TCP"}},
					"resources": map[string]any{"limits": map[string]any{"cpu": "500m", "memory": "128Mi"}},
				}}}},
			},
		}
	}
	target, live := deployment(2, "web:1"), deployment(5, "web:1-hotfix")
	applied, err := json.Marshal(target)
	if err != nil {
		panic(err)
	}
	metadata := live["metadata"].(map[string]any)
	metadata["annotations"].(map[string]any)["kubectl.kubernetes.io/last-applied-configuration"] = string(applied)
	entry := func(manager, subresource, time string, owned map[string]any) any {
		e := map[string]any{"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "time": time, "fieldsV1": owned}
		if subresource != "" {
			e["subresource"] = subresource
		}
		return e
	}
	container := func(owned map[string]any) map[string]any {
		return map[string]any{"f:template": map[string]any{"f:spec": map[string]any{"f:containers": map[string]any{`k:{"name":"web"}`: owned}}}}
	}
	metadata["managedFields"] = []any{
		entry("argocd-controller", "", "2026-01-01T00:00:00Z", map[string]any{"f:spec": container(map[string]any{".": map[string]any{}, "f:name": map[string]any{}, "f:resources": map[string]any{}})}),
		entry("kube-controller-manager", "scale", "2026-01-02T00:00:00Z", map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}),
		entry("kubectl-edit", "", "2026-01-03T00:00:00Z", map[string]any{"f:spec": container(map[string]any{"f:image": map[string]any{}})}),
	}
	return drift.Resource{ResourceRef: drift.ResourceRef{Group: "apps", Kind: "Deployment", Namespace: "large", Name: name}, Target: target, Live: live}
}

// BenchmarkJQ explains one ConfigMap whose keys all differ, under jq paths that are for
// it and select others of its keys.
func BenchmarkJQ(b *testing.B) {
	for _, size := range []struct{ paths, keys int }{{1, 1000}, {10, 1000}, {50, 1000}, {50, 5000}} {
		b.Run(fmt.Sprintf("paths=%d/keys=%d", size.paths, size.keys), func(b *testing.B) {
			snapshot := ruled(size.paths, size.keys)
			b.ReportAllocs()
			for b.Loop() {
				if report, err := classify.Classify(b.Context(), snapshot, classify.Options{Guard: true}); err != nil || len(report.Unheeded) > 0 {
					b.Fatal(err, report.Unheeded)
				}
			}
		})
	}
}

// ruled is a ConfigMap with differing keys, and jq paths that name none of them.
func ruled(paths, keys int) *drift.Snapshot {
	object := func(value string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": "x"}, "data": counted(keys, value)}
	}
	snapshot := snapshotOf(drift.Resource{
		ResourceRef: drift.ResourceRef{Version: "v1", Kind: "ConfigMap", Namespace: "x", Name: "c"}, Target: object("1"), Live: object("2"),
	})
	rule := make([]any, paths)
	for i := range rule {
		rule[i] = fmt.Sprintf(`.data[] | select(. == "none-%d") | .below`, i)
	}
	snapshot.Application["spec"] = map[string]any{"ignoreDifferences": []any{map[string]any{"kind": "ConfigMap", "jqPathExpressions": rule}}}
	return snapshot
}
