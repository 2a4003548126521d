// Package recorder makes cases of the drift classifier's corpus on a real control
// plane: it puts an Application in sync, injects a cause of drift the way the real
// culprit works (a person edits, a controller writes through the scale subresource, a
// webhook rewrites at admission, Git moves on), waits for Argo CD's verdict, and takes
// a snapshot.
//
// The label of a case stands in its file of the corpus before anything is recorded. A
// [Stage] refuses one whose flagged fields are not those that Argo CD itself flags, so a
// label cannot claim what did not happen; nothing here asks pkg/drift for its opinion.
package recorder

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scenario is how one case comes about.
type Scenario struct {
	// Name is that of the case: folder and file, such as "hpa-replicas/scaled-up".
	Name string
	// Cause is what is done, in one sentence.
	Cause string

	// App is the Application's name; the last part of Name when empty. Namespace is its
	// destination, named as the App when empty. Both are unique on a plane, and so are
	// the names of cluster-scoped objects.
	App, Namespace string
	// Files are what Git holds at first, by path; the Application renders the folder
	// "app". $REPOSITORY, $APP and $NAMESPACE stand for the scenario's own, here and in
	// Cluster, Spec and what is committed later.
	Files map[string]string
	// Source is laid over spec.source, for a helm or directory block or another path.
	Source map[string]any
	// SyncPolicy is spec.syncPolicy. Spec is laid over the rest of spec, such as ignoreDifferences.
	SyncPolicy, Spec map[string]any
	// Annotations are the Application's.
	Annotations map[string]string
	// Settings are laid over [DefaultSettings] of argocd-cm.
	Settings map[string]string
	// CRDs are names of CRDs of package e2e/crds to install; they become related objects.
	CRDs []string
	// Cluster is a YAML stream of what is in the cluster before the first sync: CRDs of
	// the scenario's own, an HPA, other people's objects.
	Cluster string

	// Before runs before the first sync, when the Application is there: to register a
	// webhook, for example.
	Before func(context.Context, *Stage) error
	// NoSync leaves out the first sync.
	NoSync bool
	// Inject does what Cause says. Nil is nothing.
	Inject func(context.Context, *Stage) error
	// NoRefresh takes the snapshot without asking Argo CD to compare again.
	NoRefresh bool
	// Related are references to further objects that a snapshot of this Application
	// would show, as [ParseRef] reads them.
	Related []string
}

// DefaultSettings are the keys of argocd-cm that every scenario starts from.
func DefaultSettings() map[string]string {
	return map[string]string{"application.resourceTrackingMethod": "annotation"}
}

// Ref refers to an object of a cluster.
type Ref struct {
	Kind schema.GroupVersionKind
	// Namespace is empty for the scenario's own.
	Namespace, Name string
}

// ParseRef reads group/version/Kind/name or group/version/Kind/namespace/name; the core
// group is left out, as in v1/ConfigMap/settings.
func ParseRef(text string) (Ref, error) {
	parts := strings.Split(text, "/")
	if len(parts) > 1 && isVersion(parts[0]) {
		parts = append([]string{""}, parts...)
	}
	ref := Ref{Name: parts[len(parts)-1]}
	if len(parts) == 5 {
		ref.Namespace = parts[3]
		parts = append(parts[:3:3], ref.Name)
	}
	if len(parts) != 4 || !isVersion(parts[1]) {
		return Ref{}, fmt.Errorf("%q refers to no object; write group/version/Kind/name", text)
	}
	ref.Kind = schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}
	return ref, nil
}

func isVersion(text string) bool {
	return len(text) > 1 && text[0] == 'v' && text[1] >= '0' && text[1] <= '9'
}

func (s Scenario) app() string {
	if s.App != "" {
		return s.App
	}
	return s.Name[strings.LastIndex(s.Name, "/")+1:]
}

func (s Scenario) namespace() string {
	if s.Namespace != "" {
		return s.Namespace
	}
	return s.app()
}
