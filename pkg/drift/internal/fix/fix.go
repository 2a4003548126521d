// Package fix writes the ways to make a finding go away, the narrowest that is right
// first: edits of Git, ignore rules, commands.
//
// [For] knows the fixes of every mechanism. A fix that can be tried carries its [Edit].
// Names and values of a snapshot never become part of a command or of YAML unquoted, and
// values of Secrets never stand in a snippet.
package fix

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// Builder offers the fixes of one answer.
type Builder struct {
	*state.Application

	// R has neither side for an answer about the whole Application.
	R      *state.Resource
	whole  bool
	Answer *rule.Answer
	fields []drift.Field
	finder *snippet.Locator
}

// Most is how many ways a finding is offered to go away: one, and two others.
const Most = 3

// maxEdited is how many fields a snippet spells out.
const maxEdited = 100

// For returns the ways to make the answer's finding go away, the narrowest that
// is right first. r is nil for an answer about the Application.
func For(s *state.Application, r *state.Resource, c *rule.Answer, fields []drift.Field) []drift.Fix {
	f := &Builder{Application: s, R: r, Answer: c, fields: fields, whole: r == nil}
	if f.whole {
		f.R = &state.Resource{Application: s, Given: &drift.Resource{}, Ref: f.about()}
	}
	offer, known := ByMechanism[c.Mechanism]
	if !known {
		offer = (*Builder).unexplained
	}
	offered := offer(f)
	return offered[:min(len(offered), Most)]
}

// ByMechanism are the fixes of every mechanism.
var ByMechanism = map[drift.Mechanism]func(*Builder) []drift.Fix{
	drift.ManualEdit:                (*Builder).manualEdit,
	drift.ForeignApply:              (*Builder).foreignApply,
	drift.RolloutRestart:            (*Builder).rolloutRestart,
	drift.HiddenLiveAddition:        (*Builder).hiddenAddition,
	drift.ResourceMissing:           (*Builder).resourceMissing,
	drift.GitAhead:                  (*Builder).gitAhead,
	drift.ApplicationSpecEdit:       (*Builder).applicationEdit,
	drift.HPAReplicas:               (*Builder).replicas,
	drift.KedaReplicas:              (*Builder).replicas,
	drift.ProgressiveDelivery:       (*Builder).controllerField,
	drift.CABundleInjection:         (*Builder).caBundle,
	drift.OperatorWriteback:         (*Builder).operatorField,
	drift.AggregatedClusterrole:     (*Builder).aggregatedRole,
	drift.RuntimePopulatedData:      (*Builder).runtimeData,
	drift.ListReordered:             (*Builder).reordered,
	drift.CRDListDefault:            (*Builder).listDefault,
	drift.STSVolumeclaimtemplate:    (*Builder).claimTemplate,
	drift.ExplicitDefaultDropped:    (*Builder).droppedDefault,
	drift.EmptyVsAbsent:             (*Builder).emptyValue,
	drift.QuantityFormat:            (*Builder).quantity,
	drift.ValueCanonicalised:        (*Builder).canonicalValue,
	drift.StatusInGit:               (*Builder).statusInGit,
	drift.UnknownFieldPruned:        (*Builder).unknownField,
	drift.DeprecatedAlias:           (*Builder).deprecatedAlias,
	drift.CRDPreserveUnknownFields:  (*Builder).preserveUnknown,
	drift.DuplicateListKey:          (*Builder).duplicate,
	drift.LastAppliedInGit:          (*Builder).serverMetadata,
	drift.WebhookOverwrite:          (*Builder).webhookValue,
	drift.WebhookInjection:          (*Builder).webhookAddition,
	drift.RandomRender:              (*Builder).randomValue,
	drift.TimestampRender:           (*Builder).timestamp,
	drift.ChecksumChurn:             (*Builder).checksum,
	drift.TrackingMissing:           (*Builder).adopt,
	drift.SharedResource:            (*Builder).oneOwner,
	drift.TrackingLabelCopied:       (*Builder).copiedLabel,
	drift.InstanceLabelConflict:     (*Builder).labelConflict,
	drift.PendingPrune:              (*Builder).pendingPrune,
	drift.PruneProtected:            (*Builder).pruneProtected,
	drift.HookLeftover:              (*Builder).hookLeftover,
	drift.TTLDeleted:                (*Builder).ttlDeleted,
	drift.RepeatedResource:          (*Builder).repeated,
	drift.ExcludedResource:          (*Builder).excluded,
	drift.ManagedNamespaceMetadata:  (*Builder).namespaceMetadata,
	drift.IgnoreWithoutRespect:      (*Builder).respect,
	drift.IgnoreRuleDead:            (*Builder).deadRule,
	drift.RespectIgnoreBlocksChange: (*Builder).blockingRule,
	drift.SelfhealFight:             (*Builder).selfhealFight,
	drift.SSACoownerResidue:         (*Builder).coowner,
	drift.ComparisonErrorSchema:     (*Builder).schemaError,
	drift.StaleComparison:           (*Builder).stale,
	drift.ImmutableField:            (*Builder).immutable,
	drift.AnnotationTooLong:         (*Builder).longAnnotation,
	drift.MissingCRD:                (*Builder).missingCRD,
	drift.MissingDependency:         (*Builder).dependency,
	drift.HookStuck:                 (*Builder).hookStuck,
	drift.HookFailed:                (*Builder).hookFailed,
	drift.WaveBlocked:               (*Builder).waveBlocked,
	drift.SyncInProgress:            (*Builder).inProgress,
	drift.ManifestGenerationError:   (*Builder).generation,
	drift.ProjectNotPermitted:       (*Builder).project,
	drift.SyncWindowBlocked:         (*Builder).syncWindow,
	drift.AutosyncGaveUp:            (*Builder).gaveUp,
	drift.AutosyncEmptyGuard:        (*Builder).emptyGuard,
	drift.AdmissionDenied:           (*Builder).denied,
	drift.ResourceVersionInGit:      (*Builder).resourceVersion,
	drift.DeletionStuck:             (*Builder).deletion,
	drift.RemovedAPIVersion:         (*Builder).migrateVersion,
	drift.MergeKeyConflict:          (*Builder).mergeKey,
	drift.InvalidManifest:           (*Builder).invalidManifest,
	drift.ControllerStale:           (*Builder).controllerStale,
	drift.UnhealthyNotDrift:         (*Builder).unhealthy,
	drift.None:                      (*Builder).nothing,
}

