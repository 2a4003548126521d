package pin

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/moorpin/moorpin/pkg/fieldpath"
	crd "github.com/moorpin/moorpin/pkg/schema"
)

// walk goes through one object along its schema and copies only the maps and lists
// that it changes.
type walk struct {
	source     string
	everywhere bool // defaults outside of atomic lists and maps too
	nulls      bool // the object holds nulls
	atomic     bool // an atomic list or map is somewhere above
	skips      []pattern
	path       []byte // the pointer to the current value
	changes    []Change
	// meter stops the walk; what it has made by then is of no use.
	meter meter
}

// reset makes the walk ready for the next object; its buffers are used again.
func (w *walk) reset(source string, everywhere bool, skips []pattern) {
	clear(w.changes)
	w.meter.begin()
	*w = walk{source: source, everywhere: everywhere, skips: skips, path: w.path[:0], changes: w.changes[:0], meter: w.meter}
}

// enter goes down to a field, enterItem to a list item; leave goes back to the
// place that they returned.
func (w *walk) enter(name string) int {
	place := len(w.path)
	w.path = fieldpath.AppendKey(w.path, name)
	return place
}

func (w *walk) enterItem(i int) int {
	place := len(w.path)
	w.path = fieldpath.AppendIndex(w.path, i)
	return place
}

func (w *walk) leave(place int) { w.path = w.path[:place] }

func (w *walk) pointer() fieldpath.Pointer { return fieldpath.Pointer(w.path) }

func (w *walk) record(action Action, value any, reason string) {
	w.changes = append(w.changes, Change{Action: action, Pointer: w.pointer(), Value: value, Reason: reason, Source: w.source})
}

// reasons says why the walk does what it does.
var reasons = map[Action]string{
	Pinned:       "the API server sets this default",
	NullReplaced: "the API server replaces null by this default",
	NullDropped:  "the API server removes null here",
}

// value pins what a value that is not null holds, and tells whether that changed it.
func (w *walk) value(value any, node *crd.Node) (any, bool) {
	before := len(w.changes)
	switch value := value.(type) {
	case map[string]any:
		changed := w.object(value, node)
		return changed, len(w.changes) > before
	case []any:
		changed := w.list(value, node)
		return changed, len(w.changes) > before
	}
	return value, false
}

// object returns x with its defaults: x itself when nothing changes, else a copy.
func (w *walk) object(x map[string]any, node *crd.Node) map[string]any {
	outside := w.atomic
	w.atomic = outside || node.AtomicMap
	defer func() { w.atomic = outside }()
	fields := node.Fields[:node.Defaulting]
	if w.nulls {
		fields = node.Fields
	}
	edit := edit{original: x}
	if !w.meter.steps(len(fields) + 1) {
		return x
	}
	for i := range fields {
		if w.meter.stopped() {
			return x
		}
		field := &fields[i]
		value, found := x[field.Name]
		switch {
		case found:
			w.field(&edit, field.Name, value, &field.Element)
		case field.HasDefault && (w.atomic || w.everywhere):
			place := w.enter(field.Name)
			w.put(&edit, Pinned, field.Name, field.Default)
			w.leave(place)
		}
	}
	if w.nulls {
		w.dropNulls(&edit, node)
		if node.Embedded {
			w.embeddedMetadata(&edit)
		}
	}
	if node.Rest.HoldsDefaults() || (w.nulls && node.Rest != nil) {
		w.rest(&edit, node)
	}
	return edit.result()
}

// dropNulls removes the nulls of the fields to which nothing else happens.
func (w *walk) dropNulls(edit *edit, node *crd.Node) {
	if !w.meter.steps(len(node.DropNulls)) {
		return
	}
	for _, name := range node.DropNulls {
		if value, found := edit.original[name]; found && value == nil {
			w.field(edit, name, nil, &crd.Element{Null: crd.NullDropped})
		}
	}
}

// field pins one field that is there.
func (w *walk) field(edit *edit, name string, value any, element *crd.Element) {
	if value != nil && (element.Child == nil || (!w.nulls && !element.Child.HoldsDefaults)) {
		return
	}
	place := w.enter(name)
	defer w.leave(place)
	if value != nil {
		if changed, ok := w.value(value, element.Child); ok {
			edit.set(name, changed)
		}
		return
	}
	switch element.Null {
	case crd.NullKept:
	case crd.NullReplaced:
		w.put(edit, NullReplaced, name, element.NullValue)
	case crd.NullDropped:
		if w.meter.change(len(w.path)) && !w.skipped() {
			edit.remove(name)
			w.record(NullDropped, nil, reasons[NullDropped])
		}
	}
}

