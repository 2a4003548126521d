package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

const (
	ignoreAnnotation  = "argocd.argoproj.io/ignore-differences"
	serverSideOption  = "ServerSideDiff=true"
	statusSubresource = "status"
)

// NarrowRule is the narrowest entry of ignoreDifferences for the fields: this one
// object, pointers where no list is on the way, else jq paths that select items by
// what identifies them. stable is false when an item is known by its position alone.
func (f *Builder) NarrowRule(fields []drift.Field) (rule v1alpha1.ResourceIgnoreDifferences, stable bool) {
	rule, stable = f.ruleFor(), true
	paths := f.locate(fields)
	if f.R.Strategy == drift.ServerSide {
		paths = f.emptied(paths)
	}
	for _, path := range paths {
		if !snippet.ThroughList(path) {
			rule.JSONPointers = append(rule.JSONPointers, string(snippet.PointerOf(path)))
			continue
		}
		stable = stable && !snippet.Positional(path)
		rule.JQPathExpressions = append(rule.JQPathExpressions, snippet.JQPath(path))
	}
	return rule, stable
}

// emptied names the object in place of all of its fields: under server-side diff Argo
// CD finds an object that its rule emptied to differ from the prediction's null.
func (f *Builder) emptied(paths [][]snippet.Step) [][]snippet.Step {
	covered := map[string]int{}
	for _, path := range paths {
		covered[string(snippet.PointerOf(path[:len(path)-1]))]++
	}
	var kept [][]snippet.Step
	named := map[string]bool{}
	for _, path := range paths {
		above := path[:len(path)-1]
		pointer := snippet.PointerOf(above)
		held, _ := pointer.Value(f.R.Live)
		whole, isObject := held.(map[string]any)
		if len(above) < 2 || above[len(above)-1].Item || !isObject || len(whole) > covered[string(pointer)] {
			kept = append(kept, path)
			continue
		}
		if !named[string(pointer)] {
			named[string(pointer)] = true
			kept = append(kept, above)
		}
	}
	return kept
}

// ruleFor is an entry for this one object that ignores nothing yet.
func (f *Builder) ruleFor() v1alpha1.ResourceIgnoreDifferences {
	ref := f.about()
	return v1alpha1.ResourceIgnoreDifferences{Group: ref.Group, Kind: ref.Kind, Name: ref.Name, Namespace: ref.Namespace}
}

// ruleText is the entry as it stands in YAML. An empty group is left out: Argo CD
// drops it when it writes the Application back.
func ruleText(rule v1alpha1.ResourceIgnoreDifferences) string {
	var out strings.Builder
	for _, field := range [][2]string{{"group", rule.Group}, {"kind", rule.Kind}, {"name", rule.Name}, {"namespace", rule.Namespace}} {
		if field[1] != "" {
			out.WriteString(snippet.Keyed(field[0]+":", field[1], ""))
		}
	}
	if len(rule.JSONPointers) > 0 {
		out.WriteString(snippet.Keyed("jsonPointers:", anyList(rule.JSONPointers), ""))
	}
	if len(rule.JQPathExpressions) > 0 {
		out.WriteString(snippet.Keyed("jqPathExpressions:", anyList(rule.JQPathExpressions), ""))
	}
	if len(rule.ManagedFieldsManagers) > 0 {
		out.WriteString(snippet.Keyed("managedFieldsManagers:", anyList(rule.ManagedFieldsManagers), ""))
	}
	return out.String()
}

func anyList(values []string) []any {
	listed := make([]any, 0, len(values))
	for _, value := range values {
		listed = append(listed, value)
	}
	return listed
}

// deadRule is the fix of a rule that matches nothing: the entry as it has to be.
func (f *Builder) deadRule() []drift.Fix {
	fix := f.ignore(drift.FixFixIgnoreRule, f.fields, "Replaces the entry that matches nothing: group, kind, name and every step of the path as they are here.", f.found())
	fix.Snippet = snippet.Note("in the place of the entry that matches nothing:") + "\n" + fix.Snippet
	return []drift.Fix{fix}
}

