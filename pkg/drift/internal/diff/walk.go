package diff

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// Limits of what the differences of one snapshot hold, far above those of real
// objects: a key of a megabyte over many fields would be spelled anew for each.
const (
	maxDifferences = 200_000
	// maxSpelled bounds the bytes of all pointers with their steps.
	maxSpelled = 64 << 20
	// stepBytes is what a step takes beside its text.
	stepBytes = 16
	// maxForced is how many fields of its top level an object may name beyond the
	// limits, as nothing coarser than those is a field.
	maxForced = 8
)

// Allowance is what is left of the limits. The resources of a snapshot share one; of
// what lies beyond it, it is chance which of the resources compared at once has it.
type Allowance struct{ fields, bytes atomic.Int64 }

// NewAllowance is that of one report.
func NewAllowance() *Allowance {
	left := &Allowance{}
	left.fields.Store(maxDifferences)
	left.bytes.Store(maxSpelled)
	return left
}

// take counts a number of differences and their bytes, negative ones to give back,
// and reports whether the limits hold.
func (a *Allowance) take(fields, bytes int) bool {
	left := a.fields.Add(int64(-fields))
	return a.bytes.Add(int64(-bytes)) >= 0 && left >= 0
}

// Between are the smallest nodes that differ between two documents, in the
// order of a reader: an item of a list by its index in live, or in target where
// live lacks it. Setting each to its target value turns live into target. What
// exceeds the allowance is one difference of the field that holds it. The error says
// that even those are too many, or that the context ended.
func Between(ctx context.Context, left *Allowance, live, target object.Object) ([]*Difference, error) {
	w := &walk{ctx: ctx, left: left}
	w.maps(nil, live, target)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("find the differences: %w", err)
	}
	if w.forced > maxForced {
		return nil, fmt.Errorf("find the differences: too many fields differ, among them more than %d of the object's top level; look at the object by itself", maxForced)
	}
	for i, d := range w.found {
		w.places[i].spell(d)
	}
	slices.SortFunc(w.found, func(a, b *Difference) int { return fieldpath.Compare(a.Pointer, b.Pointer) })
	return w.found, nil
}

// place is a node on the way down both documents. Pointers are spelled only for the
// differences that stay.
type place struct {
	above *place
	name  string
	// live and target are the indices of a list item, which has no name.
	item         bool
	live, target int
	// shifted tells that the two documents have other indices on the way.
	shifted bool
	depth   int
	bytes   int
}

func (p *place) key(name string) *place {
	below := &place{above: p, name: name, depth: 1, bytes: len(name) + 1 + stepBytes}
	if p != nil {
		below.depth, below.bytes, below.shifted = p.depth+1, below.bytes+p.bytes, p.shifted
	}
	return below
}

func (p *place) index(live, target int) *place {
	below := p.key("")
	below.item, below.live, below.target = true, live, target
	below.shifted = below.shifted || live != target
	return below
}

// weight is what a difference at the place takes of the allowance.
func (p *place) weight() int {
	if p.shifted {
		return 2 * p.bytes
	}
	return p.bytes
}

// spell names the place in a difference; equal pointers are one text.
func (p *place) spell(d *Difference) {
	d.Pointer = fieldpath.Pointer(p.append(nil, false))
	d.TargetPointer = d.Pointer
	if p.shifted {
		d.TargetPointer = fieldpath.Pointer(p.append(nil, true))
	}
	d.Steps = d.Pointer.Steps()
}

func (p *place) append(text []byte, target bool) []byte {
	if p.above != nil {
		text = p.above.append(text, target)
	}
	switch {
	case !p.item:
		return fieldpath.AppendKey(text, p.name)
	case target:
		return fieldpath.AppendIndex(text, p.target)
	}
	return fieldpath.AppendIndex(text, p.live)
}

// walk collects differences.
type walk struct {
	ctx    context.Context
	left   *Allowance
	found  []*Difference
	places []*place
	// full tells that the last difference exceeds the allowance, so that the field
	// that holds it takes its place.
	full   bool
	forced int
	// asked counts the nodes.
	asked int
}

func (w *walk) add(p *place, d *Difference) {
	w.found, w.places = append(w.found, d), append(w.places, p)
	w.full = !w.left.take(1, p.weight())
	if w.full && p.depth == 1 {
		w.full = false
		w.forced++
	}
}

// stopped reports whether looking further is in vain.
func (w *walk) stopped() bool {
	w.asked++
	return w.full || w.forced > maxForced || w.asked%askEvery == 0 && w.ctx.Err() != nil
}

// askEvery is after how many nodes a walk asks the context.
const askEvery = 1024

// values compares two nodes at a place.
func (w *walk) values(p *place, live, target any) {
	start := len(w.found)
	switch live := live.(type) {
	case map[string]any:
		if target, ok := target.(map[string]any); ok {
			w.maps(p, live, target)
			w.fold(p, start, live, target)
			return
		}
	case []any:
		if target, ok := target.([]any); ok {
			w.lists(p, live, target)
			w.fold(p, start, live, target)
			return
		}
	}
	w.add(p, &Difference{Live: live, Target: target, InLive: true, InTarget: true})
}

// fold makes one difference of all that were found below a place, where they are
// too many.
func (w *walk) fold(p *place, start int, live, target any) {
	if !w.full {
		return
	}
	for _, below := range w.places[start:] {
		w.left.take(-1, -below.weight())
	}
	clear(w.found[start:])
	w.found, w.places = w.found[:start], w.places[:start]
	w.add(p, &Difference{Live: live, Target: target, InLive: true, InTarget: true, Folded: true})
}

func (w *walk) maps(p *place, live, target map[string]any) {
	for _, name := range w.names(live) {
		v := live[name]
		wanted, found := target[name]
		switch {
		case !found:
			w.add(p.key(name), &Difference{Live: v, InLive: true})
		case value.Nested(v) && value.Nested(wanted), !value.Equal(v, wanted):
			w.values(p.key(name), v, wanted)
		}
		if w.stopped() {
			return
		}
	}
	for _, name := range w.names(target) {
		if _, found := live[name]; !found {
			w.add(p.key(name), &Difference{Target: target[name], InTarget: true})
		}
		if w.stopped() {
			return
		}
	}
}

// names are the fields of a map in order, so that the same ones are folded each time.
func (w *walk) names(of map[string]any) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (w *walk) lists(p *place, live, target []any) {
	if w.ctx.Err() != nil {
		return
	}
	for _, pair := range align(live, target) {
		switch {
		case pair.target < 0:
			w.add(p.index(pair.live, pair.live), &Difference{Live: live[pair.live], InLive: true})
		case pair.live < 0:
			w.add(p.index(pair.target, pair.target), &Difference{Target: target[pair.target], InTarget: true})
		default:
			w.items(p, pair, live[pair.live], target[pair.target])
		}
		if w.stopped() {
			return
		}
	}
}

// items compares two items of lists.
func (w *walk) items(p *place, at pair, live, target any) {
	if value.Nested(live) && value.Nested(target) || !value.Equal(live, target) {
		w.values(p.index(at.live, at.target), live, target)
	}
}
