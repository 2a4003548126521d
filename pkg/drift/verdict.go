package drift

import (
	"fmt"
	"strings"
)

// verdict is one sentence about the whole report: how much there is, what is at
// work, and what a sync would do.
func verdict(report *Report) string {
	differences, hidden, problems, resources := 0, 0, 0, map[key]bool{}
	var mechanisms []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Mechanism == None {
			return "In sync: Argo CD flags nothing, and nothing hides."
		}
		switch {
		case f.differs():
			differences += max(1, len(f.Fields))
			resources[keyOf(f.Resource)] = true
		case f.Flagged:
			problems++
		default:
			hidden += len(f.Fields)
		}
		mechanisms = append(mechanisms, string(f.Mechanism))
	}
	said := "No difference"
	if differences > 0 {
		said = fmt.Sprintf("%s in %s", count(differences, "difference"), count(len(resources), "resource"))
	}
	if problems > 0 {
		said += "; " + count(problems, "problem")
	}
	if hidden > 0 {
		said += "; " + count(hidden, "field") + " hidden from Argo CD"
	}
	return said + ": " + strings.Join(unique(mechanisms), ", ") + ". " + outlook(report)
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// Summary says what the effect means to the person who would press the button.
func (s Sync) Summary() string {
	return map[Sync]string{
		NothingToDo:      "There is nothing to sync.",
		Noop:             "A sync succeeds and changes nothing.",
		HarmlessFlap:     "A sync rewrites an equivalent value, which is rewritten back.",
		Safe:             "A sync does what Git says, and nothing is lost.",
		Waits:            "An operation is running or stuck; a sync has to wait for its end.",
		Blocked:          "A sync cannot start.",
		WillFail:         "A sync will fail.",
		FightsController: "A sync overwrites what a controller wrote, and the controller writes it again.",
		OverwritesLive:   "A sync overwrites a live change that somebody may want.",
		Destructive:      "A sync deletes or blanks data.",
	}[s]
}

// Summary says in one sentence what the mechanism is.
func (m Mechanism) Summary() string {
	if said, found := summaries[m]; found {
		return said
	}
	return "Nothing that is known explains these differences."
}

var summaries = map[Mechanism]string{
	ManualEdit:                "A person changed live what Git declares.",
	ForeignApply:              "Another source applied its own manifest of this object.",
	RolloutRestart:            "Somebody restarted the Pods with kubectl rollout restart.",
	HiddenLiveAddition:        "Somebody added fields live that Argo CD does not compare.",
	ResourceMissing:           "Git has the object and the cluster has not.",
	GitAhead:                  "Git has moved on and was not synced since.",
	ApplicationSpecEdit:       "The Application was changed in the UI, by the CLI or by the image updater.",
	HPAReplicas:               "An autoscaler sets the replicas that Git pins.",
	KedaReplicas:              "KEDA sets the replicas that Git pins.",
	ProgressiveDelivery:       "A rollout controller shifts traffic here.",
	CABundleInjection:         "A controller injects the certificate authority.",
	OperatorWriteback:         "A controller rewrites a value that Git declares.",
	AggregatedClusterrole:     "Kubernetes fills the rules of this aggregated ClusterRole.",
	RuntimePopulatedData:      "A controller fills data that Git pins at its start value.",
	ListReordered:             "The same items stand in another order.",
	CRDListDefault:            "The API server adds defaults of the CRD that Git leaves out.",
	STSVolumeclaimtemplate:    "The API server fills the volume claim templates in.",
	ExplicitDefaultDropped:    "Git sets a zero value that the controller leaves out.",
	EmptyVsAbsent:             "Git sets an empty value that the API server does not keep.",
	QuantityFormat:            "The same quantity is spelt in two ways.",
	ValueCanonicalised:        "The same value is spelt in two ways.",
	StatusInGit:               "Git declares a status, which a sync cannot write.",
	UnknownFieldPruned:        "Git declares a field that the schema does not have.",
	DeprecatedAlias:           "A field and its deprecated alias bring one another back.",
	CRDPreserveUnknownFields:  "The API server drops preserveUnknownFields: false.",
	DuplicateListKey:          "Git has two items with the same key in one list.",
	LastAppliedInGit:          "Git holds what was exported from a cluster.",
	WebhookOverwrite:          "A webhook changed the value when the object was admitted.",
	WebhookInjection:          "A webhook added fields when the object was admitted.",
	RandomRender:              "The same source renders another random value each time.",
	TimestampRender:           "The same source renders another time each time.",
	ChecksumChurn:             "The same source renders another checksum each time.",
	TrackingMissing:           "The live object does not bear Argo CD's mark yet.",
	SharedResource:            "Another Application has this object too.",
	TrackingLabelCopied:       "The object bears a copy of Argo CD's label and is not Git's.",
	InstanceLabelConflict:     "Something else sets the label by which Argo CD tracks.",
	PendingPrune:              "Git no longer has the object, and pruning is off.",
	PruneProtected:            "Git no longer has the object, and it is protected from pruning.",
	HookLeftover:              "A finished hook was left behind.",
	TTLDeleted:                "The object finished and was deleted by its time to live.",
	RepeatedResource:          "The source renders the same object more than once.",
	ExcludedResource:          "Argo CD is configured not to manage this kind.",
	ManagedNamespaceMetadata:  "The namespace's managed labels and annotations differ.",
	IgnoreWithoutRespect:      "A rule hides a difference that a sync would still overwrite.",
	IgnoreRuleDead:            "A rule was meant to ignore this and matches nothing.",
	RespectIgnoreBlocksChange: "A rule keeps a change in Git from being applied.",
	SelfhealFight:             "Self-healing and another writer overwrite one another.",
	SSACoownerResidue:         "A field that Git removed stays because another manager still owns it.",
	ComparisonErrorSchema:     "Argo CD cannot compare: the manifest does not fit the schema.",
	StaleComparison:           "Argo CD's status is older than what is live.",
	ImmutableField:            "Git changes a field that cannot be changed.",
	AnnotationTooLong:         "The object is too large for the annotation of client-side apply.",
	MissingCRD:                "The cluster does not know the kind.",
	MissingDependency:         "The workload waits for something that does not exist.",
	HookStuck:                 "The sync waits for a hook that does not finish.",
	HookFailed:                "A hook failed.",
	WaveBlocked:               "The sync waits for an early wave to become healthy.",
	SyncInProgress:            "A sync is running.",
	ManifestGenerationError:   "Argo CD cannot render the manifests.",
	ProjectNotPermitted:       "The project does not permit this.",
	SyncWindowBlocked:         "A sync window forbids syncing now.",
	AutosyncGaveUp:            "Automated sync failed and does not try this revision again.",
	AutosyncEmptyGuard:        "Automated sync refuses to delete everything.",
	AdmissionDenied:           "Admission refuses the object.",
	ResourceVersionInGit:      "Git pins the resourceVersion or uid of another moment.",
	DeletionStuck:             "The object is being deleted and waits for a finalizer.",
	RemovedAPIVersion:         "The cluster no longer serves this API version.",
	MergeKeyConflict:          "The key of a list item changed, and the merge conflicts.",
	InvalidManifest:           "The manifest is not valid for its kind.",
	ControllerStale:           "The application controller does not keep up.",
	UnhealthyNotDrift:         "Nothing drifts; the workload is unhealthy.",
	None:                      "In sync.",
}
