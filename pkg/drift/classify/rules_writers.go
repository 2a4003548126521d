package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// claimOf is a claim about one difference whose live value somebody wrote: what is
// lost by a sync is named.
func (r *resource) claimOf(d *diff.Difference, confidence drift.Confidence, sync drift.Sync, evidence ...string) claim {
	c := claim{confidence: confidence, sync: sync, evidence: evidence}
	if sync == drift.OverwritesLive || sync == drift.Destructive || sync == drift.FightsController {
		if d.InLive {
			c.loss = []string{r.lost(d)}
		} else {
			c.evidence = append(c.evidence, putBack(d))
		}
	}
	return c
}

// written says who wrote the live value.
func (r *resource) written(d *diff.Difference, w writers) string {
	return fmt.Sprintf("%s is %s live, written by %s", d.Pointer, r.show(d.Pointer, d.Live, d.InLive), owners.By(w.last))
}

// rolloutRestart: Git pins the annotation with which kubectl restarts Pods, and
// somebody restarted since. A sync puts the old time back, which restarts again.
func rolloutRestart(r *resource, d *diff.Difference) (claim, bool) {
	if d.Steps[len(d.Steps)-1] != mark.RestartedAt && !mark.OnlyRestart(d.Live) && !mark.OnlyRestart(d.Target) {
		return claim{}, false
	}
	said := "Git pins " + mark.RestartedAt
	if !d.InGit {
		said = "Git does not have " + mark.RestartedAt + ", and a sync takes it away"
	}
	return r.claimOf(d, drift.Certain, drift.OverwritesLive, said, r.written(d, r.writersOf(d)), "a sync changes the Pod template and so restarts the Pods again"), true
}

// manualEdit: a person changed a declared field. Evidence: the newest owner of the
// live value is a tool of people. Counter-evidence: Argo CD owns the value too (then
// it applied it), or a controller targets the field, which earlier rules answer for.
func manualEdit(r *resource, d *diff.Difference) (claim, bool) {
	w := r.writersOf(d)
	if w.role != owners.Person || w.argo && (!d.InApplied || value.Equal(d.Applied, d.Live)) {
		return claim{}, false
	}
	evidence := []string{r.written(d, w)}
	confidence := drift.Certain
	if last := r.lastWrite(); last != "" && w.last.Time != "" && w.last.Time < last {
		confidence = drift.Likely
		evidence = append(evidence, "Argo CD last wrote the object at "+last)
	}
	if d.InApplied {
		evidence = append(evidence, fmt.Sprintf("Argo CD had applied %s", r.show(d.Pointer, d.Applied, true)))
	}
	return r.claimOf(d, confidence, drift.OverwritesLive, evidence...), true
}

