package drift

import (
	"fmt"
	"regexp"
	"strings"
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
	found := &waiters{situation: s, claims: map[key]*claim{}}
	for _, pod := range s.related.of("", "Pod") {
		for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
			for _, container := range list(pod, "status", kind) {
				found.add(refOf(pod), text(container, "state", "waiting", "message"))
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
	claims    map[key]*claim
	order     []key
}

// add takes what an object, or an event about it, says, when that names something
// missing.
func (w *waiters) add(ref ResourceRef, message string) {
	if !dependency.MatchString(message) {
		return
	}
	owner := w.situation.workloadOf(ref)
	of := keyOf(owner)
	c, known := w.claims[of]
	if !known {
		c = &claim{mechanism: MissingDependency, confidence: Likely, sync: Noop, about: &owner}
		if op := w.situation.app.Status.OperationState; op != nil && inFlight(op) {
			c.sync = Waits
		}
		w.claims[of] = c
		w.order = append(w.order, of)
	}
	if len(c.evidence) < 5 {
		c.evidence = append(c.evidence, fmt.Sprintf("%s: %s", ref.words(), quote(message)))
	}
}

func (w *waiters) addConditions(o object) {
	for _, condition := range list(o, "status", "conditions") {
		if message := text(condition, "message"); message != "" {
			w.add(refOf(o), message)
		}
	}
}

// workloadOf is the Application's resource behind a Pod, a ReplicaSet or a Job: by
// owner references as far as the snapshot holds them, else the one whose name
// begins the object's; else the Application itself.
func (s *situation) workloadOf(ref ResourceRef) ResourceRef {
	for range 4 {
		for _, r := range s.resources {
			if r.ref.Kind == ref.Kind && r.ref.Name == ref.Name && r.ref.Namespace == ref.Namespace {
				return r.ref
			}
		}
		owner, found := s.ownerRef(ref)
		if !found {
			break
		}
		ref = owner
	}
	best := s.ref()
	length := 0
	for _, r := range s.resources {
		runs := fields(r.live, "spec", "template") != nil || fields(r.target, "spec", "template") != nil || fields(r.target, "spec", "jobTemplate") != nil
		if runs && r.ref.Namespace == ref.Namespace && strings.HasPrefix(ref.Name, r.ref.Name+"-") && len(r.ref.Name) > length {
			best, length = r.ref, len(r.ref.Name)
		}
	}
	return best
}

// ownerRef is the controller of a related object.
func (s *situation) ownerRef(ref ResourceRef) (ResourceRef, bool) {
	for _, o := range s.related.of(ref.Group, ref.Kind) {
		if text(o, "metadata", "name") != ref.Name || text(o, "metadata", "namespace") != ref.Namespace {
			continue
		}
		for _, owner := range list(o, "metadata", "ownerReferences") {
			group, _, found := strings.Cut(text(owner, "apiVersion"), "/")
			if !found {
				group = ""
			}
			return ResourceRef{Group: group, Kind: text(owner, "kind"), Namespace: ref.Namespace, Name: text(owner, "name")}, true
		}
	}
	return ResourceRef{}, false
}
