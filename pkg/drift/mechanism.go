package drift

import "slices"

// Mechanism is the id of one way in which an Application comes to be OutOfSync, or
// in which a sync comes to nothing. The ids are the vocabulary of the reports, the
// metrics, the documents and the page.
type Mechanism string

// The mechanisms.
const (
	ManualEdit                Mechanism = "manual-edit"
	ForeignApply              Mechanism = "foreign-apply"
	RolloutRestart            Mechanism = "rollout-restart"
	HiddenLiveAddition        Mechanism = "hidden-live-addition"
	ResourceMissing           Mechanism = "resource-missing"
	GitAhead                  Mechanism = "git-ahead"
	ApplicationSpecEdit       Mechanism = "application-spec-edit"
	HPAReplicas               Mechanism = "hpa-replicas"
	KedaReplicas              Mechanism = "keda-replicas"
	ProgressiveDelivery       Mechanism = "progressive-delivery"
	CABundleInjection         Mechanism = "ca-bundle-injection"
	OperatorWriteback         Mechanism = "operator-writeback"
	AggregatedClusterrole     Mechanism = "aggregated-clusterrole"
	RuntimePopulatedData      Mechanism = "runtime-populated-data"
	ListReordered             Mechanism = "list-reordered"
	CRDListDefault            Mechanism = "crd-list-default"
	STSVolumeclaimtemplate    Mechanism = "sts-volumeclaimtemplate"
	ExplicitDefaultDropped    Mechanism = "explicit-default-dropped"
	EmptyVsAbsent             Mechanism = "empty-vs-absent"
	QuantityFormat            Mechanism = "quantity-format"
	ValueCanonicalised        Mechanism = "value-canonicalised"
	StatusInGit               Mechanism = "status-in-git"
	UnknownFieldPruned        Mechanism = "unknown-field-pruned"
	DeprecatedAlias           Mechanism = "deprecated-alias"
	CRDPreserveUnknownFields  Mechanism = "crd-preserve-unknown-fields"
	DuplicateListKey          Mechanism = "duplicate-list-key"
	LastAppliedInGit          Mechanism = "last-applied-in-git"
	WebhookOverwrite          Mechanism = "webhook-overwrite"
	WebhookInjection          Mechanism = "webhook-injection"
	RandomRender              Mechanism = "random-render"
	TimestampRender           Mechanism = "timestamp-render"
	ChecksumChurn             Mechanism = "checksum-churn"
	TrackingMissing           Mechanism = "tracking-missing"
	SharedResource            Mechanism = "shared-resource"
	TrackingLabelCopied       Mechanism = "tracking-label-copied"
	InstanceLabelConflict     Mechanism = "instance-label-conflict"
	PendingPrune              Mechanism = "pending-prune"
	PruneProtected            Mechanism = "prune-protected"
	HookLeftover              Mechanism = "hook-leftover"
	TTLDeleted                Mechanism = "ttl-deleted"
	RepeatedResource          Mechanism = "repeated-resource"
	ExcludedResource          Mechanism = "excluded-resource"
	ManagedNamespaceMetadata  Mechanism = "managed-namespace-metadata"
	IgnoreWithoutRespect      Mechanism = "ignore-without-respect"
	IgnoreRuleDead            Mechanism = "ignore-rule-dead"
	RespectIgnoreBlocksChange Mechanism = "respect-ignore-blocks-change"
	SelfhealFight             Mechanism = "selfheal-fight"
	SSACoownerResidue         Mechanism = "ssa-coowner-residue"
	ComparisonErrorSchema     Mechanism = "comparison-error-schema"
	StaleComparison           Mechanism = "stale-comparison"
	ImmutableField            Mechanism = "immutable-field"
	AnnotationTooLong         Mechanism = "annotation-too-long"
	MissingCRD                Mechanism = "missing-crd"
	MissingDependency         Mechanism = "missing-dependency"
	HookStuck                 Mechanism = "hook-stuck"
	HookFailed                Mechanism = "hook-failed"
	WaveBlocked               Mechanism = "wave-blocked"
	SyncInProgress            Mechanism = "sync-in-progress"
	ManifestGenerationError   Mechanism = "manifest-generation-error"
	ProjectNotPermitted       Mechanism = "project-not-permitted"
	SyncWindowBlocked         Mechanism = "sync-window-blocked"
	AutosyncGaveUp            Mechanism = "autosync-gave-up"
	AutosyncEmptyGuard        Mechanism = "autosync-empty-guard"
	AdmissionDenied           Mechanism = "admission-denied"
	ResourceVersionInGit      Mechanism = "resource-version-in-git"
	DeletionStuck             Mechanism = "deletion-stuck"
	RemovedAPIVersion         Mechanism = "removed-api-version"
	MergeKeyConflict          Mechanism = "merge-key-conflict"
	InvalidManifest           Mechanism = "invalid-manifest"
	ControllerStale           Mechanism = "controller-stale"
	UnhealthyNotDrift         Mechanism = "unhealthy-not-drift"
	None                      Mechanism = "none"
	// Unexplained is what no rule explains.
	Unexplained Mechanism = "unexplained"
)