// about names what the answer is about.
func (f *Builder) about() drift.ResourceRef {
	switch {
	case f.Answer.About != nil:
		return *f.Answer.About
	case f.R != nil:
		return f.R.Ref
	}
	return f.Ref()
}

// locate returns the paths of the fields.
func (f *Builder) locate(fields []drift.Field) [][]snippet.Step {
	if f.finder == nil {
		f.finder = snippet.NewLocator(f.R.Compared(), f.R.Target)
	}
	paths := make([][]snippet.Step, 0, len(fields))
	for _, field := range fields {
		paths = append(paths, f.finder.Locate(field))
	}
	return paths
}

// gitFix is a fix by an edit of what Git renders.
func (f *Builder) gitFix(kind drift.FixKind, changes []snippet.Change, why ...string) drift.Fix {
	why = append(why, f.between(changes))
	fix := drift.Fix{Kind: kind, Where: drift.InGit, Why: words.Sentences(why...)}
	if len(changes) == 0 {
		fix.Snippet = snippet.Note("In the manifest of " + f.about().Words() + ": nothing that is known here can be set or removed.")
		return fix
	}
	for i := range changes {
		changes[i].Hide = changes[i].Hide || f.R.Secret(snippet.PointerOf(changes[i].Path))
	}
	shown := changes[:min(len(changes), maxEdited)]
	fix.Snippet = snippet.Fragment(f.about(), f.apiVersion(), shown)
	if left := len(changes) - len(shown); left > 0 {
		fix.Snippet += snippet.Note("and so on for "+words.Plural(left, "further field")+" of this finding") + "\n"
	}
	hidden := slices.ContainsFunc(changes, func(c snippet.Change) bool { return c.Hide })
	if f.R.Target != nil && f.R.Live != nil && !hidden {
		fix.Edit = &Edit{Resource: f.R, Fields: f.fields, Changes: changes}
	}
	return fix
}

// between says what a sync does with live values whose fields leave Git: an apply takes
// away what it wrote itself, before whoever else writes it does so again. That the fix is
// proven says only what is compared in the end.
func (f *Builder) between(changes []snippet.Change) string {
	r := f.R
	if r.Live == nil || r.Target == nil || slices.Contains(saidElsewhere, f.Answer.Mechanism) || !slices.ContainsFunc(changes, func(c snippet.Change) bool { return c.Remove }) {
		return ""
	}
	var gone []string
	for _, d := range f.Answer.Differences {
		dropped := slices.ContainsFunc(changes, func(c snippet.Change) bool {
			return c.Remove && snippet.PointerOf(c.Path).Covers(d.Pointer)
		})
		kept := slices.ContainsFunc(changes, func(c snippet.Change) bool { return !c.Remove && snippet.PointerOf(c.Path) == d.Pointer })
		if w := r.WritersOf(d); !dropped || kept || !d.InLive || !f.takesAway(d, w.Argo && w.Role == owners.Nobody) {
			continue
		}
		gone = append(gone, string(d.Pointer))
	}
	if len(gone) == 0 {
		return ""
	}
	how := "last-applied-configuration still has it"
	if r.SyncsServerSide() {
		how = "nobody but Argo CD owns it"
	}
	return "In between: the first sync without it deletes the live value of " + words.Some(gone) + ", as " + how + "; until somebody writes it again, it is missing or has the API's default."
}

