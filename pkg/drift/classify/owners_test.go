package classify_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// The files of testdata/owners are read by the tests of the page too, which has a
// reader of managedFields of its own: both must say the same.

// TestOwners: the walk of fieldsV1 finds who owns which field.
func TestOwners(t *testing.T) {
	var rows map[string]struct {
		Why    string                         `json:"why"`
		Live   map[string]any                 `json:"live"`
		Owners map[fieldpath.Pointer][]string `json:"owners"`
	}
	readOwners(t, "../testdata/owners/fields.json", &rows)
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			at := classify.OwnersOf(row.Live)
			for pointer, want := range row.Owners {
				got := []string{}
				for _, owner := range at(pointer) {
					got = append(got, owner.Manager)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: owners of %s (-want +got):\n%s", row.Why, pointer, diff)
				}
			}
		})
	}
}

// TestRoles: a manager's name tells a person from a program.
func TestRoles(t *testing.T) {
	var rows []struct {
		Manager   string `json:"manager"`
		Operation string `json:"operation"`
		Kind      string `json:"kind"`
		Role      string `json:"role"`
	}
	readOwners(t, "../testdata/owners/roles.json", &rows)
	for _, row := range rows {
		if got := classify.RoleOf(row.Kind, drift.Owner{Manager: row.Manager, Operation: row.Operation}); got != row.Role {
			t.Errorf("%s (%s) of a %q is %s, want %s", row.Manager, row.Operation, row.Kind, got, row.Role)
		}
	}
}

func readOwners(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
