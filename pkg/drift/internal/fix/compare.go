package fix

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// The fixes of how Argo CD is told to compare.

func (f *Builder) respect() []drift.Fix {
	return []drift.Fix{{
		Kind: drift.FixAddRespectIgnoreDifferences, Where: drift.InApplication, Snippet: application(f.Application, nil, nil, mark.RespectOption),
		Why: words.Sentences("The rule hides the difference from the comparison alone; with the option a sync leaves the live value, too.", f.losses(), f.selfHeals()),
	}}
}

// blockingRule leaves out of the Application's rules what covers the fields that
// Git changed, and puts in its place a rule for what else it hides.
func (f *Builder) blockingRule() []drift.Fix {
	var left []v1alpha1.ResourceIgnoreDifferences
	for _, rule := range f.Object.Spec.IgnoreDifferences {
		if !compare.Meets(f.R, rule) {
			left = append(left, rule)
			continue
		}
		narrowed := *rule.DeepCopy()
		narrowed.JSONPointers = slices.DeleteFunc(narrowed.JSONPointers, f.blocks)
		narrowed.JQPathExpressions = slices.DeleteFunc(narrowed.JQPathExpressions, f.blocksByJQ)
		narrowed.ManagedFieldsManagers = slices.DeleteFunc(narrowed.ManagedFieldsManagers, f.blocksByManager)
		if len(narrowed.JSONPointers)+len(narrowed.JQPathExpressions)+len(narrowed.ManagedFieldsManagers) > 0 {
			left = append(left, narrowed)
		}
	}
	if others := f.hiddenToo(); len(others) > 0 {
		rule, _ := f.NarrowRule(others)
		left = append(left, rule)
	}
	said := []string{"What Git changed and the rule keeps from being applied:"}
	for _, field := range f.fields[:min(len(f.fields), maxEdited)] {
		said = append(said, "  "+string(field.Pointer))
	}
	said = append(said, "In the place of the rules there are:")
	return []drift.Fix{{
		Kind: drift.FixFixIgnoreRule, Where: drift.InApplication, Snippet: snippet.Note(said...) + "\n" + f.onlyRules(left),
		Why: "The rule covers more than what the other writer owns: with " + mark.RespectOption + " a sync takes all of it from live, so that Git's change is never applied although the Application looks Synced. With the narrow rules Git's change shows, and a sync applies it.",
	}}
}

// hiddenToo is what the Application's rules hide of the resource beside the fields.
func (f *Builder) hiddenToo() []drift.Field {
	if f.R.Target == nil || f.R.Live == nil {
		return nil
	}
	var others []drift.Field
	for _, d := range compare.HiddenDifferences(f.R) {
		if !slices.ContainsFunc(f.fields, func(field drift.Field) bool { return field.Pointer == d.Pointer }) {
			others = append(others, drift.Field{Pointer: d.Pointer, Target: d.Target, Live: d.Live, InTarget: d.InTarget, InLive: d.InLive})
		}
	}
	return others[:min(len(others), maxEdited)]
}

// onlyRules is the Application with these rules and no others.
func (f *Builder) onlyRules(rules []v1alpha1.ResourceIgnoreDifferences) string {
	if len(rules) == 0 {
		return snippet.Commented("", home(f.Application)) + "spec:\n  ignoreDifferences: []\n"
	}
	return strings.ReplaceAll(application(f.Application, nil, rules), snippet.Beside(1), "")
}

// blocks reports whether the pointer covers a field that Git changed.
func (f *Builder) blocks(pointer string) bool {
	above, err := fieldpath.Parse(pointer)
	return err == nil && slices.ContainsFunc(f.fields, func(field drift.Field) bool {
		return above.Covers(field.Pointer) || field.Pointer.Covers(above)
	})
}

// blocksByJQ reports whether Argo CD takes a field that Git changed away by the
// expression. One that it cannot run takes nothing away.
func (f *Builder) blocksByJQ(expression string) bool {
	rule := f.ruleFor()
	rule.JQPathExpressions = []string{expression}
	normalizer, err := normalizers.NewIgnoreNormalizer([]v1alpha1.ResourceIgnoreDifferences{rule}, nil, normalizers.IgnoreNormalizerOpts{})
	if err != nil {
		return false
	}
	for _, side := range []object.Object{f.R.Live, f.R.Target} {
		left := &unstructured.Unstructured{Object: side}
		if side == nil || normalizer.Normalize(left) != nil {
			continue
		}
		for _, field := range f.fields {
			was, before := field.Pointer.Value(side)
			is, after := field.Pointer.Value(left.Object)
			if before && (!after || !value.Equal(was, is)) {
				return true
			}
		}
	}
	return false
}

