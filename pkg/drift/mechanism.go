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

// Mechanisms are all mechanisms that rules answer with, None and Unexplained apart.
var Mechanisms = []Mechanism{
	ManualEdit,
	ForeignApply,
	RolloutRestart,
	HiddenLiveAddition,
	ResourceMissing,
	GitAhead,
	ApplicationSpecEdit,
	HPAReplicas,
	KedaReplicas,
	ProgressiveDelivery,
	CABundleInjection,
	OperatorWriteback,
	AggregatedClusterrole,
	RuntimePopulatedData,
	ListReordered,
	CRDListDefault,
	STSVolumeclaimtemplate,
	ExplicitDefaultDropped,
	EmptyVsAbsent,
	QuantityFormat,
	ValueCanonicalised,
	StatusInGit,
	UnknownFieldPruned,
	DeprecatedAlias,
	CRDPreserveUnknownFields,
	DuplicateListKey,
	LastAppliedInGit,
	WebhookOverwrite,
	WebhookInjection,
	RandomRender,
	TimestampRender,
	ChecksumChurn,
	TrackingMissing,
	SharedResource,
	TrackingLabelCopied,
	InstanceLabelConflict,
	PendingPrune,
	PruneProtected,
	HookLeftover,
	TTLDeleted,
	RepeatedResource,
	ExcludedResource,
	ManagedNamespaceMetadata,
	IgnoreWithoutRespect,
	IgnoreRuleDead,
	RespectIgnoreBlocksChange,
	SelfhealFight,
	SSACoownerResidue,
	ComparisonErrorSchema,
	StaleComparison,
	ImmutableField,
	AnnotationTooLong,
	MissingCRD,
	MissingDependency,
	HookStuck,
	HookFailed,
	WaveBlocked,
	SyncInProgress,
	ManifestGenerationError,
	ProjectNotPermitted,
	SyncWindowBlocked,
	AutosyncGaveUp,
	AutosyncEmptyGuard,
	AdmissionDenied,
	ResourceVersionInGit,
	DeletionStuck,
	RemovedAPIVersion,
	MergeKeyConflict,
	InvalidManifest,
	ControllerStale,
	UnhealthyNotDrift,
}

// classes are the letters of the kinds of drift that an operator has met most.
var classes = map[Mechanism]string{
	OperatorWriteback:        "G",
	CRDListDefault:           "A",
	ExplicitDefaultDropped:   "B",
	CRDPreserveUnknownFields: "C",
	WebhookOverwrite:         "G",
	WebhookInjection:         "G",
	RandomRender:             "G",
	TimestampRender:          "G",
	ChecksumChurn:            "G",
	TrackingMissing:          "C",
	SharedResource:           "E",
	PendingPrune:             "D",
	HookLeftover:             "F",
	TTLDeleted:               "F",
	ManagedNamespaceMetadata: "E",
}

// Class returns the letter of the mechanism, or "".
func (m Mechanism) Class() string { return classes[m] }
