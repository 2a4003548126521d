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
	small, large := &state.Resource{Live: object.Object{"a": "b"}}, &state.Resource{Live: object.Object{"a": strings.Repeat("x", compare.MaxPortion)}}
	var sizes []int
	for _, some := range compare.Portion([]*state.Resource{small, small, small, large, small, large}, 2) {
		sizes = append(sizes, len(some))
	}
	if len(sizes) != 3 || sizes[0] != 2 || sizes[1] != 2 || sizes[2] != 2 {
		t.Errorf("have %v, want pairs, of which each large one is the last", sizes)
	}
}