// blocksByManager reports whether the manager owns a field that Git changed.
func (f *Builder) blocksByManager(manager string) bool {
	return slices.ContainsFunc(f.fields, func(field drift.Field) bool {
		return slices.ContainsFunc(f.R.Ownership().At(field.Pointer), func(owner drift.Owner) bool { return owner.Manager == manager })
	})
}

func (f *Builder) selfhealFight() []drift.Fix {
	r := f.R
	if f.whole {
		r = nil
	}
	for _, other := range f.Resources {
		if r == nil && other.Live != nil && len(other.Differences) > 0 {
			r = other
		}
	}
	if r == nil {
		return []drift.Fix{f.cluster(drift.FixRemoveSecondWriter, snippet.Lines(Argocd(f.Application, "get", "--show-operation")), "Somebody writes the same fields after every sync: find out who, and let one of the two go.")}
	}
	inner := &Builder{Application: f.Application, R: r, Answer: &rule.Answer{Mechanism: drift.SelfhealFight}, fields: f.fields}
	if f.whole {
		for _, d := range r.Differences {
			inner.fields = append(inner.fields, drift.Field{Pointer: d.Pointer, Target: d.Target, Live: d.Live, InTarget: d.InTarget, InLive: d.InLive})
		}
		inner.fields = r.Masked(inner.fields)
	}
	remove := inner.foreignApply()
	remove[0].Why = "Two writers undo each other, and selfHeal keeps them at it: stop the other one, " + words.First(inner.writers(), "whoever it is") + ", where Git is to decide."
	return append(remove, inner.ignore(drift.FixIgnoreDifferencesAndRespect, inner.fields, "Where the other writer is to decide."))
}

// coowner removes the field together with the answers of all who own it: only then
// is it gone from a server-side apply.
func (f *Builder) coowner() []drift.Fix {
	fixes := []drift.Fix{f.cluster(drift.FixMigrateFieldManager, f.removedLive(f.fields),
		"Git dropped the field, but "+words.First(f.writers(), "another manager")+" still owns it, so that server-side apply leaves it; the patch takes it away, and every claim to it.", f.tested(f.fields))}
	manager := f.writers()
	if f.Settings.Version.Before(3, 2) || manager == "" || strings.Contains(manager, ",") {
		return fixes
	}
	return append(fixes, drift.Fix{
		Kind: drift.FixMigrateFieldManager, Where: drift.InApplication, Snippet: application(f.Application, map[string]any{"argocd.argoproj.io/client-side-apply-migration-manager": manager}, nil),
		Why: "The next server-side sync takes over all that this manager owns of the Application's objects, and drops what Git does not have.",
	})
}

func (f *Builder) schemaError() []drift.Fix {
	diff := f.serverSide("The API server compares instead of Argo CD, with the schemas that it has.")
	var crds []string
	for _, r := range f.Resources {
		if r.Ref.Kind == "CustomResourceDefinition" && r.Target != nil && (r.Live == nil || len(r.Differences) > 0) {
			crds = append(crds, snippet.OfResource(r.Ref))
		}
	}
	if len(crds) == 0 {
		if crd, found := f.olderCRD(); found {
			show := snippet.Kubectl(drift.RefOf(crd), "get", `--output=jsonpath={.metadata.labels}{"\n"}{.metadata.annotations}{"\n"}`)
			return []drift.Fix{f.cluster(drift.FixSyncCRDFirst, snippet.Lines(snippet.Note("who brings the CRD, which has to be upgraded first:"), show),
				"The installed CRD is older than the manifest and does not know the field: until it is upgraded the field would be dropped anyway."), diff}
		}
		return []drift.Fix{diff}
	}
	first := f.operation(drift.FixSyncCRDFirst, snippet.Lines(Argocd(f.Application, append([]string{"sync"}, crds...)...)),
		"The Application brings a newer CRD than the installed one: with it the schema knows the field. A sync-wave before the objects keeps the order.")
	return []drift.Fix{first, diff}
}

// olderCRD is the CRD of a custom kind that cannot be compared.
func (f *Builder) olderCRD() (object.Object, bool) {
	for _, r := range f.Resources {
		if r.CompareError == nil {
			continue
		}
		if crd, found := f.Crd(r.Ref.Group, r.Ref.Kind); found {
			return crd, true
		}
	}
	return nil, false
}

func (f *Builder) stale() []drift.Fix {
	return []drift.Fix{f.operation(drift.FixHardRefresh, snippet.Lines(Argocd(f.Application, "get", "--hard-refresh")), "Renders and compares again without the caches; it changes nothing in the cluster. Do not prune before it.")}
}
