package fix

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// The fixes of defaults, spellings, admission and rendering: most are edits of Git.

func (f *Builder) listDefault() []drift.Fix {
	return []drift.Fix{
		f.gitFix(drift.FixPinDefaultInGit, f.likeLive(f.fields), "Writes into Git the defaults that the API server adds from the CRD's schema; changes of these fields stay visible.",
			"The defaults are those of the installed CRD: an upgrade of it may bring others."),
		f.serverSide("The API server adds its defaults to the prediction too, so that none of them shows."),
	}
}

// claimTemplate: newer API servers leave a template's creationTimestamp out, while the
// merge that Argo CD predicts with writes null; no edit of Git makes these two equal.
func (f *Builder) claimTemplate() []drift.Fix {
	pin := f.gitFix(drift.FixPinDefaultInGit, f.likeLive(f.fields),
		"The API server completes volumeClaimTemplates, and structured merge compares them as a whole; with the same fields in Git nothing is left to differ.",
		"The values equal live's, so that the immutable field does not change.")
	if !slices.ContainsFunc(f.fields, func(field drift.Field) bool { return field.InTarget && field.Target == nil && !field.InLive }) {
		return []drift.Fix{pin}
	}
	pin.Why = "The API server completes volumeClaimTemplates, and structured merge compares them as a whole. Git can say the same fields, but not the creationTimestamp, which the merge predicts as null and this API server leaves out: server-side diff or the rule take that away. The values equal live's, so that the immutable field does not change."
	rule := f.ruleFor()
	rule.JSONPointers = []string{"/spec/volumeClaimTemplates"}
	return []drift.Fix{
		pin,
		f.serverSide("The API server completes its prediction too, so that none of the fields shows."),
		f.ruled(drift.FixIgnoreDifferencesNarrow, rule, "Rules are applied before the merge that brings the null in, so that none but one for the whole list helps. It hides every change of the templates, which are immutable."),
	}
}

func (f *Builder) droppedDefault() []drift.Fix {
	return []drift.Fix{f.gitFix(drift.FixDropFieldFromGit, f.dropped(f.fields),
		"The object's own controller leaves the value out whenever it writes the object, as it means the same as nothing. Nothing is hidden, and the effect stays.")}
}

// emptyValue: most empty values are what a template leaves when a value is not set.
func (f *Builder) emptyValue() []drift.Fix {
	var changes []snippet.Change
	seen := map[string]bool{}
	for _, path := range f.locate(f.fields) {
		path, value, found := f.emptyAbove(path)
		if !found || seen[string(snippet.PointerOf(path))] {
			continue
		}
		seen[string(snippet.PointerOf(path))] = true
		changes = append(changes, snippet.Change{Path: path, Value: value, Remove: true})
	}
	snippet.SortChanges(changes)
	drop := f.gitFix(drift.FixDropFieldFromGit, changes, "The API server keeps no such empty value; without it Git and live say the same, and the effect stays.")
	template := f.gitFix(drift.FixFixTemplateValue, changes,
		"The template renders the field though its value is empty: guard it (in Helm with `{{- with }}`) or give the value, so that the line is left out.")
	return []drift.Fix{template, drop}
}

// emptyAbove is the place where Git has an empty value: the path or one above it.
func (f *Builder) emptyAbove(path []snippet.Step) ([]snippet.Step, any, bool) {
	for i := len(path); i > 0; i-- {
		if v, found := f.inGit(path[:i]); found {
			return path[:i], v, value.IsEmpty(v)
		}
	}
	return nil, nil, false
}

func (f *Builder) quantity() []drift.Fix {
	known := "Where the value comes from a template that cannot be changed, argocd-cm can name the field's type: resource.customizations.knownTypeFields."
	if f.R.BuiltIn() {
		known = "Argo CD compares amounts of Kubernetes' own kinds by their meaning, unless the object has an unknown field: removing that one helps as well."
	}
	return []drift.Fix{f.gitFix(drift.FixCanonicaliseValueInGit, f.likeLive(f.fields), "The same amount in the spelling that the API server keeps; nothing changes and nothing is hidden.", known)}
}

