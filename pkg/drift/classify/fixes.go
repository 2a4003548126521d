package classify

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// fixer offers the fixes of one claim.
type fixer struct {
	*state.Application

	// r has neither side for a claim about the whole Application.
	r      *state.Resource
	whole  bool
	claim  *rule.Answer
	fields []drift.Field
	finder *snippet.Locator
}

// edit is what a trial of a fix changes.
type edit struct {
	resource *state.Resource
	// fields are those that the fix is for.
	fields []drift.Field
	// changes are edits of what Git renders.
	changes []snippet.Change
	// ignores are added to the Application's own rules, which without leaves out.
	ignores []v1alpha1.ResourceIgnoreDifferences
	without bool
	// strategy takes the place of the resource's own; "" leaves it.
	strategy drift.Strategy
	// rewritten tells that a controller writes the live value again after a sync.
	rewritten bool
}

// maxFixes is how many ways a finding is offered to go away: one, and two others.
const maxFixes = 3

// maxEdited is how many fields a snippet spells out.
const maxEdited = 100

// fixesFor returns the ways to make the claim's finding go away, the narrowest that
// is right first. r is nil for a claim about the Application.
func fixesFor(s *state.Application, r *state.Resource, c *rule.Answer, fields []drift.Field) []drift.Fix {
	f := &fixer{Application: s, r: r, claim: c, fields: fields, whole: r == nil}
	if f.whole {
		f.r = &state.Resource{Application: s, Given: &drift.Resource{}, Ref: f.ref()}
	}
	offer, known := fixers[c.Mechanism]
	if !known {
		offer = (*fixer).unexplained
	}
	offered := offer(f)
	return offered[:min(len(offered), maxFixes)]
}

// fixers are the fixes of every mechanism.
var fixers = map[drift.Mechanism]func(*fixer) []drift.Fix{
	drift.ManualEdit:                (*fixer).manualEdit,
	drift.ForeignApply:              (*fixer).foreignApply,
	drift.RolloutRestart:            (*fixer).rolloutRestart,
	drift.HiddenLiveAddition:        (*fixer).hiddenAddition,
	drift.ResourceMissing:           (*fixer).resourceMissing,
	drift.GitAhead:                  (*fixer).gitAhead,
	drift.ApplicationSpecEdit:       (*fixer).applicationEdit,
	drift.HPAReplicas:               (*fixer).replicas,
	drift.KedaReplicas:              (*fixer).replicas,
	drift.ProgressiveDelivery:       (*fixer).controllerField,
	drift.CABundleInjection:         (*fixer).caBundle,
	drift.OperatorWriteback:         (*fixer).operatorField,
	drift.AggregatedClusterrole:     (*fixer).aggregatedRole,
	drift.RuntimePopulatedData:      (*fixer).runtimeData,
	drift.ListReordered:             (*fixer).reordered,
	drift.CRDListDefault:            (*fixer).listDefault,
	drift.STSVolumeclaimtemplate:    (*fixer).claimTemplate,
	drift.ExplicitDefaultDropped:    (*fixer).droppedDefault,
	drift.EmptyVsAbsent:             (*fixer).emptyValue,
	drift.QuantityFormat:            (*fixer).quantity,
	drift.ValueCanonicalised:        (*fixer).canonicalValue,
	drift.StatusInGit:               (*fixer).statusInGit,
	drift.UnknownFieldPruned:        (*fixer).unknownField,
	drift.DeprecatedAlias:           (*fixer).deprecatedAlias,
	drift.CRDPreserveUnknownFields:  (*fixer).preserveUnknown,
	drift.DuplicateListKey:          (*fixer).duplicate,
	drift.LastAppliedInGit:          (*fixer).serverMetadata,
	drift.WebhookOverwrite:          (*fixer).webhookValue,
	drift.WebhookInjection:          (*fixer).webhookAddition,
	drift.RandomRender:              (*fixer).randomValue,
	drift.TimestampRender:           (*fixer).timestamp,
	drift.ChecksumChurn:             (*fixer).checksum,
	drift.TrackingMissing:           (*fixer).adopt,
	drift.SharedResource:            (*fixer).oneOwner,
	drift.TrackingLabelCopied:       (*fixer).copiedLabel,
	drift.InstanceLabelConflict:     (*fixer).labelConflict,
	drift.PendingPrune:              (*fixer).pendingPrune,
	drift.PruneProtected:            (*fixer).pruneProtected,
	drift.HookLeftover:              (*fixer).hookLeftover,
	drift.TTLDeleted:                (*fixer).ttlDeleted,
	drift.RepeatedResource:          (*fixer).repeated,
	drift.ExcludedResource:          (*fixer).excluded,
	drift.ManagedNamespaceMetadata:  (*fixer).namespaceMetadata,
	drift.IgnoreWithoutRespect:      (*fixer).respect,
	drift.IgnoreRuleDead:            (*fixer).deadRule,
	drift.RespectIgnoreBlocksChange: (*fixer).blockingRule,
	drift.SelfhealFight:             (*fixer).selfhealFight,
	drift.SSACoownerResidue:         (*fixer).coowner,
	drift.ComparisonErrorSchema:     (*fixer).schemaError,
	drift.StaleComparison:           (*fixer).stale,
	drift.ImmutableField:            (*fixer).immutable,
	drift.AnnotationTooLong:         (*fixer).longAnnotation,
	drift.MissingCRD:                (*fixer).missingCRD,
	drift.MissingDependency:         (*fixer).dependency,
	drift.HookStuck:                 (*fixer).hookStuck,
	drift.HookFailed:                (*fixer).hookFailed,
	drift.WaveBlocked:               (*fixer).waveBlocked,
	drift.SyncInProgress:            (*fixer).inProgress,
	drift.ManifestGenerationError:   (*fixer).generation,
	drift.ProjectNotPermitted:       (*fixer).project,
	drift.SyncWindowBlocked:         (*fixer).syncWindow,
	drift.AutosyncGaveUp:            (*fixer).gaveUp,
	drift.AutosyncEmptyGuard:        (*fixer).emptyGuard,
	drift.AdmissionDenied:           (*fixer).denied,
	drift.ResourceVersionInGit:      (*fixer).resourceVersion,
	drift.DeletionStuck:             (*fixer).deletion,
	drift.RemovedAPIVersion:         (*fixer).migrateVersion,
	drift.MergeKeyConflict:          (*fixer).mergeKey,
	drift.InvalidManifest:           (*fixer).invalidManifest,
	drift.ControllerStale:           (*fixer).controllerStale,
	drift.UnhealthyNotDrift:         (*fixer).unhealthy,
	drift.None:                      (*fixer).nothing,
}

