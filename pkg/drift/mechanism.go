package drift

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

// mechanisms says of each mechanism the letter of the kind of drift that an operator has
// met most, or "", and what it is. How its findings come about, package classify says;
// how they go away, the fixes.
var mechanisms = []struct {
	id             Mechanism
	class, summary string
}{
	{ManualEdit, "", "A person changed live what Git declares."},
	{ForeignApply, "", "Another source applied its own manifest of this object."},
	{RolloutRestart, "", "Somebody restarted the Pods with kubectl rollout restart."},
	{HiddenLiveAddition, "", "Somebody added fields live that Argo CD does not compare."},
	{ResourceMissing, "", "Git has the object and the cluster has not."},
	{GitAhead, "", "Git has moved on and was not synced since."},
	{ApplicationSpecEdit, "", "The Application was changed in the UI, by the CLI or by the image updater."},
	{HPAReplicas, "", "An autoscaler sets the replicas that Git pins."},
	{KedaReplicas, "", "KEDA sets the replicas that Git pins."},
	{ProgressiveDelivery, "", "A rollout controller shifts traffic here."},
	{CABundleInjection, "", "A controller injects the certificate authority."},
	{OperatorWriteback, "G", "A controller rewrites a value that Git declares."},
	{AggregatedClusterrole, "", "Kubernetes fills the rules of this aggregated ClusterRole."},
	{RuntimePopulatedData, "", "A controller fills data that Git pins at its start value."},
	{ListReordered, "", "The same items stand in another order."},
	{CRDListDefault, "A", "The API server adds defaults of the CRD that Git leaves out."},
	{STSVolumeclaimtemplate, "", "The API server fills the volume claim templates in."},
	{ExplicitDefaultDropped, "B", "Git sets a zero value that the controller leaves out."},
	{EmptyVsAbsent, "", "Git sets an empty value that the API server does not keep."},
	{QuantityFormat, "", "The same quantity is spelt in two ways."},
	{ValueCanonicalised, "", "The same value is spelt in two ways."},
	{StatusInGit, "", "Git declares a status, which a sync cannot write."},
	{UnknownFieldPruned, "", "Git declares a field that the schema does not have."},
	{DeprecatedAlias, "", "A field and its deprecated alias bring one another back."},
	{CRDPreserveUnknownFields, "C", "The API server drops preserveUnknownFields: false."},
	{DuplicateListKey, "", "Git has two items with the same key in one list."},
	{LastAppliedInGit, "", "Git holds what was exported from a cluster."},
	{WebhookOverwrite, "G", "A webhook changed the value when the object was admitted."},
	{WebhookInjection, "G", "A webhook added fields when the object was admitted."},
	{RandomRender, "G", "The same source renders another random value each time."},
	{TimestampRender, "G", "The same source renders another time each time."},
	{ChecksumChurn, "G", "The same source renders another checksum each time."},
	{TrackingMissing, "C", "The live object does not bear Argo CD's mark yet."},
	{SharedResource, "E", "Another Application has this object too."},
	{TrackingLabelCopied, "", "The object bears a copy of Argo CD's label and is not Git's."},
	{InstanceLabelConflict, "", "Something else sets the label by which Argo CD tracks."},
	{PendingPrune, "D", "Git no longer has the object, and pruning is off."},
	{PruneProtected, "", "Git no longer has the object, and it is protected from pruning."},
	{HookLeftover, "F", "A finished hook was left behind."},
	{TTLDeleted, "F", "The object finished and was deleted by its time to live."},
	{RepeatedResource, "", "The source renders the same object more than once."},
	{ExcludedResource, "", "Argo CD is configured not to manage this kind."},
	{ManagedNamespaceMetadata, "E", "The namespace's managed labels and annotations differ."},
	{IgnoreWithoutRespect, "", "A rule hides a difference that a sync would still overwrite."},
	{IgnoreRuleDead, "", "A rule was meant to ignore this and matches nothing."},
	{RespectIgnoreBlocksChange, "", "A rule keeps a change in Git from being applied."},
	{SelfhealFight, "", "Self-healing and another writer overwrite one another."},
	{SSACoownerResidue, "", "A field that Git removed stays because another manager still owns it."},
	{ComparisonErrorSchema, "", "Argo CD cannot compare: the manifest does not fit the schema."},
	{StaleComparison, "", "Argo CD's status is older than what is live."},
	{ImmutableField, "", "Git changes a field that cannot be changed."},
	{AnnotationTooLong, "", "The object is too large for the annotation of client-side apply."},
	{MissingCRD, "", "The cluster does not know the kind."},
	{MissingDependency, "", "The workload waits for something that does not exist."},
	{HookStuck, "", "The sync waits for a hook that does not finish."},
	{HookFailed, "", "A hook failed."},
	{WaveBlocked, "", "The sync waits for an early wave to become healthy."},
	{SyncInProgress, "", "A sync is running."},
	{ManifestGenerationError, "", "Argo CD cannot render the manifests."},
	{ProjectNotPermitted, "", "The project does not permit this."},
	{SyncWindowBlocked, "", "A sync window forbids syncing now."},
	{AutosyncGaveUp, "", "Automated sync failed and does not try this revision again."},
	{AutosyncEmptyGuard, "", "Automated sync refuses to delete everything."},
	{AdmissionDenied, "", "Admission refuses the object."},
	{ResourceVersionInGit, "", "Git pins the resourceVersion or uid of another moment."},
	{DeletionStuck, "", "The object is being deleted and waits for a finalizer."},
	{RemovedAPIVersion, "", "The cluster no longer serves this API version."},
	{MergeKeyConflict, "", "The key of a list item changed, and the merge conflicts."},
	{InvalidManifest, "", "The manifest is not valid for its kind."},
	{ControllerStale, "", "The application controller does not keep up."},
	{UnhealthyNotDrift, "", "Nothing drifts; the workload is unhealthy."},
	{None, "", "In sync."},
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
