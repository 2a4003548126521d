package values

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// DuplicateListKey answers: Git has two items with the same merge key in a list whose items
// are told apart by it. Evidence: the schema's merge keys, or what the API server's
// message says.
func DuplicateListKey(r *state.Resource, open []*diff.Difference) []rule.Answer {
	var answers []rule.Answer
	doubled := r.DoubledLists()
	if len(doubled) == 0 {
		return nil
	}
	for _, d := range open {
		if found, covered := state.Covering(doubled, d.TargetPointer); covered {
			answers = append(answers, rule.Answer{
				Mechanism: drift.DuplicateListKey, Differences: []*diff.Difference{d}, Confidence: drift.Certain, Sync: syncOfDuplicate(r), Evidence: []string{found.Evidence()},
			})
		}
	}
	return answers
}

// HiddenDuplicates answers: under client-side apply, duplicate keys in Git are merged
// silently: the Application is Synced and one of the values is never applied.
func HiddenDuplicates(r *state.Resource) []rule.Answer {
	if r.Target == nil || r.Live == nil {
		return nil
	}
	doubled := r.DoubledLists()
	if slices.ContainsFunc(r.Differences, func(d *diff.Difference) bool {
		_, covered := state.Covering(doubled, d.TargetPointer)
		return d.Claimed && covered
	}) {
		return nil
	}
	var answers []rule.Answer
	for _, found := range r.Duplicates() {
		value, _ := found.Item.Value(r.Target)
		answers = append(answers, rule.Answer{
			Mechanism: drift.DuplicateListKey, Confidence: drift.Certain, Sync: syncOfDuplicate(r), Evidence: []string{found.Evidence()},
			Hidden: []drift.Field{{Pointer: found.Item, Target: value, InTarget: true}},
		})
	}
	return answers
}

func syncOfDuplicate(r *state.Resource) drift.Sync {
	if r.SyncsServerSide() {
		return drift.WillFail
	}
	return drift.Noop
}

// HiddenAdditions answers: fields that a person or a tool added to the live object and that
// no comparison shows, because neither Git nor the last applied manifest has them.
// Evidence: managedFields give them to that manager alone. What was left behind by an
// applier from before Argo CD took over is a residue; the time with which a rollout
// was restarted is harmless.
func HiddenAdditions(r *state.Resource) []rule.Answer {
	if r.Target == nil || r.Live == nil || r.Application.Incomparable {
		return nil
	}
	var answers []rule.Answer
	for _, added := range added(r) {
		c := rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Hidden: []drift.Field{{Pointer: added.pointer, Live: added.value, InLive: true, Owner: &added.owner}}}
		c.Evidence = []string{fmt.Sprintf("%s is only live, owned by %s alone", added.pointer, owners.By(added.owner))}
		switch {
		case strings.HasSuffix(string(added.pointer), "kubectl.kubernetes.io~1restartedAt") || mark.OnlyRestart(added.value):
			c.Mechanism = drift.RolloutRestart
			c.Evidence = append(c.Evidence, "it marks a restart, and a sync leaves it alone")
		case owners.RoleOf(r.Ref.Kind, added.owner) == owners.Person:
			c.Mechanism = drift.HiddenLiveAddition
			c.Evidence = append(c.Evidence, "Argo CD compares what Git declares, so it does not see it and a sync leaves it alone")
		default:
			c.Mechanism = drift.SSACoownerResidue
			c.Evidence = append(c.Evidence, "server-side apply keeps a field as long as another manager owns it, though Git no longer has it")
		}
		answers = append(answers, c)
	}
	return answers
}

// addition is a live field outside of every manifest.
type addition struct {
	pointer fieldpath.Pointer
	value   any
	owner   drift.Owner
}

// added are the roots of what people and appliers alone own, and that neither Git
// nor the last applied manifest has.
func added(r *state.Resource) []addition {
	if !mayBeAdded(r) {
		return nil
	}
	applied := state.LastAppliedOf(r.Live)
	flagged := diff.PlacesOf(r.Differences)
	var found []addition
	for _, pointer := range places(r) {
		if r.Application.Ctx.Err() != nil {
			break
		}
		owner, mine := soleOwner(r, pointer)
		if !mine {
			continue
		}
		steps := pointer.Steps()
		if reserved(steps) || flagged.Meet(pointer) {
			continue
		}
		if _, inGit := r.Items.Follow(r.Target, r.Live, steps); inGit {
			continue
		}
		value, _ := pointer.Value(r.Live)
		_, inApplied := r.Items.Follow(applied, r.Live, steps)
		if residue := owners.RoleOf(r.Ref.Kind, owner) == owners.Applier; inApplied != residue && (inApplied || applied != nil) || r.IsDefault(steps, value) {
			continue
		}
		found = append(found, addition{pointer: rootOf(r, pointer, applied), value: value, owner: owner})
	}
	return withoutFilled(r, roots(r, found))
}