func (f *Builder) canonicalValue() []drift.Fix {
	return []drift.Fix{f.gitFix(drift.FixCanonicaliseValueInGit, f.likeLive(f.fields), "The same value in the spelling that live keeps; nothing changes and nothing is hidden.")}
}

func (f *Builder) statusInGit() []drift.Fix {
	var status []drift.Field
	if value, found := f.R.Target["status"]; found {
		status = []drift.Field{{Pointer: "/status", Target: value, InTarget: true}}
	}
	return []drift.Fix{f.gitFix(drift.FixDropFieldFromGit, f.dropped(status), "The status belongs to the object's controller; what Git says of it is never applied.")}
}

// unknownField: a near name in the schema is what was meant; without one the names
// that the schema has are shown.
func (f *Builder) unknownField() []drift.Fix {
	var renamed []snippet.Change
	for i, path := range f.locate(f.fields) {
		name, near := f.R.Meant(f.fields[i].Pointer.Steps())
		value, set := f.inGit(path)
		if !near || !set || path[len(path)-1].Item {
			continue
		}
		meant := append(slices.Clone(path[:len(path)-1]), snippet.Step{Field: name})
		renamed = append(renamed, snippet.Change{Path: path, Value: value, Remove: true}, snippet.Change{Path: meant, Value: value})
	}
	drop := f.gitFix(drift.FixDropFieldFromGit, f.dropped(f.fields), "The schema has no such field, so that the API server drops it at every apply; without it Git says what is in force.")
	if len(renamed) == 0 {
		typo := drop
		typo.Kind, typo.Edit = drift.FixFixTypoInGit, nil
		typo.Snippet += f.knownNames()
		typo.Why = "No field of the schema has nearly this name: it stands at the wrong place, belongs to another kind, or to a newer version of the API than the cluster serves. Move it, or leave it out until it is served."
		return []drift.Fix{typo, drop}
	}
	snippet.SortChanges(renamed)
	return []drift.Fix{f.gitFix(drift.FixFixTypoInGit, renamed, "The schema has a field of nearly this name. With it the value takes effect for the first time: check that it is still wanted."), drop}
}

// knownNames are the fields that the schema has in the place of the first unknown one.
func (f *Builder) knownNames() string {
	root, known := f.R.Shape()
	if !known || len(f.fields) == 0 {
		return ""
	}
	steps := f.fields[0].Pointer.Steps()
	for i := range steps {
		if _, has := root.At(steps[:i+1]); has {
			continue
		}
		parent, _ := root.At(steps[:i])
		names := parent.FieldNames()
		slices.Sort(names)
		return snippet.Commented("", "the schema has there: "+strings.Join(names[:min(len(names), maxEdited)], ", "))
	}
	return ""
}

func (f *Builder) deprecatedAlias() []drift.Fix {
	var renamed, pinned []snippet.Change
	for i, path := range f.locate(f.fields) {
		pair, found := aliasOf(path)
		if !found {
			continue
		}
		parent := path[:len(path)-1]
		current, old := append(slices.Clone(parent), snippet.Step{Field: pair[0]}), append(slices.Clone(parent), snippet.Step{Field: pair[1]})
		if value, set := f.inGit(old); set {
			renamed = append(renamed, snippet.Change{Path: old, Value: value, Remove: true}, snippet.Change{Path: current, Value: value})
			continue
		}
		field := f.fields[i]
		wanted := snippet.Change{Path: current, Value: shownValue(field)}
		if !field.InTarget && pair[0] == "serviceAccountName" {
			wanted.Value = "default"
		}
		pinned = append(pinned, wanted)
	}
	if len(renamed) > 0 {
		snippet.SortChanges(renamed)
		return []drift.Fix{f.gitFix(drift.FixRenameDeprecatedField, renamed, "The API server fills the current field from the deprecated one and back; with the current name alone, a change sticks.")}
	}
	snippet.SortChanges(pinned)
	return []drift.Fix{f.gitFix(drift.FixPinDefaultInGit, onePerPath(pinned), "Removing the field does not stick, as its deprecated alias stays live and brings it back; the default has to be said.")}
}

