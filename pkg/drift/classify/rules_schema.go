package classify

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// crdListDefault: the live object holds a default of its CRD that Git leaves out,
// where Argo CD compares a list or map as a whole. Evidence: the field is live-only,
// and Git's manifest with the CRD's defaults added has the same value there.
// Without the CRD, a live-only field of a list item that nobody but Argo CD owns is
// possibly one. Counter-evidence: an owner other than Argo CD.
func crdListDefault(r *resource, open []*diff.Difference) []claim {
	if r.builtIn() {
		return nil
	}
	pinned, has := r.pinned()
	if !has {
		return r.guessedDefaults(open)
	}
	var claims []claim
	for _, d := range open {
		if d.InTarget || d.InGit {
			continue
		}
		v, found := followAside(pinned, r, d)
		if !found || !value.Equal(v, d.Live) {
			continue
		}
		c := claim{mechanism: drift.CRDListDefault, differences: []*diff.Difference{d}, confidence: drift.Certain, sync: drift.Noop, evidence: []string{
			fmt.Sprintf("%s is the default %s of the CRD's schema, which the API server adds", d.Pointer, r.show(d.Pointer, d.Live, true)),
		}}
		if r.strategy == drift.Legacy {
			c.evidence = append(c.evidence, "the list is compared as a whole, so another difference in it brings the default to light")
		}
		claims = append(claims, c)
	}
	return claims
}

// followAside finds in another form of Git's manifest the field that only live has.
func followAside(document object.Object, r *resource, d *diff.Difference) (any, bool) {
	return r.items.Follow(document, r.normalized, d.Steps)
}

// volumeClaimTemplate: the API server fills apiVersion, kind, status and the like into
// a StatefulSet's volumeClaimTemplates, and structured merge compares the list whole.
func volumeClaimTemplate(r *resource, d *diff.Difference) (claim, bool) {
	if r.ref.Group != "apps" || r.ref.Kind != "StatefulSet" || len(d.Steps) < 4 || d.Steps[1] != "volumeClaimTemplates" || d.InGit {
		return claim{}, false
	}
	stamp := d.Steps[3] == "metadata" && d.Steps[len(d.Steps)-1] == "creationTimestamp"
	filled := stamp || !d.InTarget && (d.Steps[3] == "apiVersion" || d.Steps[3] == "kind" || d.Steps[3] == "status" ||
		d.Steps[3] == "spec" && d.Steps[len(d.Steps)-1] == "volumeMode")
	return claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{
		"the API server fills " + string(d.Pointer) + " in, and the list of volumeClaimTemplates is compared as a whole",
	}}, filled
}

// unknownFieldPruned: Git declares a field that the kind's schema does not have, so
// the API server drops it: a typo, a field in the wrong place, or one of a newer
// version. Evidence: the schema. Counter-evidence: the live object has it.
func unknownFieldPruned(r *resource, d *diff.Difference) (claim, bool) {
	if d.InLive || !d.InTarget || !d.InGit {
		return claim{}, false
	}
	root, known := r.shape()
	if !known || d.Steps[0] == "status" {
		return claim{}, false
	}
	steps := d.TargetPointer.Steps()
	if _, has := root.At(steps); has {
		// A subtree is dropped whole when everything in it is unknown.
		return claim{}, false
	}
	c := claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{fmt.Sprintf("the schema of %s has no field %s, so the API server drops it", r.ref.Kind, d.Pointer)}}
	if name, found := r.meant(steps); found {
		c.evidence = append(c.evidence, fmt.Sprintf("the schema has %q at that place", name))
	}
	if d.InApplied && value.Equal(d.Applied, d.Git) {
		c.evidence = append(c.evidence, "it was applied before and did not stay")
	}
	return c, true
}

// meant returns the field that a misspelt one was probably meant to be.
func (r *resource) meant(steps []string) (string, bool) {
	root, known := r.shape()
	if !known {
		return "", false
	}
	for i := range steps {
		if _, has := root.At(steps[:i+1]); has {
			continue
		}
		parent, _ := root.At(steps[:i])
		best, distance := "", words.Far
		for _, name := range parent.FieldNames() {
			d := words.Distance(strings.ToLower(name), strings.ToLower(steps[i]))
			if d == words.Far && len(name) > 4 && (strings.HasPrefix(steps[i], name) || strings.HasPrefix(name, steps[i])) {
				d = words.Far - 1
			}
			if d < distance || d == distance && d < words.Far && name < best {
				best, distance = name, d
			}
		}
		return best, best != ""
	}
	return "", false
}

// deprecatedAlias: a field and its deprecated alias are kept equal by the API
// server, so that removing one from Git does not stick. Evidence: the sibling of the
// pair is live with the same value, or in Git.
func deprecatedAlias(r *resource, d *diff.Difference) (claim, bool) {
	name := d.Steps[len(d.Steps)-1]
	for _, pair := range kind.Aliases {
		other := pair[0]
		if name == pair[0] {
			other = pair[1]
		} else if name != pair[1] {
			continue
		}
		parent := d.Steps[:len(d.Steps)-1]
		sibling, found := diff.Follow(r.normalized, r.normalized, append(append([]string{}, parent...), other))
		same := found && d.InLive && value.Equal(sibling, d.Live)
		_, inGit := diff.Follow(r.target, r.normalized, append(append([]string{}, parent...), other))
		both := d.InTarget && d.InLive
		if !same || both && (name == pair[0] || !inGit && !value.Equal(d.Applied, d.Live)) {
			continue // the first of the pair wins: another value of it is applied
		}
		return claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{
			fmt.Sprintf("%s and %s name the same thing; the API server keeps them equal, so that one brings the other back", pair[0], pair[1]),
		}}, true
	}
	return claim{}, false
}

