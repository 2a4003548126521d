package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/e2e/docscheck"
	"github.com/moorpin/moorpin/pkg/drift"
)

// TestDocs: what the README, the documents and the alerts name exists.
func TestDocs(t *testing.T) {
	project, err := docscheck.Open(".", rootCommand())
	if err != nil {
		t.Fatal(err)
	}
	problems, err := project.Check()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// TestMechanismRunbooks: each mechanism has its section, in the order of the code, with
// the sentence of the code and the three parts that help.
func TestMechanismRunbooks(t *testing.T) {
	page, err := os.ReadFile("docs/runbooks/mechanisms.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(page), "\n## ")[1:]
	wanted := append(slices.Clone(drift.Mechanisms), drift.Unexplained)
	if len(sections) != len(wanted) {
		t.Errorf("%d sections for %d mechanisms", len(sections), len(wanted))
	}
	for i, section := range sections[:min(len(sections), len(wanted))] {
		id, text, _ := strings.Cut(section, "\n")
		if id != string(wanted[i]) {
			t.Errorf("section %d is %s, and the mechanism %s", i+1, id, wanted[i])
			continue
		}
		for _, part := range []string{"\n" + wanted[i].Summary() + "\n", "\n- **Confirm**: ", "\n- **Fix**: ", "\n- **Leave it**: "} {
			if !strings.Contains(text, part) {
				t.Errorf("the section %s lacks %q", id, part)
			}
		}
	}
}

// TestMetricsListed: docs/operations.md lists every metric.
func TestMetricsListed(t *testing.T) {
	page, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	names, err := docscheck.Metrics(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/operations.md does not list %s", name)
		}
	}
}
