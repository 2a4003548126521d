package classify

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// maxTrials bounds how many fixes of one report are tried: each costs some
// comparisons of a resource.
const maxTrials = 2000

// notTried is said of a fix beyond that.
const notTried = "Not tried: the report has too many fixes for that."

// prove tries the fixes that can be tried, and marks those proven after which the
// finding's fields differ no more and nothing else does.
func (s *situation) prove(report *drift.Report) {
	type attempt struct {
		fix  *drift.Fix
		edit *edit
	}
	var attempts []attempt
	for i := range report.Findings {
		for j := range report.Findings[i].Fixes {
			fix := &report.Findings[i].Fixes[j]
			tried, ok := fix.Edit.(*edit)
			if !ok {
				continue
			}
			if len(attempts) == maxTrials {
				fix.Why = words.Sentences(fix.Why, notTried)
				continue
			}
			attempts = append(attempts, attempt{fix, tried})
		}
	}
	var running sync.WaitGroup
	for _, portion := range portions(len(attempts)) {
		running.Go(func() {
			defer s.survive()
			for _, a := range attempts[portion[0]:portion[1]] {
				if s.ctx.Err() != nil {
					return
				}
				a.fix.Proven = a.edit.holds()
			}
		})
	}
	running.Wait()
}

// holds tries the edit. Secrets are not tried.
func (e *edit) holds() bool {
	r := e.resource
	if r == nil || r.target == nil || r.live == nil || r.isSecret() || !r.reproduced() {
		return false
	}
	allowed := r.others(e.fields)
	if len(e.changes) == 0 {
		after, err := r.try(trial{ignores: e.ignores, without: e.without, strategy: e.strategy})
		return err == nil && allowed.Hold(after)
	}
	target, ok := edited(r.target, e.changes, true)
	if !ok {
		return false
	}
	if r.strategy == drift.ServerSide {
		return e.merged(target)
	}
	after, err := r.try(trial{target: target})
	if err != nil {
		return false
	}
	if allowed.Hold(after) {
		return true
	}
	return e.synced(target, after, allowed)
}

// merged tries another manifest under server-side diff. The API server's answer to
// it is not known, but its merge is: the same algorithm with the same owners. Its
// defaults and admission are those that the live value has passed. A field that the
// merge alone does not find different is beyond this.
func (e *edit) merged(target object.Object) bool {
	r := e.resource
	before, err := r.try(trial{strategy: drift.StructuredMerge})
	if err != nil {
		return false
	}
	mine := fieldpath.NewSet()
	for _, field := range e.fields {
		mine.Insert(field.Pointer)
	}
	var others []*diff.Difference
	for _, d := range before {
		if !mine.Has(d.Pointer) {
			others = append(others, d)
		}
	}
	if shown := len(before) - len(others); shown < len(r.differences)-len(r.without(mine)) {
		return false
	}
	after, err := r.try(trial{target: target, strategy: drift.StructuredMerge})
	return err == nil && diff.CountAll(others).Hold(after)
}

// synced models the one sync that the commit leads to: it may touch nothing but the
// finding's fields, and afterwards nothing but what differed otherwise may differ.
func (e *edit) synced(target object.Object, after []*diff.Difference, allowed diff.Multiset) bool {
	r := e.resource
	left := r.left(after, allowed)
	mine := fieldpath.NewSet()
	for _, field := range e.fields {
		mine.Insert(field.Pointer)
	}
	var applied []snippet.Change
	for _, d := range left {
		covered := mine.Covers(d.Pointer) || slices.ContainsFunc(e.fields, func(f drift.Field) bool { return d.Pointer.Covers(f.Pointer) })
		null := d.InTarget && d.Target == nil // the API server keeps none
		if !covered || null || value.IsIndex(d.Steps[len(d.Steps)-1]) && d.InLive != d.InTarget {
			return false
		}
		path, plain := r.livePath(d.Steps)
		if !plain {
			return false
		}
		applied = append(applied, snippet.Change{Path: path, Value: d.Target, Remove: !d.InTarget})
	}
	live, ok := edited(r.live, applied, false)
	if !ok {
		return false
	}
	states := []object.Object{r.withLastApplied(live, target)}
	if e.rewritten {
		if r.strategy != drift.Legacy && slices.ContainsFunc(applied, func(c snippet.Change) bool { return snippet.ThroughList(c.Path) }) {
			return false
		}
		states = append(states, r.disowned(r.withLastApplied(r.live, target), applied))
	}
	for _, state := range states {
		then, err := r.try(trial{target: target, live: state})
		if err != nil || !allowed.Hold(then) {
			return false
		}
	}
	return true
}

// livePath is the path of steps in the live object. The steps are those of the
// document that Argo CD compared; where one of its lists is shorter, rules took items
// out of it, and the positions are not live's.
func (r *resource) livePath(steps []string) ([]snippet.Step, bool) {
	var live, compared any = r.live, r.normalized
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
		if r.normalized != nil && len(others) != len(items) || index >= len(items) {
			return nil, false
		}
		path = append(path, snippet.Step{Item: true, Index: index, InGit: index})
		live, compared = value.Item(items, index), value.Item(others, index)
	}
	return path, len(path) > 0
}

// reproduced reports whether the comparison made here finds what the snapshot says
// that Argo CD found; where it does not, a trial shows nothing.
func (r *resource) reproduced() bool {
	if r.given.NormalizedLive == nil || r.given.PredictedLive == nil {
		return true
	}
	again, err := r.try(trial{})
	return err == nil && diff.CountAll(r.differences).Hold(again)
}

// others counts the flagged differences that are not at the fields.
func (r *resource) others(fields []drift.Field) diff.Multiset {
	mine := fieldpath.NewSet()
	for _, field := range fields {
		mine.Insert(field.Pointer)
	}
	return diff.CountAll(r.without(mine))
}

// without are the flagged differences at other places.
func (r *resource) without(places *fieldpath.Set) []*diff.Difference {
	var kept []*diff.Difference
	for _, d := range r.differences {
		if !places.Has(d.Pointer) {
			kept = append(kept, d)
		}
	}
	return kept
}

// left are the differences that are not among those allowed.
func (r *resource) left(after []*diff.Difference, allowed diff.Multiset) []*diff.Difference {
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
func (r *resource) withLastApplied(live, target object.Object) object.Object {
	if r.strategy != drift.Legacy || object.Annotation(live, mark.LastApplied) == "" {
		return live
	}
	applied, err := json.Marshal(target)
	if err != nil {
		return live
	}
	path := []snippet.Step{{Field: "metadata"}, {Field: "annotations"}, {Field: mark.LastApplied}}
	made, ok := edited(live, []snippet.Change{{Path: path, Value: string(applied)}}, false)
	if !ok {
		return live
	}
	return made
}

// disowned is the live object without Argo CD's claims to the fields, as a
// server-side apply without them leaves it.
func (r *resource) disowned(live object.Object, fields []snippet.Change) object.Object {
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
	made, ok := edited(live, releases, false)
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
