package classify_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

const mechanismsFile = "../../../docs/mechanisms.md"

const mechanismsHead = `# Mechanisms

What ` + "`moorpin extension classify`" + ` tells apart. The effects of a sync and the first fixes
are those of the labelled cases in pkg/drift/testdata; each case decides for itself.
` + "`go test ./pkg/drift/classify -run TestMechanisms -update`" + ` writes this page.

The effect of a sync says what ` + "`argocd app sync`" + ` would do now, from harmless to worst:

%s
The confidence says how far the snapshot shows it: ` + "`certain`" + `, it can hardly be otherwise;
` + "`likely`" + `, the signs agree and one is missing; ` + "`possible`" + `, nothing speaks against it. Take
a snapshot with --kubeconfig, or look yourself, before you act on the last.

A class is the letter of a kind of drift that is met often: A defaults of a CRD, B values
that are dropped again, C marks and fields that only one side keeps, D leftovers of Git,
E one object with two owners, F runs that ended, G what a controller, webhook or render
writes anew.

Cases: %d recorded on a real control plane, %d written by hand.

| mechanism | what it is | what a sync does then | first fix |
|---|---|---|---|
`

// TestMechanisms holds docs/mechanisms.md against the code and the corpus, and the
// corpus against the mechanisms: each has at least three cases.
func TestMechanisms(t *testing.T) {
	all, err := cases.Load(t.Context(), "../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	effects, fixes, counts := map[drift.Mechanism]map[string]bool{}, map[drift.Mechanism]map[string]bool{}, map[drift.Mechanism]int{}
	several, none, recorded := 0, 0, map[drift.Mechanism]bool{}
	origins := map[string]int{}
	for _, c := range all {
		origins[c.Origin]++
		perResource := map[drift.ResourceRef]int{}
		seen := map[drift.Mechanism]bool{}
		for _, f := range c.Expect.Findings {
			add(effects, f.Mechanism, string(f.Sync))
			add(fixes, f.Mechanism, string(f.Fix))
			perResource[f.Resource]++
			if !seen[f.Mechanism] {
				seen[f.Mechanism] = true
				counts[f.Mechanism]++
			}
			if c.Origin == cases.Recorded {
				recorded[f.Mechanism] = true
			}
			if f.Mechanism == drift.None {
				none++
			}
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(perResource)), func(n int) bool { return n > 1 }) {
			several++
		}
	}
	for _, m := range drift.Mechanisms {
		if counts[m] < 3 {
			t.Errorf("%s has %d cases, want at least 3", m, counts[m])
		}
	}
	if several < 30 || none < 20 || len(recorded) < 30 {
		t.Errorf("%d cases with several mechanisms in one resource (want 30), %d without drift (want 20), %d mechanisms recorded (want 30)", several, none, len(recorded))
	}
	t.Logf("%d cases, %d with several mechanisms in one resource, %d without drift, %d mechanisms recorded", len(all), several, none, len(recorded))
	checkMechanismsPage(t, fmt.Sprintf(mechanismsHead, effectsLegend(), origins[cases.Recorded], origins[cases.Written]), effects, fixes)
}

// effectsLegend lists the effects with what they mean.
func effectsLegend() string {
	var legend strings.Builder
	for _, effect := range drift.Effects {
		fmt.Fprintf(&legend, "- `%s`: %s\n", effect, effect.Summary())
	}
	return legend.String()
}

func add(sets map[drift.Mechanism]map[string]bool, m drift.Mechanism, value string) {
	if sets[m] == nil {
		sets[m] = map[string]bool{}
	}
	sets[m][value] = true
}

func checkMechanismsPage(t *testing.T, head string, effects, fixes map[drift.Mechanism]map[string]bool) {
	t.Helper()
	var page bytes.Buffer
	page.WriteString(head)
	for _, m := range append(slices.Clone(drift.Mechanisms), drift.None) {
		name := "`" + string(m) + "`"
		if class := m.Class(); class != "" {
			name += " (class " + class + ")"
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", name, m.Summary(), listed(effects[m]), listed(fixes[m]))
	}
	page.WriteString("\n`unexplained` is what none of them explains; a sync is then said to overwrite what is live.\n")
	page.WriteString(orderTables())
	if *update {
		if err := os.WriteFile(mechanismsFile, page.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(mechanismsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page.String(), string(have)); diff != "" {
		t.Errorf("docs/mechanisms.md is not up to date; run the test with -update (-want +have): %s", diff)
	}
}

// orderTables say who wins, as classify/order.go does.
func orderTables() string {
	var page strings.Builder
	page.WriteString("\n## Who wins, and why\n")
	tables := classify.Order()
	for _, table := range []struct{ name, head string }{
		{"application", "The Application as a whole: all of these are asked, in this order."},
		{"one-sided", "What only Git or only the cluster has: the first that answers has the resource."},
		{"field", "A field that differs: the first that answers has the field."},
		{"merge", "What the answers about one resource become together, one after the other."},
		{"silence", "Findings that others leave out."},
		{"correction", "What is done with all findings, one after the other."},
	} {
		fmt.Fprintf(&page, "\n%s\n\n| | why |\n|---|---|\n", table.head)
		for _, row := range tables[table.name] {
			if row.Why == "" {
				row.Why = "**no reason given**"
			}
			fmt.Fprintf(&page, "| %s | %s |\n", row.What, row.Why)
		}
	}
	return page.String()
}

func listed(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}
