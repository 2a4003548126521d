package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// claimOf is a claim about one difference whose live value somebody wrote: what is
// lost by a sync is named.
func (r *resource) claimOf(d *difference, confidence drift.Confidence, sync drift.Sync, evidence ...string) claim {
	c := claim{confidence: confidence, sync: sync, evidence: evidence}
	if sync == drift.OverwritesLive || sync == drift.Destructive || sync == drift.FightsController {
		if d.inLive {
			c.loss = []string{r.lost(d)}
		} else {
			c.evidence = append(c.evidence, putBack(d))
		}
	}
	return c
}

// written says who wrote the live value.
func (r *resource) written(d *difference, w writers) string {
	return fmt.Sprintf("%s is %s live, written by %s", d.pointer, r.show(d.pointer, d.live, d.inLive), by(w.last))
}

// rolloutRestart: Git pins the annotation with which kubectl restarts Pods, and
// somebody restarted since. A sync puts the old time back, which restarts again.
func rolloutRestart(r *resource, d *difference) (claim, bool) {
	if d.steps[len(d.steps)-1] != restartedAt && !onlyRestart(d.live) && !onlyRestart(d.target) {
		return claim{}, false
	}
	said := "Git pins " + restartedAt
	if !d.inGit {
		said = "Git does not have " + restartedAt + ", and a sync takes it away"
	}
	return r.claimOf(d, drift.Certain, drift.OverwritesLive, said, r.written(d, r.writersOf(d)), "a sync changes the Pod template and so restarts the Pods again"), true
}

// onlyRestart reports whether a value is a map of annotations with just this one.
func onlyRestart(value any) bool {
	annotations, _ := value.(map[string]any)
	_, found := annotations[restartedAt]
	return found && len(annotations) == 1
}

const restartedAt = "kubectl.kubernetes.io/restartedAt"

// manualEdit: a person changed a declared field. Evidence: the newest owner of the
// live value is a tool of people. Counter-evidence: Argo CD owns the value too (then
// it applied it), or a controller targets the field, which earlier rules answer for.
func manualEdit(r *resource, d *difference) (claim, bool) {
	w := r.writersOf(d)
	if w.role != person || w.argo && (!d.inApplied || equal(d.applied, d.live)) {
		return claim{}, false
	}
	evidence := []string{r.written(d, w)}
	confidence := drift.Certain
	if last := r.lastWrite(); last != "" && w.last.Time != "" && w.last.Time < last {
		confidence = drift.Likely
		evidence = append(evidence, "Argo CD last wrote the object at "+last)
	}
	if d.inApplied {
		evidence = append(evidence, fmt.Sprintf("Argo CD had applied %s", r.show(d.pointer, d.applied, true)))
	}
	return r.claimOf(d, confidence, drift.OverwritesLive, evidence...), true
}

// mergeKeyForeseen: the key of a list item (a port's number) was edited, so that a
// merge by key keeps the old item beside the new one, and both have the same name,
// which the API server refuses.
// Evidence: in what Argo CD predicts, two items of a list with merge keys have one
// name. Source: #4864, #24704.
func mergeKeyForeseen(r *resource, open []*difference) []claim {
	root, known := r.shape()
	if !known || r.strategy != drift.Legacy {
		return nil
	}
	judged := map[fieldpath.Pointer]string{}
	var claims []claim
	for _, d := range open {
		for i := 1; i < len(d.steps); i++ {
			held := fieldpath.Of(d.steps[:i]...)
			if _, done := judged[held]; !done && isIndex(d.steps[i]) {
				judged[held] = ""
				if s, has := root.at(d.steps[:i]); has && len(s.mergeKeys) > 0 && s.mergeKeys[0] != "name" {
					judged[held] = doubledName(held, r.predicted)
				}
			}
			if name := judged[held]; name != "" {
				claims = append(claims, r.mergeKeyClaim(d, held, name))
				break
			}
		}
	}
	return claims
}

func (r *resource) mergeKeyClaim(d *difference, held fieldpath.Pointer, name string) claim {
	return claim{mechanism: drift.MergeKeyConflict, differences: []*difference{d}, confidence: drift.Likely, sync: drift.WillFail, evidence: []string{
		fmt.Sprintf("a merge by key would leave two items called %q in %s, which the API server refuses", name, held),
	}}
}

