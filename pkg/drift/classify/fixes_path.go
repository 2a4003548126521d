package classify

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// pathStep is one step of a field's path. A list item is known by its identity
// where it has one, so that the path fits both sides and outlives a reordering.
type pathStep struct {
	field string
	item  bool
	// index is the position in the document that the pointer is about, inGit the
	// position in what Git renders, -1 when Git has no such item.
	index, inGit int
	identity     []itemKey
}

// itemKey is a field whose value tells the items of a list apart.
type itemKey struct {
	name  string
	value any
}

// positional reports whether an item of the path is known by its position alone.
func positional(path []pathStep) bool {
	return slices.ContainsFunc(path, func(s pathStep) bool { return s.item && s.identity == nil })
}

// throughList reports whether the path leads through a list.
func throughList(path []pathStep) bool {
	return slices.ContainsFunc(path, func(s pathStep) bool { return s.item })
}

// locator finds the paths of the fields of one resource. It remembers what it has
// learned of a list, which keeps it linear in lists of many differing items.
type locator struct {
	live, git any
	lists     map[fieldpath.Pointer]*listKeys
}

func newLocator(r *resource) *locator {
	l := &locator{git: r.target, lists: map[fieldpath.Pointer]*listKeys{}}
	switch {
	case r.normalized != nil:
		l.live = r.normalized
	case r.live != nil:
		l.live = r.live
	}
	return l
}

