package classify

import (
	"fmt"
	"testing"
	"time"

	"github.com/moorpin/moorpin/pkg/drift"
)

// TestALargeProjectIsReadOnce holds that many destinations are not read for each object.
func TestALargeProjectIsReadOnce(t *testing.T) {
	snapshot := parseYAML(t, `
application: {metadata: {name: shop, namespace: argocd}, spec: {project: team, destination: {server: "https://k", namespace: web}}, status: {sync: {status: OutOfSync}}}
`)
	many := make([]any, 20_000)
	for i := range many {
		many[i] = map[string]any{"server": "https://k", "namespace": fmt.Sprint("team-", i)}
	}
	snapshot.Related = append(snapshot.Related, map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": map[string]any{"name": "team", "namespace": "argocd"},
		"spec": map[string]any{"destinations": many},
	})
	for i := range 2000 {
		name := fmt.Sprint("c-", i)
		snapshot.Resources = append(snapshot.Resources, drift.Resource{Target: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "elsewhere"}, "data": map[string]any{},
		}})
	}
	began := time.Now()
	report, err := Classify(t.Context(), snapshot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); report.Counts[drift.ProjectNotPermitted] != 2000 || took > 3*time.Second {
		t.Errorf("took %v: %v", took, report.Counts)
	}
}