// emptyVsAbsent: Git sets null, "", {} or [], which the API server drops, fills or
// takes for an order to remove. Evidence: Git's value is empty at the field or above
// it, and live has nothing or something allocated there. Counter-evidence: a custom
// kind whose schema keeps the value (then something dropped it).
func emptyVsAbsent(r *resource, d *diff.Difference) (claim, bool) {
	if above, found := r.nullInGit(d); found {
		c := claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{"Git sets " + string(above) + " to null"}}
		if d.InLive && !d.InTarget {
			c.sync = drift.OverwritesLive
			c.evidence = append(c.evidence, "a sync removes "+string(d.Pointer)+", which only live has")
			c.loss = []string{r.lost(d)}
		}
		return c, true
	}
	if !d.InGit || !value.IsEmpty(d.Git) || value.IsZero(d.Git) && !r.builtIn() {
		return claim{}, false
	}
	if !r.builtIn() && (d.InLive || !r.droppedByServer(d)) {
		return claim{}, false
	}
	sync := r.syncOfEmpty(d)
	if sync != drift.WillFail && r.wanted(d) {
		return claim{}, false
	}
	if !d.InLive {
		return claim{confidence: drift.Certain, sync: sync, evidence: []string{
			fmt.Sprintf("Git sets %s to %s, which the API server does not keep", d.Pointer, r.show(d.Pointer, d.Git, true)),
		}}, true
	}
	if r.writersOf(d).role != owners.Nobody || !value.IsEmpty(d.Target) || r.ref.Kind == "Secret" || r.ref.Kind == "ConfigMap" {
		return claim{}, false
	}
	return claim{confidence: drift.Likely, sync: sync, evidence: []string{
		fmt.Sprintf("Git sets %s to %s, and the API server allocated %s", d.Pointer, r.show(d.Pointer, d.Git, true), r.show(d.Pointer, d.Live, true)),
	}}, true
}

// syncOfEmpty is what a sync of an empty value does: an empty text where a number
// or a percentage is wanted is refused.
func (r *resource) syncOfEmpty(d *diff.Difference) drift.Sync {
	root, known := r.shape()
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
func (r *resource) droppedByServer(d *diff.Difference) bool { return d.Git == nil }

// nullInGit returns the field at or above the difference that Git sets to null.
func (r *resource) nullInGit(d *diff.Difference) (fieldpath.Pointer, bool) {
	steps := d.TargetPointer.Steps()
	if !d.InTarget {
		steps = d.Steps
	}
	for i := 1; i <= len(steps); i++ {
		value, found := r.items.Follow(r.target, r.normalized, steps[:i])
		if !found {
			return "", false
		}
		if value == nil {
			return fieldpath.Of(steps[:i]...), true
		}
	}
	return "", false
}

// explicitDefaultDropped: Git sets a zero value (false, "", 0, {} or []) of a custom
// kind whose controller writes the object back without it, because its Go type leaves
// zero values out. Evidence: the schema knows the field and would keep the value, and
// live has nothing.
func explicitDefaultDropped(r *resource, d *diff.Difference) (claim, bool) {
	if d.InLive || !d.InGit || !value.IsZero(d.Git) && !value.IsEmpty(d.Git) || d.Git == nil || r.builtIn() {
		return claim{}, false
	}
	if _, whole := d.Git.(map[string]any); whole {
		// A type leaves its zero values out one by one; all of them at once is somebody's wish.
		if remover, found := r.remover(); found && owners.RoleOf(r.ref.Kind, remover) == owners.Person {
			return claim{}, false
		}
	}
	c := claim{confidence: drift.Likely, sync: drift.HarmlessFlap, evidence: []string{
		fmt.Sprintf("Git sets %s to %s, the zero value, which a controller leaves out when it writes the object back", d.Pointer, r.show(d.Pointer, d.Git, true)),
	}}
	if d.InApplied && value.Equal(d.Applied, d.Git) {
		c.confidence = drift.Certain
		c.evidence = append(c.evidence, "it was applied before and did not stay")
	}
	if owner, found := r.lastController(); found {
		c.evidence = append(c.evidence, "the object was written back by "+owners.By(owner))
	} else if !d.InApplied && r.lastApplied != nil {
		// Git is ahead: nothing was applied yet that could have been dropped.
		return claim{}, false
	}
	return c, true
}

// lastController is the newest controller that wrote the object.
func (r *resource) lastController() (drift.Owner, bool) {
	var found []drift.Owner
	for _, owner := range r.ownership().Entries {
		if owners.RoleOf(r.ref.Kind, owner) == owners.Controller && owner.Subresource == "" {
			found = append(found, owner)
		}
	}
	return owners.Newest(found)
}

// lost says which live value a sync overwrites, and who wrote it.
func (r *resource) lost(d *diff.Difference) string {
	said := fmt.Sprintf("%s: %s", d.Pointer, r.show(d.Pointer, d.Live, d.InLive))
	w := r.writersOf(d)
	switch {
	case w.role != owners.Nobody:
		said += ", written by " + owners.By(w.last)
	case w.argo:
		if owner, found := owners.Newest(w.all); found {
			said += ", owned by " + owners.By(owner)
		}
	}
	return said
}

// inUse says which rendered value a sync replaces, though nobody changed it live.
func (r *resource) inUse(d *diff.Difference) string {
	return fmt.Sprintf("%s: %s, which is in use", d.Pointer, r.show(d.Pointer, d.Live, d.InLive))
}
