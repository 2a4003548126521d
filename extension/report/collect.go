// Package report makes the snapshot of an Application that package drift
// classifies: what Git renders, what the cluster holds, and what helps to explain
// the difference.
//
// [Collect] asks Argo CD's API, as far as a token with `applications, get` may, and
// the destination's API server where one is given. What cannot be had is left out
// and said so in a warning; only the Application and its resources must be
// there, and the resources only where Argo CD could compare them.
// The values of Secrets are masked before they reach the snapshot, so that it can
// be filed and sent.
package report

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/weight"
)

// Options say how to collect. The zero value leaves the clock and the cluster out.
type Options struct {
	// Now is the clock; nil leaves the time out of the snapshot.
	Now func() time.Time
	// Compared keeps the two documents that Argo CD compared, for each resource.
	Compared bool
	// Cluster is the destination's API server, or nil.
	Cluster Cluster
	// Home tells that Cluster is the one that Argo CD runs in, whatever the destination:
	// it is then asked only about Applications that go there, and about Argo CD itself.
	Home bool
	// Memory is asked before anything that was read takes memory; nil bounds nothing.
	Memory *weight.Allowance
	// DryRun is who answers dry runs of what is out of sync, or nil.
	DryRun DryRunner
}

// collector is one run of Collect.
type collector struct {
	client  *argocd.Client
	ref     argocd.Ref
	options Options

	app  map[string]any
	tree []argocd.Node
	// uncompared tells that Argo CD has no resources to give.
	uncompared bool
	// home is the namespace of Argo CD, or "".
	home     string
	snapshot *drift.Snapshot
	warnings []string
	// full is that others have taken the memory: asked again, there may be some.
	full error
	// seen are the live objects that the snapshot holds already.
	seen map[drift.ResourceRef]bool
}

// Collect makes a snapshot of the Application. The warnings say what could not be
// had, one sentence each.
func Collect(ctx context.Context, client *argocd.Client, ref argocd.Ref, options Options) (*drift.Snapshot, []string, error) {
	if options.Memory != nil {
		client = client.Bounded(options.Memory)
	}
	c := &collector{client: client, ref: ref, options: options, snapshot: &drift.Snapshot{Settings: drift.Settings{}}, seen: map[drift.ResourceRef]bool{}}
	app, err := client.Application(ctx, ref)
	if err != nil {
		return nil, nil, fmt.Errorf("collect: %w", err)
	}
	c.app, c.snapshot.Application = app, app
	managed, err := client.ManagedResources(ctx, ref)
	if err != nil && !c.incomparable(err) {
		return nil, nil, fmt.Errorf("collect: %w", err)
	}
	c.uncompared = err != nil
	c.warn("the resources", err)
	for _, m := range managed {
		c.add(c.resource(m))
	}
	c.tree, err = client.ResourceTree(ctx, ref)
	c.warn("the resource tree", err)
	for _, step := range []func(context.Context){c.settings, c.hooks, c.commit, c.project, c.children, c.events, c.fromCluster, c.dryRuns} {
		step(ctx)
	}
	c.neighbours()
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("collect: %w", ctx.Err())
	}
	if c.full != nil {
		return nil, nil, fmt.Errorf("collect: %w", c.full)
	}
	if _, err := mask(c.snapshot, options.Memory); err != nil {
		return nil, nil, fmt.Errorf("collect: %w", err)
	}
	return c.snapshot, c.warnings, nil
}

// incomparable reports whether Argo CD itself says why it has nothing compared: it
// then has no resources to give, and the condition explains all that there is.
func (c *collector) incomparable(err error) bool {
	refused, ok := errors.AsType[*argocd.Error](err)
	return ok && refused.Status >= http.StatusInternalServerError && slices.ContainsFunc(c.list("status", "conditions"), func(condition map[string]any) bool {
		return strings.HasSuffix(str(condition, "type"), "Error")
	})
}

// warn notes what could not be had, unless the reason is that nobody waits for it.
func (c *collector) warn(what string, err error) {
	if _, full := errors.AsType[*weight.FullError](err); full {
		c.full = err
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		c.warnings = append(c.warnings, fmt.Sprintf("the snapshot lacks %s: %v", what, err))
	}
}

// add adds an entry to the resources.
func (c *collector) add(r drift.Resource) {
	if r.Live != nil {
		c.meet(refOf(r.Live))
	}
	c.snapshot.Resources = append(c.snapshot.Resources, r)
}

// resource is one entry of the snapshot.
func (c *collector) resource(m argocd.Managed) drift.Resource {
	r := drift.Resource{
		ResourceRef: drift.ResourceRef{Group: m.Group, Kind: m.Kind, Namespace: m.Namespace, Name: m.Name},
		Target:      m.Target, Live: m.Live,
	}
	for _, o := range []map[string]any{m.Target, m.Live} {
		if r.Version == "" && o != nil {
			r.Version = (&unstructured.Unstructured{Object: o}).GroupVersionKind().Version
		}
	}
	if c.options.Compared {
		r.NormalizedLive, r.PredictedLive = m.NormalizedLive, m.PredictedLive
	}
	return r
}

// text is the string that the field names lead to in the Application, or "".
func (c *collector) text(names ...string) string {
	found, _, err := unstructured.NestedString(c.app, names...)
	if err != nil {
		return "" // of another type, which package drift reports
	}
	return found
}

// list are the maps in the list that the field names lead to in the Application.
func (c *collector) list(names ...string) []map[string]any {
	found, _, err := unstructured.NestedFieldNoCopy(c.app, names...)
	items, ok := found.([]any)
	if err != nil || !ok {
		return nil
	}
	maps := make([]map[string]any, 0, len(items))
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			maps = append(maps, m)
		}
	}
	return maps
}
