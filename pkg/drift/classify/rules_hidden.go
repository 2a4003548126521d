package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// duplicateListKey: Git has two items with the same merge key in a list whose items
// are told apart by it. Evidence: the schema's merge keys, or what the API server's
// message says.
func duplicateListKey(r *resource, open []*diff.Difference) []claim {
	var claims []claim
	doubled := r.doubledLists()
	if len(doubled) == 0 {
		return nil
	}
	for _, d := range open {
		if found, covered := covering(doubled, d.TargetPointer); covered {
			claims = append(claims, claim{
				mechanism: drift.DuplicateListKey, differences: []*diff.Difference{d}, confidence: drift.Certain, sync: r.syncOfDuplicate(), evidence: []string{found.evidence()},
			})
		}
	}
	return claims
}

// hiddenDuplicates: under client-side apply, duplicate keys in Git are merged
// silently: the Application is Synced and one of the values is never applied.
func hiddenDuplicates(r *resource) []claim {
	if r.target == nil || r.live == nil {
		return nil
	}
	doubled := r.doubledLists()
	if slices.ContainsFunc(r.differences, func(d *diff.Difference) bool {
		_, covered := covering(doubled, d.TargetPointer)
		return d.Claimed && covered
	}) {
		return nil
	}
	var claims []claim
	for _, found := range r.duplicates() {
		value, _ := found.item.Value(r.target)
		claims = append(claims, claim{
			mechanism: drift.DuplicateListKey, confidence: drift.Certain, sync: r.syncOfDuplicate(), evidence: []string{found.evidence()},
			hidden: []drift.Field{{Pointer: found.item, Target: value, InTarget: true}},
		})
	}
	return claims
}

// doubledLists are the lists that hold duplicates, each with its first one.
func (r *resource) doubledLists() map[fieldpath.Pointer]duplicate {
	lists := map[fieldpath.Pointer]duplicate{}
	for _, found := range r.duplicates() {
		if _, known := lists[found.list]; !known {
			lists[found.list] = found
		}
	}
	return lists
}

// covering returns the duplicate of the innermost list that holds the field.
func covering(lists map[fieldpath.Pointer]duplicate, field fieldpath.Pointer) (duplicate, bool) {
	for len(lists) > 0 {
		if found, covered := lists[field]; covered {
			return found, true
		}
		if field == "" {
			break
		}
		field = field.Parent()
	}
	return duplicate{}, false
}

func (r *resource) syncOfDuplicate() drift.Sync {
	if r.syncsServerSide() {
		return drift.WillFail
	}
	return drift.Noop
}

// duplicate is an item of Git's that has the key of an earlier one.
type duplicate struct {
	list, item fieldpath.Pointer
	key        string
}

func (d duplicate) evidence() string {
	return fmt.Sprintf("Git has two items with the key %s in %s", d.key, d.list)
}

// duplicates finds Git's items with the same merge key.
func (r *resource) duplicates() []duplicate {
	root, known := r.shape()
	if !known || r.target == nil {
		return nil
	}
	if !r.duplicatesOnce {
		r.duplicatesOnce = true
		seekDuplicates("", root, r.target, &r.duplicatesFound)
	}
	return r.duplicatesFound
}

func seekDuplicates(pointer fieldpath.Pointer, s kind.Shape, node any, found *[]duplicate) {
	switch v := node.(type) {
	case map[string]any:
		for name, child := range v {
			if below, known := s.Child(name); known && (below.Crd != nil || below.GoType != nil) && value.Nested(child) {
				seekDuplicates(pointer.Key(name), below, child, found)
			}
		}
	case []any:
		below, _ := s.Child("0")
		seen := map[string]bool{}
		for i, item := range v {
			if key, ok := kind.MergeKey(item, s.MergeKeys); ok && seen[key] {
				*found = append(*found, duplicate{list: pointer, item: pointer.Index(i), key: key})
			} else if ok {
				seen[key] = true
			}
			if value.Nested(item) {
				seekDuplicates(pointer.Index(i), below, item, found)
			}
		}
	}
}

// hiddenAdditions: fields that a person or a tool added to the live object and that
// no comparison shows, because neither Git nor the last applied manifest has them.
// Evidence: managedFields give them to that manager alone. What was left behind by an
// applier from before Argo CD took over is a residue; the time with which a rollout
// was restarted is harmless.
func hiddenAdditions(r *resource) []claim {
	if r.target == nil || r.live == nil || r.situation.incomparable {
		return nil
	}
	var claims []claim
	for _, added := range r.added() {
		c := claim{confidence: drift.Certain, sync: drift.Noop, hidden: []drift.Field{{Pointer: added.pointer, Live: added.value, InLive: true, Owner: &added.owner}}}
		c.evidence = []string{fmt.Sprintf("%s is only live, owned by %s alone", added.pointer, owners.By(added.owner))}
		switch {
		case strings.HasSuffix(string(added.pointer), "kubectl.kubernetes.io~1restartedAt") || mark.OnlyRestart(added.value):
			c.mechanism = drift.RolloutRestart
			c.evidence = append(c.evidence, "it marks a restart, and a sync leaves it alone")
		case owners.RoleOf(r.ref.Kind, added.owner) == owners.Person:
			c.mechanism = drift.HiddenLiveAddition
			c.evidence = append(c.evidence, "Argo CD compares what Git declares, so it does not see it and a sync leaves it alone")
		default:
			c.mechanism = drift.SSACoownerResidue
			c.evidence = append(c.evidence, "server-side apply keeps a field as long as another manager owns it, though Git no longer has it")
		}
		claims = append(claims, c)
	}
	return claims
}

