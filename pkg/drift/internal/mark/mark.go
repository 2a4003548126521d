// Package mark holds the annotations, options and managers by which Argo CD, Helm and
// kubectl say on an object what they did and what is to be done with it.
package mark

import "github.com/moorpin/moorpin/pkg/fieldpath"

// Argo CD's names for what decides how it compares and applies.
const (
	Manager        = "argocd-controller"
	CompareOptions = "argocd.argoproj.io/compare-options"
	SyncOptions    = "argocd.argoproj.io/sync-options"
	LastApplied    = "kubectl.kubernetes.io/last-applied-configuration"
	TrackingID     = "argocd.argoproj.io/tracking-id"
)

// Annotations that decide when a resource is applied and deleted.
const (
	HookDelete     = "argocd.argoproj.io/hook-delete-policy"
	HelmHookDelete = "helm.sh/hook-delete-policy"
	SyncWave       = "argocd.argoproj.io/sync-wave"
)

// TrackingPointer is where the tracking id stands.
var TrackingPointer = fieldpath.Of("metadata", "annotations", TrackingID)

// RespectOption is the sync option that has a sync leave ignored fields alone.
const RespectOption = "RespectIgnoreDifferences=true"

// Annotations that decide about the life of a resource.
const (
	Hook           = "argocd.argoproj.io/hook"
	HelmHook       = "helm.sh/hook"
	InstallationID = "argocd.argoproj.io/installation-id"
	Refresh        = "argocd.argoproj.io/refresh"
)

// OnlyRestart reports whether a value is a map of annotations with just this one.
func OnlyRestart(value any) bool {
	annotations, _ := value.(map[string]any)
	_, found := annotations[RestartedAt]
	return found && len(annotations) == 1
}

// RestartedAt is the annotation of a Pod template by which kubectl restarts a rollout.
const RestartedAt = "kubectl.kubernetes.io/restartedAt"
