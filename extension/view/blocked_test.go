package view_test

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/extension/view"
	"github.com/moorpin/moorpin/pkg/drift"
)

// Beneath a sync that cannot start, nothing is called safe without a word about it.
func TestBlocked(t *testing.T) {
	report := &drift.Report{Application: "argocd/shop", Sync: drift.Blocked, Findings: []drift.Finding{
		{Mechanism: drift.ManifestGenerationError, Sync: drift.Blocked, Flagged: true},
		{Mechanism: drift.GitAhead, Sync: drift.Safe, Flagged: true},
	}}
	var out strings.Builder
	if err := view.Text(&out, report); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "safe, once a sync can start: ") {
		t.Errorf("what a sync does is said as if one could start:\n%s", &out)
	}
}