// trait is what holds of some mechanisms whatever a rule answers.
type trait int

const (
	// fails is that the write of an object fails.
	fails trait = 1 << iota
	// traceless is that there is a difference though no field is named, as where only one
	// side has the object.
	traceless
	// rendered is that a sync puts another value in the place of one in use, which nobody
	// changed live.
	rendered
)

type mechanism struct {
	id             Mechanism
	class, summary string
	traits         trait
}

// mechanisms says of each mechanism the letter of the kind of drift that an operator has
// met most, or "", what it is, and its traits. How its findings come about and which of
// them win, package classify says; how they go away, package fix.
var mechanisms = []mechanism{
	{ManualEdit, "", "A person changed live what Git declares.", 0},
	{ForeignApply, "", "Another source applied its own manifest of this object.", 0},
	{RolloutRestart, "", "Somebody restarted the Pods with kubectl rollout restart.", 0},
	{HiddenLiveAddition, "", "Somebody added fields live that Argo CD does not compare.", 0},
	{ResourceMissing, "", "Git has the object and the cluster has not.", traceless},
	{GitAhead, "", "Git has moved on and was not synced since.", traceless},
	{ApplicationSpecEdit, "", "The Application was changed in the UI, by the CLI or by the image updater.", 0},
	{HPAReplicas, "", "An autoscaler sets the replicas that Git pins.", 0},
	{KedaReplicas, "", "KEDA sets the replicas that Git pins.", 0},
	{ProgressiveDelivery, "", "A rollout controller shifts traffic here.", 0},
	{CABundleInjection, "", "A controller injects the certificate authority.", 0},
	{OperatorWriteback, "G", "A controller rewrites a value that Git declares.", 0},
	{AggregatedClusterrole, "", "Kubernetes fills the rules of this aggregated ClusterRole.", 0},
	{RuntimePopulatedData, "", "A controller fills data that Git pins at its start value.", 0},
	{ListReordered, "", "The same items stand in another order.", 0},
	{CRDListDefault, "A", "The API server adds defaults of the CRD that Git leaves out.", 0},
	{STSVolumeclaimtemplate, "", "The API server fills the volume claim templates in.", 0},
	{ExplicitDefaultDropped, "B", "Git sets a zero value that the controller leaves out.", 0},
	{EmptyVsAbsent, "", "Git sets an empty value that the API server does not keep.", 0},
	{QuantityFormat, "", "The same quantity is spelt in two ways.", 0},
	{ValueCanonicalised, "", "The same value is spelt in two ways.", 0},
	{StatusInGit, "", "Git declares a status, which a sync cannot write.", 0},
	{UnknownFieldPruned, "", "Git declares a field that the schema does not have.", 0},
	{DeprecatedAlias, "", "A field and its deprecated alias bring one another back.", 0},
	{CRDPreserveUnknownFields, "C", "The API server drops preserveUnknownFields: false.", 0},
	{DuplicateListKey, "", "Git has two items with the same key in one list.", 0},
	{LastAppliedInGit, "", "Git holds what was exported from a cluster.", 0},
	{WebhookOverwrite, "G", "A webhook changed the value when the object was admitted.", 0},
	{WebhookInjection, "G", "A webhook added fields when the object was admitted.", 0},
	{RandomRender, "G", "The same source renders another random value each time.", rendered},
	{TimestampRender, "G", "The same source renders another time each time.", rendered},
	{ChecksumChurn, "G", "The same source renders another checksum each time.", rendered},
	{TrackingMissing, "C", "The live object does not bear Argo CD's mark yet.", 0},
	{SharedResource, "E", "Another Application has this object too.", 0},
	{TrackingLabelCopied, "", "The object bears a copy of Argo CD's label and is not Git's.", traceless},
	{InstanceLabelConflict, "", "Something else sets the label by which Argo CD tracks.", 0},
	{PendingPrune, "D", "Git no longer has the object, and pruning is off.", traceless},
	{PruneProtected, "", "Git no longer has the object, and it is protected from pruning.", traceless},
	{HookLeftover, "F", "A finished hook was left behind.", traceless},
	{TTLDeleted, "F", "The object finished and was deleted by its time to live.", traceless},
	{RepeatedResource, "", "The source renders the same object more than once.", 0},
	{ExcludedResource, "", "Argo CD is configured not to manage this kind.", traceless},
	{ManagedNamespaceMetadata, "E", "The namespace's managed labels and annotations differ.", 0},
	{IgnoreWithoutRespect, "", "A rule hides a difference that a sync would still overwrite.", 0},
	{IgnoreRuleDead, "", "A rule was meant to ignore this and matches nothing.", 0},
	{RespectIgnoreBlocksChange, "", "A rule keeps a change in Git from being applied.", 0},
	{SelfhealFight, "", "Self-healing and another writer overwrite one another.", 0},
	{SSACoownerResidue, "", "A field that Git removed stays because another manager still owns it.", 0},
	{ComparisonErrorSchema, "", "Argo CD cannot compare: the manifest does not fit the schema.", 0},
	{StaleComparison, "", "Argo CD's status is older than what is live.", 0},
	{ImmutableField, "", "Git changes a field that cannot be changed.", fails | traceless},
	{AnnotationTooLong, "", "The object is too large for the annotation of client-side apply.", fails | traceless},
	{MissingCRD, "", "The cluster does not know the kind.", fails | traceless},
	{MissingDependency, "", "The workload waits for something that does not exist.", 0},
	{HookStuck, "", "The sync waits for a hook that does not finish.", 0},
	{HookFailed, "", "A hook failed.", 0},
	{WaveBlocked, "", "The sync waits for an early wave to become healthy.", 0},
	{SyncInProgress, "", "A sync is running.", 0},
	{ManifestGenerationError, "", "Argo CD cannot render the manifests.", 0},
	{ProjectNotPermitted, "", "The project does not permit this.", 0},
	{SyncWindowBlocked, "", "A sync window forbids syncing now.", 0},
	{AutosyncGaveUp, "", "Automated sync failed and does not try this revision again.", 0},
	{AutosyncEmptyGuard, "", "Automated sync refuses to delete everything.", 0},
	{AdmissionDenied, "", "Admission refuses the object.", fails | traceless},
	{ResourceVersionInGit, "", "Git pins the resourceVersion or uid of another moment.", fails | traceless},
	{DeletionStuck, "", "The object is being deleted and waits for a finalizer.", fails},
	{RemovedAPIVersion, "", "The cluster no longer serves this API version.", fails | traceless},
	{MergeKeyConflict, "", "The key of a list item changed, and the merge conflicts.", fails | traceless},
	{InvalidManifest, "", "The manifest is not valid for its kind.", fails | traceless},
	{ControllerStale, "", "The application controller does not keep up.", 0},
	{UnhealthyNotDrift, "", "Nothing drifts; the workload is unhealthy.", 0},
	{None, "", "In sync.", 0},
}

// Mechanisms are all mechanisms that rules answer with, None and Unexplained apart.
var Mechanisms = func() []Mechanism {
	var ids []Mechanism
	for _, m := range mechanisms {
		if m.id != None && m.id != Unexplained {
			ids = append(ids, m.id)
		}
	}
	return ids
}()

// Failures are the mechanisms by which the write of an object fails.
var Failures = func() []Mechanism {
	return slices.DeleteFunc(slices.Clone(Mechanisms), func(m Mechanism) bool { return !m.has(fails) })
}()

// Class returns the letter of the mechanism, or "".
func (m Mechanism) Class() string {
	for _, known := range mechanisms {
		if known.id == m {
			return known.class
		}
	}
	return ""
}

// Summary says in one sentence what the mechanism is.
func (m Mechanism) Summary() string {
	for _, known := range mechanisms {
		if known.id == m {
			return known.summary
		}
	}
	return "Nothing that is known explains these differences."
}

func (m Mechanism) has(wanted trait) bool {
	return slices.ContainsFunc(mechanisms, func(known mechanism) bool { return known.id == m && known.traits&wanted != 0 })
}
