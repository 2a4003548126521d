package classify

import (
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/application"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/ignore"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/operation"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/refusal"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/source"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/tracking"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/values"
	"github.com/moorpin/moorpin/pkg/drift/internal/rules/writers"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// This file says who wins, and why: which rule is asked before which, what two rules'
// answers become together, which finding another leaves out, and what corrects findings
// afterwards. A rule that has to be silent for what the last sync said asks package
// outcome; only ControllerStale asks a rule of its own family, StaleComparison.

// applicationRules are all asked, for several things may be wrong with an
// Application at once; each has its own counter-evidence. The order is that of
// Argo CD: whether it can compare at all, what its operation does, what its
// conditions warn of. An answer that nothing could be compared counts for the rules
// behind it.
var applicationRules = []rule.Application{
	{Mechanism: drift.ManifestGenerationError, Match: application.ManifestGenerationError, Why: "without a render there is no side to compare with"},
	{Match: application.DryRunRefused, Why: "what refuses the dry run is what is wrong, not the comparison that it ends"},
	{Mechanism: drift.ComparisonErrorSchema, Match: application.ComparisonErrorSchema, Why: "one object that cannot be compared leaves the whole Application Unknown"},
	{Mechanism: drift.ControllerStale, Match: application.ControllerStale, Why: "an old status says nothing of now, whatever it says"},
	{Mechanism: drift.ProjectNotPermitted, Match: application.ProjectNotPermitted, Why: "a project that forbids the Application ends everything before a comparison"},
	{Mechanism: drift.Unexplained, Match: application.OtherErrors, Why: "an error that no rule knows stops every sync all the same"},
	{Mechanism: drift.SyncWindowBlocked, Match: operation.SyncWindowBlocked, Why: "a window keeps an operation from starting"},
	{Match: operation.InFlight, Why: "an operation that runs or waits has to end before another"},
	{Mechanism: drift.AutosyncEmptyGuard, Match: tracking.AutosyncEmptyGuard, Why: "Argo CD itself says that it holds back; that it would have reason to is no evidence"},
	{Mechanism: drift.AutosyncGaveUp, Match: operation.AutosyncGaveUp, Why: "where nothing runs and nothing forbids it, it may have been tried and given up"},
	{Mechanism: drift.HookFailed, Match: operation.HookFailed, Why: "a failed hook ends the sync that it is part of"},
	{Mechanism: drift.DeletionStuck, Match: tracking.DeletionStuck, Why: "nothing can be synced into what is being deleted"},
	{Mechanism: drift.SharedResource, Match: tracking.SharedWarnings, Why: "the warning stands also where no field shows it"},
	{Mechanism: drift.RepeatedResource, Match: tracking.RepeatedResource, Why: "of two manifests of one object only one is compared"},
	{Mechanism: drift.ExcludedResource, Match: tracking.ExcludedWarnings, Why: "what is excluded is never compared"},
	{Mechanism: drift.ManagedNamespaceMetadata, Match: application.ManagedNamespaceMetadata, Why: "the namespace's metadata come from the Application, not from Git"},
	{Mechanism: drift.HookLeftover, Match: tracking.RequiresPruningUnseen(true), Why: "reporters leave hooks out; the status alone names them"},
	{Mechanism: drift.PendingPrune, Match: tracking.RequiresPruningUnseen(false), Why: "the status lists what the snapshot does not hold"},
	{Mechanism: drift.SelfhealFight, Match: operation.SelfhealUnseen, Why: "attempts that nothing explains are seen though no field differs at this moment"},
	{Mechanism: drift.MissingDependency, Match: operation.MissingDependency, Why: "a Pod that waits for what nobody brings is no drift, and no sync helps"},
	{Mechanism: drift.StaleComparison, Match: application.StaleComparison, Why: "only where the snapshot itself shows no difference is the status out of date"},
	{Mechanism: drift.UnhealthyNotDrift, Match: application.UnhealthyNotDrift, Why: "health is said only where nothing else is wrong"},
	{Match: refusal.FailedWithoutDrift, Why: "what the last sync could not apply fails again, though nothing of it differs"},
}

// oneSidedRules answer for what only Git or only the cluster has; the first that
// answers has the resource. Hooks are nobody's: Argo CD leaves them out of the
// comparison. Where Argo CD could not load one side, all resources seem one-sided,
// and no rule speaks.
var oneSidedRules = []rule.OneSided{
	{Mechanism: drift.DeletionStuck, Match: rule.LiveOnly(tracking.BeingPruned), Why: "it is going already: its finalizers hold it, not Argo CD"},
	{Mechanism: drift.HookLeftover, Match: tracking.HookLeftover, Why: "a sync never prunes hooks, so that it is no pending prune"},
	{Mechanism: drift.TrackingLabelCopied, Match: rule.LiveOnly(tracking.LabelCopied), Why: "a controller made it and would make it again"},
	{Mechanism: drift.SharedResource, Match: rule.LiveOnly(tracking.OthersResource), Why: "another Application claims it, and would lose it by a prune"},
	{Mechanism: drift.PruneProtected, Match: rule.LiveOnly(tracking.PruneProtected), Why: "somebody said that it stays"},
	{Mechanism: drift.PendingPrune, Match: rule.LiveOnly(tracking.PendingPrune), Why: "nothing else is known of what is live alone"},
	{Mechanism: drift.ExcludedResource, Match: rule.GitOnly(tracking.ExcludedResource), Why: "Argo CD does not look for it, whatever else is true"},
	{Mechanism: drift.ProjectNotPermitted, Match: rule.GitOnly(refusal.KindNotPermitted), Why: "the project is asked before the API server"},
	{Mechanism: drift.Unexplained, Match: rule.GitOnly(refusal.FailedCreation), Why: "what the last sync said outranks what is foreseen; the answer names the mechanism"},
	{Mechanism: drift.ResourceVersionInGit, Match: rule.GitOnly(refusal.VersionedCreation), Why: "nothing with a resourceVersion can be created, whoever serves the kind"},
	{Mechanism: drift.RemovedAPIVersion, Match: rule.GitOnly(refusal.VersionNotServed), Why: "the CRD is there, and does not serve the version"},
	{Mechanism: drift.MissingCRD, Match: rule.GitOnly(refusal.KindNotServed), Why: "no CRD in the snapshot, which may hold others, is a possibility"},
	{Mechanism: drift.AnnotationTooLong, Match: rule.GitOnly(refusal.CreationTooLong), Why: "the kind is served, and the object does not fit the annotation"},
	{Mechanism: drift.TTLDeleted, Match: rule.GitOnly(tracking.TTLDeleted), Why: "it ran, ended and was taken away, which is as it should be"},
	{Mechanism: drift.ResourceMissing, Match: rule.GitOnly(tracking.ResourceMissing), Why: "nothing else is known of what Git alone has"},
}

// fieldRules say what made a field differ; the first that answers has the field. The
// order is the order of evidence: first what the field itself says (it can only have
// come about in one way), then whether the values mean the same, then what the schema
// does, then who wrote it, and last what Git did.
var fieldRules = []rule.Field{
	{Mechanism: drift.Unexplained, MatchAll: foldedFields, Why: "too much differs below it to look at each field, and anybody may have written some"},
	{Mechanism: drift.SharedResource, MatchAll: tracking.SharedResource, Why: "with another Application's mark everything else it writes here is its own"},
	{Mechanism: drift.InstanceLabelConflict, MatchAll: tracking.InstanceLabelConflict, Why: "the label that tracks differs for a reason of its own"},
	{Mechanism: drift.ForeignApply, MatchAll: writers.ForeignTakeover, Why: "who applied the object as a whole answers for all its fields, the mark included"},
	{Mechanism: drift.TrackingMissing, MatchAll: tracking.MarkMissing, Why: "without the mark, what remains at its place is the mark that a sync adds"},
	{Mechanism: drift.LastAppliedInGit, Match: values.LastAppliedInGit, Why: "the annotation is kubectl's record, whoever wrote it"},
	{Mechanism: drift.StatusInGit, Match: values.StatusInGit, Why: "status is the controller's, whoever wrote it"},
	{Mechanism: drift.CRDPreserveUnknownFields, Match: values.PreserveUnknownFields, Why: "a CRD never keeps this field, whoever wrote it"},
	{Mechanism: drift.AggregatedClusterrole, Match: values.AggregatedClusterRole, Why: "the rules of an aggregated role are the controller's by its definition"},
	{Mechanism: drift.CABundleInjection, Match: writers.CABundle, Why: "a bundle of certificates at this field has one kind of writer"},
	{Mechanism: drift.DuplicateListKey, MatchAll: values.DuplicateListKey, Why: "where Git has a key twice, what differs in the list comes of it"},
	{Mechanism: drift.QuantityFormat, Match: values.QuantityFormat, SkipEdited: true, Why: "equal quantities are one value, unless somebody wanted the other spelling"},
	{Mechanism: drift.ValueCanonicalised, Match: values.ValueCanonicalised, SkipEdited: true, Why: "equal values in two spellings, unless somebody wanted the other one"},
	{Mechanism: drift.STSVolumeclaimtemplate, Match: values.VolumeClaimTemplate, Why: "the API server fills a claim template in, and calls it immutable"},
	{Mechanism: drift.CRDListDefault, MatchAll: values.CRDListDefault, Why: "the schema itself has the value as the default of a list item"},
	{Mechanism: drift.DeprecatedAlias, Match: values.DeprecatedAlias, Why: "the API server writes one field as two"},
	{Mechanism: drift.UnknownFieldPruned, Match: values.UnknownFieldPruned, Why: "the schema has no such field, so that it can stay nowhere"},
	{Mechanism: drift.EmptyVsAbsent, Match: values.EmptyVsAbsent, Why: "nothing and an empty value are one to most readers; the rule itself asks who wanted it"},
	{Mechanism: drift.ExplicitDefaultDropped, Match: values.ExplicitDefaultDropped, SkipEdited: true, Why: "a zero that is gone live was dropped, unless somebody took it away"},
	{Mechanism: drift.ListReordered, MatchAll: values.ListReordered, Why: "the same items in another order; the rule itself asks who wanted it"},
	{Mechanism: drift.RolloutRestart, Match: writers.RolloutRestart, Why: "a person wrote it, but as a command and not as a change of what Git declares"},
	{MatchAll: writers.Replicas, Why: "a scaler that targets the workload will write the field again, whoever wrote it last"},
	{Mechanism: drift.ProgressiveDelivery, Match: writers.ProgressiveDelivery, Why: "a rollout shifts these fields as long as it runs, whoever wrote them last"},
	{Mechanism: drift.SelfhealFight, MatchAll: operation.SelfhealFight, Why: "that Argo CD wrote it back again and again outranks who writes against it"},
	{Mechanism: drift.ApplicationSpecEdit, Match: writers.ApplicationSpecEdit, Why: "an Application that Git declares is edited through Argo CD itself, whose programs are no person's tool otherwise"},
	{MatchAll: refusal.FailedApply, Why: "a write that is refused matters more than who wrote the live value"},
	{Mechanism: drift.ManualEdit, Match: writers.ManualEdit, Why: "a person is the newest writer of the live value"},
	{Mechanism: drift.ManualEdit, Match: writers.MadeBefore, Why: "it is another applier's, but one that made the object once and does not come again"},
	{Mechanism: drift.ForeignApply, Match: writers.ForeignApply, Why: "another applier is"},
	{Mechanism: drift.RuntimePopulatedData, Match: writers.RuntimePopulated, Why: "a controller is, of data that Git leaves empty for it"},
	{Mechanism: drift.OperatorWriteback, Match: writers.OperatorWriteback, Why: "a controller is"},
	{Mechanism: drift.OperatorWriteback, Match: writers.RemovedByController, Why: "the value is gone, and a controller wrote the object since"},
	{MatchAll: source.Render, Why: "nobody wrote it live, and the same source renders another value each time"},
	{Mechanism: drift.GitAhead, Match: source.GitAhead, Why: "nobody wrote it live, and Git moved since the last sync"},
	{Mechanism: drift.WebhookInjection, Match: source.WebhookInjection, Why: "nobody wrote it but Argo CD's own write, and Git has nothing there: admission added it"},
	{Mechanism: drift.WebhookOverwrite, Match: source.WebhookOverwrite, Why: "the same where Git has another value: admission changed it"},
	{Mechanism: drift.ManualEdit, Match: writers.RemovedByHand, Why: "the value is gone, no other reason is left, and a person wrote the object since"},
}

// hiddenRules find what Argo CD does not flag. All are asked; what is flagged is not
// theirs.
var hiddenRules = []func(r *state.Resource) []rule.Answer{ignore.HiddenByRules, values.HiddenDuplicates, values.HiddenAdditions}

// merges are what the answers about the fields of one resource become together, one
// after the other.
var merges = []struct {
	apply func(r *state.Resource, answers []rule.Answer) []rule.Answer
	why   string
}{
	{followTemplate, "a DaemonSet's count of template changes comes of the change: it goes to the answer about the template"},
	{failWhole, "an object is written as a whole or not at all: what Git would change goes to the answer about the write that fails"},
	{restoreMark, "Argo CD's own mark is nobody's value: to write it again overwrites nothing"},
	{ignore.ReviseDeadRules, "a rule of the Application was meant for the field and misses it: that is the finding, with the effect of what lies underneath"},
}

// silence is a finding that another leaves out.
type silence struct {
	mechanism drift.Mechanism
	// by are the mechanisms of findings that leave it out; none stands for all others. A
	// finding that is only possible leaves out nothing that is certain.
	by []drift.Mechanism
	// whole limits the row to findings about the Application as a whole; one of the same
	// mechanism about a resource may then leave it out.
	whole bool
	why   string
}

// silences are asked of all findings together.
var silences = []silence{
	{
		// The rule itself answers nothing without automated sync, while an operation runs, and
		// where [outcome.FailsAgain] has a failure that comes again.
		mechanism: drift.AutosyncGaveUp, why: "they say why the sync failed that is not tried again",
		by: append([]drift.Mechanism{drift.ProjectNotPermitted, drift.HookFailed, drift.ManifestGenerationError, drift.ComparisonErrorSchema, drift.AutosyncEmptyGuard, drift.SyncWindowBlocked}, drift.Failures...),
	},
	{mechanism: drift.PendingPrune, by: []drift.Mechanism{drift.AutosyncEmptyGuard}, why: "that everything left Git is one finding, not one for each resource"},
	{mechanism: drift.DuplicateListKey, by: []drift.Mechanism{drift.ComparisonErrorSchema}, why: "the comparison failed of it"},
	{
		mechanism: drift.SyncInProgress, why: "they say what the operation waits for, or that nobody takes it up",
		by: []drift.Mechanism{drift.DeletionStuck, drift.HookStuck, drift.HookFailed, drift.WaveBlocked, drift.ControllerStale, drift.PruneProtected, drift.SyncWindowBlocked},
	},
	{mechanism: drift.UnhealthyNotDrift, why: "what else is wrong is the likelier cause"},
	{mechanism: drift.DeletionStuck, by: []drift.Mechanism{drift.DeletionStuck}, whole: true, why: "a resource says why the Application is not gone yet"},
	{mechanism: drift.PruneProtected, by: []drift.Mechanism{drift.PruneProtected}, whole: true, why: "a resource says what the operation waits to prune"},
}

// outdated are the mechanisms under which Argo CD's status may be about another moment
// than the snapshot, or nothing can be compared: what it lists for a resource is then
// accounted for.
var outdated = []drift.Mechanism{
	drift.StaleComparison, drift.ControllerStale, drift.SyncInProgress, drift.HookStuck, drift.WaveBlocked, drift.ManifestGenerationError, drift.ComparisonErrorSchema, drift.ProjectNotPermitted,
	drift.ManagedNamespaceMetadata,
}

// guesses are the mechanisms that only a schema tells from one another: without one they
// are possible at most.
var guesses = []drift.Mechanism{drift.WebhookInjection, drift.ManualEdit, drift.UnknownFieldPruned, drift.ExplicitDefaultDropped, drift.MissingCRD}

// corrections are made to all findings, one after the other: what is left out, and what
// makes a confidence lower or an effect another.
var corrections = []struct {
	apply func(s *state.Application, findings []rule.Finding) []rule.Finding
	why   string
}{
	{func(_ *state.Application, findings []rule.Finding) []rule.Finding { return unsilenced(findings) }, "what others explain is left out first, so that nothing is corrected in vain"},
	{addFailures, "where other rules answer for all that differs in an object, that its write fails is said all the same"},
	{doubtGuesses, "what only a schema would tell is possible at most where the snapshot has none"},
	{replacing, "a sync that replaces the object loses what only live has"},
	{addDryRuns, "the API server's own answer outranks what was foreseen"},
	{addUnaccounted, "what Argo CD flags and nobody has said a word about is never left out"},
	{addClosing, "where nothing was found, that is said too"},
}

// unsilenced leaves out what is said twice of one resource, and what the silences name.
func unsilenced(findings []rule.Finding) []rule.Finding {
	has, surely := map[drift.Mechanism]int{}, map[drift.Mechanism]int{}
	for _, f := range findings {
		has[f.Mechanism]++
		if f.Confidence != drift.Possible {
			surely[f.Mechanism]++
		}
	}
	total := len(findings)
	said := map[drift.Key]map[drift.Mechanism]bool{}
	for _, f := range findings {
		if f.Mechanism == drift.RepeatedResource && len(f.Fields) > 0 {
			// The warning is said where the fields are.
			said[drift.KeyOf(f.Resource)] = map[drift.Mechanism]bool{f.Mechanism: true}
		}
	}
	return slices.DeleteFunc(findings, func(f rule.Finding) bool {
		if about := drift.KeyOf(f.Resource); len(f.Fields) == 0 {
			if said[about][f.Mechanism] {
				return true
			}
			if said[about] == nil {
				said[about] = map[drift.Mechanism]bool{}
			}
			said[about][f.Mechanism] = true
		}
		others := has
		if f.Confidence == drift.Certain {
			others = surely // a guess never outranks evidence
		}
		return slices.ContainsFunc(silences, func(row silence) bool {
			switch {
			case row.mechanism != f.Mechanism || row.whole && !aboutApplication(f.Resource):
				return false
			case len(row.by) == 0:
				return total > has[f.Mechanism]
			}
			return slices.ContainsFunc(row.by, func(by drift.Mechanism) bool { return others[by] > 1 || others[by] == 1 && by != f.Mechanism })
		})
	})
}

// aboutApplication reports whether a finding is about an Application, as those about the
// whole are.
func aboutApplication(ref drift.ResourceRef) bool {
	return ref.Group == "argoproj.io" && ref.Kind == "Application"
}
