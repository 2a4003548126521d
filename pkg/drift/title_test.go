package drift_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// The page has titles of its own for the mechanisms: both must say the same.
func TestTitles(t *testing.T) {
	page, err := os.ReadFile("../../extension/ui/src/mechanisms.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^  '?([a-z-]+)'?: '([^']+)',$`).FindAllStringSubmatch(string(page), -1) {
		m := drift.Mechanism(found[1])
		if m.Title() != string(m) && m.Title() != found[2] {
			t.Errorf("%s is called %q here and %q on the page", m, m.Title(), found[2])
		}
	}
	for _, m := range append([]drift.Mechanism{drift.None, drift.Unexplained}, drift.Mechanisms...) {
		if m.Title() == string(m) {
			t.Errorf("%s has no title", m)
		}
	}
}
