package values

import (
	"fmt"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// CRDListDefault answers: the live object holds a default of its CRD that Git leaves out,
// where Argo CD compares a list or map as a whole. Evidence: the field is live-only,
// and Git's manifest with the CRD's defaults added has the same value there.
// Without the CRD, a live-only field of a list item that nobody but Argo CD owns is
// possibly one. Counter-evidence: an owner other than Argo CD.
func CRDListDefault(r *state.Resource, open []*diff.Difference) []rule.Answer {
	if r.BuiltIn() {
		return nil
	}
	pinned, has := r.Pinned()
	if !has {
		return guessedDefaults(r, open)
	}
	var answers []rule.Answer
	for _, d := range open {
		if d.InTarget || d.InGit {
			continue
		}
		v, found := followAside(pinned, r, d)
		if !found || !value.Equal(v, d.Live) {
			continue
		}
		c := rule.Answer{Mechanism: drift.CRDListDefault, Differences: []*diff.Difference{d}, Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{
			fmt.Sprintf("%s is the default %s of the CRD's schema, which the API server adds", d.Pointer, r.Show(d.Pointer, d.Live, true)),
		}}
		if r.Strategy == drift.Legacy {
			c.Evidence = append(c.Evidence, "the list is compared as a whole, so another difference in it brings the default to light")
		}
		answers = append(answers, c)
	}
	return answers
}

// followAside finds in another form of Git's manifest the field that only live has.
func followAside(document object.Object, r *state.Resource, d *diff.Difference) (any, bool) {
	return r.Items.Follow(document, r.Normalized, d.Steps)
}

// VolumeClaimTemplate answers: the API server fills apiVersion, kind, status and the like into
// a StatefulSet's volumeClaimTemplates, and structured merge compares the list whole.
func VolumeClaimTemplate(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if r.Ref.Group != "apps" || r.Ref.Kind != "StatefulSet" || len(d.Steps) < 4 || d.Steps[1] != "volumeClaimTemplates" || d.InGit {
		return rule.Answer{}, false
	}
	stamp := d.Steps[3] == "metadata" && d.Steps[len(d.Steps)-1] == "creationTimestamp"
	filled := stamp || !d.InTarget && (d.Steps[3] == "apiVersion" || d.Steps[3] == "kind" || d.Steps[3] == "status" ||
		d.Steps[3] == "spec" && d.Steps[len(d.Steps)-1] == "volumeMode")
	return rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{
		"the API server fills " + string(d.Pointer) + " in, and the list of volumeClaimTemplates is compared as a whole",
	}}, filled
}

// UnknownFieldPruned answers: Git declares a field that the kind's schema does not have, so
// the API server drops it: a typo, a field in the wrong place, or one of a newer
// version. Evidence: the schema. Counter-evidence: the live object, or another of the kind,
// has it, so that the schema is not the cluster's.
func UnknownFieldPruned(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if d.InLive || !d.InTarget || !d.InGit {
		return rule.Answer{}, false
	}
	root, known := r.Shape()
	if !known || d.Steps[0] == "status" {
		return rule.Answer{}, false
	}
	steps := d.TargetPointer.Steps()
	if _, has := root.At(steps); has || !r.BuiltIn() && r.LiveHolds(d.Steps) {
		// A subtree is dropped whole when everything in it is unknown.
		return rule.Answer{}, false
	}
	c := rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{fmt.Sprintf("the schema of %s has no field %s, so the API server drops it", r.Ref.Kind, d.Pointer)}}
	if name, found := r.Meant(steps); found {
		c.Evidence = append(c.Evidence, fmt.Sprintf("the schema has %q at that place", name))
	}
	if d.InApplied && value.Equal(d.Applied, d.Git) {
		c.Evidence = append(c.Evidence, "it was applied before and did not stay")
	}
	return c, true
}

