package drift

import (
	"strings"

	"github.com/moorpin/moorpin/pkg/object"
)

// Snapshot is an Application at one moment, as `moorpin extension snapshot` writes
// it and as the page in Argo CD's UI sends it.
type Snapshot struct {
	// Application is the whole object, spec and status.
	Application map[string]any `json:"application"`
	// Resources are what Git renders and what the cluster holds, one entry an object.
	Resources []Resource `json:"resources"`
	// Related are objects that help to explain: CRDs of custom kinds, HPAs,
	// ScaledObjects, webhook configurations, other Applications, the AppProject,
	// Jobs, Pods.
	Related []map[string]any `json:"related,omitempty"`
	// Events are Kubernetes Events, or objects with reason, message,
	// involvedObject and lastTimestamp.
	Events   []map[string]any `json:"events,omitempty"`
	Settings Settings         `json:"settings,omitzero"`
}

// Resource is one object of an Application on both sides.
type Resource struct {
	ResourceRef `json:",inline"`

	// Target is what Git renders; nil when Git does not render the object.
	Target map[string]any `json:"target"`
	// Live is what the API server returns, managedFields included; nil when it is not there.
	Live map[string]any `json:"live"`
	// NormalizedLive and PredictedLive are what Argo CD itself compared, where
	// known. Both together are taken for the truth about what differs.
	NormalizedLive map[string]any `json:"normalizedLive,omitempty"`
	PredictedLive  map[string]any `json:"predictedLive,omitempty"`
	Hook           bool           `json:"hook,omitempty"`
	// DryRun is the API server's answer to a dry run of the sync; nil where it was not asked.
	DryRun *DryRun `json:"dryRun,omitempty"`
}

// SecretValue is a value in a Secret's data or stringData, and the key that it has there.
type SecretValue struct {
	Key   string
	Value any
}

// ResourceRef names an object. Version may be empty.
type ResourceRef struct {
	Group     string `json:"group"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Settings are what the reporter knows of Argo CD's configuration: the keys below
// and any key of argocd-cm under its own name.
type Settings map[string]any

// Keys of [Settings] that are not argocd-cm's.
const (
	SettingVersion       = "argocdVersion"    // such as "v2.14.21"
	SettingStrategy      = "diffStrategy"     // a [Strategy]; derived for each resource when absent
	SettingTracking      = "trackingMethod"   // annotation, label or annotation+label
	SettingInstanceLabel = "instanceLabelKey" // default app.kubernetes.io/instance
	SettingLastCommit    = "lastCommit"       // {"revision", "time"} of the newest commit
	SettingNow           = "now"              // RFC 3339; without it rules about time say "possible"
)

// Strategy is how Argo CD computes a difference.
type Strategy string

// The strategies.
const (
	Legacy          Strategy = "legacy"
	StructuredMerge Strategy = "structured-merge"
	ServerSide      Strategy = "server-side"
)

// RefOf names an object.
func RefOf(o object.Object) ResourceRef {
	group, version, found := strings.Cut(object.Text(o, "apiVersion"), "/")
	if !found {
		group, version = "", group
	}
	return ResourceRef{Group: group, Version: version, Kind: object.Text(o, "kind"), Namespace: object.Text(o, "metadata", "namespace"), Name: object.Text(o, "metadata", "name")}
}

// Words names an object in a sentence.
func (ref ResourceRef) Words() string {
	if ref.Namespace == "" {
		return ref.Kind + " " + ref.Name
	}
	return ref.Kind + " " + ref.Namespace + "/" + ref.Name
}

// Key finds a resource without regard to its version.
type Key struct{ Group, Kind, Namespace, Name string }

// KeyOf is the key of a reference.
func KeyOf(ref ResourceRef) Key { return Key{ref.Group, ref.Kind, ref.Namespace, ref.Name} }

// DryRun is what the API server answered when it was asked, without writing, what
// a sync of the object would do. One of the two fields is set.
type DryRun struct {
	// Result is the object as it would be after the sync.
	Result map[string]any `json:"result,omitempty"`
	// Error is the refusal, in the API server's words.
	Error string `json:"error,omitempty"`
}
