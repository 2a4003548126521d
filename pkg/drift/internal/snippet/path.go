package snippet

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Step is one step of a field's path. A list item is known by its identity
// where it has one, so that the path fits both sides and outlives a reordering.
type Step struct {
	Field string
	Item  bool
	// Index is the position in the document that the pointer is about, InGit the
	// position in what Git renders, -1 when Git has no such item.
	Index, InGit int
	Identity     []ItemKey
}

// ItemKey is a field whose value tells the items of a list apart.
type ItemKey struct {
	Name  string
	Value any
}

// Positional reports whether an item of the path is known by its position alone.
func Positional(path []Step) bool {
	return slices.ContainsFunc(path, func(s Step) bool { return s.Item && s.Identity == nil })
}

// ThroughList reports whether the path leads through a list.
func ThroughList(path []Step) bool {
	return slices.ContainsFunc(path, func(s Step) bool { return s.Item })
}

// Locator finds the paths of the fields of one resource. It remembers what it has
// learned of a list, which keeps it linear in lists of many differing items.
type Locator struct {
	live, git any
	lists     map[fieldpath.Pointer]*ListKeys
}

// NewLocator finds paths in what Git renders and in the live document that the pointers
// are about.
func NewLocator(live, git any) *Locator {
	return &Locator{live: live, git: git, lists: map[fieldpath.Pointer]*ListKeys{}}
}

// Locate returns the path of a field.
func (l *Locator) Locate(field drift.Field) []Step {
	steps := field.Pointer.Steps()
	path := make([]Step, 0, len(steps))
	live, git, at := l.live, l.git, fieldpath.Pointer("")
	for i, name := range steps {
		here, inLive := live.([]any)
		there, inGit := git.([]any)
		if !inLive && !inGit {
			path = append(path, Step{Field: name})
			live, git, at = value.Child(live, name), value.Child(git, name), at.Key(name)
			continue
		}
		step := l.item(field, listAt{at: at, live: here, git: there, steps: steps, depth: i})
		path = append(path, step)
		live, git, at = value.Item(here, step.Index), value.Item(there, step.InGit), at.Key(name)
		if i == len(steps)-1 {
			break
		}
	}
	return path
}

// listAt is a list on the way to a field.
type listAt struct {
	at        fieldpath.Pointer
	live, git []any
	steps     []string
	depth     int
}

// item finds the item that the pointer's index means and what identifies it.
func (l *Locator) item(field drift.Field, in listAt) Step {
	index, err := strconv.Atoi(in.steps[in.depth])
	if err != nil {
		index = -1
	}
	step := Step{Item: true, Index: index, InGit: index}
	v := value.Item(in.live, index)
	last := in.depth == len(in.steps)-1
	if last && !field.InLive {
		// The live list lacks the item: the index is the other side's.
		v = field.Target
	} else if v == nil {
		v = value.Item(in.git, index)
	}
	known, found := l.lists[in.at]
	if !found {
		known = KeysOf(in.live, in.git)
		l.lists[in.at] = known
	}
	next := ""
	if !last {
		next = in.steps[in.depth+1]
	}
	step.Identity, step.InGit = known.Identify(v, next, index)
	if step.Identity == nil && (index < 0 || index >= len(in.git)) {
		step.InGit = -1
	}
	return step
}

// ListKeys are the fields whose values tell the items of a list apart, on both
// sides, the best first.
type ListKeys struct {
	Keys []listKey
}

// listKey is one combination of fields, and where Git has each of its values.
type listKey struct {
	Names []string
	git   map[string]int
}

