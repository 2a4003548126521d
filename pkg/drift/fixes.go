package drift

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/object"
)

// fixer offers the fixes of one claim.
type fixer struct {
	*situation

	// r has neither side for a claim about the whole Application.
	r      *resource
	whole  bool
	claim  *claim
	fields []Field
	finder *locator
}

// edit is what a trial of a fix changes.
type edit struct {
	resource *resource
	// fields are those that the fix is for.
	fields []Field
	// changes are edits of what Git renders.
	changes []change
	// ignores are added to the Application's own rules, which without leaves out.
	ignores []v1alpha1.ResourceIgnoreDifferences
	without bool
	// strategy takes the place of the resource's own; "" leaves it.
	strategy Strategy
	// rewritten tells that a controller writes the live value again after a sync.
	rewritten bool
}

// maxFixes is how many ways a finding is offered to go away: one, and two others.
const maxFixes = 3

// maxEdited is how many fields a snippet spells out.
const maxEdited = 100

// fixesFor returns the ways to make the claim's finding go away, the narrowest that
// is right first. r is nil for a claim about the Application.
func fixesFor(s *situation, r *resource, c *claim, fields []Field) []Fix {
	f := &fixer{situation: s, r: r, claim: c, fields: fields, whole: r == nil}
	if f.whole {
		f.r = &resource{situation: s, given: &Resource{}, ref: f.ref()}
	}
	offer, known := fixers[c.mechanism]
	if !known {
		offer = (*fixer).unexplained
	}
	offered := offer(f)
	return offered[:min(len(offered), maxFixes)]
}

// fixers are the fixes of every mechanism.
var fixers = map[Mechanism]func(*fixer) []Fix{
	ManualEdit:                (*fixer).manualEdit,
	ForeignApply:              (*fixer).foreignApply,
	RolloutRestart:            (*fixer).rolloutRestart,
	HiddenLiveAddition:        (*fixer).hiddenAddition,
	ResourceMissing:           (*fixer).resourceMissing,
	GitAhead:                  (*fixer).gitAhead,
	ApplicationSpecEdit:       (*fixer).applicationEdit,
	HPAReplicas:               (*fixer).replicas,
	KedaReplicas:              (*fixer).replicas,
	ProgressiveDelivery:       (*fixer).controllerField,
	CABundleInjection:         (*fixer).caBundle,
	OperatorWriteback:         (*fixer).operatorField,
	AggregatedClusterrole:     (*fixer).aggregatedRole,
	RuntimePopulatedData:      (*fixer).runtimeData,
	ListReordered:             (*fixer).reordered,
	CRDListDefault:            (*fixer).listDefault,
	STSVolumeclaimtemplate:    (*fixer).claimTemplate,
	ExplicitDefaultDropped:    (*fixer).droppedDefault,
	EmptyVsAbsent:             (*fixer).emptyValue,
	QuantityFormat:            (*fixer).quantity,
	ValueCanonicalised:        (*fixer).canonicalValue,
	StatusInGit:               (*fixer).statusInGit,
	UnknownFieldPruned:        (*fixer).unknownField,
	DeprecatedAlias:           (*fixer).deprecatedAlias,
	CRDPreserveUnknownFields:  (*fixer).preserveUnknown,
	DuplicateListKey:          (*fixer).duplicate,
	LastAppliedInGit:          (*fixer).serverMetadata,
	WebhookOverwrite:          (*fixer).webhookValue,
	WebhookInjection:          (*fixer).webhookAddition,
	RandomRender:              (*fixer).randomValue,
	TimestampRender:           (*fixer).timestamp,
	ChecksumChurn:             (*fixer).checksum,
	TrackingMissing:           (*fixer).adopt,
	SharedResource:            (*fixer).oneOwner,
	TrackingLabelCopied:       (*fixer).copiedLabel,
	InstanceLabelConflict:     (*fixer).labelConflict,
	PendingPrune:              (*fixer).pendingPrune,
	PruneProtected:            (*fixer).pruneProtected,
	HookLeftover:              (*fixer).hookLeftover,
	TTLDeleted:                (*fixer).ttlDeleted,
	RepeatedResource:          (*fixer).repeated,
	ExcludedResource:          (*fixer).excluded,
	ManagedNamespaceMetadata:  (*fixer).namespaceMetadata,
	IgnoreWithoutRespect:      (*fixer).respect,
	IgnoreRuleDead:            (*fixer).deadRule,
	RespectIgnoreBlocksChange: (*fixer).blockingRule,
	SelfhealFight:             (*fixer).selfhealFight,
	SSACoownerResidue:         (*fixer).coowner,
	ComparisonErrorSchema:     (*fixer).schemaError,
	StaleComparison:           (*fixer).stale,
	ImmutableField:            (*fixer).immutable,
	AnnotationTooLong:         (*fixer).longAnnotation,
	MissingCRD:                (*fixer).missingCRD,
	MissingDependency:         (*fixer).dependency,
	HookStuck:                 (*fixer).hookStuck,
	HookFailed:                (*fixer).hookFailed,
	WaveBlocked:               (*fixer).waveBlocked,
	SyncInProgress:            (*fixer).inProgress,
	ManifestGenerationError:   (*fixer).generation,
	ProjectNotPermitted:       (*fixer).project,
	SyncWindowBlocked:         (*fixer).syncWindow,
	AutosyncGaveUp:            (*fixer).gaveUp,
	AutosyncEmptyGuard:        (*fixer).emptyGuard,
	AdmissionDenied:           (*fixer).denied,
	ResourceVersionInGit:      (*fixer).resourceVersion,
	DeletionStuck:             (*fixer).deletion,
	RemovedAPIVersion:         (*fixer).migrateVersion,
	MergeKeyConflict:          (*fixer).mergeKey,
	InvalidManifest:           (*fixer).invalidManifest,
	ControllerStale:           (*fixer).controllerStale,
	UnhealthyNotDrift:         (*fixer).unhealthy,
	None:                      (*fixer).nothing,
}