// locate returns the path of a field.
func (l *locator) locate(field drift.Field) []pathStep {
	steps := field.Pointer.Steps()
	path := make([]pathStep, 0, len(steps))
	live, git, at := l.live, l.git, fieldpath.Pointer("")
	for i, name := range steps {
		here, inLive := live.([]any)
		there, inGit := git.([]any)
		if !inLive && !inGit {
			path = append(path, pathStep{field: name})
			live, git, at = childNamed(live, name), childNamed(git, name), at.Key(name)
			continue
		}
		step := l.item(field, listAt{at: at, live: here, git: there, steps: steps, depth: i})
		path = append(path, step)
		live, git, at = itemAt(here, step.index), itemAt(there, step.inGit), at.Key(name)
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
func (l *locator) item(field drift.Field, in listAt) pathStep {
	index, err := strconv.Atoi(in.steps[in.depth])
	if err != nil {
		index = -1
	}
	step := pathStep{item: true, index: index, inGit: index}
	value := itemAt(in.live, index)
	last := in.depth == len(in.steps)-1
	if last && !field.InLive {
		// The live list lacks the item: the index is the other side's.
		value = field.Target
	} else if value == nil {
		value = itemAt(in.git, index)
	}
	known, found := l.lists[in.at]
	if !found {
		known = keysOf(in.live, in.git)
		l.lists[in.at] = known
	}
	next := ""
	if !last {
		next = in.steps[in.depth+1]
	}
	step.identity, step.inGit = known.identify(value, next, index)
	if step.identity == nil && (index < 0 || index >= len(in.git)) {
		step.inGit = -1
	}
	return step
}

// listKeys are the fields whose values tell the items of a list apart, on both
// sides, the best first.
type listKeys struct {
	keys []listKey
}

// listKey is one combination of fields, and where Git has each of its values.
type listKey struct {
	names []string
	git   map[string]int
}

// identify returns the identity of an item without the field next, which is the
// one that differs, and the position of the item in Git.
func (k *listKeys) identify(item any, next string, index int) ([]itemKey, int) {
	for _, key := range k.keys {
		if slices.Contains(key.names, next) {
			continue
		}
		values, ok := identityText(item, key.names)
		if !ok {
			continue
		}
		identity := make([]itemKey, 0, len(key.names))
		for _, name := range key.names {
			identity = append(identity, itemKey{name: name, value: childNamed(item, name)})
		}
		position, found := key.git[values]
		if !found {
			position = -1
		}
		if _, whole := childNamed(item, key.names[0]).(map[string]any); whole && !found {
			continue // the same map with a default more is not another item
		}
		return identity, position
	}
	return nil, index
}

// usualKeys come first where several fields would do: they are what people know
// an item by, and what API types call their merge keys.
var usualKeys = []string{"name", "id", "key", "secretKey", "containerPort", "port", "mountPath", "devicePath", "ip", "uid", "topologyKey", "type"}

// maxKeys bounds how many fields are looked at.
const maxKeys = 12

// keysOf finds the fields, or pairs of them, that are unique in both lists.
func keysOf(live, git []any) *listKeys {
	names := identifying(live, git)
	known := &listKeys{}
	for _, name := range names[:min(len(names), maxKeys)] {
		if key, unique := uniqueKey(live, git, []string{name}); unique {
			known.keys = append(known.keys, key)
		}
	}
	const few = 6 // pairs are looked for among the likeliest fields only
	names = names[:min(few, len(names))]
	for i, name := range names {
		for _, other := range names[i+1:] {
			if len(known.keys) > 0 {
				return known
			}
			if key, unique := uniqueKey(live, git, []string{name, other}); unique {
				known.keys = append(known.keys, key)
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
			for name, value := range holder {
				if _, ok := scalarText(value); ok {
					counts[name]++
				}
				if _, ok := value.(map[string]any); ok {
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

func keyRank(name string) int {
	if i := slices.Index(usualKeys, name); i >= 0 {
		return i
	}
	if strings.HasSuffix(name, "Name") || strings.HasSuffix(name, "Key") || strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "Id") {
		return len(usualKeys)
	}
	return len(usualKeys) + 1
}

// uniqueKey reports whether the fields are unique in both lists, and where Git has
// their values.
func uniqueKey(live, git []any, names []string) (listKey, bool) {
	key := listKey{names: names, git: make(map[string]int, len(git))}
	for i, item := range git {
		text, ok := identityText(item, names)
		if _, taken := key.git[text]; !ok || taken {
			return listKey{}, false
		}
		key.git[text] = i
	}
	seen := make(map[string]bool, len(live))
	for _, item := range live {
		text, ok := identityText(item, names)
		if !ok || seen[text] {
			return listKey{}, false
		}
		seen[text] = true
	}
	return key, true
}

func identityText(item any, names []string) (string, bool) {
	var joined strings.Builder
	for _, name := range names {
		text, ok := scalarText(childNamed(item, name))
		if !ok {
			return "", false
		}
		joined.WriteString(strconv.Quote(text))
	}
	return joined.String(), true
}

// scalarText is the text of a value that can tell items apart.
func scalarText(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return "s" + value, true
	case int64:
		return strconv.FormatInt(value, 10), true
	case int:
		return strconv.Itoa(value), true
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), true
	case json.Number:
		return value.String(), true
	case map[string]any:
		spelled := canonical(value)
		return "m" + spelled, len(value) > 0 && len(spelled) < maxIdentity
	}
	return "", false
}

// maxIdentity bounds the size of a map that tells items apart, in bytes.
const maxIdentity = 300

// childNamed is a field of a node, nil when it has none.
func childNamed(node any, name string) any {
	holder, _ := node.(map[string]any)
	return holder[name]
}

// itemAt is an item of a list, nil when there is none.
func itemAt(list []any, i int) any {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// pointerOf is the path in the live document's own positions.
func pointerOf(path []pathStep) fieldpath.Pointer {
	pointer := fieldpath.Pointer("")
	for _, step := range path {
		if step.item {
			pointer = pointer.Index(step.index)
		} else {
			pointer = pointer.Key(step.field)
		}
	}
	return pointer
}

// indexOf reads a list index, -1 when it is none.
func indexOf(step string) int {
	index, err := strconv.Atoi(step)
	if err != nil {
		return -1
	}
	return index
}