// put sets the field called name, where the path ends, unless that is excluded.
func (w *walk) put(edit *edit, action Action, name string, value any) {
	if value, ok := w.own(value); ok {
		edit.set(name, copyValue(value))
		w.record(action, value, reasons[action])
	}
}

// own returns what of a default is put in where the path ends, and whether it is.
func (w *walk) own(value any) (any, bool) {
	if !w.meter.change(len(w.path)+weight(value)) || w.skipped() {
		return nil, false
	}
	return w.carve(value)
}

// rest pins the fields that the schema does not name, such as the values of a map.
func (w *walk) rest(edit *edit, node *crd.Node) {
	if !w.meter.steps(len(edit.original)) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(edit.original)) {
		if w.meter.stopped() {
			return
		}
		if node.Names(name) {
			continue
		}
		w.field(edit, name, edit.original[name], node.Rest)
	}
}

// embeddedMetadata treats the nulls of an embedded resource's metadata as the API
// server does, which decodes it into a type and writes that back: null becomes {},
// fields that are null are left out, labels and annotations that are null become "".
func (w *walk) embeddedMetadata(edit *edit) {
	value, found := edit.result()["metadata"]
	if !found {
		return
	}
	place := w.enter("metadata")
	defer w.leave(place)
	metadata, ok := value.(map[string]any)
	if value == nil {
		w.put(edit, NullReplaced, "metadata", map[string]any{})
	}
	if !ok {
		return
	}
	inner := editOf(metadata)
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		texts, isMap := metadata[name].(map[string]any)
		switch {
		case metadata[name] == nil:
			w.field(inner, name, nil, &crd.Element{Null: crd.NullDropped})
		case isMap && (name == "labels" || name == "annotations"):
			w.nullTexts(inner, name, texts)
		}
	}
	if inner.changed != nil {
		edit.set("metadata", inner.changed)
	}
}

// nullTexts replaces the nulls in a map of texts by the empty text.
func (w *walk) nullTexts(edit *edit, name string, texts map[string]any) {
	place := w.enter(name)
	defer w.leave(place)
	inner := editOf(texts)
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if texts[key] == nil {
			w.field(inner, key, nil, &crd.Element{Null: crd.NullReplaced, NullValue: ""})
		}
	}
	if inner.changed != nil {
		edit.set(name, inner.changed)
	}
}

func (w *walk) list(x []any, node *crd.Node) []any {
	items := node.Items
	if items == nil || (!w.nulls && !items.HoldsDefaults()) || !w.meter.steps(len(x)) {
		return x
	}
	outside := w.atomic
	w.atomic = outside || node.AtomicList
	defer func() { w.atomic = outside }()
	var changed []any
	set := func(i int, value any) {
		if changed == nil {
			changed = slices.Clone(x)
		}
		changed[i] = value
	}
	for i, item := range x {
		if w.meter.stopped() {
			return x
		}
		place := w.enterItem(i)
		switch {
		case item != nil && items.Child != nil:
			if value, ok := w.value(item, items.Child); ok {
				set(i, value)
			}
		case item == nil && items.Null == crd.NullReplaced:
			if value, ok := w.own(items.NullValue); ok {
				set(i, copyValue(value))
				w.record(NullReplaced, value, reasons[NullReplaced])
			}
		}
		w.leave(place)
	}
	if changed == nil {
		return x
	}
	return changed
}

// edit is a map that is copied when it is first changed.
type edit struct {
	original map[string]any
	changed  map[string]any
}

func editOf(original map[string]any) *edit { return &edit{original: original} }

func (e *edit) own() map[string]any {
	if e.changed == nil {
		e.changed = maps.Clone(e.original)
	}
	return e.changed
}

func (e *edit) set(name string, value any) { e.own()[name] = value }
func (e *edit) remove(name string)         { delete(e.own(), name) }

func (e *edit) result() map[string]any {
	if e.changed == nil {
		return e.original
	}
	return e.changed
}

// copyValue gives the object a default of its own.
func copyValue(value any) any {
	switch value.(type) {
	case map[string]any, []any:
		return runtime.DeepCopyJSONValue(value)
	}
	return value
}

// holdsNull reports whether a null stands anywhere but in the root's metadata and status.
func holdsNull(object map[string]any) bool {
	for name, value := range object {
		if name != "metadata" && name != "status" && isOrHoldsNull(value) {
			return true
		}
	}
	return false
}

func isOrHoldsNull(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, child := range value {
			if isOrHoldsNull(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, isOrHoldsNull)
	}
	return false
}