// ref names what the claim is about.
func (f *fixer) ref() ResourceRef {
	switch {
	case f.claim.about != nil:
		return *f.claim.about
	case f.r != nil:
		return f.r.ref
	}
	return f.situation.ref()
}

// locate returns the paths of the fields.
func (f *fixer) locate(fields []Field) [][]pathStep {
	if f.finder == nil {
		f.finder = newLocator(f.r)
	}
	paths := make([][]pathStep, 0, len(fields))
	for _, field := range fields {
		paths = append(paths, f.finder.locate(field))
	}
	return paths
}

// gitFix is a fix by an edit of what Git renders.
func (f *fixer) gitFix(kind FixKind, changes []change, why ...string) Fix {
	fix := Fix{Kind: kind, Where: InGit, Why: sentences(why...)}
	if len(changes) == 0 {
		fix.Snippet = note("In the manifest of " + f.ref().words() + ": nothing that is known here can be set or removed.")
		return fix
	}
	for i := range changes {
		changes[i].hide = changes[i].hide || f.r.secret(pointerOf(changes[i].path))
	}
	shown := changes[:min(len(changes), maxEdited)]
	fix.Snippet = fragment(f.ref(), f.apiVersion(), shown)
	if left := len(changes) - len(shown); left > 0 {
		fix.Snippet += note("and so on for "+plural(left, "further field")+" of this finding") + "\n"
	}
	hidden := slices.ContainsFunc(changes, func(c change) bool { return c.hide })
	if f.r.target != nil && f.r.live != nil && !hidden {
		fix.Edit = &edit{resource: f.r, fields: f.fields, changes: changes}
	}
	return fix
}

// apiVersion is the manifest's own, else live's.
func (f *fixer) apiVersion() string {
	if found := first(object.Text(f.r.target, "apiVersion"), object.Text(f.r.live, "apiVersion")); found != "" {
		return found
	}
	ref := f.ref()
	switch {
	case ref.Group == "":
		return first(ref.Version, "v1")
	case ref.Version == "":
		return ref.Group + "/v1"
	}
	return ref.Group + "/" + ref.Version
}

