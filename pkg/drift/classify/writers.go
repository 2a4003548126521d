package classify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
)

// role is the part that a field manager plays.
type role int

// The roles.
const (
	nobody role = iota
	argo
	person
	applier
	controller
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

// roleOf says which part a manager plays for an object. Whoever is neither Argo CD,
// a tool of people nor something that applies manifests is a controller.
func (r *resource) roleOf(owner drift.Owner) role {
	name := strings.ToLower(owner.Manager)
	switch {
	case name == "":
		return nobody
	case name == argoManager, slices.Contains(argoPrograms, name) && r.ref.Kind != "Application":
		return argo
	case slices.ContainsFunc(editing, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		return person
	case slices.ContainsFunc(appliers, func(prefix string) bool { return isOrBegins(name, prefix) }):
		return applier
	case name == "kubectl" && owner.Operation == "Apply":
		return applier
	case strings.HasPrefix(name, "kubectl"), slices.ContainsFunc(tools, func(tool string) bool { return isOrBegins(name, tool) }) && !automatic.MatchString(name):
		return person
	}
	return controller
}

// isOrBegins reports whether the name is the prefix, or goes on after it with
// something else than a letter.
func isOrBegins(name, prefix string) bool {
	rest, found := strings.CutPrefix(name, prefix)
	return found && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}

// writers are the owners of a flagged field by their roles.
type writers struct {
	all []drift.Owner
	// argo tells that Argo CD owns the field: its live value is what Argo CD
	// applied, or what admission made of it.
	argo bool
	// last is the newest owner other than Argo CD, in the role that it plays.
	last drift.Owner
	role role
}

// writersOf reads who wrote the live value of a difference.
func (r *resource) writersOf(d *difference) writers {
	if !d.inLive {
		return writers{}
	}
	if r.owners == nil {
		r.owners = ownersOf(r.live)
	}
	w := writers{all: r.owners.at(d.pointer)}
	var others []drift.Owner
	for _, owner := range w.all {
		if r.roleOf(owner) == argo {
			w.argo = true
		} else {
			others = append(others, owner)
		}
	}
	if last, found := newest(others); found {
		w.last, w.role = last, r.roleOf(last)
	}
	return w
}

// lastWrite is the time of Argo CD's newest write to the object itself, or "".
func (r *resource) lastWrite() string {
	if r.owners == nil {
		r.owners = ownersOf(r.live)
	}
	var last string
	for _, owner := range r.owners.entries {
		if r.roleOf(owner) == argo && owner.Subresource == "" && owner.Time > last {
			last = owner.Time
		}
	}
	return last
}

// hasOwners tells whether the live object says at all who wrote it.
func (r *resource) hasOwners() bool {
	if r.owners == nil {
		r.owners = ownersOf(r.live)
	}
	return len(r.owners.entries) > 0
}

// by describes a writer: "kubectl-edit (Update) at 2026-01-02T03:04:05Z".
func by(owner drift.Owner) string {
	said := owner.Manager
	if owner.Subresource != "" {
		said += " through " + owner.Subresource
	}
	if owner.Time != "" {
		said += " at " + owner.Time
	}
	return said
}