func aliasOf(path []snippet.Step) ([2]string, bool) {
	for _, pair := range kind.Aliases {
		if len(path) > 0 && slices.Contains(pair[:], path[len(path)-1].Field) {
			return pair, true
		}
	}
	return [2]string{}, false
}

// onePerPath leaves out changes of what was changed already.
func onePerPath(changes []snippet.Change) []snippet.Change {
	seen := map[string]bool{}
	return slices.DeleteFunc(changes, func(c snippet.Change) bool {
		pointer := string(snippet.PointerOf(c.Path))
		again := seen[pointer]
		seen[pointer] = true
		return again
	})
}

func (f *Builder) preserveUnknown() []drift.Fix {
	return []drift.Fix{f.gitFix(drift.FixDropFieldFromGit, f.dropped(f.fields), "false is the only value that apiextensions.k8s.io/v1 allows, and the API server leaves it out when it answers.")}
}

func (f *Builder) duplicate() []drift.Fix {
	var changes []snippet.Change
	if f.R.Target != nil {
		for _, found := range f.R.Duplicates() {
			path := GitPath(f.R.Target, found.Item.Steps())
			if value, set := f.inGit(path); set {
				changes = append(changes, snippet.Change{Path: path, Value: value, Remove: true})
			}
		}
	}
	snippet.SortChanges(changes)
	return []drift.Fix{f.gitFix(drift.FixRemoveDuplicateInGit, changes, "Of two items with the same key only one takes effect: this removes the later one. Check which of them is meant.", f.twice())}
}

// twice warns of what client-side apply makes of an item less with the same key.
func (f *Builder) twice() string {
	if f.R.Live == nil || f.R.SyncsServerSide() {
		return ""
	}
	return "A client-side apply takes the missing item for an order to remove its key: sync twice, the second sync brings the other one back, or replace the object once (" + f.syncOne("--replace") + ")."
}

// GitPath is the path of a pointer into what Git renders.
func GitPath(target any, steps []string) []snippet.Step {
	path := make([]snippet.Step, 0, len(steps))
	for i, name := range steps {
		items, isList := target.([]any)
		step := snippet.Step{Field: name}
		if isList {
			index := value.Index(name)
			step = snippet.Step{Item: true, Index: index, InGit: index}
			target = value.Item(items, index)
			if i < len(steps)-1 {
				step.Identity, _ = snippet.KeysOf(nil, items).Identify(target, steps[i+1], index)
			}
		} else {
			target = value.Child(target, name)
		}
		path = append(path, step)
	}
	return path
}

// serverFields are the fields of metadata that only the API server sets.
var serverFields = []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// serverMetadata drops all that was exported with the object.
func (f *Builder) serverMetadata() []drift.Fix {
	return []drift.Fix{f.gitFix(drift.FixDropFieldFromGit, f.exported(), "The manifest was exported from a cluster: these fields are written by the API server or by the apply itself, never by Git.")}
}

func (f *Builder) resourceVersion() []drift.Fix {
	return []drift.Fix{f.gitFix(drift.FixDropFieldFromGit, f.exported(), "With a resourceVersion or uid in Git, an apply is refused as soon as the live object has another.")}
}

// exported are the removals of what an export of the object left in its manifest.
func (f *Builder) exported() []snippet.Change {
	r := f.subject()
	if r == nil || r.Target == nil {
		return nil
	}
	var changes []snippet.Change
	drop := func(value any, names ...string) {
		path := make([]snippet.Step, 0, len(names))
		for _, name := range names {
			path = append(path, snippet.Step{Field: name})
		}
		changes = append(changes, snippet.Change{Path: path, Value: words.Brief(value), Remove: true, Hide: names[len(names)-1] == mark.LastApplied && r.IsSecret()})
	}
	for _, name := range serverFields {
		if value, found := object.At(r.Target, "metadata", name); found {
			drop(value, "metadata", name)
		}
	}
	if value, found := object.At(r.Target, "metadata", "annotations", mark.LastApplied); found {
		drop(value, "metadata", "annotations", mark.LastApplied)
	}
	if _, found := r.Target["status"]; found {
		drop("...", "status")
	}
	snippet.SortChanges(changes)
	return changes
}

