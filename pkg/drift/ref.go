package drift

import (
	"strings"

	"github.com/moorpin/moorpin/pkg/object"
)

// RefOf names an object.
func RefOf(o object.Object) ResourceRef {
	group, version, found := strings.Cut(object.Text(o, "apiVersion"), "/")
	if !found {
		group, version = "", group
	}
	return ResourceRef{Group: group, Version: version, Kind: object.Text(o, "kind"), Namespace: object.Text(o, "metadata", "namespace"), Name: object.Text(o, "metadata", "name")}
}

// Words names an object in a sentence.
func (ref ResourceRef) Words() string {
	if ref.Namespace == "" {
		return ref.Kind + " " + ref.Name
	}
	return ref.Kind + " " + ref.Namespace + "/" + ref.Name
}

// Key finds a resource without regard to its version.
type Key struct{ Group, Kind, Namespace, Name string }

// KeyOf is the key of a reference.
func KeyOf(ref ResourceRef) Key { return Key{ref.Group, ref.Kind, ref.Namespace, ref.Name} }
