package pin

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// dropNode is one step of the dropping table of one kind, as a tree.
type dropNode struct {
	fields map[string]*dropNode
	// any stands for every item of a list and every value of a map.
	any *dropNode
	// rows are the values that are dropped where the path ends here.
	rows []Drop
}

func (n *dropNode) add(path pattern, row Drop) {
	if len(path) == 0 {
		n.rows = append(n.rows, row)
		return
	}
	next := &n.any
	if path[0] != anyStep {
		if n.fields == nil {
			n.fields = map[string]*dropNode{}
		}
		child := n.fields[path[0]]
		next = &child
		defer func() { n.fields[path[0]] = child }()
	}
	if *next == nil {
		*next = &dropNode{}
	}
	(*next).add(path[1:], row)
}

// child returns the node for one step, nil where no row goes that way.
func (n *dropNode) child(step string) *dropNode {
	if child, found := n.fields[step]; found {
		return child
	}
	return n.any
}

// spread makes every named step heed the rows for any step too.
func (n *dropNode) spread() {
	for name, child := range n.fields {
		n.fields[name] = merge(child, n.any)
		n.fields[name].spread()
	}
	if n.any != nil {
		n.any.spread()
	}
}

// match returns the row that drops the value.
func (n *dropNode) match(value any) (Drop, bool) {
	for _, row := range n.rows {
		if reflect.DeepEqual(row.Value, value) {
			return row, true
		}
	}
	return Drop{}, false
}

// drop returns the object without what the table lists: the object itself when
// nothing matches, else a copy of what changes.
func (w *walk) drop(object map[string]any, node *dropNode) map[string]any {
	edit := edit{original: object}
	names := slices.Sorted(maps.Keys(node.fields))
	if node.any != nil {
		names = slices.Sorted(maps.Keys(object))
	}
	if !w.meter.steps(len(names)) {
		return object
	}
	for _, name := range names {
		value, found := object[name]
		if !found {
			continue
		}
		if w.meter.stopped() {
			return object
		}
		child := node.child(name)
		place := w.enter(name)
		w.dropField(&edit, name, value, child)
		w.leave(place)
	}
	return edit.result()
}

// dropField removes the field at the end of the path when the table lists its value,
// as it stands or once what it holds has been dropped.
func (w *walk) dropField(edit *edit, name string, value any, node *dropNode) {
	before := len(w.changes)
	inner, changed := w.dropBelow(value, node)
	if !changed {
		inner = value
	}
	if row, matches := node.match(inner); matches && w.meter.change(len(w.path)) && !w.skipped() {
		edit.remove(name)
		w.changes = append(w.changes[:before], Change{
			Action: Dropped, Pointer: w.pointer(), Value: value, Reason: row.By, Source: row.Source,
		})
		return
	}
	if changed {
		edit.set(name, inner)
	}
}

// dropBelow looks inside a map or a list; list items themselves are never dropped.
func (w *walk) dropBelow(value any, node *dropNode) (any, bool) {
	before := len(w.changes)
	switch value := value.(type) {
	case map[string]any:
		changed := w.drop(value, node)
		return changed, len(w.changes) > before
	case []any:
		var changed []any
		if len(node.fields) == 0 && node.any == nil || !w.meter.steps(len(value)) {
			return nil, false
		}
		for i, item := range value {
			child := node.child(strconv.Itoa(i))
			if child == nil {
				continue
			}
			if w.meter.stopped() {
				return nil, false
			}
			place := w.enterItem(i)
			if inner, ok := w.dropBelow(item, child); ok {
				if changed == nil {
					changed = slices.Clone(value)
				}
				changed[i] = inner
			}
			w.leave(place)
		}
		return changed, changed != nil
	}
	return nil, false
}