// DeprecatedAlias answers: a field and its deprecated alias are kept equal by the API
// server, so that removing one from Git does not stick. Evidence: the sibling of the
// pair is live with the same value, or in Git.
func DeprecatedAlias(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	name := d.Steps[len(d.Steps)-1]
	for _, pair := range kind.Aliases {
		other := pair[0]
		if name == pair[0] {
			other = pair[1]
		} else if name != pair[1] {
			continue
		}
		parent := d.Steps[:len(d.Steps)-1]
		sibling, found := diff.Follow(r.Normalized, r.Normalized, append(append([]string{}, parent...), other))
		same := found && d.InLive && value.Equal(sibling, d.Live)
		_, inGit := diff.Follow(r.Target, r.Normalized, append(append([]string{}, parent...), other))
		both := d.InTarget && d.InLive
		if !same || both && (name == pair[0] || !inGit && !value.Equal(d.Applied, d.Live)) {
			continue // the first of the pair wins: another value of it is applied
		}
		return rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{
			fmt.Sprintf("%s and %s name the same thing; the API server keeps them equal, so that one brings the other back", pair[0], pair[1]),
		}}, true
	}
	return rule.Answer{}, false
}

// EmptyVsAbsent answers: Git sets null, "", {} or [], which the API server drops, fills or
// takes for an order to remove. Evidence: Git's value is empty at the field or above
// it, and live has nothing or something allocated there. Counter-evidence: a custom
// kind whose schema keeps the value (then something dropped it).
func EmptyVsAbsent(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if above, found := nullInGit(r, d); found {
		c := rule.Answer{Confidence: drift.Certain, Sync: drift.Noop, Evidence: []string{"Git sets " + string(above) + " to null"}}
		if d.InLive && !d.InTarget {
			c.Sync = drift.OverwritesLive
			c.Evidence = append(c.Evidence, "a sync removes "+string(d.Pointer)+", which only live has")
			c.Loss = []string{rule.Lost(r, d)}
		}
		return c, true
	}
	if !d.InGit || !value.IsEmpty(d.Git) || value.IsZero(d.Git) && !r.BuiltIn() {
		return rule.Answer{}, false
	}
	if !r.BuiltIn() && (d.InLive || !droppedByServer(d)) {
		return rule.Answer{}, false
	}
	sync := syncOfEmpty(r, d)
	if sync != drift.WillFail && outcome.EditedLiveOrInGit(r, d) {
		return rule.Answer{}, false
	}
	if !d.InLive {
		return rule.Answer{Confidence: drift.Certain, Sync: sync, Evidence: []string{
			fmt.Sprintf("Git sets %s to %s, which the API server does not keep", d.Pointer, r.Show(d.Pointer, d.Git, true)),
		}}, true
	}
	if r.WritersOf(d).Role != owners.Nobody || !value.IsEmpty(d.Target) || r.Ref.Kind == "Secret" || r.Ref.Kind == "ConfigMap" {
		return rule.Answer{}, false
	}
	return rule.Answer{Confidence: drift.Likely, Sync: sync, Evidence: []string{
		fmt.Sprintf("Git sets %s to %s, and the API server allocated %s", d.Pointer, r.Show(d.Pointer, d.Git, true), r.Show(d.Pointer, d.Live, true)),
	}}, true
}

// syncOfEmpty is what a sync of an empty value does: an empty text where a number
// or a percentage is wanted is refused.
func syncOfEmpty(r *state.Resource, d *diff.Difference) drift.Sync {
	root, known := r.Shape()
	if known && d.Git == "" {
		if found, has := root.At(d.TargetPointer.Steps()); has && found.IntOrString() {
			return drift.WillFail
		}
	}
	if d.InApplied && value.Equal(d.Applied, d.Git) {
		return drift.HarmlessFlap
	}
	return drift.Noop
}

// droppedByServer reports whether the API server itself removes Git's value from a
// custom kind: a null where none may be.
func droppedByServer(d *diff.Difference) bool { return d.Git == nil }