// likeLive are the changes that make Git say what live says.
func (f *fixer) likeLive(fields []Field) []change {
	changes := make([]change, 0, len(fields))
	for i, path := range f.locate(fields) {
		field := fields[i]
		if _, set := f.inGit(path); !set && !field.InLive {
			continue
		}
		changes = append(changes, change{path: path, value: field.shownValue(), remove: !field.InLive})
	}
	sortChanges(changes)
	return changes
}

// shownValue is the live value, or the target's where live has none.
func (f Field) shownValue() any {
	if f.InLive {
		return f.Live
	}
	return f.Target
}

// dropped are the changes that remove the fields from Git. Where Git sets the field
// as part of something larger, the place that Git has counts.
func (f *fixer) dropped(fields []Field) []change {
	changes := make([]change, 0, len(fields))
	for _, path := range f.locate(fields) {
		value, set := f.inGit(path)
		if !set {
			continue
		}
		changes = append(changes, change{path: path, value: value, remove: true})
	}
	sortChanges(changes)
	return changes
}

// inGit is what Git renders at the path, and whether it renders anything there.
func (f *fixer) inGit(path []pathStep) (any, bool) {
	var node any = f.r.target
	for _, step := range path {
		if step.item {
			items, _ := node.([]any)
			if step.inGit < 0 || step.inGit >= len(items) {
				return nil, false
			}
			node = items[step.inGit]
			continue
		}
		holder, _ := node.(map[string]any)
		child, found := holder[step.field]
		if !found {
			return nil, false
		}
		node = child
	}
	return node, true
}

// operation is a fix by commands.
func (f *fixer) operation(kind FixKind, snippet string, why ...string) Fix {
	return Fix{Kind: kind, Where: InOperation, Snippet: snippet, Why: sentences(why...)}
}

// cluster is a fix by commands to the cluster.
func (f *fixer) cluster(kind FixKind, snippet string, why ...string) Fix {
	return Fix{Kind: kind, Where: InCluster, Snippet: snippet, Why: sentences(why...)}
}

// advice is a fix in Git that only the manifest's author can spell.
func (f *fixer) advice(kind FixKind, snippet string, why ...string) Fix {
	return Fix{Kind: kind, Where: InGit, Snippet: snippet, Why: sentences(why...)}
}

// annotated is the manifest with an annotation added.
func (f *fixer) annotated(kind FixKind, annotations map[string]string, why ...string) Fix {
	changes := make([]change, 0, len(annotations))
	for name, value := range annotations {
		changes = append(changes, change{path: []pathStep{{field: "metadata"}, {field: "annotations"}, {field: name}}, value: f.joined(name, value)})
	}
	sortChanges(changes)
	return Fix{Kind: kind, Where: InGit, Snippet: fragment(f.ref(), f.apiVersion(), changes), Why: sentences(why...)}
}

// joined adds an option to those that the manifest's annotation has.
func (f *fixer) joined(name, value string) string {
	if name != syncOptionsAnnotation && name != compareOptionsAnnotation {
		return value
	}
	return options(object.Annotation(f.r.target, name), value)
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

// sentences joins those that have something to say.
func sentences(said ...string) string {
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), " ")
}

// selfHeals warns where Argo CD would write the value back by itself.
func (f *fixer) selfHeals() string {
	if policy, enabled := f.automated(); enabled && policy["selfHeal"] == true {
		return "selfHeal is on: until this is settled, Argo CD writes Git's value back by itself."
	}
	return ""
}

// syncOne is the command that syncs the resource alone.
func (f *fixer) syncOne(flags ...string) string {
	words := []string{"sync"}
	if !f.whole || f.claim.about != nil {
		words = append(words, selected(f.ref()))
	}
	return f.argocd(append(words, flags...)...)
}
