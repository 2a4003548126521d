package scenarios_test

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/e2e/record/scenarios"
	"github.com/moorpin/moorpin/pkg/drift"
)

// TestLabelsAreComplete holds that every scenario has a label in the corpus, every label
// against the vocabulary, and the folder of a case against its label.
func TestLabelsAreComplete(t *testing.T) {
	count := map[string]int{}
	for _, scenario := range scenarios.All() {
		folder, _, ok := strings.Cut(scenario.Name, "/")
		count[folder]++
		if !ok || scenario.Cause == "" {
			t.Errorf("%s: it lacks a folder or a cause", scenario.Name)
		}
		label, err := cases.Label("../../../pkg/drift/testdata/cases", scenario.Name)
		if err != nil {
			t.Error(err)
		}
		mechanisms := map[drift.Mechanism]bool{}
		for _, finding := range label.Findings {
			mechanisms[finding.Mechanism] = true
			checkFinding(t, scenario.Name, finding)
		}
		switch {
		case folder == "multiple" && len(mechanisms) < 2:
			t.Errorf("%s: its label has %d mechanisms", scenario.Name, len(mechanisms))
		case folder != "multiple" && !mechanisms[drift.Mechanism(folder)]:
			t.Errorf("%s: its label lacks the mechanism of its folder", scenario.Name)
		}
	}
	for folder, least := range map[string]int{"multiple": 20, "none": 12} {
		if count[folder] < least {
			t.Errorf("%d scenarios of %s, want %d", count[folder], folder, least)
		}
	}
	recorded := 0
	for _, mechanism := range drift.Mechanisms {
		if count[string(mechanism)] > 0 {
			recorded++
		}
	}
	if recorded < 30 {
		t.Errorf("%d mechanisms are recorded, want 30", recorded)
	}
}

func TestScenariosDoNotMeet(t *testing.T) {
	if err := recorder.CheckNames(scenarios.All()); err != nil {
		t.Error(err)
	}
}

func checkFinding(t *testing.T, name string, finding cases.Finding) {
	t.Helper()
	if finding.Resource.Kind == "" || finding.Resource.Name == "" {
		t.Errorf("%s: a finding is about no object", name)
	}
	if finding.Sync.Severity() > drift.Destructive.Severity() {
		t.Errorf("%s: %q is no effect of a sync", name, finding.Sync)
	}
	if finding.Fix == "" {
		t.Errorf("%s: a finding has no fix", name)
	}
	for _, field := range finding.Fields {
		if !strings.HasPrefix(field, "/") {
			t.Errorf("%s: %q is no pointer", name, field)
		}
	}
}