// nullInGit returns the field at or above the difference that Git sets to null.
func nullInGit(r *state.Resource, d *diff.Difference) (fieldpath.Pointer, bool) {
	steps := d.TargetPointer.Steps()
	if !d.InTarget {
		steps = d.Steps
	}
	for i := 1; i <= len(steps); i++ {
		value, found := r.Items.Follow(r.Target, r.Normalized, steps[:i])
		if !found {
			return "", false
		}
		if value == nil {
			return fieldpath.Of(steps[:i]...), true
		}
	}
	return "", false
}

// ExplicitDefaultDropped answers: Git sets a zero value (false, "", 0, {} or []) of a custom
// kind whose controller writes the object back without it, because its Go type leaves
// zero values out. Evidence: the schema knows the field and would keep the value, and
// live has nothing.
func ExplicitDefaultDropped(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	if d.InLive || !d.InGit || !value.IsZero(d.Git) && !value.IsEmpty(d.Git) || d.Git == nil || r.BuiltIn() {
		return rule.Answer{}, false
	}
	if _, whole := d.Git.(map[string]any); whole {
		// A type leaves its zero values out one by one; all of them at once is somebody's wish.
		if remover, found := r.Remover(); found && owners.RoleOf(r.Ref.Kind, remover) == owners.Person {
			return rule.Answer{}, false
		}
	}
	c := rule.Answer{Confidence: drift.Likely, Sync: drift.HarmlessFlap, Evidence: []string{
		fmt.Sprintf("Git sets %s to %s, the zero value, which a controller leaves out when it writes the object back", d.Pointer, r.Show(d.Pointer, d.Git, true)),
	}}
	if d.InApplied && value.Equal(d.Applied, d.Git) {
		c.Confidence = drift.Certain
		c.Evidence = append(c.Evidence, "it was applied before and did not stay")
	}
	if owner, found := lastController(r); found {
		c.Evidence = append(c.Evidence, "the object was written back by "+owners.By(owner))
	} else if !d.InApplied && r.LastApplied != nil {
		// Git is ahead: nothing was applied yet that could have been dropped.
		return rule.Answer{}, false
	}
	return c, true
}

// lastController is the newest controller that wrote the object.
func lastController(r *state.Resource) (drift.Owner, bool) {
	var found []drift.Owner
	for _, owner := range r.Ownership().Entries {
		if owners.RoleOf(r.Ref.Kind, owner) == owners.Controller && owner.Subresource == "" {
			found = append(found, owner)
		}
	}
	return owners.Newest(found)
}

// guessedDefaults: a field of a list item that only live has, of a kind whose schema
// is not known. Evidence: Argo CD's own write is its only owner, as it is of the
// defaults that come with a write, or nobody is, as under server-side apply; fields
// that a webhook adds are owned by nobody. Counter-evidence: another owner, and a
// webhook that is asked for the kind.
func guessedDefaults(r *state.Resource, open []*diff.Difference) []rule.Answer {
	if !r.Application.Schemaless(r.Ref) || len(r.Webhooks()) > 0 || !r.HasOwners() {
		return nil
	}
	var answers []rule.Answer
	for _, d := range open {
		w := r.WritersOf(d)
		belowItem := len(d.Steps) > 1 && slices.ContainsFunc(d.Steps[:len(d.Steps)-1], value.IsIndex)
		if !belowItem || !d.InLive || d.InTarget || d.InGit || d.InApplied || w.Role != owners.Nobody || !w.Argo && r.Strategy == drift.Legacy {
			continue
		}
		answers = append(answers, rule.Answer{Mechanism: drift.CRDListDefault, Differences: []*diff.Difference{d}, Confidence: drift.Possible, Sync: drift.Noop, Evidence: []string{
			fmt.Sprintf("%s is in no manifest, and nobody but Argo CD's own write owns it, as it is with defaults of a CRD", d.Pointer),
			"no mutating webhook in the snapshot is asked for the kind",
			state.NoCRD(r.Ref.Kind),
		}})
	}
	return answers
}