// ref names what the claim is about.
func (f *fixer) ref() drift.ResourceRef {
	switch {
	case f.claim.About != nil:
		return *f.claim.About
	case f.r != nil:
		return f.r.Ref
	}
	return f.Ref()
}

// locate returns the paths of the fields.
func (f *fixer) locate(fields []drift.Field) [][]snippet.Step {
	if f.finder == nil {
		f.finder = snippet.NewLocator(f.r.Compared(), f.r.Target)
	}
	paths := make([][]snippet.Step, 0, len(fields))
	for _, field := range fields {
		paths = append(paths, f.finder.Locate(field))
	}
	return paths
}

// gitFix is a fix by an edit of what Git renders.
func (f *fixer) gitFix(kind drift.FixKind, changes []snippet.Change, why ...string) drift.Fix {
	fix := drift.Fix{Kind: kind, Where: drift.InGit, Why: words.Sentences(why...)}
	if len(changes) == 0 {
		fix.Snippet = snippet.Note("In the manifest of " + f.ref().Words() + ": nothing that is known here can be set or removed.")
		return fix
	}
	for i := range changes {
		changes[i].Hide = changes[i].Hide || f.r.Secret(snippet.PointerOf(changes[i].Path))
	}
	shown := changes[:min(len(changes), maxEdited)]
	fix.Snippet = snippet.Fragment(f.ref(), f.apiVersion(), shown)
	if left := len(changes) - len(shown); left > 0 {
		fix.Snippet += snippet.Note("and so on for "+words.Plural(left, "further field")+" of this finding") + "\n"
	}
	hidden := slices.ContainsFunc(changes, func(c snippet.Change) bool { return c.Hide })
	if f.r.Target != nil && f.r.Live != nil && !hidden {
		fix.Edit = &edit{resource: f.r, fields: f.fields, changes: changes}
	}
	return fix
}

// apiVersion is the manifest's own, else live's.
func (f *fixer) apiVersion() string {
	if found := words.First(object.Text(f.r.Target, "apiVersion"), object.Text(f.r.Live, "apiVersion")); found != "" {
		return found
	}
	ref := f.ref()
	switch {
	case ref.Group == "":
		return words.First(ref.Version, "v1")
	case ref.Version == "":
		return ref.Group + "/v1"
	}
	return ref.Group + "/" + ref.Version
}

