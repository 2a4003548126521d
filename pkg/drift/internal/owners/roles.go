package owners

import (
	"regexp"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
)

// Role is the part that a field manager plays.
type Role int

// The roles.
const (
	Nobody Role = iota
	Argo
	Person
	Applier
	Controller
)

// argoPrograms are what Argo CD's controller calls itself where it writes with no name of
// its own: for RBAC, which it reconciles as kubectl auth reconcile does.
var argoPrograms = []string{"argocd-application-controller", "argocd"}

// tools are managers behind which a person sits: editors, dashboards, browsers.
var tools = []string{
	"kubectl", "oc", "node-fetch", "mozilla", "dashboard", "kubernetes-dashboard", "k9s", "lens", "openlens", "freelens",
	"headlamp", "octant", "curl", "python-requests", "postmanruntime", "httpie", "argocd-server", "googlecloudconsole", "google-cloud-console", "kubernetes dashboard",
	"kubenav", "skooner", "komodor", "monokle", "podman-desktop", "vscode-kubernetes-tools",
}

// automatic are names of programs that no person sits behind, whatever they begin with.
var automatic = regexp.MustCompile(`-(controller|controller-manager|operator|agent)$`)

// appliers are managers that write whole manifests from somewhere else, each with
// all names that begin so.
var appliers = []string{
	"kubectl-client-side-apply", "kubectl-create", "kubectl-replace", "before-first-apply", "helm", "terraform", "hashicorp", "pulumi",
	"kustomize-controller", "flux", "kapp", "skaffold", "tilt", "werf", "fleet", "ansible", "openapi-generator", "applyset", "config-sync",
	"configsync", "spinnaker", "tanka", "tk", "devspace", "okteto", "garden", "argocd-autopilot", "kubecfg", "porter", "octopus",
}

// people's sub-commands that change single fields.
var editing = []string{
	"kubectl-edit", "kubectl-patch", "kubectl-set", "kubectl-scale", "kubectl-annotate", "kubectl-label", "kubectl-rollout",
	"kubectl-autoscale", "kubectl-taint", "kubectl-expose", "kubectl-run", "kubectl-debug", "kubectl-cordon",
}

// settings are the kinds in which Argo CD's API server keeps its own settings and keys. In
// all others it writes what people do in the UI and with the CLI.
var settings = []string{"Secret", "ConfigMap"}

// RoleOf says which part a manager plays for an object of a kind. Whoever is neither Argo CD,
// a tool of people nor something that applies manifests is a controller.
func RoleOf(kind string, owner drift.Owner) Role {
	name := strings.ToLower(owner.Manager)
	switch {
	case name == "":
		return Nobody
	case name == mark.Manager, slices.Contains(argoPrograms, name) && kind != "Application":
		return Argo
	case isOrBegins(name, "argocd-server") && slices.Contains(settings, kind):
		return Controller
	case slices.ContainsFunc(editing, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		return Person
	case slices.ContainsFunc(appliers, func(prefix string) bool { return isOrBegins(name, prefix) }):
		return Applier
	case name == "kubectl" && owner.Operation == "Apply":
		return Applier
	case strings.HasPrefix(name, "kubectl"), slices.ContainsFunc(tools, func(tool string) bool { return isOrBegins(name, tool) }) && !automatic.MatchString(name):
		return Person
	}
	return Controller
}

// isOrBegins reports whether the name is the prefix, or goes on after it with
// something else than a letter.
func isOrBegins(name, prefix string) bool {
	rest, found := strings.CutPrefix(name, prefix)
	return found && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}

// By describes a writer: "kubectl-edit (Update) at 2026-01-02T03:04:05Z".
func By(owner drift.Owner) string {
	said := owner.Manager
	if owner.Subresource != "" {
		said += " through " + owner.Subresource
	}
	if owner.Time != "" {
		said += " at " + owner.Time
	}
	return said
}
