package classify

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

// dependency finds what a Pod waits for, in the words of the kubelet, the
// scheduler and the controllers.
var dependency = regexp.MustCompile(`(?i)\b(secret|configmap|serviceaccount|persistentvolumeclaim|priorityclass|runtimeclass)s?\s+(?:\S+\s+)?"([^"]+)" not found|references non-existent (secret|config) key|no PriorityClass with name (\S+)|couldn't find key \S+ in (secret|configmap)|object "[^"]+"/"[^"]+" not registered|unbound immediate persistentvolumeclaims|unable to retrieve some image pull secrets`)

// missingDependency: everything is applied, and Pods wait for an object that is not
// there.
// Evidence: a container, a condition or an event says which object is not found.
// Counter-evidence: the object is a hook's or belongs to another workload. Source:
// the kubelet's and the controllers' messages.
func missingDependency(s *situation) []claim {
	found := &waiters{situation: s, claims: map[drift.Key]*claim{}}
	for _, pod := range s.related.of("", "Pod") {
		for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
			for _, container := range object.List(pod, "status", kind) {
				found.add(drift.RefOf(pod), object.Text(container, "state", "waiting", "message"))
			}
		}
		found.addConditions(pod)
	}
	for _, set := range s.related.of("apps", "ReplicaSet") {
		found.addConditions(set)
	}
	for _, r := range s.resources {
		if r.live != nil {
			found.addConditions(r.live)
		}
	}
	for _, e := range s.events {
		if strings.HasPrefix(e.reason, "Failed") || e.reason == "CreateContainerConfigError" {
			found.add(e.involved, e.message)
		}
	}
	claims := make([]claim, 0, len(found.order))
	for _, of := range found.order {
		claims = append(claims, *found.claims[of])
	}
	return claims
}

// waiters are the workloads that wait for something that is not there.
type waiters struct {
	situation *situation
	claims    map[drift.Key]*claim
	order     []drift.Key
}

// add takes what an object, or an event about it, says, when that names something
// missing.
func (w *waiters) add(ref drift.ResourceRef, message string) {
	if !dependency.MatchString(message) {
		return
	}
	owner := w.situation.workloadOf(ref)
	of := drift.KeyOf(owner)
	c, known := w.claims[of]
	if !known {
		c = &claim{mechanism: drift.MissingDependency, confidence: drift.Likely, sync: drift.Noop, about: &owner}
		if op := w.situation.app.Status.OperationState; op != nil && inFlight(op) {
			c.sync = drift.Waits
		}
		w.claims[of] = c
		w.order = append(w.order, of)
	}
	if len(c.evidence) < 5 {
		c.evidence = append(c.evidence, fmt.Sprintf("%s: %s", ref.Words(), w.situation.quote(message)))
	}
}

func (w *waiters) addConditions(o object.Object) {
	for _, condition := range object.List(o, "status", "conditions") {
		if message := object.Text(condition, "message"); message != "" {
			w.add(drift.RefOf(o), message)
		}
	}
}

// workloads finds the Application's resource behind another object by indices, made
// once: there may be as many events as Pods.
type workloads struct {
	// named are the resources, whatever their group; running those with a Pod template.
	named   map[drift.Key]drift.ResourceRef
	running map[drift.Key]drift.ResourceRef
	related map[drift.Key]object.Object
}

func (s *situation) workloads() *workloads {
	s.workloadsOnce.Do(func() {
		w := &workloads{named: map[drift.Key]drift.ResourceRef{}, running: map[drift.Key]drift.ResourceRef{}, related: map[drift.Key]object.Object{}}
		for _, r := range slices.Backward(s.resources) {
			w.named[drift.Key{Kind: r.ref.Kind, Namespace: r.ref.Namespace, Name: r.ref.Name}] = r.ref
			if object.Map(r.live, "spec", "template") != nil || object.Map(r.target, "spec", "template") != nil || object.Map(r.target, "spec", "jobTemplate") != nil {
				w.running[drift.Key{Namespace: r.ref.Namespace, Name: r.ref.Name}] = r.ref
			}
		}
		for _, o := range slices.Backward(s.snapshot.Related) {
			w.related[drift.KeyOf(drift.RefOf(o))] = o
		}
		s.workloadsFound = w
	})
	return s.workloadsFound
}

// longestName is how long a name can be in Kubernetes.
const longestName = 253

// workloadOf is the Application's resource behind a Pod, a ReplicaSet or a Job: by
// owner references as far as the snapshot holds them, else the one whose name
// begins the object's; else the Application itself.
func (s *situation) workloadOf(ref drift.ResourceRef) drift.ResourceRef {
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
	return s.ref()
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