// likeLive are the changes that make Git say what live says.
func (f *fixer) likeLive(fields []drift.Field) []snippet.Change {
	changes := make([]snippet.Change, 0, len(fields))
	for i, path := range f.locate(fields) {
		field := fields[i]
		if _, set := f.inGit(path); !set && !field.InLive {
			continue
		}
		changes = append(changes, snippet.Change{Path: path, Value: shownValue(field), Remove: !field.InLive})
	}
	snippet.SortChanges(changes)
	return changes
}

// shownValue is the live value, or the target's where live has none.
func shownValue(f drift.Field) any {
	if f.InLive {
		return f.Live
	}
	return f.Target
}

// dropped are the changes that remove the fields from Git. Where Git sets the field
// as part of something larger, the place that Git has counts.
func (f *fixer) dropped(fields []drift.Field) []snippet.Change {
	changes := make([]snippet.Change, 0, len(fields))
	for _, path := range f.locate(fields) {
		value, set := f.inGit(path)
		if !set {
			continue
		}
		changes = append(changes, snippet.Change{Path: path, Value: value, Remove: true})
	}
	snippet.SortChanges(changes)
	return changes
}

// inGit is what Git renders at the path, and whether it renders anything there.
func (f *fixer) inGit(path []snippet.Step) (any, bool) {
	var node any = f.r.Target
	for _, step := range path {
		if step.Item {
			items, _ := node.([]any)
			if step.InGit < 0 || step.InGit >= len(items) {
				return nil, false
			}
			node = items[step.InGit]
			continue
		}
		holder, _ := node.(map[string]any)
		child, found := holder[step.Field]
		if !found {
			return nil, false
		}
		node = child
	}
	return node, true
}

// operation is a fix by commands.
func (f *fixer) operation(kind drift.FixKind, snippet string, why ...string) drift.Fix {
	return drift.Fix{Kind: kind, Where: drift.InOperation, Snippet: snippet, Why: words.Sentences(why...)}
}

// cluster is a fix by commands to the cluster.
func (f *fixer) cluster(kind drift.FixKind, snippet string, why ...string) drift.Fix {
	return drift.Fix{Kind: kind, Where: drift.InCluster, Snippet: snippet, Why: words.Sentences(why...)}
}

// advice is a fix in Git that only the manifest's author can spell.
func (f *fixer) advice(kind drift.FixKind, snippet string, why ...string) drift.Fix {
	return drift.Fix{Kind: kind, Where: drift.InGit, Snippet: snippet, Why: words.Sentences(why...)}
}

// annotated is the manifest with an annotation added.
func (f *fixer) annotated(kind drift.FixKind, annotations map[string]string, why ...string) drift.Fix {
	changes := make([]snippet.Change, 0, len(annotations))
	for name, value := range annotations {
		changes = append(changes, snippet.Change{Path: []snippet.Step{{Field: "metadata"}, {Field: "annotations"}, {Field: name}}, Value: f.joined(name, value)})
	}
	snippet.SortChanges(changes)
	return drift.Fix{Kind: kind, Where: drift.InGit, Snippet: snippet.Fragment(f.ref(), f.apiVersion(), changes), Why: words.Sentences(why...)}
}

// joined adds an option to those that the manifest's annotation has.
func (f *fixer) joined(name, value string) string {
	if name != mark.SyncOptions && name != mark.CompareOptions {
		return value
	}
	return options(object.Annotation(f.r.Target, name), value)
}

// options adds options to a comma-separated list of them.
func options(there, added string) string {
	var kept []string
	for option := range strings.SplitSeq(there+","+added, ",") {
		if option = strings.TrimSpace(option); option != "" && !slices.Contains(kept, option) {
			kept = append(kept, option)
		}
	}
	return strings.Join(kept, ",")
}

// selfHeals warns where Argo CD would write the value back by itself.
func (f *fixer) selfHeals() string {
	if policy, enabled := f.Automated(); enabled && policy["selfHeal"] == true {
		return "selfHeal is on: until this is settled, Argo CD writes Git's value back by itself."
	}
	return ""
}

// syncOne is the command that syncs the resource alone.
func (f *fixer) syncOne(flags ...string) string {
	words := []string{"sync"}
	if !f.whole || f.claim.About != nil {
		words = append(words, snippet.OfResource(f.ref()))
	}
	return argocd(f.Application, append(words, flags...)...)
}