// places are the fields that managedFields name, and those below maps that they name
// as one value alone: a three-way merge keeps the keys of such maps apart.
func places(r *state.Resource) []fieldpath.Pointer {
	var found []fieldpath.Pointer
	for pointer := range r.Ownership().Exact {
		found = append(found, pointer)
		if _, whole := r.Ownership().Whole[pointer]; !whole {
			continue
		}
		if v, _ := pointer.Value(r.Live); value.Nested(v) {
			if _, mine := soleOwner(r, pointer); mine {
				found = appendKeys(found, pointer, v, maxBelowWhole)
			}
		}
	}
	return found
}

// maxBelowWhole is how deep a map that is one value is looked into; the deepest of
// Kubernetes', a label selector, has two levels.
const maxBelowWhole = 4

// appendKeys appends the pointers of what is below a map, lists aside.
func appendKeys(found []fieldpath.Pointer, pointer fieldpath.Pointer, value any, levels int) []fieldpath.Pointer {
	content, _ := value.(map[string]any)
	if levels == 0 {
		return found
	}
	for name, child := range content {
		found = appendKeys(append(found, pointer.Key(name)), pointer.Key(name), child, levels-1)
	}
	return found
}

// mayBeAdded looks for managers of people or appliers without reading any fields.
func mayBeAdded(r *state.Resource) bool {
	return slices.ContainsFunc(object.List(r.Live, "metadata", "managedFields"), func(entry any) bool {
		role := owners.RoleOf(r.Ref.Kind, drift.Owner{Manager: object.Text(entry, "manager"), Operation: object.Text(entry, "operation")})
		return role == owners.Person || role == owners.Applier
	})
}

// soleOwner returns the newest owner when all are people or appliers. Appliers count
// only where sync is server-side: there their fields stay behind.
func soleOwner(r *state.Resource, pointer fieldpath.Pointer) (drift.Owner, bool) {
	by := r.Ownership().At(pointer)
	for _, owner := range by {
		switch owners.RoleOf(r.Ref.Kind, owner) {
		case owners.Person:
		case owners.Applier:
			if !r.SyncsServerSide() {
				return drift.Owner{}, false
			}
		case owners.Nobody, owners.Argo, owners.Controller:
			return drift.Owner{}, false
		}
	}
	return owners.Newest(by)
}

// rootOf climbs to the outermost field that neither manifest has.
func rootOf(r *state.Resource, pointer fieldpath.Pointer, applied object.Object) fieldpath.Pointer {
	for {
		above := pointer.Parent()
		steps := above.Steps()
		if len(steps) < 2 {
			return pointer
		}
		if _, inGit := r.Items.Follow(r.Target, r.Live, steps); inGit {
			return pointer
		}
		if _, inApplied := r.Items.Follow(applied, r.Live, steps); inApplied {
			return pointer
		}
		if len(r.Ownership().At(above)) == 0 || !allHuman(r, above) {
			return pointer
		}
		pointer = above
	}
}

func allHuman(r *state.Resource, pointer fieldpath.Pointer) bool {
	return !slices.ContainsFunc(r.Ownership().At(pointer), func(owner drift.Owner) bool {
		role := owners.RoleOf(r.Ref.Kind, owner)
		return role != owners.Person && role != owners.Applier
	})
}

// roots keeps each outermost field once, in order.
func roots(r *state.Resource, found []addition) []addition {
	slices.SortFunc(found, func(a, b addition) int { return fieldpath.Compare(a.pointer, b.pointer) })
	var kept []addition
	for _, one := range found {
		if len(kept) > 0 && kept[len(kept)-1].pointer.Covers(one.pointer) {
			continue
		}
		one.value, _ = one.pointer.Value(r.Live)
		kept = append(kept, one)
	}
	return kept
}

// reserved are fields that are never Git's: status, what the API server keeps in
// metadata, and what kubectl and the workload controllers note in annotations.
func reserved(steps []string) bool {
	if len(steps) == 0 || steps[0] == "status" {
		return true
	}
	if steps[0] != "metadata" || len(steps) < 2 {
		return len(steps) < 2 && steps[0] != "data" && steps[0] != "spec"
	}
	if steps[1] != "annotations" && steps[1] != "labels" {
		return true
	}
	return len(steps) < 3 || steps[2] == mark.LastApplied || steps[2] == mark.TrackingID || strings.HasPrefix(steps[2], "deployment.kubernetes.io/")
}
