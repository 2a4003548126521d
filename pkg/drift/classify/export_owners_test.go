package classify

import (
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// OwnersOf shows the tests who owns the fields of a live object.
func OwnersOf(live map[string]any) func(fieldpath.Pointer) []drift.Owner { return owners.Of(live).At }

// RoleOf shows the tests the part that a manager plays for an object of the kind.
func RoleOf(kind string, owner drift.Owner) string {
	return map[owners.Role]string{owners.Nobody: "nobody", owners.Argo: "argo", owners.Person: "person", owners.Applier: "applier", owners.Controller: "controller"}[owners.RoleOf(kind, owner)]
}
