package classify

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// crdListDefault: the live object holds a default of its CRD that Git leaves out,
// where Argo CD compares a list or map as a whole. Evidence: the field is live-only,
// and Git's manifest with the CRD's defaults added has the same value there.
// Without the CRD, a live-only field of a list item that nobody but Argo CD owns is
// possibly one. Counter-evidence: an owner other than Argo CD.
func crdListDefault(r *resource, open []*difference) []claim {
	if r.builtIn() {
		return nil
	}
	pinned, has := r.pinned()
	if !has {
		return r.guessedDefaults(open)
	}
	var claims []claim
	for _, d := range open {
		if d.inTarget || d.inGit {
			continue
		}
		value, found := followAside(pinned, r, d)
		if !found || !equal(value, d.live) {
			continue
		}
		c := claim{mechanism: drift.CRDListDefault, differences: []*difference{d}, confidence: drift.Certain, sync: drift.Noop, evidence: []string{
			fmt.Sprintf("%s is the default %s of the CRD's schema, which the API server adds", d.pointer, r.show(d.pointer, d.live, true)),
		}}
		if r.strategy == drift.Legacy {
			c.evidence = append(c.evidence, "the list is compared as a whole, so another difference in it brings the default to light")
		}
		claims = append(claims, c)
	}
	return claims
}

// followAside finds in another form of Git's manifest the field that only live has.
func followAside(document object.Object, r *resource, d *difference) (any, bool) {
	return r.items.follow(document, r.normalized, d.steps)
}

// volumeClaimTemplate: the API server fills apiVersion, kind, status and the like into
// a StatefulSet's volumeClaimTemplates, and structured merge compares the list whole.
func volumeClaimTemplate(r *resource, d *difference) (claim, bool) {
	if r.ref.Group != "apps" || r.ref.Kind != "StatefulSet" || len(d.steps) < 4 || d.steps[1] != "volumeClaimTemplates" || d.inGit {
		return claim{}, false
	}
	stamp := d.steps[3] == "metadata" && d.steps[len(d.steps)-1] == "creationTimestamp"
	filled := stamp || !d.inTarget && (d.steps[3] == "apiVersion" || d.steps[3] == "kind" || d.steps[3] == "status" ||
		d.steps[3] == "spec" && d.steps[len(d.steps)-1] == "volumeMode")
	return claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{
		"the API server fills " + string(d.pointer) + " in, and the list of volumeClaimTemplates is compared as a whole",
	}}, filled
}

// unknownFieldPruned: Git declares a field that the kind's schema does not have, so
// the API server drops it: a typo, a field in the wrong place, or one of a newer
// version. Evidence: the schema. Counter-evidence: the live object has it.
func unknownFieldPruned(r *resource, d *difference) (claim, bool) {
	if d.inLive || !d.inTarget || !d.inGit {
		return claim{}, false
	}
	root, known := r.shape()
	if !known || d.steps[0] == "status" {
		return claim{}, false
	}
	steps := d.targetPointer.Steps()
	if _, has := root.at(steps); has {
		// A subtree is dropped whole when everything in it is unknown.
		return claim{}, false
	}
	c := claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{fmt.Sprintf("the schema of %s has no field %s, so the API server drops it", r.ref.Kind, d.pointer)}}
	if name, found := r.meant(steps); found {
		c.evidence = append(c.evidence, fmt.Sprintf("the schema has %q at that place", name))
	}
	if d.inApplied && equal(d.applied, d.git) {
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
		if _, has := root.at(steps[:i+1]); has {
			continue
		}
		parent, _ := root.at(steps[:i])
		best, distance := "", far
		for _, name := range parent.fieldNames() {
			d := editDistance(strings.ToLower(name), strings.ToLower(steps[i]))
			if d == far && len(name) > 4 && (strings.HasPrefix(steps[i], name) || strings.HasPrefix(name, steps[i])) {
				d = far - 1
			}
			if d < distance || d == distance && d < far && name < best {
				best, distance = name, d
			}
		}
		return best, best != ""
	}
	return "", false
}

// far is the distance of texts that have nothing to do with one another.
const far = 3

// editDistance is how many letters to change, add or take away, at most [far].
func editDistance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 || len(a) > 100 {
		return far
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return min(row[len(b)], far)
}

// aliases are pairs of fields that the API server keeps equal; the first is the
// one to use.
var aliases = [][2]string{{"serviceAccountName", "serviceAccount"}}

