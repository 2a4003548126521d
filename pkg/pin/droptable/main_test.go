package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTable fails when generating the table again would change it.
func TestTable(t *testing.T) {
	committed, err := os.ReadFile("../drops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	generated, err := Table()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(committed), string(generated)); diff != "" {
		t.Errorf("run \"go generate ./pkg/pin\" and commit drops.yaml:\n%s", diff)
	}
}
