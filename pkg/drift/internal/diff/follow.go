package diff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// Follow returns the node of the document at the place that the steps name in the
// model: items of lists that have an identity are found by it, others by index.
func Follow(document, model any, steps []string) (any, bool) {
	return Finder(nil).Follow(document, model, steps)
}

// Finder remembers where the items of lists are, for many questions about them;
// nil remembers nothing.
type Finder map[listIdentity]map[string]int

// listIdentity is a list, by its first item, and the fields that tell its items apart.
type listIdentity struct {
	first *any
	names string
}

// Follow is as the function of that name.
func (f Finder) Follow(document, model any, steps []string) (any, bool) {
	for _, step := range steps {
		switch holder := document.(type) {
		case map[string]any:
			child, found := holder[step]
			if !found {
				return nil, false
			}
			document, model = child, value.ChildOf(model, step)
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil {
				return nil, false
			}
			modelItem := value.ChildOf(model, step)
			j, found := f.sameItem(holder, modelItem, i)
			if !found {
				return nil, false
			}
			document, model = holder[j], modelItem
		default:
			return nil, false
		}
	}
	return document, true
}

// sameItem finds the item of a list that has the identity of the model item; it
// looks at the model's own index first.
func (f Finder) sameItem(items []any, model any, i int) (int, bool) {
	for _, names := range value.ListKeys {
		wanted, ok := value.Key(model, names)
		if !ok {
			continue
		}
		if i < len(items) {
			if found, ok := value.Key(items[i], names); ok && found == wanted {
				return i, true
			}
		}
		return f.search(items, names, wanted)
	}
	return i, i < len(items)
}

// search finds the first item of an identity.
func (f Finder) search(items []any, names []string, wanted string) (int, bool) {
	if f == nil || len(items) == 0 {
		for j, item := range items {
			if found, ok := value.Key(item, names); ok && found == wanted {
				return j, true
			}
		}
		return 0, false
	}
	list := listIdentity{&items[0], strings.Join(names, " ")}
	index, known := f[list]
	if !known {
		index = make(map[string]int, len(items))
		for j, item := range slices.Backward(items) {
			if found, ok := value.Key(item, names); ok {
				index[found] = j
			}
		}
		f[list] = index
	}
	j, found := index[wanted]
	return j, found
}