// saidElsewhere are the mechanisms whose fixes say themselves what happens in between.
var saidElsewhere = []drift.Mechanism{drift.HPAReplicas, drift.KedaReplicas, drift.RolloutRestart, drift.DuplicateListKey}

// takesAway reports whether an apply of a manifest without the field deletes the live value.
func (f *Builder) takesAway(d *diff.Difference, argos bool) bool {
	if d.Steps[0] == "status" || len(d.Steps) < 3 && d.Steps[0] == "metadata" || d.Steps[len(d.Steps)-1] == mark.LastApplied {
		return false // no apply writes it
	}
	if replaces, _ := f.R.Replaces(); replaces {
		return true
	}
	if f.R.SyncsServerSide() {
		return argos
	}
	return d.InApplied && !value.IsEmpty(d.Applied)
}

// apiVersion is the manifest's own, else live's.
func (f *Builder) apiVersion() string {
	if found := words.First(object.Text(f.R.Target, "apiVersion"), object.Text(f.R.Live, "apiVersion")); found != "" {
		return found
	}
	ref := f.about()
	switch {
	case ref.Group == "":
		return words.First(ref.Version, "v1")
	case ref.Version == "":
		return ref.Group + "/v1"
	}
	return ref.Group + "/" + ref.Version
}

// likeLive are the changes that make Git say what live says.
func (f *Builder) likeLive(fields []drift.Field) []snippet.Change {
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
func (f *Builder) dropped(fields []drift.Field) []snippet.Change {
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
func (f *Builder) inGit(path []snippet.Step) (any, bool) {
	var node any = f.R.Target
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
func (f *Builder) operation(kind drift.FixKind, snippet string, why ...string) drift.Fix {
	return drift.Fix{Kind: kind, Where: drift.InOperation, Snippet: snippet, Why: words.Sentences(why...)}
}

// cluster is a fix by commands to the cluster.
func (f *Builder) cluster(kind drift.FixKind, snippet string, why ...string) drift.Fix {
	return drift.Fix{Kind: kind, Where: drift.InCluster, Snippet: snippet, Why: words.Sentences(why...)}
}

// advice is a fix in Git that only the manifest's author can spell.
func (f *Builder) advice(kind drift.FixKind, snippet string, why ...string) drift.Fix {
	return drift.Fix{Kind: kind, Where: drift.InGit, Snippet: snippet, Why: words.Sentences(why...)}
}

// annotated is the manifest with an annotation added.
func (f *Builder) annotated(kind drift.FixKind, annotations map[string]string, why ...string) drift.Fix {
	changes := make([]snippet.Change, 0, len(annotations))
	for name, value := range annotations {
		changes = append(changes, snippet.Change{Path: []snippet.Step{{Field: "metadata"}, {Field: "annotations"}, {Field: name}}, Value: f.joined(name, value)})
	}
	snippet.SortChanges(changes)
	return drift.Fix{Kind: kind, Where: drift.InGit, Snippet: snippet.Fragment(f.about(), f.apiVersion(), changes), Why: words.Sentences(why...)}
}

// joined adds an option to those that the manifest's annotation has.
func (f *Builder) joined(name, value string) string {
	if name != mark.SyncOptions && name != mark.CompareOptions {
		return value
	}
	return options(object.Annotation(f.R.Target, name), value)
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

// selfHeals warns where Argo CD would write the value back by itself, which it does only
// where it sees that anything differs.
func (f *Builder) selfHeals() string {
	if f.Object.Status.Sync.Status == v1alpha1.SyncStatusCodeSynced || len(f.Answer.Differences) == 0 && len(f.Answer.Hidden) > 0 {
		return ""
	}
	if policy, enabled := f.Automated(); enabled && policy["selfHeal"] == true {
		return "selfHeal is on: until this is settled, Argo CD writes Git's value back by itself."
	}
	return ""
}

// syncOne is the command that syncs the resource alone.
func (f *Builder) syncOne(flags ...string) string {
	words := []string{"sync"}
	if !f.whole || f.Answer.About != nil {
		words = append(words, snippet.OfResource(f.about()))
	}
	return Argocd(f.Application, append(words, flags...)...)
}
