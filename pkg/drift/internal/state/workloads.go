package state

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/object"
)

// PodsOf are the related Pods of a workload: those that its selector picks, or
// that name it as their owner.
func (s *Application) PodsOf(r *Resource) []object.Object {
	if r.Live == nil || s.Ctx.Err() != nil {
		return nil
	}
	selector := object.Map(r.Live, "spec", "selector", "matchLabels")
	var pods []object.Object
	for _, pod := range s.Related.Of("", "Pod") {
		if object.Text(pod, "metadata", "namespace") != object.Text(r.Live, "metadata", "namespace") {
			continue
		}
		if owns(r.Ref, pod) || len(selector) > 0 && Holds(object.Map(pod, "metadata", "labels"), selector) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// owns reports whether an object names the resource among its owners.
func owns(ref drift.ResourceRef, o object.Object) bool {
	for _, owner := range object.List(o, "metadata", "ownerReferences") {
		if object.Text(owner, "kind") == ref.Kind && object.Text(owner, "name") == ref.Name {
			return true
		}
	}
	return false
}

// Holds reports whether labels has all that the selector asks for.
func Holds(labels, selector map[string]any) bool {
	for name, v := range selector {
		if found, ok := labels[name]; !ok || !value.Equal(found, v) {
			return false
		}
	}
	return true
}

// workloads finds the Application's resource behind another object by indices, made
// once: there may be as many events as Pods.
type workloads struct {
	// named are the resources, whatever their group; running those with a Pod template.
	named   map[drift.Key]drift.ResourceRef
	running map[drift.Key]drift.ResourceRef
	related map[drift.Key]object.Object
}

func (s *Application) workloads() *workloads {
	s.workloadsOnce.Do(func() {
		w := &workloads{named: map[drift.Key]drift.ResourceRef{}, running: map[drift.Key]drift.ResourceRef{}, related: map[drift.Key]object.Object{}}
		for _, r := range slices.Backward(s.Resources) {
			w.named[drift.Key{Kind: r.Ref.Kind, Namespace: r.Ref.Namespace, Name: r.Ref.Name}] = r.Ref
			if object.Map(r.Live, "spec", "template") != nil || object.Map(r.Target, "spec", "template") != nil || object.Map(r.Target, "spec", "jobTemplate") != nil {
				w.running[drift.Key{Namespace: r.Ref.Namespace, Name: r.Ref.Name}] = r.Ref
			}
		}
		for _, o := range slices.Backward(s.Snapshot.Related) {
			w.related[drift.KeyOf(drift.RefOf(o))] = o
		}
		s.workloadsFound = w
	})
	return s.workloadsFound
}

// longestName is how long a name can be in Kubernetes.
const longestName = 253

// WorkloadOf is the Application's resource behind a Pod, a ReplicaSet or a Job: by
// owner references as far as the snapshot holds them, else the one whose name
// begins the object's; else the Application itself.
func (s *Application) WorkloadOf(ref drift.ResourceRef) drift.ResourceRef {
	known := s.workloads()
	for range 4 {
		if found, ours := known.named[drift.Key{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}]; ours {
			return found
		}
		owner, found := known.ownerOf(ref)
		if !found {
			break
		}
		ref = owner
	}
	for end := min(len(ref.Name)-1, longestName); end > 0; end-- {
		if ref.Name[end] != '-' {
			continue
		}
		if found, runs := known.running[drift.Key{Namespace: ref.Namespace, Name: ref.Name[:end]}]; runs {
			return found
		}
	}
	return s.Ref()
}

// ownerOf is the controller of a related object.
func (w *workloads) ownerOf(ref drift.ResourceRef) (drift.ResourceRef, bool) {
	owners := object.List(w.related[drift.KeyOf(ref)], "metadata", "ownerReferences")
	if len(owners) == 0 {
		return drift.ResourceRef{}, false
	}
	group, _, found := strings.Cut(object.Text(owners[0], "apiVersion"), "/")
	if !found {
		group = ""
	}
	return drift.ResourceRef{Group: group, Kind: object.Text(owners[0], "kind"), Namespace: ref.Namespace, Name: object.Text(owners[0], "name")}, true
}
