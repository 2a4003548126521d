// Package trial tries things in process, by Argo CD's own comparison: the fixes of a
// report ([Prove]), and ignore rules that somebody thinks of ([TryRules]).
package trial

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/fix"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// MaxTrials bounds how many fixes of one report are tried: each costs some
// comparisons of a resource.
const MaxTrials = 2000

// NotTried is said of a fix beyond that.
const NotTried = "Not tried: the report has too many fixes for that."

// Prove tries the fixes that can be tried, and marks those proven after which the
// finding's fields differ no more and nothing else does.
func Prove(s *state.Application, report *drift.Report) {
	type attempt struct {
		fix  *drift.Fix
		edit *fix.Edit
	}
	var attempts []attempt
	for i := range report.Findings {
		for j := range report.Findings[i].Fixes {
			offered := &report.Findings[i].Fixes[j]
			tried, ok := offered.Edit.(*fix.Edit)
			if !ok {
				continue
			}
			if len(attempts) == MaxTrials {
				offered.Why = words.Sentences(offered.Why, NotTried)
				continue
			}
			attempts = append(attempts, attempt{offered, tried})
		}
	}
	var running sync.WaitGroup
	for _, portion := range state.Portions(len(attempts), 1) {
		running.Go(func() {
			defer s.Recover()
			for _, a := range attempts[portion[0]:portion[1]] {
				if s.Ctx.Err() != nil {
					return
				}
				a.fix.Proven = Holds(a.edit)
			}
		})
	}
	running.Wait()
}

// Holds tries the edit. Secrets are not tried.
func Holds(e *fix.Edit) bool {
	r := e.Resource
	if r == nil || r.Target == nil || r.Live == nil || r.IsSecret() || !reproduced(r) {
		return false
	}
	allowed := others(r, e.Fields)
	if len(e.Changes) == 0 {
		after, err := compare.Try(r, compare.Trial{Ignores: e.Ignores, Without: e.Without, Strategy: e.Strategy})
		return err == nil && allowed.Hold(after)
	}
	target, ok := fix.Edited(r.Target, e.Changes, true)
	if !ok {
		return false
	}
	if r.Strategy == drift.ServerSide {
		return merged(e, target)
	}
	after, err := compare.Try(r, compare.Trial{Target: target})
	if err != nil {
		return false
	}
	if allowed.Hold(after) {
		return true
	}
	return synced(e, target, after, allowed)
}

// merged tries another manifest under server-side diff. The API server's answer to
// it is not known, but its merge is: the same algorithm with the same owners. Its
// defaults and admission are those that the live value has passed. A field that the
// merge alone does not find different is beyond this.
func merged(e *fix.Edit, target object.Object) bool {
	r := e.Resource
	before, err := compare.Try(r, compare.Trial{Strategy: drift.StructuredMerge})
	if err != nil {
		return false
	}
	mine := fieldpath.NewSet()
	for _, field := range e.Fields {
		mine.Insert(field.Pointer)
	}
	var others []*diff.Difference
	for _, d := range before {
		if !mine.Has(d.Pointer) {
			others = append(others, d)
		}
	}
	if shown := len(before) - len(others); shown < len(r.Differences)-len(without(r, mine)) {
		return false
	}
	after, err := compare.Try(r, compare.Trial{Target: target, Strategy: drift.StructuredMerge})
	return err == nil && diff.CountAll(others).Hold(after)
}

// synced models the one sync that the commit leads to: it may touch nothing but the
// finding's fields, and afterwards nothing but what differed otherwise may differ.
func synced(e *fix.Edit, target object.Object, after []*diff.Difference, allowed diff.Multiset) bool {
	r := e.Resource
	left := left(after, allowed)
	mine := fieldpath.NewSet()
	for _, field := range e.Fields {
		mine.Insert(field.Pointer)
	}
	var applied []snippet.Change
	for _, d := range left {
		covered := mine.Covers(d.Pointer) || slices.ContainsFunc(e.Fields, func(f drift.Field) bool { return d.Pointer.Covers(f.Pointer) })
		null := d.InTarget && d.Target == nil // the API server keeps none
		if !covered || null || value.IsIndex(d.Steps[len(d.Steps)-1]) && d.InLive != d.InTarget {
			return false
		}
		path, plain := livePath(r, d.Steps)
		if !plain {
			return false
		}
		applied = append(applied, snippet.Change{Path: path, Value: d.Target, Remove: !d.InTarget})
	}
	live, ok := fix.Edited(r.Live, applied, false)
	if !ok {
		return false
	}
	states := []object.Object{withLastApplied(r, live, target)}
	if e.Rewritten {
		if r.Strategy != drift.Legacy && slices.ContainsFunc(applied, func(c snippet.Change) bool { return snippet.ThroughList(c.Path) }) {
			return false
		}
		states = append(states, disowned(withLastApplied(r, r.Live, target), applied))
	}
	for _, state := range states {
		then, err := compare.Try(r, compare.Trial{Target: target, Live: state})
		if err != nil || !allowed.Hold(then) {
			return false
		}
	}
	return true
}

