package state

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// DoubledLists are the lists that hold duplicates, each with its first one.
func (r *Resource) DoubledLists() map[fieldpath.Pointer]Duplicate {
	lists := map[fieldpath.Pointer]Duplicate{}
	for _, found := range r.Duplicates() {
		if _, known := lists[found.list]; !known {
			lists[found.list] = found
		}
	}
	return lists
}

// Covering returns the duplicate of the innermost list that holds the field.
func Covering(lists map[fieldpath.Pointer]Duplicate, field fieldpath.Pointer) (Duplicate, bool) {
	for len(lists) > 0 {
		if found, covered := lists[field]; covered {
			return found, true
		}
		if field == "" {
			break
		}
		field = field.Parent()
	}
	return Duplicate{}, false
}

// Duplicate is an item of Git's that has the key of an earlier one.
type Duplicate struct {
	list, Item fieldpath.Pointer
	key        string
}

// Evidence says it in a sentence.
func (d Duplicate) Evidence() string {
	return fmt.Sprintf("Git has two items with the key %s in %s", strings.ReplaceAll(d.key, `"`, ""), d.list)
}

// Duplicates finds Git's items with the same merge key.
func (r *Resource) Duplicates() []Duplicate {
	root, known := r.Shape()
	if !known || r.Target == nil {
		return nil
	}
	if !r.duplicatesOnce {
		r.duplicatesOnce = true
		seekDuplicates("", root, r.Target, &r.duplicatesFound)
	}
	return r.duplicatesFound
}

func seekDuplicates(pointer fieldpath.Pointer, s kind.Shape, node any, found *[]Duplicate) {
	switch v := node.(type) {
	case map[string]any:
		for name, child := range v {
			if below, known := s.Child(name); known && (below.CRD != nil || below.GoType != nil) && value.Nested(child) {
				seekDuplicates(pointer.Key(name), below, child, found)
			}
		}
	case []any:
		below, _ := s.Child("0")
		seen := map[string]bool{}
		for i, item := range v {
			if key, ok := value.Key(item, s.MergeKeys); ok && seen[key] {
				*found = append(*found, Duplicate{list: pointer, Item: pointer.Index(i), key: key})
			} else if ok {
				seen[key] = true
			}
			if value.Nested(item) {
				seekDuplicates(pointer.Index(i), below, item, found)
			}
		}
	}
}