// addition is a live field outside of every manifest.
type addition struct {
	pointer fieldpath.Pointer
	value   any
	owner   drift.Owner
}

// added are the roots of what people and appliers alone own, and that neither Git
// nor the last applied manifest has.
func (r *resource) added() []addition {
	if !r.mayBeAdded() {
		return nil
	}
	applied := lastAppliedOf(r.live)
	flagged := diff.PlacesOf(r.differences)
	var found []addition
	for _, pointer := range r.places() {
		if r.situation.ctx.Err() != nil {
			break
		}
		owner, mine := r.soleOwner(pointer)
		if !mine {
			continue
		}
		steps := pointer.Steps()
		if reserved(steps) || flagged.Meet(pointer) {
			continue
		}
		if _, inGit := r.items.Follow(r.target, r.live, steps); inGit {
			continue
		}
		value, _ := pointer.Value(r.live)
		_, inApplied := r.items.Follow(applied, r.live, steps)
		if residue := owners.RoleOf(r.ref.Kind, owner) == owners.Applier; inApplied != residue && (inApplied || applied != nil) || r.isDefault(steps, value) {
			continue
		}
		found = append(found, addition{pointer: r.rootOf(pointer, applied), value: value, owner: owner})
	}
	return r.withoutFilled(r.roots(found))
}

// places are the fields that managedFields name, and those below maps that they name
// as one value alone: a three-way merge keeps the keys of such maps apart.
func (r *resource) places() []fieldpath.Pointer {
	var found []fieldpath.Pointer
	for pointer := range r.ownership().Exact {
		found = append(found, pointer)
		if _, whole := r.ownership().Whole[pointer]; !whole {
			continue
		}
		if v, _ := pointer.Value(r.live); value.Nested(v) {
			if _, mine := r.soleOwner(pointer); mine {
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
func (r *resource) mayBeAdded() bool {
	return slices.ContainsFunc(object.List(r.live, "metadata", "managedFields"), func(entry any) bool {
		role := owners.RoleOf(r.ref.Kind, drift.Owner{Manager: object.Text(entry, "manager"), Operation: object.Text(entry, "operation")})
		return role == owners.Person || role == owners.Applier
	})
}

// soleOwner returns the newest owner when all are people or appliers. Appliers count
// only where sync is server-side: there their fields stay behind.
func (r *resource) soleOwner(pointer fieldpath.Pointer) (drift.Owner, bool) {
	by := r.ownership().At(pointer)
	for _, owner := range by {
		switch owners.RoleOf(r.ref.Kind, owner) {
		case owners.Person:
		case owners.Applier:
			if !r.syncsServerSide() {
				return drift.Owner{}, false
			}
		case owners.Nobody, owners.Argo, owners.Controller:
			return drift.Owner{}, false
		}
	}
	return owners.Newest(by)
}

// rootOf climbs to the outermost field that neither manifest has.
func (r *resource) rootOf(pointer fieldpath.Pointer, applied object.Object) fieldpath.Pointer {
	for {
		above := pointer.Parent()
		steps := above.Steps()
		if len(steps) < 2 {
			return pointer
		}
		if _, inGit := r.items.Follow(r.target, r.live, steps); inGit {
			return pointer
		}
		if _, inApplied := r.items.Follow(applied, r.live, steps); inApplied {
			return pointer
		}
		if len(r.ownership().At(above)) == 0 || !r.allHuman(above) {
			return pointer
		}
		pointer = above
	}
}

func (r *resource) allHuman(pointer fieldpath.Pointer) bool {
	return !slices.ContainsFunc(r.ownership().At(pointer), func(owner drift.Owner) bool {
		role := owners.RoleOf(r.ref.Kind, owner)
		return role != owners.Person && role != owners.Applier
	})
}

// roots keeps each outermost field once, in order.
func (r *resource) roots(found []addition) []addition {
	slices.SortFunc(found, func(a, b addition) int { return fieldpath.Compare(a.pointer, b.pointer) })
	var kept []addition
	for _, one := range found {
		if len(kept) > 0 && kept[len(kept)-1].pointer.Covers(one.pointer) {
			continue
		}
		one.value, _ = one.pointer.Value(r.live)
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
