package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

// Pods says whose restarts are asked for.
type Pods struct {
	Application argocd.Ref
	// Workloads are the Application's resources that Pods may belong to.
	Workloads []drift.ResourceRef
	// Destination is the address or the name of the cluster that they are in.
	Destination string
}

// Restarts tells how often the containers of an Application's Pods have restarted, and
// whether that is known.
type Restarts func(context.Context, Pods) (restarts int, known bool, err error)

// Tree answers for the objects below an Application; [argocd.Client] does.
type Tree interface {
	ResourceTree(ctx context.Context, ref argocd.Ref) ([]argocd.Node, error)
}

// TreeRestarts takes the restarts from what Argo CD knows of the Pods, in any cluster.
func TreeRestarts(tree Tree) Restarts {
	return func(ctx context.Context, pods Pods) (int, bool, error) {
		nodes, err := tree.ResourceTree(ctx, pods.Application)
		if err != nil {
			return 0, false, err //nolint:wrapcheck // the error names the request
		}
		restarts := 0
		for _, n := range nodes {
			if n.Group == "" && n.Kind == podKind && !n.Orphaned {
				restarts += n.Restarts
			}
		}
		return restarts, true, nil
	}
}

// Cluster lists objects of one cluster; that of package kube does.
type Cluster interface {
	All(ctx context.Context, group, kind, namespace string) iter.Seq2[map[string]any, error]
}

// PodRestarts takes the restarts from the Pods of Argo CD's own cluster, each
// namespace read once. Of other clusters nothing is known. It needs the verb list on
// pods; a Pod belongs to the workload that controls it, or its ReplicaSet, or its Job.
// What is read is kept: make one for each run of Summarise.
func PodRestarts(cluster Cluster) Restarts {
	p := &podRestarts{cluster: cluster, namespaces: map[string]func() (map[drift.ResourceRef]int, error){}}
	return p.of
}

// podRestarts are the restarts by workload, read once for each namespace.
type podRestarts struct {
	cluster    Cluster
	guard      sync.Mutex
	namespaces map[string]func() (map[drift.ResourceRef]int, error)
}

func (p *podRestarts) of(ctx context.Context, pods Pods) (int, bool, error) {
	if pods.Destination != "https://kubernetes.default.svc" && pods.Destination != "in-cluster" {
		return 0, false, nil
	}
	restarts := 0
	var problems error
	asked := map[string]bool{}
	for _, workload := range pods.Workloads {
		found, err := p.namespace(ctx, workload.Namespace)
		if err != nil && !asked[workload.Namespace] {
			problems = errors.Join(problems, err)
		}
		asked[workload.Namespace] = true
		restarts += found[workload]
	}
	return restarts, problems == nil, problems
}

// namespace are the restarts by workload of one namespace.
func (p *podRestarts) namespace(ctx context.Context, namespace string) (map[drift.ResourceRef]int, error) {
	p.guard.Lock()
	read, found := p.namespaces[namespace]
	if !found {
		read = sync.OnceValues(func() (map[drift.ResourceRef]int, error) { return p.read(ctx, namespace) })
		p.namespaces[namespace] = read
	}
	p.guard.Unlock()
	return read()
}

func (p *podRestarts) read(ctx context.Context, namespace string) (map[drift.ResourceRef]int, error) {
	byWorkload := map[drift.ResourceRef]int{}
	for pod, err := range p.cluster.All(ctx, "", podKind, namespace) {
		if err != nil {
			return nil, fmt.Errorf("read the Pods of namespace %s: %w", namespace, err)
		}
		count := 0
		for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
			for _, container := range object.Maps(pod, "status", kind) {
				if n, ok := container["restartCount"].(int64); ok {
					count += int(n)
				}
			}
		}
		for _, workload := range controllers(pod) {
			byWorkload[workload] += count
		}
	}
	return byWorkload, nil
}

// controllers are the workloads that a Pod may belong to: itself, its controller, and
// the controller's own, whose name Kubernetes has made the controller's of.
func controllers(pod map[string]any) []drift.ResourceRef {
	namespace := object.Text(pod, "metadata", "namespace")
	found := []drift.ResourceRef{{Kind: podKind, Namespace: namespace, Name: object.Text(pod, "metadata", "name")}}
	for _, owner := range object.Maps(pod, "metadata", "ownerReferences") {
		if owner["controller"] != true {
			continue
		}
		group, _, grouped := strings.Cut(object.Text(owner, "apiVersion"), "/")
		if !grouped {
			group = ""
		}
		direct := drift.ResourceRef{Group: group, Kind: object.Text(owner, "kind"), Namespace: namespace, Name: object.Text(owner, "name")}
		found = append(found, direct)
		cut := strings.LastIndexByte(direct.Name, '-')
		if cut < 0 {
			continue
		}
		above := drift.ResourceRef{Namespace: namespace, Name: direct.Name[:cut]}
		switch direct.Kind {
		case "ReplicaSet": // a Deployment's, or a Rollout's
			above.Group, above.Kind = "apps", "Deployment"
			found = append(found, above)
			above.Group, above.Kind = argocd.Group, "Rollout"
			found = append(found, above)
		case "Job":
			above.Group, above.Kind = "batch", "CronJob"
			found = append(found, above)
		}
	}
	return found
}
