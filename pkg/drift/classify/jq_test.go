package classify

import (
	"testing"
	"time"

	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
)

// TestSelectsIsBounded holds that a jq path which names places without end is stopped
// at their number, and not at its time.
func TestSelectsIsBounded(t *testing.T) {
	s, _ := arrange(t, parseYAML(t, workload))
	e := s.Expression("repeat(.)")
	if e.Err != nil {
		t.Fatal(e.Err)
	}
	began := time.Now()
	places, err := jq.Select(t.Context(), e.Code, map[string]any{})
	if err != nil || len(places) != jq.MaxSelected {
		t.Errorf("%d places after %v: %v, want %d", len(places), time.Since(began), err, jq.MaxSelected)
	}
	if s.Expression("repeat(.)") != e {
		t.Error("it is compiled anew")
	}
}
