package classify

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

// TestUnfitIsNeverLost holds that what no library is given is a finding, soon.
func TestUnfitIsNeverLost(t *testing.T) {
	snapshot := parseYAML(t, workload)
	r := &snapshot.Resources[0]
	r.Target["spec"].(map[string]any)["resources"] = map[string]any{"limits": map[string]any{"cpu": "1e2147483647"}}
	r.Live["spec"].(map[string]any)["resources"] = map[string]any{"limits": map[string]any{"cpu": "2e2147483647"}}
	report, err := Classify(t.Context(), snapshot, Options{Prove: true, Guard: true})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(report.Findings[0].Evidence, " ")
	if report.Findings[0].Mechanism != drift.Unexplained || report.Findings[0].Confidence != drift.Possible || report.Sync == drift.Blocked || !strings.Contains(said, "exponent") {
		t.Errorf("have %s: %s", report.Findings[0].Mechanism, said)
	}
}

// TestTextsAreNoQuantities holds that a text which looks like a number with an exponent
// keeps nothing from being compared.
func TestTextsAreNoQuantities(t *testing.T) {
	const text = `
application: {metadata: {name: shop, namespace: argocd}, spec: {project: default}, status: {sync: {status: Synced}}}
resources:
- target: {apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: web}, spec: {replicas: 1, template: {spec: {containers: [{name: c, env: [{name: GIT_SHA, value: "1234e5678"}]}]}}}}
  live: {apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: web}, spec: {replicas: 1, template: {spec: {containers: [{name: c, env: [{name: GIT_SHA, value: "1234e5678"}]}]}}}}
`
	report, err := Classify(t.Context(), parseYAML(t, text), Options{})
	if err != nil || report.Findings[0].Mechanism != drift.None {
		t.Fatalf("of equal objects: %+v %v", report, err)
	}
	snapshot := parseYAML(t, text)
	snapshot.Resources[0].Target["spec"].(map[string]any)["replicas"] = int64(3)
	report, err = Classify(t.Context(), snapshot, Options{})
	if err != nil || len(report.Findings[0].Fields) != 1 || report.Findings[0].Fields[0].Pointer != "/spec/replicas" {
		t.Fatalf("of 3 and 1 replicas: %+v %v", report, err)
	}
}

// TestOwnLimitsBlockNoSync holds that what Moorpin alone does not compare is not said to
// keep a sync from starting.
func TestOwnLimitsBlockNoSync(t *testing.T) {
	snapshot := parseYAML(t, workload)
	snapshot.Resources[0].Target["spec"].(map[string]any)["filler"] = strings.Repeat("x", compare.MaxBurden)
	report, err := Classify(t.Context(), snapshot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := report.Findings[0]; f.Mechanism != drift.Unexplained || report.Sync == drift.Blocked || !strings.Contains(strings.Join(f.Evidence, " "), "too large") {
		t.Errorf("have %s, a sync is %s: %q", f.Mechanism, report.Sync, f.Evidence)
	}
}

func TestPortion(t *testing.T) {
	small, large := &state.Resource{Live: object.Object{"a": "b"}}, &state.Resource{Live: object.Object{"a": strings.Repeat("x", compare.MaxPortion)}}
	var sizes []int
	for _, some := range compare.Portion([]*state.Resource{small, small, small, large, small, large}, 2) {
		sizes = append(sizes, len(some))
	}
	if len(sizes) != 3 || sizes[0] != 2 || sizes[1] != 2 || sizes[2] != 2 {
		t.Errorf("have %v, want pairs, of which each large one is the last", sizes)
	}
}