// found is the first piece of evidence as a sentence.
func (f *Builder) found() string {
	if len(f.Answer.Evidence) == 0 {
		return ""
	}
	return "Found: " + f.Answer.Evidence[0] + "."
}

// ignore is a fix by an entry of ignoreDifferences, with RespectIgnoreDifferences
// where a sync must leave the live value alone too.
func (f *Builder) ignore(kind drift.FixKind, fields []drift.Field, why ...string) drift.Fix {
	rule, stable := f.NarrowRule(fields)
	if len(fields) > maxEdited {
		rule = f.ancestors(fields)
		why = append(why, fmt.Sprintf("The finding has %d fields, so the rule names what holds them; it hides everything else there too.", len(fields)))
	}
	if !stable {
		why = append(why, "Nothing but its position tells the list item apart: the rule hides another item when the list is reordered.")
	}
	return f.ruled(kind, rule, append(why, wholes(fields))...)
}

// wholes says which of the fields hold others, all of which a rule for them hides.
func wholes(fields []drift.Field) string {
	var names []string
	for _, field := range fields {
		if held, ok := shownValue(field).(map[string]any); ok && len(held) > 0 {
			names = append(names, string(field.Pointer))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "It hides all that is or comes below " + words.Some(names) + "."
}

// ancestors is a rule for the top-level fields that hold the given ones.
func (f *Builder) ancestors(fields []drift.Field) v1alpha1.ResourceIgnoreDifferences {
	rule := f.ruleFor()
	for _, field := range fields {
		steps := field.Pointer.Steps()
		pointer := "/" + strings.Join(strings.Split(string(field.Pointer), "/")[1:min(len(steps), 2)+1], "/")
		if !slices.Contains(rule.JSONPointers, pointer) {
			rule.JSONPointers = append(rule.JSONPointers, pointer)
		}
	}
	return rule
}

// ruled is a fix by one entry of ignoreDifferences.
func (f *Builder) ruled(kind drift.FixKind, rule v1alpha1.ResourceIgnoreDifferences, why ...string) drift.Fix {
	var added []string
	respects := kind == drift.FixIgnoreDifferencesAndRespect || f.Answer.Sync == drift.FightsController
	if respects {
		added = append(added, mark.RespectOption)
		why = append(why, f.listsRespected(rule))
	} else if !f.Respects() {
		why = append(why, "A sync still writes Git's value, as "+mark.RespectOption+" is not set.")
		if policy, enabled := f.Automated(); enabled && policy["selfHeal"] == true {
			why = append(why, "With selfHeal, any other drift of the Application starts such a sync.")
		}
	}
	why = append(why, "A later change of the ignored fields in Git is not seen any more.")
	fix := drift.Fix{Kind: kind, Where: drift.InApplication, Snippet: application(f.Application, nil, []v1alpha1.ResourceIgnoreDifferences{rule}, added...), Why: words.Sentences(why...)}
	if f.R.Target != nil && f.R.Live != nil {
		fix.Edit = &Edit{Resource: f.R, Fields: f.fields, Ignores: []v1alpha1.ResourceIgnoreDifferences{rule}}
	}
	return fix
}

// listsRespected warns of what Argo CD does with lists of custom kinds: its patch
// knows no keys there, so that the whole list is live's.
func (f *Builder) listsRespected(rule v1alpha1.ResourceIgnoreDifferences) string {
	if len(rule.JQPathExpressions) == 0 || f.R.BuiltIn() {
		return ""
	}
	return "For a custom kind a sync then takes the whole list from the live object, so that other changes of that list in Git are not applied either."
}

// annotatedIgnore is the same rule as an annotation of the resource itself, which
// Argo CD knows since v3.6 and for JSON pointers only.
func (f *Builder) annotatedIgnore(kind drift.FixKind, fields []drift.Field) []drift.Fix {
	rule, _ := f.NarrowRule(fields)
	if f.Settings.Version.Before(3, 6) || len(rule.JQPathExpressions) > 0 || len(fields) > maxEdited || f.R.Target == nil {
		return nil
	}
	pointers := snippet.Block(map[string]any{"jsonPointers": anyList(rule.JSONPointers)})
	path := []snippet.Step{{Field: "metadata"}, {Field: "annotations"}, {Field: ignoreAnnotation}}
	fix := drift.Fix{
		Kind: kind, Where: drift.InGit, Snippet: snippet.Fragment(f.about(), f.apiVersion(), []snippet.Change{{Path: path, Value: strings.TrimSuffix(pointers, "\n")}}),
		Why: "The same rule in the manifest, for those who may not edit the Application; since Argo CD v3.6, JSON pointers only.",
	}
	if kind == drift.FixIgnoreDifferencesAndRespect && !f.Respects() {
		fix.Why += " The Application's syncOptions need " + mark.RespectOption + " beside it."
	}
	if f.R.Live != nil {
		fix.Edit = &Edit{Resource: f.R, Fields: f.fields, Ignores: []v1alpha1.ResourceIgnoreDifferences{rule}}
	}
	return []drift.Fix{fix}
}

// manyFields is from when on a rule by manager is worth more than its pointers.
const manyFields = 4

// byManager is a rule for all that one controller wrote, where it wrote many of the
// finding's fields. Webhooks leave no entry in managedFields, so that such a rule
// does nothing for them.
func (f *Builder) byManager(kind drift.FixKind) []drift.Fix {
	if len(f.fields) < manyFields {
		return nil
	}
	manager := ""
	for _, field := range f.fields {
		if field.Owner == nil || !field.InLive || !field.InTarget || owners.RoleOf(f.R.Ref.Kind, *field.Owner) != owners.Controller ||
			manager != "" && field.Owner.Manager != manager {
			return nil
		}
		manager = field.Owner.Manager
	}
	rule := f.ruleFor()
	rule.ManagedFieldsManagers = []string{manager}
	return []drift.Fix{f.ruled(kind, rule, "Ignores every field that "+manager+" owns.", f.alsoOwned(manager))}
}

// alsoOwned says what else a manager owns of what Git sets.
func (f *Builder) alsoOwned(manager string) string {
	mine := map[string]bool{}
	for _, field := range f.fields {
		mine[string(field.Pointer)] = true
	}
	var bits owners.OwnerSet
	for i, owner := range f.R.Ownership().Entries {
		if owner.Manager == manager && owner.Subresource != statusSubresource {
			bits |= 1 << i
		}
	}
	var others []string
	for pointer, owners := range f.R.Ownership().Whole {
		if _, set := pointer.Value(f.R.Target); set && owners&bits != 0 && !mine[string(pointer)] {
			others = append(others, string(pointer))
		}
	}
	if len(others) == 0 {
		return "It owns nothing else that Git sets."
	}
	slices.Sort(others)
	return "It also hides " + words.Plural(len(others), "other field") + " that it owns and Git sets: " + words.Some(others) + "."
}

// serverSide is a fix by letting the API server predict the result of a sync.
func (f *Builder) serverSide(why ...string) drift.Fix {
	options := options(object.Annotation(f.Snapshot.Application, mark.CompareOptions), serverSideOption)
	options = strings.ReplaceAll(options, "ServerSideDiff=false,", "")
	state := "It has been stable since Argo CD v3.1."
	switch {
	case f.Settings.Version.Before(2, 10):
		state = "It needs Argo CD v2.10 or newer, which this one is not."
	case f.Settings.Version.Before(3, 1):
		state = "It is beta in this version of Argo CD."
	}
	why = append(why, state)
	if !serverSideApplied(f.Application) {
		why = append(why, "Syncs stay client-side applies: a field that is removed from Git is then not seen as drift when only client-side apply owned it.")
	}
	return drift.Fix{
		Kind: drift.FixEnableServerSideDiff, Where: drift.InApplication, Why: words.Sentences(why...),
		Snippet: application(f.Application, map[string]any{mark.CompareOptions: options}, nil),
	}
}

// serverSideApplied reports whether the Application syncs by server-side apply.
func serverSideApplied(s *state.Application) bool {
	policy := s.Object.Spec.SyncPolicy
	return policy != nil && policy.SyncOptions.HasOption("ServerSideApply=true")
}
