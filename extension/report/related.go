package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// explaining are the kinds of children and neighbours that explain a difference: who
// scales, who switches traffic, what runs, what waits.
var explaining = []struct {
	group, kind string
	// most is how many are read; unhealthy ones come first.
	most int
	// sick leaves out those that Argo CD calls healthy: they explain nothing, and
	// there are many of them.
	sick bool
}{
	{group: "autoscaling", kind: "HorizontalPodAutoscaler", most: 200},
	{group: "keda.sh", kind: "ScaledObject", most: 200},
	{group: argocd.Group, kind: "Rollout", most: 50},
	{group: "flagger.app", kind: "Canary", most: 50},
	{group: "batch", kind: "Job", most: 50},
	{group: "apps", kind: "ReplicaSet", most: 30, sick: true},
	{kind: "Pod", most: 30, sick: true},
}

const (
	// parallel is how many calls are under way at once.
	parallel = 8
	// healthy is Argo CD's word.
	healthy = "Healthy"
	// eventful is of how many objects the events are asked for.
	eventful = 30
)

// relate adds an object once, and none that is among the resources.
func (c *collector) relate(objects ...map[string]any) {
	for _, o := range objects {
		if str(o, "kind") == "" || str(o, "apiVersion") == "" {
			continue // it explains nothing, and no snapshot with it can be read again
		}
		if c.meet(refOf(o)) {
			c.snapshot.Related = append(c.snapshot.Related, o)
		}
	}
}

// meet remembers an object, and reports whether it was new. An object that has no
// name is always new.
func (c *collector) meet(ref drift.ResourceRef) bool {
	ref.Version = ""
	if c.seen[ref] {
		return false
	}
	c.seen[ref] = ref.Name != ""
	return true
}

// project adds the AppProject, whose windows, kinds and settings bind the sync.
func (c *collector) project(ctx context.Context) {
	name := projectOf(c.app)
	project, err := c.client.Project(ctx, name)
	c.warn("the AppProject "+name, err)
	if err == nil {
		c.relate(project)
	}
}

// children adds the objects of the Application's tree that explain something.
func (c *collector) children(ctx context.Context) {
	for _, wanted := range explaining {
		var nodes []argocd.Node
		for _, n := range c.tree {
			ref := drift.ResourceRef{Group: n.Group, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
			if n.Group == wanted.group && n.Kind == wanted.kind && !c.seen[ref] && (!wanted.sick || n.Health != healthy) {
				nodes = append(nodes, n)
			}
		}
		unhealthyFirst(nodes)
		if len(nodes) > wanted.most {
			c.warnings = append(c.warnings, fmt.Sprintf("the snapshot holds %d of %d objects of kind %s below the Application", wanted.most, len(nodes), wanted.kind))
			nodes = nodes[:wanted.most]
		}
		objects, err := each(ctx, nodes, func(ctx context.Context, n argocd.Node) ([]map[string]any, error) {
			found, err := c.client.Resource(ctx, c.ref, n)
			return []map[string]any{found}, err //nolint:wrapcheck // the error names the request
		})
		c.warn("objects of kind "+wanted.kind, err)
		c.relate(objects...)
	}
}

// events adds what was said about the Application and about its objects that are
// not well.
func (c *collector) events(ctx context.Context) {
	events, err := c.client.Events(ctx, c.ref)
	c.warn("the Application's events", err)
	nodes := slices.DeleteFunc(slices.Clone(c.tree), func(n argocd.Node) bool {
		return n.UID == "" || n.Health == "" || n.Health == healthy
	})
	unhealthyFirst(nodes)
	further, err := each(ctx, nodes[:min(len(nodes), eventful)], func(ctx context.Context, n argocd.Node) ([]map[string]any, error) {
		return c.client.ResourceEvents(ctx, c.ref, n)
	})
	c.warn("the events of some objects", err)
	for _, event := range append(events, further...) {
		c.addEvent(event)
	}
}

// addEvent adds an event without what says nothing.
func (c *collector) addEvent(event map[string]any) {
	if metadata, ok := event["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	event["apiVersion"], event["kind"] = "v1", "Event"
	if c.meet(refOf(event)) {
		c.snapshot.Events = append(c.snapshot.Events, event)
	}
}

// unhealthyFirst sorts by health, then by name.
func unhealthyFirst(nodes []argocd.Node) {
	rank := func(n argocd.Node) int {
		return 1 + slices.Index([]string{"Degraded", "Progressing", "Missing", "Suspended", "Unknown", "", healthy}, n.Health)
	}
	slices.SortStableFunc(nodes, func(a, b argocd.Node) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// each asks for every node, some at once, and joins the answers in the nodes' order.
// An object that is gone meanwhile is left out; the first other error is returned
// with all that came.
func each(ctx context.Context, nodes []argocd.Node, ask func(context.Context, argocd.Node) ([]map[string]any, error)) ([]map[string]any, error) {
	answers := make([][]map[string]any, len(nodes))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, n := range nodes {
		group.Go(func() error {
			// A panic in a goroutine of its own would end the process.
			answer, err := fault.Contained(func() ([]map[string]any, error) { return ask(ctx, n) })
			if err == nil {
				answers[i] = answer
			}
			return err
		})
	}
	err := group.Wait()
	return slices.Concat(answers...), err
}

// neighbours adds the other Applications that claim a resource too, by name only:
// who may see this Application may not see those.
func (c *collector) neighbours() {
	home := c.text("metadata", "namespace")
	for _, condition := range c.list("status", "conditions") {
		if str(condition, "type") != "SharedResourceWarning" {
			continue
		}
		_, claimants, _ := strings.Cut(str(condition, "message"), " is part of applications ")
		for claimant := range strings.SplitSeq(claimants, " and ") {
			ref, err := argocd.ParseRef(claimant)
			if err != nil {
				continue // a message of another form names nobody
			}
			ref.Namespace = cmp.Or(ref.Namespace, home)
			if ref.Name == c.text("metadata", "name") && ref.Namespace == home {
				continue
			}
			c.relate(map[string]any{
				"apiVersion": argocd.Group + "/v1alpha1", "kind": argocd.ApplicationKind,
				"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace},
			})
		}
	}
}
