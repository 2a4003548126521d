package owners

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/object"
)

// Entries are the entries of managedFields, without what they own.
func Entries(o object.Object) []drift.Owner {
	var found []drift.Owner
	for _, item := range object.List(o, "metadata", "managedFields") {
		if object.Text(item, "manager") != "" {
			found = append(found, entry(item))
		}
	}
	return found
}

// LastWriter is the one that wrote last, subresources apart.
func LastWriter(o object.Object) (drift.Owner, bool) {
	return Newest(slices.DeleteFunc(Entries(o), func(w drift.Owner) bool { return w.Subresource != "" }))
}

// WrittenByArgo reports whether Argo CD ever applied the object: by its manager, or by
// what it left in last-applied-configuration.
func WrittenByArgo(o object.Object) bool {
	for _, w := range Entries(o) {
		if strings.HasPrefix(w.Manager, mark.Manager) {
			return true
		}
	}
	return len(object.List(o, "metadata", "managedFields")) == 0 && strings.Contains(object.Annotation(o, mark.LastApplied), mark.TrackingID)
}

// OfField is the newest owner of a field that only maps lead to.
func OfField(o object.Object, names ...string) (drift.Owner, bool) {
	var found []drift.Owner
	path := []string{"fieldsV1"}
	for _, name := range names {
		path = append(path, "f:"+name)
	}
	for _, item := range object.List(o, "metadata", "managedFields") {
		if _, owned := object.At(item, path...); owned {
			found = append(found, entry(item))
		}
	}
	return Newest(found)
}
