package classify

import (
	"errors"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

func TestUnfit(t *testing.T) {
	deep := any("x")
	for range 3000 {
		deep = object.Object{"a": deep}
	}
	rows := map[string]struct {
		reason string
		target object.Object
		want   error
	}{
		"plain":     {"nothing is wrong", object.Object{"kind": "Pod", "spec": object.Object{"cpu": "1e3", "name": "1e1000x"}}, nil},
		"deep":      {"a merge reads it anew for each level", object.Object{"kind": "Widget", "spec": deep}, errBurden},
		"large":     {"the API server stores none that large", object.Object{"kind": "Widget", "spec": strings.Repeat("x", maxBurden)}, errBurden},
		"exponent":  {"it would be written out", object.Object{"kind": "Pod", "spec": object.Object{"limits": object.Object{"cpu": "1e2147483647"}}}, errExponent},
		"negative":  {"so would it behind the point", object.Object{"kind": "Widget", "spec": []any{"1E-2147483647"}}, errExponent},
		"text":      {"a ConfigMap holds texts alone", object.Object{"kind": "ConfigMap", "data": object.Object{"a": "1e2147483647"}}, nil},
		"metadata":  {"so does metadata", object.Object{"kind": "Pod", "metadata": object.Object{"labels": object.Object{"a": "1e2147483647"}}}, nil},
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
	r.Target["spec"].(map[string]any)["minReadySeconds"] = "1e2147483647"
	r.Live["spec"].(map[string]any)["minReadySeconds"] = "2e2147483647"
	report, err := Classify(t.Context(), snapshot, Options{Prove: true, Guard: true})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(report.Findings[0].Evidence, " ")
	if report.Findings[0].Mechanism == drift.None || !strings.Contains(said, "exponent") {
		t.Errorf("have %s: %s", report.Findings[0].Mechanism, said)
	}
}

func TestPortion(t *testing.T) {
	small, large := &resource{live: object.Object{"a": "b"}}, &resource{live: object.Object{"a": strings.Repeat("x", maxPortion)}}
	var sizes []int
	for _, some := range portion([]*resource{small, small, small, large, small, large}, 2) {
		sizes = append(sizes, len(some))
	}
	if len(sizes) != 3 || sizes[0] != 2 || sizes[1] != 2 || sizes[2] != 2 {
		t.Errorf("have %v, want pairs, of which each large one is the last", sizes)
	}
}
