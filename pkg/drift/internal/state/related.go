package state

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// relations are the related objects by group and kind.
type relations struct {
	byKind map[[2]string][]object.Object
}

func relate(objects []map[string]any) *relations {
	related := &relations{byKind: map[[2]string][]object.Object{}}
	for _, o := range objects {
		ref := drift.RefOf(o)
		of := [2]string{ref.Group, ref.Kind}
		related.byKind[of] = append(related.byKind[of], o)
	}
	return related
}

// Of returns the related objects of a group and kind.
func (r *relations) Of(group, kind string) []object.Object { return r.byKind[[2]string{group, kind}] }

// Event is a Kubernetes Event.
type Event struct {
	Reason, Message, Time string
	// First is when it was seen first; "" when that is not known.
	First    string
	Involved drift.ResourceRef
}

func parseEvents(events []map[string]any) []Event {
	parsed := make([]Event, 0, len(events))
	for _, e := range events {
		involved := object.Map(e, "involvedObject")
		group, _, found := strings.Cut(object.Text(involved, "apiVersion"), "/")
		if !found {
			group = ""
		}
		time := object.Text(e, "lastTimestamp")
		if time == "" {
			time = object.Text(e, "eventTime")
		}
		parsed = append(parsed, Event{
			Reason: object.Text(e, "reason"), Message: object.Text(e, "message"), Time: time, First: object.Text(e, "firstTimestamp"),
			Involved: drift.ResourceRef{Group: group, Kind: object.Text(involved, "kind"), Namespace: object.Text(involved, "namespace"), Name: object.Text(involved, "name")},
		})
	}
	return parsed
}

// TrackingLabel is where Argo CD's instance label stands.
func (r *Resource) TrackingLabel() fieldpath.Pointer {
	return fieldpath.Of("metadata", "labels", r.Application.Settings.InstanceLabel)
}

// Tracked reports whether a form of the object has Argo CD's tracking mark.
func (r *Resource) Tracked(o object.Object) bool {
	if r.Application.Settings.Tracking == TrackLabel {
		return object.Text(o, "metadata", "labels", r.Application.Settings.InstanceLabel) != ""
	}
	return object.Annotation(o, mark.TrackingID) != ""
}

// ByKind returns the Application's own resources of a group and kind.
func (s *Application) ByKind(group, kind string) []*Resource {
	s.kindsOnce.Do(func() {
		s.kinds = map[[2]string][]*Resource{}
		for _, r := range s.Resources {
			of := [2]string{r.Ref.Group, r.Ref.Kind}
			s.kinds[of] = append(s.kinds[of], r)
		}
	})
	return s.kinds[[2]string{group, kind}]
}

// Autoscaler returns the related or own object of the kind that targets the resource.
func (r *Resource) Autoscaler(group, kind string) (object.Object, bool) {
	for _, found := range r.Application.scalersOf(r.Ref) {
		if ref := drift.RefOf(found); ref.Group == group && ref.Kind == kind {
			return found, true
		}
	}
	return nil, false
}

// scalersOf are the autoscalers that target an object, by an index made once.
func (s *Application) scalersOf(ref drift.ResourceRef) []object.Object {
	s.scalersOnce.Do(func() {
		s.scalers = map[drift.Key][]object.Object{}
		for _, kind := range [][2]string{{"autoscaling", "HorizontalPodAutoscaler"}, {"keda.sh", "ScaledObject"}} {
			found := slices.Clone(s.Related.Of(kind[0], kind[1]))
			for _, other := range s.ByKind(kind[0], kind[1]) {
				found = append(found, other.Live)
			}
			for _, scaler := range found {
				aim := object.Map(scaler, "spec", "scaleTargetRef")
				aimed := drift.Key{Kind: words.First(object.Text(aim, "kind"), "Deployment"), Namespace: object.Text(scaler, "metadata", "namespace"), Name: object.Text(aim, "name")}
				s.scalers[aimed] = append(s.scalers[aimed], scaler)
			}
		}
	})
	var mine []object.Object
	for _, scaler := range s.scalers[drift.Key{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}] {
		group, _, grouped := strings.Cut(object.Text(scaler, "spec", "scaleTargetRef", "apiVersion"), "/")
		if !grouped || group == ref.Group {
			mine = append(mine, scaler)
		}
	}
	return mine
}

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
