package fieldpath

import (
	"maps"
	"slices"
)

// Set is a set of pointers. The zero value is an empty set ready for use;
// a Set must not be changed while another goroutine reads it.
type Set struct {
	members map[Pointer]struct{}
}

// NewSet returns a set of the given pointers.
func NewSet(pointers ...Pointer) *Set {
	set := &Set{}
	for _, p := range pointers {
		set.Insert(p)
	}
	return set
}

// Insert adds p to the set.
func (s *Set) Insert(p Pointer) {
	if s.members == nil {
		s.members = map[Pointer]struct{}{}
	}
	s.members[p] = struct{}{}
}

// Has reports whether p itself is in the set.
func (s *Set) Has(p Pointer) bool {
	_, found := s.members[p]
	return found
}

// Covers reports whether p or an ancestor of p is in the set.
func (s *Set) Covers(p Pointer) bool {
	if len(s.members) == 0 {
		return false
	}
	for {
		if s.Has(p) {
			return true
		}
		if p == "" {
			return false
		}
		p = p.Parent()
	}
}

// Len returns the number of pointers in the set.
func (s *Set) Len() int { return len(s.members) }

// Sorted returns the pointers in the order of [Compare].
func (s *Set) Sorted() []Pointer {
	return slices.SortedFunc(maps.Keys(s.members), Compare)
}