// doubledName is a name that two items of a list have.
func doubledName(held fieldpath.Pointer, document object.Object) string {
	value, _ := held.Value(document)
	items, _ := value.([]any)
	seen := map[string]bool{}
	for _, item := range items {
		name := object.Text(item, "name")
		if name != "" && seen[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}

// removedByHand: a declared field was applied and is gone, the schema knows it, and
// neither a webhook nor a controller is known to remove it. Removing a field leaves
// no trace in managedFields, so the worst is assumed.
func removedByHand(r *resource, d *difference) (claim, bool) {
	if d.inLive && r.hasOwners() || !d.inGit || r.renderedAnew(d) {
		return claim{}, false
	}
	if !d.inLive && d.inApplied && !equal(d.applied, d.git) {
		return claim{}, false
	}
	evidence := []string{fmt.Sprintf("%s is declared in Git and %s, and managedFields do not say who changed it", d.pointer, r.isLive(d))}
	if d.inApplied {
		evidence = append(evidence, "it was applied before")
	}
	confidence := drift.Possible
	if remover, found := r.remover(); found && !d.inLive {
		evidence = append(evidence, "after Argo CD, the object was written by "+by(remover))
		confidence = drift.Likely
	}
	return r.claimOf(d, confidence, drift.OverwritesLive, evidence...), true
}

// removedByController: a declared field was applied and is gone, and a controller
// was the last to write the object.
func removedByController(r *resource, d *difference) (claim, bool) {
	remover, found := r.remover()
	if d.inLive || !d.inGit || !found || r.roleOf(remover) != controller || r.lastApplied != nil && (!d.inApplied || !equal(d.applied, d.git)) ||
		r.lastApplied == nil && r.situation.rendering() != sameSource {
		return claim{}, false
	}
	return r.claimOf(d, drift.Likely, drift.FightsController, fmt.Sprintf("%s was applied and is gone; after Argo CD, the object was written by %s", d.pointer, by(remover))), true
}

// remover is who wrote the object itself after Argo CD last did. Taking a field away
// leaves no other trace in managedFields.
func (r *resource) remover() (drift.Owner, bool) {
	last := r.lastWrite()
	var later []drift.Owner
	for _, owner := range r.owners.entries {
		if role := r.roleOf(owner); role != argo && role != nobody && owner.Subresource == "" && owner.Time != "" && owner.Time >= last && r.writesSpec(owner) {
			later = append(later, owner)
		}
	}
	return newest(later)
}

// writesSpec reports whether an entry owns more of the object than its status.
func (r *resource) writesSpec(owner drift.Owner) bool {
	i := slices.Index(r.owners.entries, owner)
	for name := range r.live {
		if set := r.owners.exact[fieldpath.Of(name)] | r.owners.within[fieldpath.Of(name)]; name != "status" && set&(1<<i) != 0 {
			return true
		}
	}
	return false
}

// foreignTakeover: another manifest of the object was applied over Argo CD's: the
// last-applied-configuration is not the one that Argo CD wrote, because it lacks
// Argo CD's tracking although Argo CD has written the object before. All that differs
// from it belongs to the takeover, the lost tracking too.
func foreignTakeover(r *resource, open []*difference) []claim {
	applied := r.lastApplied
	if applied == nil || r.lastWrite() == "" || r.tracked(applied) || !r.tracked(r.target) {
		return nil
	}
	owner, found := r.foreigner()
	if !found {
		return nil
	}
	var claims []claim
	for _, d := range open {
		w := r.writersOf(d)
		tracking := d.pointer == trackingPointer || d.pointer == r.trackingLabel()
		if !tracking && d.inLive && w.role != applier && !d.inApplied {
			continue
		}
		c := r.claimOf(d, drift.Certain, drift.OverwritesLive,
			"the last-applied-configuration is not Argo CD's: it lacks the tracking, and "+by(owner)+" wrote it")
		if tracking {
			c.loss = nil
		}
		c.mechanism, c.differences = drift.ForeignApply, []*difference{d}
		claims = append(claims, c)
	}
	return claims
}

// foreigner is the newest applier of whole manifests other than Argo CD.
func (r *resource) foreigner() (drift.Owner, bool) {
	if r.owners == nil {
		r.owners = ownersOf(r.live)
	}
	var found []drift.Owner
	for _, owner := range r.owners.entries {
		if r.roleOf(owner) == applier && owner.Subresource == "" {
			found = append(found, owner)
		}
	}
	return newest(found)
}

// foreignApply: a declared field was written by something that applies manifests
// from elsewhere (kubectl apply, Helm, Terraform, Flux).
func foreignApply(r *resource, d *difference) (claim, bool) {
	w := r.writersOf(d)
	if w.role != applier || w.argo {
		return claim{}, false
	}
	return r.claimOf(d, drift.Certain, drift.OverwritesLive, r.written(d, w), w.last.Manager+" applies whole manifests, so a second source has the object"), true
}

// applicationSpecEdit: the spec of an Application that Git declares was changed in
// the UI, by the CLI (both through argocd-server) or by the image updater.
func applicationSpecEdit(r *resource, d *difference) (claim, bool) {
	if r.ref.Group != "argoproj.io" || r.ref.Kind != "Application" || d.steps[0] == "status" {
		return claim{}, false
	}
	w := r.writersOf(d)
	if remover, found := r.remover(); !d.inLive && found {
		w = writers{last: remover, role: r.roleOf(remover)}
	}
	switch {
	case w.argo || w.role == nobody:
		return claim{}, false
	case strings.Contains(w.last.Manager, "image-updater"):
		return r.claimOf(d, drift.Certain, drift.FightsController, r.written(d, w)), true
	case strings.HasPrefix(w.last.Manager, "argocd-server"):
		return r.claimOf(d, drift.Certain, drift.OverwritesLive, r.written(d, w), "argocd-server writes what people do in the UI and with the CLI"), true
	}
	return claim{}, false
}
