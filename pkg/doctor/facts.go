package doctor

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// Facts are what is known of an installation.
type Facts struct {
	// Version and Bundle are those of the binary that looks.
	Version string
	Bundle  []byte
	// Now is when the facts were gathered.
	Now time.Time
	// Namespace is Argo CD's.
	Namespace string

	// Settings, Parameters and Policy are argocd-cm, argocd-cmd-params-cm and
	// argocd-rbac-cm.
	Settings, Parameters, Policy Fact[corev1.ConfigMap]

	Deployments  Fact[[]appsv1.Deployment]
	Pods         Fact[[]corev1.Pod]
	Services     Fact[[]corev1.Service]
	Applications Fact[Applications]
	// Secret is the one that the extension's configuration refers to.
	Secret Fact[Secret]

	// Plugin is what the sidecar says on its socket, Metrics what it counts.
	Plugin  Fact[Plugin]
	Metrics Fact[Metrics]

	// ServerVersion is what argocd-server says, Scripts are the UI extensions that it
	// serves, Answer is the backend's, from behind it.
	ServerVersion Fact[string]
	Scripts       Fact[argocd.Answer]
	Answer        Fact[argocd.Answer]
}

// Applications counts how the Applications of Argo CD's namespace are rendered.
type Applications struct {
	Total int
	// Named are those that name the plugin, Untyped those that name no tool: with
	// discovery they are offered to it.
	Named, Untyped int
	// More tells that there are more than were read.
	More bool
}

// Plugin is what a plugin server says on its socket.
type Plugin struct {
	Serving, Discovery bool
}

// Secret is what is said of a Secret here; the values stay behind.
type Secret struct {
	Name   string
	Labels map[string]string
	// Keys hold what is wrong with each value, or "".
	Keys map[string]string
}
