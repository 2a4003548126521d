package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// hookAnnotations make an object of Git a hook.
var hookAnnotations = []string{"argocd.argoproj.io/hook", "helm.sh/hook"}

// mostHooks is how many hooks are read.
const mostHooks = 100

// hooks adds the hooks, which Argo CD does not compare: those that the status or the
// last operation names, with what Git renders and what is left of them.
func (c *collector) hooks(ctx context.Context) {
	named := c.namedHooks()
	if len(named) == 0 {
		return
	}
	if len(named) > mostHooks {
		c.warnings = append(c.warnings, fmt.Sprintf("the snapshot holds %d of %d hooks", mostHooks, len(named)))
		named = named[:mostHooks]
	}
	manifests, err := c.client.Manifests(ctx, c.ref)
	c.warn("what Git renders of the hooks", err)
	for _, ref := range named {
		hook := drift.Resource{ResourceRef: ref, Hook: true}
		if i := slices.IndexFunc(manifests, func(m map[string]any) bool { return isHook(m) && renders(m, ref) }); i >= 0 {
			hook.Target = manifests[i]
		}
		if node, ok := c.node(ref); ok {
			hook.Live, err = c.client.Resource(ctx, c.ref, node)
			c.warn("the live hook "+ref.Kind+" "+ref.Name, err)
		}
		c.add(hook)
	}
}

// renders reports whether a manifest is where an object comes from. Git may leave the
// namespace to the destination, and the end of the name to the sync.
func renders(manifest map[string]any, ref drift.ResourceRef) bool {
	m := unstructured.Unstructured{Object: manifest}
	from := refOf(manifest)
	if from.Group != ref.Group || from.Kind != ref.Kind || from.Namespace != "" && from.Namespace != ref.Namespace {
		return false
	}
	prefix := m.GetGenerateName()
	return from.Name == ref.Name || from.Name == "" && prefix != "" && strings.HasPrefix(ref.Name, prefix)
}

// namedHooks are the hooks that the status and the last operation name, each once.
func (c *collector) namedHooks() []drift.ResourceRef {
	seen := map[drift.ResourceRef]bool{}
	var named []drift.ResourceRef
	add := func(entry map[string]any) {
		ref := drift.ResourceRef{
			Group: str(entry, "group"), Version: str(entry, "version"), Kind: str(entry, "kind"),
			Namespace: str(entry, "namespace"), Name: str(entry, "name"),
		}
		key := ref
		key.Version = ""
		if !seen[key] {
			seen[key] = true
			named = append(named, ref)
		}
	}
	for _, entry := range c.list("status", "resources") {
		if hook, _ := entry["hook"].(bool); hook {
			add(entry)
		}
	}
	for _, entry := range c.list("status", "operationState", "syncResult", "resources") {
		if str(entry, "hookType") != "" {
			add(entry)
		}
	}
	return named
}

func isHook(o map[string]any) bool {
	annotations := (&unstructured.Unstructured{Object: o}).GetAnnotations()
	for _, name := range hookAnnotations {
		if annotations[name] != "" {
			return true
		}
	}
	return false
}

// node finds an object in the Application's tree.
func (c *collector) node(ref drift.ResourceRef) (argocd.Node, bool) {
	for _, n := range c.tree {
		if n.Group == ref.Group && n.Kind == ref.Kind && n.Namespace == ref.Namespace && n.Name == ref.Name {
			return n, true
		}
	}
	return argocd.Node{}, false
}

// refOf names an object.
func refOf(o map[string]any) drift.ResourceRef {
	u := unstructured.Unstructured{Object: o}
	kind := u.GroupVersionKind()
	return drift.ResourceRef{Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// str is the string of a field, or "".
func str(o map[string]any, field string) string {
	text, _ := o[field].(string)
	return text
}

// nested is what the field names lead to, or nil.
func nested(o map[string]any, names ...string) any {
	found, _, err := unstructured.NestedFieldNoCopy(o, names...)
	if err != nil {
		return nil // something else is on the way
	}
	return found
}
