// Package object reads Kubernetes objects in their JSON form, as snapshots, caches and
// API servers hand them out.
//
// Its readers expect any shape at all: what is not there, or has another type, is the
// zero value. object.Text(pod, "metadata", "name") is the name of a Pod; of a Pod whose
// metadata is a list it is "". They change nothing, and what they return is a part of
// the document, not a copy.
package object

// Object is a Kubernetes object in its JSON form.
type Object = map[string]any

// At returns the node that the field names lead to, and whether there is one.
func At(document any, names ...string) (any, bool) {
	node := document
	for _, name := range names {
		holder, ok := node.(map[string]any)
		if !ok {
			return nil, false
		}
		if node, ok = holder[name]; !ok {
			return nil, false
		}
	}
	return node, true
}

// Text returns the string that the field names lead to, or "".
func Text(document any, names ...string) string {
	node, _ := At(document, names...)
	found, _ := node.(string)
	return found
}

// List returns the list that the field names lead to, or nil.
func List(document any, names ...string) []any {
	node, _ := At(document, names...)
	found, _ := node.([]any)
	return found
}

// Map returns the map that the field names lead to, or nil.
func Map(document any, names ...string) map[string]any {
	node, _ := At(document, names...)
	found, _ := node.(map[string]any)
	return found
}

// Annotation returns an annotation of the object, or "".
func Annotation(o Object, name string) string { return Text(o, "metadata", "annotations", name) }

// Maps returns the maps of the list that the field names lead to; what else is in the
// list is left out.
func Maps(document any, names ...string) []map[string]any {
	items := List(document, names...)
	found := make([]map[string]any, 0, len(items))
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}