// subject is the resource that the answer is about, which an answer about the
// Application only names.
func (f *Builder) subject() *state.Resource {
	switch {
	case !f.whole:
		return f.R
	case f.Answer.About == nil:
		return nil
	}
	for _, r := range f.Resources {
		if drift.KeyOf(r.Ref) == drift.KeyOf(*f.Answer.About) {
			return r
		}
	}
	return nil
}

func (f *Builder) webhookValue() []drift.Fix {
	return []drift.Fix{
		f.serverSide("The dry run passes the admission webhooks, so that the prediction has the value that they write."),
		f.gitFix(drift.FixCanonicaliseValueInGit, f.likeLive(f.fields), "Commits what the webhook makes of the value: right when its answer is always the same.", f.hiddenValues()),
	}
}

func (f *Builder) webhookAddition() []drift.Fix {
	return []drift.Fix{
		f.serverSide("The dry run passes the admission webhooks, and what they add is taken out of the comparison."),
		f.gitFix(drift.FixPinDefaultInGit, f.likeLive(f.fields), "Commits what the webhook adds: right when that is always the same.", "A rule with managedFieldsManagers would do nothing, as webhooks leave no entry in managedFields."),
	}
}

func (f *Builder) randomValue() []drift.Fix {
	return []drift.Fix{f.pinRandom()}
}

func (f *Builder) pinRandom() drift.Fix {
	why := "The chart makes new values at every render, and every sync puts them over those in use: give it the value, or the name of a Secret that exists (existingSecret in many charts)."
	if f.R.IsSecret() {
		return f.gitFix(drift.FixPinRandomValue, f.likeLive(f.fields), why, f.hiddenValues(), "Keep the live Secret's values: what runs was made with them.")
	}
	return f.gitFix(drift.FixPinRandomValue, f.likeLive(f.fields), why)
}

func (f *Builder) timestamp() []drift.Fix {
	fixes := []drift.Fix{
		f.ignore(drift.FixIgnoreDifferencesNarrow, f.fields, "The template renders the time, so that the field differs after every render."),
		f.gitFix(drift.FixDropFieldFromGit, f.dropped(f.fields), "Where the template can be changed: without the time, pods restart only when something else changes."),
	}
	return append(fixes, f.annotatedIgnore(drift.FixIgnoreDifferencesNarrow, f.fields)...)
}

// checksum: the checksum follows something random, which is better pinned; where no
// such thing is to be seen, the annotation can only be ignored.
func (f *Builder) checksum() []drift.Fix {
	pin := f.pinRandom()
	pin.Snippet = snippet.Note("Pin the random value that " + f.about().Words() + " has the checksum of" + f.siblings() + ".")
	pin.Edit = nil
	pin.Why = "The checksum changes with every render because what it is made of does; with that pinned, pods restart only for real changes."
	ignore := f.ignore(drift.FixIgnoreDifferencesNarrow, f.fields, "Right when what the checksum is made of cannot be pinned; a real change then restarts no pods by the checksum's change alone.")
	return append([]drift.Fix{pin, ignore}, f.annotatedIgnore(drift.FixIgnoreDifferencesNarrow, f.fields)...)
}

// siblings names the Secrets and ConfigMaps of the Application that differ.
func (f *Builder) siblings() string {
	var names []string
	for _, r := range f.Resources {
		if r.Ref.Group == "" && (r.Ref.Kind == "Secret" || r.Ref.Kind == "ConfigMap") && len(r.Differences) > 0 {
			names = append(names, r.Ref.Words())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + words.Some(names)
}
