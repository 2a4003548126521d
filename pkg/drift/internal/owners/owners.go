// Package owners reads from managedFields who wrote a live object, field by field, and
// tells which part a manager plays: Argo CD, a person's tool, another applier of whole
// manifests, or a controller.
//
// "kubectl-edit" is a person, "helm" an applier, "kube-controller-manager" a controller.
// What is malformed in managedFields says nothing.
package owners

import (
	"slices"
	"strconv"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// Ownership says who owns which field of a live object, read from its managedFields.
type Ownership struct {
	Entries []drift.Owner
	// Exact are the owners of a field itself, Within those of anything below it:
	// sets of entries, one bit each.
	Exact, Within map[fieldpath.Pointer]OwnerSet
	// Whole are fields owned together with everything below them, such as atomic lists.
	Whole map[fieldpath.Pointer]OwnerSet
}

// OwnerSet is a set of entries of managedFields.
type OwnerSet uint64

// writtenAsText is how managedFields name what a server-side apply gives as text to a
// Secret, whose live object has it as data.
const writtenAsText = "f:stringData"

// maxOwners is how many entries are told apart; the API server itself keeps fewer.
const maxOwners = 64

// Of reads managedFields. What is malformed in them says nothing.
func Of(live object.Object) *Ownership {
	o := &Ownership{Exact: map[fieldpath.Pointer]OwnerSet{}, Within: map[fieldpath.Pointer]OwnerSet{}, Whole: map[fieldpath.Pointer]OwnerSet{}}
	for _, item := range object.List(live, "metadata", "managedFields") {
		tree := object.Map(item, "fieldsV1")
		if tree == nil || len(o.Entries) == maxOwners {
			continue
		}
		o.Entries = append(o.Entries, entry(item))
		o.walk("", tree, live, 1<<(len(o.Entries)-1))
	}
	return o
}

// entry reads whose an entry of managedFields is.
func entry(item any) drift.Owner {
	return drift.Owner{Manager: object.Text(item, "manager"), Operation: object.Text(item, "operation"), Subresource: object.Text(item, "subresource"), Time: object.Text(item, "time")}
}

// item finds the list item that a step of fieldsV1 names: by its keys ("k:{...}"),
// its value ("v:...") or its index ("i:0"). Items are indexed once for every set of
// key names.
func item(items []any, step string, indexed map[string]map[string]int) (int, bool) {
	kind, rest, _ := strings.Cut(step, ":")
	switch kind {
	case "i":
		i, err := strconv.Atoi(rest)
		return i, err == nil && i >= 0 && i < len(items)
	case "v":
		i, found := byNames(items, nil, indexed)[respell(rest)]
		return i, found
	case "k":
		var keys map[string]any
		if kjson.Unmarshal([]byte(rest), &keys) != nil {
			return 0, false
		}
		names := make([]string, 0, len(keys))
		for name := range keys {
			names = append(names, name)
		}
		slices.Sort(names)
		i, found := byNames(items, names, indexed)[keyOfItem(keys, names)]
		return i, found
	}
	return 0, false
}

// byNames indexes the items by the values of the named keys, or by themselves.
func byNames(items []any, names []string, indexed map[string]map[string]int) map[string]int {
	id := strings.Join(names, "\x00")
	if found, ok := indexed[id]; ok {
		return found
	}
	index := make(map[string]int, len(items))
	for i, item := range slices.Backward(items) {
		if names == nil {
			index[value.Canonical(item)] = i
		} else if m, ok := item.(map[string]any); ok {
			index[keyOfItem(m, names)] = i
		}
	}
	indexed[id] = index
	return index
}

func keyOfItem(item map[string]any, names []string) string {
	var key strings.Builder
	for _, name := range names {
		key.WriteString(value.Canonical(item[name]))
		key.WriteByte(0)
	}
	return key.String()
}

func respell(text string) string {
	var v any
	if kjson.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return value.Canonical(v)
}

// At returns the owners of the field: those of the field itself or of anything
// below it, else those of the nearest field above that is owned as a whole.
func (o *Ownership) At(pointer fieldpath.Pointer) []drift.Owner {
	set := o.Exact[pointer] | o.Within[pointer]
	for p := pointer; set == 0 && p != ""; {
		p = p.Parent()
		set = o.Whole[p]
	}
	var owners []drift.Owner
	for i, owner := range o.Entries {
		if set&(1<<i) != 0 {
			owners = append(owners, owner)
		}
	}
	return owners
}

// Newest returns the owner that wrote last; entries without a time are the oldest.
func Newest(owners []drift.Owner) (drift.Owner, bool) {
	if len(owners) == 0 {
		return drift.Owner{}, false
	}
	return slices.MaxFunc(owners, func(a, b drift.Owner) int { return strings.Compare(a.Time, b.Time) }), true
}

// walk follows one entry's tree along the live value that it speaks of, and
// reports whether the entry owns anything there.
func (o *Ownership) walk(pointer fieldpath.Pointer, tree map[string]any, value any, who OwnerSet) {
	if len(tree) == 0 {
		o.Exact[pointer] |= who
		o.Whole[pointer] |= who
		return
	}
	var items map[string]map[string]int
	for step, below := range tree {
		next, _ := below.(map[string]any)
		switch {
		case step == writtenAsText && pointer == "":
			if content, ok := object.At(value, "data"); ok {
				o.Within[pointer] |= who
				o.walk(pointer.Key("data"), next, content, who)
			}
		case step == ".":
			o.Exact[pointer] |= who
		case strings.HasPrefix(step, "f:"):
			holder, ok := value.(map[string]any)
			if !ok {
				continue
			}
			name := step[2:]
			if child, found := holder[name]; found {
				o.Within[pointer] |= who
				o.walk(pointer.Key(name), next, child, who)
			}
		default:
			holder, ok := value.([]any)
			if !ok {
				continue
			}
			if items == nil {
				items = map[string]map[string]int{}
			}
			if i, found := item(holder, step, items); found {
				o.Within[pointer] |= who
				o.walk(pointer.Index(i), next, holder[i], who)
			}
		}
	}
}

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
