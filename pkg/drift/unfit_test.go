package drift

import (
	"errors"
	"strings"
	"testing"
)

func TestUnfit(t *testing.T) {
	deep := any("x")
	for range 3000 {
		deep = object{"a": deep}
	}
	rows := map[string]struct {
		reason string
		target object
		want   error
	}{
		"plain":     {"nothing is wrong", object{"kind": "Pod", "spec": object{"cpu": "1e3", "name": "1e1000x"}}, nil},
		"deep":      {"a merge reads it anew for each level", object{"kind": "Widget", "spec": deep}, errBurden},
		"large":     {"the API server stores none that large", object{"kind": "Widget", "spec": strings.Repeat("x", maxBurden)}, errBurden},
		"exponent":  {"it would be written out", object{"kind": "Pod", "spec": object{"limits": object{"cpu": "1e2147483647"}}}, errExponent},
		"negative":  {"so would it behind the point", object{"kind": "Widget", "spec": object{"Resources": []any{"1E-2147483647"}}}, errExponent},
		"long":      {"and with many digits before it", object{"kind": "Pod", "spec": object{"limits": object{"cpu": strings.Repeat("0", 100) + "1e2147483647"}}}, errExponent},
		"small":     {"a thousand digits do no harm", object{"kind": "Pod", "spec": object{"limits": object{"cpu": "1234e567"}}}, nil},
		"zeros":     {"nor do zeros before the exponent", object{"kind": "Pod", "spec": object{"limits": object{"cpu": "1e000003"}}}, nil},
		"elsewhere": {"nobody reads a quantity there", object{"kind": "Pod", "spec": object{"env": []any{object{"name": "GIT_SHA", "value": "1234e5678"}}}}, nil},
		"text":      {"a ConfigMap holds texts alone", object{"kind": "ConfigMap", "data": object{"a": "1e2147483647"}}, nil},
		"metadata":  {"so does metadata", object{"kind": "Pod", "metadata": object{"labels": object{"a": "1e2147483647"}}}, nil},
		"not there": {"there is nothing to compare", nil, nil},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if err := (&resource{target: row.target}).unfitFor(); !errors.Is(err, row.want) {
				t.Errorf("have %v, want %v: %s", err, row.want, row.reason)
			}
		})
	}
}

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
	if report.Findings[0].Mechanism != Unexplained || report.Findings[0].Confidence != Possible || report.Sync == Blocked || !strings.Contains(said, "exponent") {
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
	if err != nil || report.Findings[0].Mechanism != None {
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
	snapshot.Resources[0].Target["spec"].(map[string]any)["filler"] = strings.Repeat("x", maxBurden)
	report, err := Classify(t.Context(), snapshot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := report.Findings[0]; f.Mechanism != Unexplained || report.Sync == Blocked || !strings.Contains(strings.Join(f.Evidence, " "), "too large") {
		t.Errorf("have %s, a sync is %s: %q", f.Mechanism, report.Sync, f.Evidence)
	}
}

func TestPortion(t *testing.T) {
	small, large := &resource{live: object{"a": "b"}}, &resource{live: object{"a": strings.Repeat("x", maxPortion)}}
	var sizes []int
	for _, some := range portion([]*resource{small, small, small, large, small, large}, 2) {
		sizes = append(sizes, len(some))
	}
	if len(sizes) != 3 || sizes[0] != 2 || sizes[1] != 2 || sizes[2] != 2 {
		t.Errorf("have %v, want pairs, of which each large one is the last", sizes)
	}
}
