// Package gaps says of which kinds Argo CD knows the health, by what, and what it
// misses of the others.
//
// [Find] judges kinds: one without any check is a [Gap], and Argo CD neither shows a
// health for its objects nor waits for them in a sync. What it knows comes from the
// scripts and the code of Argo CD [Version], embedded here, and from the argocd-cm
// that is given; [Later] tells which kinds a newer Argo CD checks by itself. [Census]
// adds what a cluster knows: how many objects a gap hides and which Applications wait
// for them in vain.
//
// It reads nothing by itself, and refuses nothing but a cluster that does not answer:
// a kind that nobody ever heard of is a gap.
package gaps

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/lua/overrides"
)

// State says what checks a kind.
type State string

// The states of a kind.
const (
	// Gap: nothing checks it.
	Gap State = "gap"
	// ByArgoCD: Argo CD does, out of the box.
	ByArgoCD State = "builtin"
	// Own: argocd-cm does.
	Own State = "own"
)

// Row is the verdict on one kind.
type Row struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	State State  `json:"state"`
	// Check names what checks the kind; empty for a gap.
	Check string `json:"check,omitempty"`
	// Hides is true where a check of argocd-cm hides one of Argo CD.
	Hides bool `json:"hides,omitempty"`
	// Later is the newer Argo CD that checks a gap, or what argocd-cm checks, by itself.
	Later string `json:"later,omitempty"`
	// Objects counts the live objects; nil where no cluster was asked, or it did not say.
	Objects *int64 `json:"objects,omitempty"`
	// Waves names the Applications that sync objects of the kind in waves, or with hooks,
	// that come after them.
	Waves []string `json:"waves,omitempty"`
}

// Find judges the kinds, each once, in the order of their names.
func Find(kinds []schema.GroupKind, checks overrides.Set) []Row {
	rows := make([]Row, 0, len(kinds))
	seen := map[schema.GroupKind]bool{}
	for _, kind := range kinds {
		if seen[kind] {
			continue
		}
		seen[kind] = true
		rows = append(rows, judge(kind, checks))
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return rows
}

func judge(kind schema.GroupKind, checks overrides.Set) Row {
	row := Row{Group: kind.Group, Kind: kind.Kind, State: Gap}
	row.Later, _ = Later(kind)
	by, builtin := Builtin(kind)
	check, own := checks.Find(kind)
	switch {
	case own:
		row.State, row.Check, row.Hides = Own, check.Where(), builtin
	case builtin:
		row.State, row.Check = ByArgoCD, "Argo CD's "+by
	}
	return row
}

// Count returns how many rows are gaps.
func Count(rows []Row) int {
	gaps := 0
	for _, row := range rows {
		if row.State == Gap {
			gaps++
		}
	}
	return gaps
}