// livePath is the path of steps in the live object. The steps are those of the
// document that Argo CD compared; where one of its lists is shorter, rules took items
// out of it, and the positions are not live's.
func livePath(r *state.Resource, steps []string) ([]snippet.Step, bool) {
	var live, compared any = r.Live, r.Normalized
	path := make([]snippet.Step, 0, len(steps))
	for _, name := range steps {
		items, isList := live.([]any)
		if !isList {
			path = append(path, snippet.Step{Field: name})
			live, compared = value.Child(live, name), value.Child(compared, name)
			continue
		}
		others, _ := compared.([]any)
		index := value.Index(name)
		if r.Normalized != nil && len(others) != len(items) || index >= len(items) {
			return nil, false
		}
		path = append(path, snippet.Step{Item: true, Index: index, InGit: index})
		live, compared = value.Item(items, index), value.Item(others, index)
	}
	return path, len(path) > 0
}

// reproduced reports whether the comparison made here finds what the snapshot says
// that Argo CD found; where it does not, a trial shows nothing.
func reproduced(r *state.Resource) bool {
	if r.Given.NormalizedLive == nil || r.Given.PredictedLive == nil {
		return true
	}
	again, err := compare.Try(r, compare.Trial{})
	return err == nil && diff.CountAll(r.Differences).Hold(again)
}

// others counts the flagged differences that are not at the fields.
func others(r *state.Resource, fields []drift.Field) diff.Multiset {
	mine := fieldpath.NewSet()
	for _, field := range fields {
		mine.Insert(field.Pointer)
	}
	return diff.CountAll(without(r, mine))
}

// without are the flagged differences at other places.
func without(r *state.Resource, places *fieldpath.Set) []*diff.Difference {
	var kept []*diff.Difference
	for _, d := range r.Differences {
		if !places.Has(d.Pointer) {
			kept = append(kept, d)
		}
	}
	return kept
}

// left are the differences that are not among those allowed.
func left(after []*diff.Difference, allowed diff.Multiset) []*diff.Difference {
	remaining := maps.Clone(allowed)
	var left []*diff.Difference
	for _, d := range after {
		spelled := d.Spelled()
		if remaining[spelled] > 0 {
			remaining[spelled]--
			continue
		}
		left = append(left, d)
	}
	return left
}

// withLastApplied is the live object as a client-side apply of the target leaves
// its annotation.
func withLastApplied(r *state.Resource, live, target object.Object) object.Object {
	if r.Strategy != drift.Legacy || object.Annotation(live, mark.LastApplied) == "" {
		return live
	}
	applied, err := json.Marshal(target)
	if err != nil {
		return live
	}
	path := []snippet.Step{{Field: "metadata"}, {Field: "annotations"}, {Field: mark.LastApplied}}
	made, ok := fix.Edited(live, []snippet.Change{{Path: path, Value: string(applied)}}, false)
	if !ok {
		return live
	}
	return made
}

// disowned is the live object without Argo CD's answers to the fields, as a
// server-side apply without them leaves it.
func disowned(live object.Object, fields []snippet.Change) object.Object {
	entries := object.List(live, "metadata", "managedFields")
	var releases []snippet.Change
	for i, entry := range entries {
		if object.Text(entry, "manager") != mark.Manager {
			continue
		}
		for _, field := range fields {
			path := []snippet.Step{{Field: "metadata"}, {Field: "managedFields"}, {Item: true, Index: i}, {Field: "fieldsV1"}}
			for _, step := range field.Path {
				path = append(path, snippet.Step{Field: "f:" + step.Field})
			}
			if names := ownedNames(field.Path); childAt(entry, names) {
				releases = append(releases, snippet.Change{Path: path, Remove: true})
			}
		}
	}
	made, ok := fix.Edited(live, releases, false)
	if !ok {
		return live
	}
	return made
}

func ownedNames(path []snippet.Step) []string {
	names := []string{"fieldsV1"}
	for _, step := range path {
		names = append(names, "f:"+step.Field)
	}
	return names
}

func childAt(document any, names []string) bool {
	_, found := object.At(document, names...)
	return found
}