// deprecatedAlias: a field and its deprecated alias are kept equal by the API
// server, so that removing one from Git does not stick. Evidence: the sibling of the
// pair is live with the same value, or in Git.
func deprecatedAlias(r *resource, d *difference) (claim, bool) {
	name := d.steps[len(d.steps)-1]
	for _, pair := range aliases {
		other := pair[0]
		if name == pair[0] {
			other = pair[1]
		} else if name != pair[1] {
			continue
		}
		parent := d.steps[:len(d.steps)-1]
		sibling, found := follow(r.normalized, r.normalized, append(append([]string{}, parent...), other))
		same := found && d.inLive && equal(sibling, d.live)
		_, inGit := follow(r.target, r.normalized, append(append([]string{}, parent...), other))
		both := d.inTarget && d.inLive
		if !same || both && (name == pair[0] || !inGit && !equal(d.applied, d.live)) {
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
func emptyVsAbsent(r *resource, d *difference) (claim, bool) {
	if above, found := r.nullInGit(d); found {
		c := claim{confidence: drift.Certain, sync: drift.Noop, evidence: []string{"Git sets " + string(above) + " to null"}}
		if d.inLive && !d.inTarget {
			c.sync = drift.OverwritesLive
			c.evidence = append(c.evidence, "a sync removes "+string(d.pointer)+", which only live has")
			c.loss = []string{r.lost(d)}
		}
		return c, true
	}
	if !d.inGit || !isEmpty(d.git) || isZero(d.git) && !r.builtIn() {
		return claim{}, false
	}
	if !r.builtIn() && (d.inLive || !r.droppedByServer(d)) {
		return claim{}, false
	}
	sync := r.syncOfEmpty(d)
	if sync != drift.WillFail && r.wanted(d) {
		return claim{}, false
	}
	if !d.inLive {
		return claim{confidence: drift.Certain, sync: sync, evidence: []string{
			fmt.Sprintf("Git sets %s to %s, which the API server does not keep", d.pointer, r.show(d.pointer, d.git, true)),
		}}, true
	}
	if r.writersOf(d).role != nobody || !isEmpty(d.target) || r.ref.Kind == "Secret" || r.ref.Kind == "ConfigMap" {
		return claim{}, false
	}
	return claim{confidence: drift.Likely, sync: sync, evidence: []string{
		fmt.Sprintf("Git sets %s to %s, and the API server allocated %s", d.pointer, r.show(d.pointer, d.git, true), r.show(d.pointer, d.live, true)),
	}}, true
}

// syncOfEmpty is what a sync of an empty value does: an empty text where a number
// or a percentage is wanted is refused.
func (r *resource) syncOfEmpty(d *difference) drift.Sync {
	root, known := r.shape()
	if known && d.git == "" {
		if found, has := root.at(d.targetPointer.Steps()); has && found.intOrString() {
			return drift.WillFail
		}
	}
	if d.inApplied && equal(d.applied, d.git) {
		return drift.HarmlessFlap
	}
	return drift.Noop
}

// droppedByServer reports whether the API server itself removes Git's value from a
// custom kind: a null where none may be.
func (r *resource) droppedByServer(d *difference) bool { return d.git == nil }

// nullInGit returns the field at or above the difference that Git sets to null.
func (r *resource) nullInGit(d *difference) (fieldpath.Pointer, bool) {
	steps := d.targetPointer.Steps()
	if !d.inTarget {
		steps = d.steps
	}
	for i := 1; i <= len(steps); i++ {
		value, found := r.items.follow(r.target, r.normalized, steps[:i])
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
func explicitDefaultDropped(r *resource, d *difference) (claim, bool) {
	if d.inLive || !d.inGit || !isZero(d.git) && !isEmpty(d.git) || d.git == nil || r.builtIn() {
		return claim{}, false
	}
	if _, whole := d.git.(map[string]any); whole {
		// A type leaves its zero values out one by one; all of them at once is somebody's wish.
		if remover, found := r.remover(); found && r.roleOf(remover) == person {
			return claim{}, false
		}
	}
	c := claim{confidence: drift.Likely, sync: drift.HarmlessFlap, evidence: []string{
		fmt.Sprintf("Git sets %s to %s, the zero value, which a controller leaves out when it writes the object back", d.pointer, r.show(d.pointer, d.git, true)),
	}}
	if d.inApplied && equal(d.applied, d.git) {
		c.confidence = drift.Certain
		c.evidence = append(c.evidence, "it was applied before and did not stay")
	}
	if owner, found := r.lastController(); found {
		c.evidence = append(c.evidence, "the object was written back by "+by(owner))
	} else if !d.inApplied && r.lastApplied != nil {
		// Git is ahead: nothing was applied yet that could have been dropped.
		return claim{}, false
	}
	return c, true
}

// lastController is the newest controller that wrote the object.
func (r *resource) lastController() (drift.Owner, bool) {
	if r.owners == nil {
		r.owners = ownersOf(r.live)
	}
	var found []drift.Owner
	for _, owner := range r.owners.entries {
		if r.roleOf(owner) == controller && owner.Subresource == "" {
			found = append(found, owner)
		}
	}
	return newest(found)
}

// isEmpty reports whether a value is null, "", {} or [], at any depth of maps.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		for _, child := range value {
			if !isEmpty(child) {
				return false
			}
		}
		return true
	}
	return false
}

// isZero reports whether a value is false or 0, or a map of nothing but zero values.
func isZero(value any) bool {
	switch value := value.(type) {
	case bool:
		return !value
	case map[string]any:
		for _, child := range value {
			if !isZero(child) && !isEmpty(child) {
				return false
			}
		}
		return len(value) > 0
	}
	return isNumber(value) && equal(value, int64(0))
}

// lost says which live value a sync overwrites, and who wrote it.
func (r *resource) lost(d *difference) string {
	said := fmt.Sprintf("%s: %s", d.pointer, r.show(d.pointer, d.live, d.inLive))
	w := r.writersOf(d)
	switch {
	case w.role != nobody:
		said += ", written by " + by(w.last)
	case w.argo:
		if owner, found := newest(w.all); found {
			said += ", owned by " + by(owner)
		}
	}
	return said
}

// inUse says which rendered value a sync replaces, though nobody changed it live.
func (r *resource) inUse(d *difference) string {
	return fmt.Sprintf("%s: %s, which is in use", d.pointer, r.show(d.pointer, d.live, d.inLive))
}
