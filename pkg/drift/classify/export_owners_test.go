package classify

import (
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// OwnersOf shows the tests who owns the fields of a live object.
func OwnersOf(live map[string]any) func(fieldpath.Pointer) []drift.Owner { return ownersOf(live).at }

// RoleOf shows the tests the part that a manager plays for an object of the kind.
func RoleOf(kind string, owner drift.Owner) string {
	r := &resource{ref: drift.ResourceRef{Kind: kind}}
	return map[role]string{nobody: "nobody", argo: "argo", person: "person", applier: "applier", controller: "controller"}[r.roleOf(owner)]
}