// mergeKeyForeseen: the key of a list item (a port's number) was edited, so that a
// merge by key keeps the old item beside the new one, and both have the same name,
// which the API server refuses.
// Evidence: in what Argo CD predicts, two items of a list with merge keys have one
// name. Source: #4864, #24704.
func mergeKeyForeseen(r *resource, open []*diff.Difference) []claim {
	root, known := r.shape()
	if !known || r.strategy != drift.Legacy {
		return nil
	}
	judged := map[fieldpath.Pointer]string{}
	var claims []claim
	for _, d := range open {
		for i := 1; i < len(d.Steps); i++ {
			held := fieldpath.Of(d.Steps[:i]...)
			if _, done := judged[held]; !done && value.IsIndex(d.Steps[i]) {
				judged[held] = ""
				if s, has := root.At(d.Steps[:i]); has && len(s.MergeKeys) > 0 && s.MergeKeys[0] != "name" {
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

func (r *resource) mergeKeyClaim(d *diff.Difference, held fieldpath.Pointer, name string) claim {
	return claim{mechanism: drift.MergeKeyConflict, differences: []*diff.Difference{d}, confidence: drift.Likely, sync: drift.WillFail, evidence: []string{
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
func removedByHand(r *resource, d *diff.Difference) (claim, bool) {
	if d.InLive && r.hasOwners() || !d.InGit || r.renderedAnew(d) {
		return claim{}, false
	}
	if !d.InLive && d.InApplied && !value.Equal(d.Applied, d.Git) {
		return claim{}, false
	}
	evidence := []string{fmt.Sprintf("%s is declared in Git and %s, and managedFields do not say who changed it", d.Pointer, r.isLive(d))}
	if d.InApplied {
		evidence = append(evidence, "it was applied before")
	}
	confidence := drift.Possible
	if remover, found := r.remover(); found && !d.InLive {
		evidence = append(evidence, "after Argo CD, the object was written by "+owners.By(remover))
		confidence = drift.Likely
	}
	return r.claimOf(d, confidence, drift.OverwritesLive, evidence...), true
}

// removedByController: a declared field was applied and is gone, and a controller
// was the last to write the object.
func removedByController(r *resource, d *diff.Difference) (claim, bool) {
	remover, found := r.remover()
	if d.InLive || !d.InGit || !found || owners.RoleOf(r.ref.Kind, remover) != owners.Controller || r.lastApplied != nil && (!d.InApplied || !value.Equal(d.Applied, d.Git)) ||
		r.lastApplied == nil && r.situation.rendering() != sameSource {
		return claim{}, false
	}
	return r.claimOf(d, drift.Likely, drift.FightsController, fmt.Sprintf("%s was applied and is gone; after Argo CD, the object was written by %s", d.Pointer, owners.By(remover))), true
}

// remover is who wrote the object itself after Argo CD last did. Taking a field away
// leaves no other trace in managedFields.
func (r *resource) remover() (drift.Owner, bool) {
	last := r.lastWrite()
	var later []drift.Owner
	for _, owner := range r.ownership().Entries {
		if role := owners.RoleOf(r.ref.Kind, owner); role != owners.Argo && role != owners.Nobody && owner.Subresource == "" && owner.Time != "" && owner.Time >= last && r.writesSpec(owner) {
			later = append(later, owner)
		}
	}
	return owners.Newest(later)
}

// writesSpec reports whether an entry owns more of the object than its status.
func (r *resource) writesSpec(owner drift.Owner) bool {
	i := slices.Index(r.ownership().Entries, owner)
	for name := range r.live {
		if set := r.ownership().Exact[fieldpath.Of(name)] | r.ownership().Within[fieldpath.Of(name)]; name != "status" && set&(1<<i) != 0 {
			return true
		}
	}
	return false
}

// foreignTakeover: another manifest of the object was applied over Argo CD's: the
// last-applied-configuration is not the one that Argo CD wrote, because it lacks
// Argo CD's tracking although Argo CD has written the object before. All that differs
// from it belongs to the takeover, the lost tracking too.
func foreignTakeover(r *resource, open []*diff.Difference) []claim {
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
		tracking := d.Pointer == mark.TrackingPointer || d.Pointer == r.trackingLabel()
		if !tracking && d.InLive && w.role != owners.Applier && !d.InApplied {
			continue
		}
		c := r.claimOf(d, drift.Certain, drift.OverwritesLive,
			"the last-applied-configuration is not Argo CD's: it lacks the tracking, and "+owners.By(owner)+" wrote it")
		if tracking {
			c.loss = nil
		}
		c.mechanism, c.differences = drift.ForeignApply, []*diff.Difference{d}
		claims = append(claims, c)
	}
	return claims
}

// foreigner is the newest applier of whole manifests other than Argo CD.
func (r *resource) foreigner() (drift.Owner, bool) {
	var found []drift.Owner
	for _, owner := range r.ownership().Entries {
		if owners.RoleOf(r.ref.Kind, owner) == owners.Applier && owner.Subresource == "" {
			found = append(found, owner)
		}
	}
	return owners.Newest(found)
}

// foreignApply: a declared field was written by something that applies manifests
// from elsewhere (kubectl apply, Helm, Terraform, Flux).
func foreignApply(r *resource, d *diff.Difference) (claim, bool) {
	w := r.writersOf(d)
	if w.role != owners.Applier || w.argo {
		return claim{}, false
	}
	return r.claimOf(d, drift.Certain, drift.OverwritesLive, r.written(d, w), w.last.Manager+" applies whole manifests, so a second source has the object"), true
}

// applicationSpecEdit: the spec of an Application that Git declares was changed in
// the UI, by the CLI (both through argocd-server) or by the image updater.
func applicationSpecEdit(r *resource, d *diff.Difference) (claim, bool) {
	if r.ref.Group != "argoproj.io" || r.ref.Kind != "Application" || d.Steps[0] == "status" {
		return claim{}, false
	}
	w := r.writersOf(d)
	if remover, found := r.remover(); !d.InLive && found {
		w = writers{last: remover, role: owners.RoleOf(r.ref.Kind, remover)}
	}
	switch {
	case w.argo || w.role == owners.Nobody:
		return claim{}, false
	case strings.Contains(w.last.Manager, "image-updater"):
		return r.claimOf(d, drift.Certain, drift.FightsController, r.written(d, w)), true
	case strings.HasPrefix(w.last.Manager, "argocd-server"):
		return r.claimOf(d, drift.Certain, drift.OverwritesLive, r.written(d, w), "argocd-server writes what people do in the UI and with the CLI"), true
	}
	return claim{}, false
}
