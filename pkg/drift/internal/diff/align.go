package diff

import (
	"slices"

	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// pair is an item of two lists: of both, or -1 for the list that lacks it.
type pair struct{ live, target int }

// maxTable bounds the memory of a comparison of two lists of different lengths.
const maxTable = 1 << 22

// align pairs the items of two lists without changing their order. Items with an
// identity are paired by it, others by place where the lists are equally long, else
// by what is the same in both.
func align(live, target []any) []pair {
	a, b, named := tokens(live, target)
	if len(live) == len(target) && (!named || SameTokens(a, b)) {
		return byPlace(len(live), len(target))
	}
	pairs, ok := common(a, b)
	if !ok {
		return byPlace(len(live), len(target))
	}
	return rejoin(pairs, named, len(live), len(target))
}

// byPlace pairs items of the same index.
func byPlace(live, target int) []pair {
	pairs := make([]pair, 0, max(live, target))
	for i := range max(live, target) {
		p := pair{live: i, target: i}
		if i >= live {
			p.live = -1
		}
		if i >= target {
			p.target = -1
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// tokens spells every item: by its identity when both lists have one, else whole.
func tokens(live, target []any) (a, b []string, named bool) {
	for _, names := range value.ListKeys {
		a, b := identify(live, names), identify(target, names)
		if a != nil && b != nil {
			return a, b, true
		}
	}
	if len(live) == len(target) {
		return nil, nil, false
	}
	return Spell(live), Spell(target), false
}

// identify spells the identity of every item, or returns nil when one lacks it or two share it.
func identify(items []any, names []string) []string {
	spelled := make([]string, 0, len(items))
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		token, ok := value.Key(item, names)
		if !ok {
			return nil
		}
		if seen[token] {
			return nil
		}
		seen[token] = true
		spelled = append(spelled, token)
	}
	return spelled
}

// Spell writes every item out, so that equal ones are the same text.
func Spell(items []any) []string {
	spelled := make([]string, len(items))
	for i, item := range items {
		spelled[i] = value.Canonical(item)
	}
	return spelled
}

// SameTokens reports whether one list is the other in any order.
func SameTokens(a, b []string) bool {
	counts := make(map[string]int, len(a))
	for _, token := range a {
		counts[token]++
	}
	for _, token := range b {
		counts[token]--
		if counts[token] < 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// common pairs the items of a longest common subsequence; the others stand alone,
// those of live before those of target. It gives up on lists too long for that.
func common(a, b []string) ([]pair, bool) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if (len(x)+1)*(len(y)+1) > maxTable {
		return nil, false
	}
	pairs := byPlace(head, head)
	pairs = append(pairs, middle(x, y, head)...)
	for i := range tail {
		pairs = append(pairs, pair{live: len(a) - tail + i, target: len(b) - tail + i})
	}
	return pairs, true
}

func middle(x, y []string, offset int) []pair {
	width := len(y) + 1
	longest := make([]int32, (len(x)+1)*width)
	for i, one := range slices.Backward(x) {
		for j, other := range slices.Backward(y) {
			if one == other {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	var pairs []pair
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			pairs = append(pairs, pair{live: offset + i, target: offset + j})
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && longest[(i+1)*width+j] >= longest[i*width+j+1]:
			pairs = append(pairs, pair{live: offset + i, target: -1})
			i++
		default:
			pairs = append(pairs, pair{live: -1, target: offset + j})
			j++
		}
	}
	return pairs
}

// rejoin joins, in each stretch without a common item, what took one another's
// place: items without identity in their order, items with one where the index is
// the same. No two differences may have the same pointer: lists in which they would
// are paired by place.
func rejoin(pairs []pair, named bool, live, target int) []pair {
	var settled []pair
	taken := map[int]bool{}
	for start := 0; start < len(pairs); {
		if pairs[start].live >= 0 && pairs[start].target >= 0 {
			settled = append(settled, pairs[start])
			start++
			continue
		}
		end := start
		for end < len(pairs) && (pairs[end].live < 0 || pairs[end].target < 0) {
			end++
		}
		for _, p := range join(pairs[start:end], named) {
			if taken[p.index()] {
				return byPlace(live, target)
			}
			taken[p.index()] = true
			settled = append(settled, p)
		}
		start = end
	}
	return settled
}

// index is what a pointer calls the item.
func (p pair) index() int {
	if p.live < 0 {
		return p.target
	}
	return p.live
}

// join pairs the items of one stretch.
func join(stretch []pair, named bool) []pair {
	var lives, targets []int
	for _, p := range stretch {
		if p.live >= 0 {
			lives = append(lives, p.live)
		} else {
			targets = append(targets, p.target)
		}
	}
	var joined []pair
	for len(lives) > 0 || len(targets) > 0 {
		switch {
		case len(lives) > 0 && len(targets) > 0 && (!named || lives[0] == targets[0]):
			joined = append(joined, pair{live: lives[0], target: targets[0]})
			lives, targets = lives[1:], targets[1:]
		case len(targets) == 0 || len(lives) > 0 && lives[0] < targets[0]:
			joined = append(joined, pair{live: lives[0], target: -1})
			lives = lives[1:]
		default:
			joined = append(joined, pair{live: -1, target: targets[0]})
			targets = targets[1:]
		}
	}
	return joined
}
