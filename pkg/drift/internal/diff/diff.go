// Package diff finds where two documents differ, and pairs the items of their lists.
//
// [Between] names the smallest nodes that differ; where there are more than a report can
// hold, one node stands for all below it. Items of lists are paired by what tells them
// apart, such as the name of a container, else by place: a port that was inserted first is
// one difference, not one for each port behind it. Documents may have any shape; nothing
// is changed in them.
package diff

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Places are where differences are, for many questions.
type Places struct{ own, above *fieldpath.Set }

// PlacesOf notes where the differences are.
func PlacesOf(differences []*Difference) Places {
	at := Places{fieldpath.NewSet(), fieldpath.NewSet()}
	for _, d := range differences {
		at.own.Insert(d.Pointer)
		for p := d.Pointer; p != "" && !at.above.Has(p.Parent()); {
			p = p.Parent()
			at.above.Insert(p)
		}
	}
	return at
}

// Meet reports whether a field, or something above or below it, differs.
func (at Places) Meet(field fieldpath.Pointer) bool {
	return at.above.Has(field) || at.own.Covers(field)
}

// Bookkeeping reports whether a difference between an object and its next version is
// only the record of the write.
func Bookkeeping(d *Difference) bool {
	switch strings.Join(d.Steps, " ") {
	case "metadata managedFields", "metadata resourceVersion", "metadata generation", "metadata annotations " + mark.LastApplied:
		return true
	case "metadata annotations":
		// The record may be all the annotations of one side.
		side := d.Live
		if d.InTarget {
			side = d.Target
		}
		annotations, ok := side.(map[string]any)
		_, recorded := annotations[mark.LastApplied]
		return ok && d.InLive != d.InTarget && (len(annotations) == 0 || len(annotations) == 1 && recorded)
	}
	return len(d.Steps) > 1 && d.Steps[0] == "metadata" && d.Steps[1] == "managedFields"
}

// Unmatched are the differences of the first that are not among the second: first by
// their place, then by what they say, as a rule that hides a list item moves others.
func Unmatched(from, among []*Difference) []*Difference {
	at := map[string]int{}
	said := map[string]int{}
	for _, d := range among {
		at[string(d.Pointer)+" "+d.Spelled()]++
		said[d.Spelled()]++
	}
	var moved, left []*Difference
	for _, d := range from {
		if at[string(d.Pointer)+" "+d.Spelled()] > 0 {
			at[string(d.Pointer)+" "+d.Spelled()]--
			said[d.Spelled()]--
			continue
		}
		moved = append(moved, d)
	}
	for _, d := range moved {
		if said[d.Spelled()] > 0 {
			said[d.Spelled()]--
			continue
		}
		left = append(left, d)
	}
	return left
}

// Multiset counts differences by what they say, as a rule that hides a list item
// moves those after it.
type Multiset map[string]int

// Spelled is what the difference says, without the positions of list items.
func (d *Difference) Spelled() string {
	name := ""
	for _, step := range slices.Backward(d.Steps) {
		if !value.IsIndex(step) {
			name = step
			break
		}
	}
	return value.Canonical([]any{name, d.InTarget, d.InLive, d.Target, d.Live})
}

// CountAll counts what the differences say.
func CountAll(differences []*Difference) Multiset {
	counted := Multiset{}
	for _, d := range differences {
		counted[d.Spelled()]++
	}
	return counted
}

// Hold reports whether the differences are among those counted.
func (m Multiset) Hold(differences []*Difference) bool {
	for spelled, count := range CountAll(differences) {
		if count > m[spelled] {
			return false
		}
	}
	return true
}

// Within reports whether one path begins with the other.
func Within(a, b []string) bool {
	n := min(len(a), len(b))
	return n > 0 && slices.Equal(a[:n], b[:n])
}

// SetByServer reports whether the difference is at metadata that the API server sets.
func SetByServer(d *Difference) bool {
	if len(d.Steps) < 2 || d.Steps[0] != "metadata" || !d.InTarget {
		return false
	}
	switch d.Steps[1] {
	case "resourceVersion", "uid", "generation", "selfLink", "managedFields":
		return true
	}
	return false
}

// Churns reports whether the two values look as if they were made anew with each render.
func Churns(d *Difference) bool {
	return d.InLive && d.InTarget && (value.TimeLike(d.Live, d.Target) || value.Checksum(strings.ToLower(d.Steps[len(d.Steps)-1]), d.Live, d.Target) || value.Opaque(d.Live) && value.Opaque(d.Target))
}

// Difference is one field that Argo CD flags.
type Difference struct {
	Pointer fieldpath.Pointer
	Steps   []string
	// TargetPointer names the field in target, where list items may have another index.
	TargetPointer fieldpath.Pointer
	// Target is the predicted value, Live the normalized one.
	Target, Live     any
	InTarget, InLive bool
	// Git is what Git itself renders there, Applied what was last applied; list
	// items are found by position.
	Git, Applied     any
	InGit, InApplied bool
	// Folded tells that more differs below it than can be named field by field.
	Folded bool
	// Claimed tells that a rule has answered for it.
	Claimed bool
}