// Identify returns the identity of an item without the field next, which is the
// one that differs, and the position of the item in Git.
func (k *ListKeys) Identify(item any, next string, index int) ([]ItemKey, int) {
	for _, key := range k.Keys {
		if slices.Contains(key.Names, next) {
			continue
		}
		values, ok := IdentityText(item, key.Names)
		if !ok {
			continue
		}
		identity := make([]ItemKey, 0, len(key.Names))
		for _, name := range key.Names {
			identity = append(identity, ItemKey{Name: name, Value: value.Child(item, name)})
		}
		position, found := key.git[values]
		if !found {
			position = -1
		}
		if _, whole := value.Child(item, key.Names[0]).(map[string]any); whole && !found {
			continue // the same map with a default more is not another item
		}
		return identity, position
	}
	return nil, index
}

// maxKeys bounds how many fields are looked at.
const maxKeys = 12

// KeysOf finds the fields, or pairs of them, that are unique in both lists.
func KeysOf(live, git []any) *ListKeys {
	names := identifying(live, git)
	known := &ListKeys{}
	for _, name := range names[:min(len(names), maxKeys)] {
		if key, unique := uniqueKey(live, git, []string{name}); unique {
			known.Keys = append(known.Keys, key)
		}
	}
	const few = 6 // pairs are looked for among the likeliest fields only
	names = names[:min(few, len(names))]
	for i, name := range names {
		for _, other := range names[i+1:] {
			if len(known.Keys) > 0 {
				return known
			}
			if key, unique := uniqueKey(live, git, []string{name, other}); unique {
				known.Keys = append(known.Keys, key)
			}
		}
	}
	return known
}

// identifying returns the fields that hold text or a number in every item, and after
// those, in longer lists, the ones that hold a map.
func identifying(lists ...[]any) []string {
	counts, maps, items := map[string]int{}, map[string]bool{}, 0
	for _, list := range lists {
		for _, item := range list {
			items++
			holder, _ := item.(map[string]any)
			for name, v := range holder {
				if _, ok := value.Scalar(v); ok {
					counts[name]++
				}
				if _, ok := v.(map[string]any); ok {
					maps[name] = true
				}
			}
		}
	}
	var names []string
	for name, count := range counts {
		if count == items && (!maps[name] || items > len(lists)) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(compareBools(maps[a], maps[b]), cmp.Compare(keyRank(a), keyRank(b)), cmp.Compare(a, b))
	})
	return names
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// keyRank orders fields: first what lists are known to be told apart by, which people
// know an item by too.
func keyRank(name string) int {
	for i, keys := range value.ListKeys {
		if keys[0] == name {
			return i
		}
	}
	if strings.HasSuffix(name, "Name") || strings.HasSuffix(name, "Key") || strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "Id") {
		return len(value.ListKeys)
	}
	return len(value.ListKeys) + 1
}

// uniqueKey reports whether the fields are unique in both lists, and where Git has
// their values.
func uniqueKey(live, git []any, names []string) (listKey, bool) {
	key := listKey{Names: names, git: make(map[string]int, len(git))}
	for i, item := range git {
		text, ok := IdentityText(item, names)
		if _, taken := key.git[text]; !ok || taken {
			return listKey{}, false
		}
		key.git[text] = i
	}
	seen := make(map[string]bool, len(live))
	for _, item := range live {
		text, ok := IdentityText(item, names)
		if !ok || seen[text] {
			return listKey{}, false
		}
		seen[text] = true
	}
	return key, true
}

// IdentityText spells the values of an item that tell it apart, and whether it has all of them.
func IdentityText(item any, names []string) (string, bool) {
	var joined strings.Builder
	for _, name := range names {
		text, ok := value.Scalar(value.Child(item, name))
		if !ok {
			return "", false
		}
		joined.WriteString(strconv.Quote(text))
	}
	return joined.String(), true
}

// PointerOf is the path in the live document's own positions.
func PointerOf(path []Step) fieldpath.Pointer {
	pointer := fieldpath.Pointer("")
	for _, step := range path {
		if step.Item {
			pointer = pointer.Index(step.Index)
		} else {
			pointer = pointer.Key(step.Field)
		}
	}
	return pointer
}
