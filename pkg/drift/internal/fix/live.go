package fix

import (
	"slices"
	"strconv"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// The fixes of what people and tools changed in the cluster.

// syncSnippet is the sync of this one resource.
func (f *Builder) syncSnippet() string { return snippet.Lines(f.syncOne()) }

func (f *Builder) manualEdit() []drift.Fix {
	commit := f.gitFix(drift.FixDecideCommitOrSync, f.likeLive(f.fields),
		"Commits the live value: right when the change is wanted.", f.hiddenValues(), f.selfHeals())
	revert := f.operation(drift.FixDecideCommitOrSync, f.syncSnippet(),
		"Reverts to what Git says: right when the change was a mistake or is done with.", f.losses())
	return []drift.Fix{commit, revert}
}

// hiddenValues says why a snippet lacks values.
func (f *Builder) hiddenValues() string {
	if !slices.ContainsFunc(f.fields, func(field drift.Field) bool { return f.R.Secret(field.Pointer) }) {
		return ""
	}
	return "Values of a Secret are never shown here: take them from where they are kept, and commit them encrypted."
}

// losses points to what a sync would overwrite, which the finding names.
func (f *Builder) losses() string {
	if len(f.Answer.Loss) == 0 {
		return ""
	}
	return "What is lost is named above."
}

func (f *Builder) foreignApply() []drift.Fix {
	who := f.writers()
	s := []string{
		snippet.Note("Who writes " + f.about().Words() + ": " + who),
		snippet.Kubectl(f.about(), "get", "--show-managed-fields", `--output=jsonpath={range .metadata.managedFields[*]}{.manager}{" "}{.operation}{" "}{.time}{"\n"}{end}`),
	}
	if release := object.Annotation(f.R.Live, "meta.helm.sh/release-name"); release != "" {
		namespace := words.First(object.Annotation(f.R.Live, "meta.helm.sh/release-namespace"), f.about().Namespace)
		s = append(s, snippet.Note("It carries the marks of a Helm release, which an upgrade writes again:"),
			snippet.Command(append([]string{"helm", "history", "--namespace=" + namespace}, snippet.Operand(release)...)...))
	}
	s = append(s, snippet.Note("Take the object out of the other tool first, then:"), f.syncOne())
	return []drift.Fix{f.cluster(drift.FixRemoveSecondWriter, snippet.Lines(s...),
		"Two tools apply whole manifests of this object, and each takes back what the other wrote.",
		"A sync lasts only until "+words.First(who, "the other one")+" applies again.", f.losses())}
}

// writers names who owns the fields, Argo CD apart.
func (f *Builder) writers() string {
	var found []string
	for _, field := range f.fields {
		if field.Owner != nil && owners.RoleOf(f.R.Ref.Kind, *field.Owner) != owners.Argo && !slices.Contains(found, field.Owner.Manager) {
			found = append(found, field.Owner.Manager)
		}
	}
	if len(found) == 0 {
		for _, owner := range owners.Entries(f.R.Live) {
			if role := owners.RoleOf(f.R.Ref.Kind, owner); role != owners.Argo && owner.Subresource == "" && !slices.Contains(found, owner.Manager) {
				found = append(found, owner.Manager)
			}
		}
	}
	return words.Some(found)
}

func (f *Builder) rolloutRestart() []drift.Fix {
	changes := f.dropped(f.fields)
	if len(changes) == 0 {
		return []drift.Fix{f.none("The annotation is only live: it marks a restart that is over. Argo CD does not compare it, and a sync leaves it alone.")}
	}
	return []drift.Fix{f.gitFix(drift.FixDropFieldFromGit, changes,
		"A restart is an act, not a state: with the annotation in Git, every restart by hand is drift and every sync restarts again.",
		"The sync of this commit removes the annotation, which restarts the pods once.")}
}

// none is the answer where nothing is to be done.
func (f *Builder) none(why string) drift.Fix {
	return drift.Fix{Kind: drift.FixNoneNeeded, Where: drift.InGit, Snippet: snippet.Note("nothing to do"), Why: why}
}

func (f *Builder) hiddenAddition() []drift.Fix {
	commit := f.gitFix(drift.FixAddToGitOrRemoveLive, f.likeLive(f.fields),
		"Declares in Git what is only live: right when it is wanted. Until then Argo CD neither shows nor restores it.", f.hiddenValues())
	remove := f.cluster(drift.FixAddToGitOrRemoveLive, f.removedLive(f.fields),
		"Removes it from the live object: right when it is not wanted. A sync would not, as neither Git nor last-applied-configuration has it.", f.tested(f.fields))
	return []drift.Fix{commit, remove}
}

// seen is the live object's resourceVersion where a patch has to test that instead of
// values, which are a Secret's. by says whether there is a patch at all: none takes all of
// a Secret's values away, and none changes what it cannot test.
func (f *Builder) seen(fields []drift.Field) (version string, by bool) {
	if !slices.ContainsFunc(fields, func(field drift.Field) bool { return f.R.Secret(field.Pointer) }) {
		return "", true
	}
	version = object.Text(f.R.Live, "metadata", "resourceVersion")
	whole := slices.ContainsFunc(fields, func(field drift.Field) bool { return f.R.Secret(field.Pointer) && len(field.Pointer.Steps()) < 2 })
	return version, version != "" && !whole
}

// tested says what removedLive makes sure of.
func (f *Builder) tested(fields []drift.Field) string {
	switch version, by := f.seen(fields); {
	case !by:
		return "Which of a Secret's values go is for somebody who knows them: programs may have written some, and no patch can test values that are not shown here."
	case version != "":
		return "Values of a Secret are not shown here: the patch tests instead that nobody has written the object since (metadata.resourceVersion)."
	}
	return "The patch first tests that the values are still those seen here."
}

// removedLive is the command that removes fields of the live object. The patch
// tests before it removes, and items of a list go from the last to the first.
func (f *Builder) removedLive(fields []drift.Field) string {
	patch := &snippet.JSONPatch{}
	version, by := f.seen(fields)
	if !by {
		return snippet.Lines(snippet.Note("take out by hand what is not wanted:"), snippet.Kubectl(f.about(), "edit"))
	}
	if version != "" {
		patch.Test("/metadata/resourceVersion", version)
	}
	ordered := slices.Clone(fields)
	slices.Reverse(ordered)
	for _, field := range ordered[:min(len(ordered), maxEdited)] {
		if !field.InLive {
			continue
		}
		if !f.R.Secret(field.Pointer) {
			patch.Test(string(field.Pointer), field.Live)
		}
		patch.Remove(string(field.Pointer))
	}
	return snippet.Lines(snippet.Kubectl(f.about(), "patch", "--type=json", patch.Text()))
}

func (f *Builder) resourceMissing() []drift.Fix {
	return []drift.Fix{
		f.operation(drift.FixSyncOrRemoveFromGit, f.syncSnippet(), "Creates the object again as Git says: right when its deletion was a mistake.", "Data that the deleted object held does not come back."),
		f.advice(drift.FixSyncOrRemoveFromGit, snippet.Note("Delete the manifest of "+f.about().Words()+" from Git, or switch it off in the chart's values."),
			"Right when the object was deleted on purpose.", f.selfHeals()),
	}
}

func (f *Builder) gitAhead() []drift.Fix {
	return []drift.Fix{f.operation(drift.FixSync, f.syncSnippet(), "Applies what was committed since the last sync; live is still what was applied then.", "Without "+snippet.OfResource(f.about())+" all of the Application is synced.")}
}

// applicationEdit tells a person in the UI from a controller: the effect of a sync
// is what the rule found out.
func (f *Builder) applicationEdit() []drift.Fix {
	decide := f.manualEdit()
	ignore := f.ignore(drift.FixIgnoreDifferencesNarrow, f.fields,
		"Lets "+words.First(f.writers(), "the controller")+" own the fields of this Application.")
	if f.Answer.Sync == drift.FightsController {
		return append([]drift.Fix{ignore}, decide...)
	}
	return decide
}

// The fixes of fields that a controller owns.

func (f *Builder) replicas() []drift.Fix {
	drop := f.gitFix(drift.FixRemoveReplicasFromGit, f.dropped(f.fields),
		"The autoscaler owns the number of replicas; without it in Git there is nothing to fight over.", f.dip())
	rewritten(drop)
	fixes := []drift.Fix{drop, f.ignore(drift.FixIgnoreDifferencesAndRespect, f.fields,
		"For a chart that always renders replicas: Argo CD ignores the field and a sync keeps the live number.", f.selfHeals())}
	return append(fixes, f.annotatedIgnore(drift.FixIgnoreDifferencesAndRespect, f.fields)...)
}

// dip warns of what client-side apply makes of a field that leaves the manifest.
func (f *Builder) dip() string {
	if f.R.Live == nil || f.R.SyncsServerSide() {
		return ""
	}
	if _, found := object.At(f.R.LastApplied, "spec", "replicas"); !found {
		return ""
	}
	return "The first client-side apply without it sets the default of 1 until the autoscaler acts again: to avoid that, remove it before from last-applied-configuration too (" +
		snippet.Kubectl(f.about(), "apply", "edit-last-applied") + ")."
}

func (f *Builder) controllerField() []drift.Fix {
	fixes := []drift.Fix{f.ignore(drift.FixIgnoreDifferencesAndRespect, f.fields,
		"The controller moves these values while it works; with the rule neither the comparison nor a sync touches them.", f.selfHeals())}
	return append(fixes, f.annotatedIgnore(drift.FixIgnoreDifferencesAndRespect, f.fields)...)
}

func (f *Builder) caBundle() []drift.Fix {
	ignore := f.ignore(drift.FixIgnoreDifferencesAndRespect, f.fields, "For a chart that always renders the field: the injected certificate stays.", f.selfHeals())
	changes := f.dropped(f.fields)
	if len(changes) == 0 {
		return append([]drift.Fix{ignore}, f.annotatedIgnore(drift.FixIgnoreDifferencesAndRespect, f.fields)...)
	}
	drop := f.gitFix(drift.FixDropFieldFromGit, changes, "The certificate is injected at run time: what Git renders there is a placeholder that a sync would put back.")
	rewritten(drop)
	return append([]drift.Fix{drop, ignore}, f.annotatedIgnore(drift.FixIgnoreDifferencesAndRespect, f.fields)...)
}

func (f *Builder) operatorField() []drift.Fix {
	ignore := f.ignore(drift.FixIgnoreDifferencesAndRespect, f.fields,
		words.First(f.writers(), "The operator")+" rewrites these fields on purpose; with the rule neither the comparison nor a sync touches them.", f.selfHeals())
	return append(append([]drift.Fix{ignore}, f.byManager(drift.FixIgnoreDifferencesAndRespect)...), f.annotatedIgnore(drift.FixIgnoreDifferencesAndRespect, f.fields)...)
}

func (f *Builder) aggregatedRole() []drift.Fix {
	var rules []drift.Field
	if value, found := f.R.Target["rules"]; found {
		rules = []drift.Field{{Pointer: "/rules", Target: value, InTarget: true}}
	}
	drop := f.gitFix(drift.FixDropFieldFromGit, f.dropped(rules), "The rules of an aggregated ClusterRole are made from the roles that it selects; what Git sets there is overwritten.")
	rewritten(drop)
	setting := snippet.Block(map[string]any{"data": map[string]any{"resource.compareoptions": "ignoreAggregatedRoles: true\n"}})
	return []drift.Fix{drop, {
		Kind: drift.FixIgnoreDifferencesNarrow, Where: drift.InArgoCM, Snippet: snippet.Note("ConfigMap argocd-cm, beside the other compare options") + "\n" + setting,
		Why: "Ignores the rules of every ClusterRole with an aggregationRule in all Applications of this Argo CD" + f.otherRoles() + "; a sync still writes Git's.",
	}}
}

// otherRoles counts what the setting would hide beside this ClusterRole.
func (f *Builder) otherRoles() string {
	var others []string
	for _, r := range f.Resources {
		if r != f.R && r.Ref.Kind == f.about().Kind && r.Ref.Group == f.about().Group && (r.Live["aggregationRule"] != nil || r.Target["aggregationRule"] != nil) {
			others = append(others, r.Ref.Name)
		}
	}
	if len(others) == 0 {
		return ", of which this Application has no other"
	}
	return ", here also " + words.Some(others)
}

func (f *Builder) runtimeData() []drift.Fix {
	ignore := f.ignore(drift.FixIgnoreDifferencesAndRespect, f.fields,
		"The values are filled in at run time and exist nowhere else: a sync without the rule puts Git's back over them.", f.selfHeals())
	return append([]drift.Fix{ignore}, f.annotatedIgnore(drift.FixIgnoreDifferencesAndRespect, f.fields)...)
}

func (f *Builder) reordered() []drift.Fix {
	return []drift.Fix{f.gitFix(drift.FixReorderInGit, f.liveOrder(), "Writes the list in the order that the API server or its controller keeps; it means the same, and nothing is hidden.")}
}

// liveOrder sets the lists around the fields to Git's own items in live's order.
func (f *Builder) liveOrder() []snippet.Change {
	var changes []snippet.Change
	seen := map[string]bool{}
	for _, field := range f.fields {
		steps := field.Pointer.Steps()
		for i := 1; i <= len(steps); i++ {
			held := strings.Join(steps[:i], "\x00")
			if seen[held] {
				break
			}
			above := fieldpath.Of(steps[:i]...)
			path := f.locate([]drift.Field{{Pointer: above, InLive: true}})[0]
			git, _ := f.inGit(path)
			live, _ := above.Value(f.liveDocument())
			if ordered, ok := inOrder(git, live); ok {
				seen[held] = true
				changes = append(changes, snippet.Change{Path: path, Value: ordered})
				break
			}
		}
	}
	snippet.SortChanges(changes)
	return changes
}

// liveDocument is what the fields' pointers are about.
func (f *Builder) liveDocument() any {
	if f.R.Normalized != nil {
		return f.R.Normalized
	}
	return f.R.Live
}

// inOrder returns Git's items in live's order, where both lists hold the same items
// in another one. Items that live completed with defaults are known by what
// identifies them.
func inOrder(git, live any) ([]any, bool) {
	mine, ok := git.([]any)
	theirs, okToo := live.([]any)
	if !ok || !okToo || len(mine) != len(theirs) || len(mine) < 2 {
		return nil, false
	}
	a, b := diff.Spell(mine), diff.Spell(theirs)
	if !diff.SameTokens(a, b) {
		known := snippet.KeysOf(theirs, mine)
		if len(known.Keys) == 0 {
			return nil, false
		}
		a, b = identityTexts(mine, known.Keys[0].Names), identityTexts(theirs, known.Keys[0].Names)
		if !diff.SameTokens(a, b) {
			return nil, false
		}
	}
	if slices.Equal(a, b) {
		return nil, false
	}
	places := map[string][]int{}
	for i, token := range a {
		places[token] = append(places[token], i)
	}
	ordered := make([]any, 0, len(mine))
	for _, token := range b {
		place := places[token]
		ordered = append(ordered, mine[place[0]])
		places[token] = place[1:]
	}
	return ordered, true
}

func identityTexts(items []any, names []string) []string {
	texts := make([]string, 0, len(items))
	for i, item := range items {
		text, ok := snippet.IdentityText(item, names)
		if !ok {
			text = strconv.Itoa(i)
		}
		texts = append(texts, text)
	}
	return texts
}

// rewritten notes of a fix that a controller writes the live value again after a sync.
func rewritten(fix drift.Fix) {
	if e, ok := fix.Edit.(*Edit); ok {
		e.Rewritten = true
	}
}
