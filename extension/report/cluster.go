package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Cluster is the API server of the Application's destination.
type Cluster interface {
	// Definition returns the CRD of a kind, and false for a kind that has none.
	Definition(ctx context.Context, group, kind string) (map[string]any, bool, error)
	// List returns the objects of a kind in a namespace, or in all when it is "":
	// none where the kind is not served. The truth of the second result is that
	// there are more.
	List(ctx context.Context, group, kind, namespace string) ([]map[string]any, bool, error)
	// Get returns one object, and false where there is none.
	Get(ctx context.Context, kind schema.GroupKind, namespace, name string) (map[string]any, bool, error)
}

// fromCluster adds what Argo CD's API does not give, and of what is in the namespaces no
// more than has to do with the Application: others may live there too.
func (c *collector) fromCluster(ctx context.Context) {
	if c.options.Cluster == nil {
		return
	}
	if c.options.Home && !c.goesHome() {
		// Namespaces of that name on another cluster hold somebody else's objects.
		c.argoCM(ctx)
		return
	}
	if c.uncompared || c.invalid() {
		// Argo CD has not found that the Application may be where it says it goes.
		c.argoCM(ctx)
		return
	}
	c.definitions(ctx)
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		c.relate(c.listed(ctx, "admissionregistration.k8s.io", kind, "")...)
	}
	own := c.belongings()
	for _, namespace := range c.namespaces() {
		found, ok, err := c.options.Cluster.Get(ctx, schema.GroupKind{Kind: "Namespace"}, "", namespace)
		c.warn("the Namespace "+namespace, err)
		if ok {
			c.relate(found)
		}
		for _, wanted := range explaining {
			c.relate(own.own(c.listed(ctx, wanted.group, wanted.kind, namespace))...)
		}
		for _, event := range c.listed(ctx, "", "Event", namespace) {
			if own.said(event) {
				c.addEvent(event)
			}
		}
	}
	c.argoCM(ctx)
}

// definitions adds the CRDs of the resources' kinds. The groups of built-in kinds
// without a dot have none for sure.
func (c *collector) definitions(ctx context.Context) {
	kinds := map[[2]string]bool{}
	for _, r := range c.snapshot.Resources {
		if strings.Contains(r.Group, ".") {
			kinds[[2]string{r.Group, r.Kind}] = true
		}
	}
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		crd, found, err := c.options.Cluster.Definition(ctx, kind[0], kind[1])
		c.warn("the CRD of "+kind[1]+"."+kind[0], err)
		if found {
			c.relate(crd)
		}
	}
}

// invalid reports whether Argo CD refuses the Application as it stands, such as for a
// destination that its project does not permit.
func (c *collector) invalid() bool {
	return slices.ContainsFunc(c.list("status", "conditions"), func(condition map[string]any) bool {
		return str(condition, "type") == "InvalidSpecError"
	})
}

// namespaces are the destination's, once Argo CD compared with it, and those of the
// resources.
func (c *collector) namespaces() []string {
	names := map[string]bool{c.destined(): true}
	for _, r := range c.snapshot.Resources {
		names[r.Namespace] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

func (c *collector) listed(ctx context.Context, group, kind, namespace string) []map[string]any {
	objects, more, err := c.options.Cluster.List(ctx, group, kind, namespace)
	c.warn(strings.TrimSpace("objects of kind "+kind+" "+namespace), err)
	if err := c.take(objects); err != nil {
		c.warn(strings.TrimSpace("objects of kind "+kind+" "+namespace), err)
		return nil
	}
	if more {
		c.warnings = append(c.warnings, fmt.Sprintf("of the objects of kind %s in namespace %s only the first %d were looked at", kind, namespace, len(objects)))
	}
	return objects
}

// take asks for the memory of what the cluster gave.
func (c *collector) take(objects []map[string]any) error {
	if c.options.Memory == nil {
		return nil
	}
	total := int64(0)
	for _, o := range objects {
		total += weigh(o)
	}
	return c.options.Memory.Take(total) //nolint:wrapcheck // it names what takes too much
}

// goesHome reports whether the destination is the cluster that Argo CD runs in.
func (c *collector) goesHome() bool {
	return c.text("spec", "destination", "server") == "https://kubernetes.default.svc" || c.text("spec", "destination", "name") == "in-cluster"
}

// argoCM adds the keys of argocd-cm that bear on comparing, which only the cluster of Argo
// CD itself has. Its other keys are nobody's business.
func (c *collector) argoCM(ctx context.Context) {
	if !c.options.Home && !c.goesHome() {
		return
	}
	home := c.home
	if home == "" {
		return
	}
	for name, prefixes := range map[string][]string{
		"argocd-cm":            {"resource.", "application.", "timeout."},
		"argocd-cmd-params-cm": {"controller.diff.server.side"},
	} {
		found, ok, err := c.options.Cluster.Get(ctx, schema.GroupKind{Kind: "ConfigMap"}, home, name)
		c.warn("the ConfigMap "+name, err)
		if !ok {
			continue
		}
		data, _ := found["data"].(map[string]any)
		for key, value := range data {
			if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
				c.snapshot.Settings[key] = value
			}
		}
	}
}
