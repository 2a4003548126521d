package drift

import "strings"

// object is a Kubernetes object in its JSON form; every reader of it expects any
// shape at all.
type object = map[string]any

// at returns the node that the field names lead to, and whether there is one.
func at(document any, names ...string) (any, bool) {
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

// text returns the string that the field names lead to, or "".
func text(document any, names ...string) string {
	node, _ := at(document, names...)
	found, _ := node.(string)
	return found
}

// list returns the list that the field names lead to, or nil.
func list(document any, names ...string) []any {
	node, _ := at(document, names...)
	found, _ := node.([]any)
	return found
}

// fields returns the map that the field names lead to, or nil.
func fields(document any, names ...string) map[string]any {
	node, _ := at(document, names...)
	found, _ := node.(map[string]any)
	return found
}

// annotation returns an annotation of the object, or "".
func annotation(o object, name string) string { return text(o, "metadata", "annotations", name) }

// refOf names an object.
func refOf(o object) ResourceRef {
	group, version, found := strings.Cut(text(o, "apiVersion"), "/")
	if !found {
		group, version = "", group
	}
	return ResourceRef{Group: group, Version: version, Kind: text(o, "kind"), Namespace: text(o, "metadata", "namespace"), Name: text(o, "metadata", "name")}
}

// relations are the related objects by group and kind.
type relations struct {
	byKind map[[2]string][]object
}

func relate(objects []map[string]any) *relations {
	related := &relations{byKind: map[[2]string][]object{}}
	for _, o := range objects {
		ref := refOf(o)
		of := [2]string{ref.Group, ref.Kind}
		related.byKind[of] = append(related.byKind[of], o)
	}
	return related
}

// of returns the related objects of a group and kind.
func (r *relations) of(group, kind string) []object { return r.byKind[[2]string{group, kind}] }

// event is a Kubernetes Event.
type event struct {
	reason, message, time string
	involved              ResourceRef
}

func parseEvents(events []map[string]any) []event {
	parsed := make([]event, 0, len(events))
	for _, e := range events {
		involved := fields(e, "involvedObject")
		group, _, found := strings.Cut(text(involved, "apiVersion"), "/")
		if !found {
			group = ""
		}
		time := text(e, "lastTimestamp")
		if time == "" {
			time = text(e, "eventTime")
		}
		parsed = append(parsed, event{
			reason: text(e, "reason"), message: text(e, "message"), time: time,
			involved: ResourceRef{Group: group, Kind: text(involved, "kind"), Namespace: text(involved, "namespace"), Name: text(involved, "name")},
		})
	}
	return parsed
}
