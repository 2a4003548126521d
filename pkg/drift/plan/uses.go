package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// use is one object that refers to a leftover.
type use struct {
	who, how string
	// leftover is which leftover the referring object is, or goes with; -1 when it stays.
	leftover int
}

// uses are those of every leftover, by its index.
type uses [][]use

// usersOf finds who refers to the leftovers, among all objects of the snapshot: what
// is live and what Git is about to create.
func usersOf(snapshot *drift.Snapshot, leftovers []*leftover) uses {
	s := &search{leftovers: leftovers, users: make(uses, len(leftovers)), byName: map[[2]string][]int{}, byUID: map[string]object.Object{}, hosts: map[string][]int{}, spaces: map[string]int{}}
	for i, l := range leftovers {
		name := [2]string{l.ref.Kind, l.ref.Name}
		s.byName[name] = append(s.byName[name], i)
		switch {
		case l.ref.Group == "" && l.ref.Kind == "Service":
			host := l.ref.Name + "." + l.ref.Namespace
			s.hosts[host] = append(s.hosts[host], i)
		case l.ref.Group == "" && l.ref.Kind == "Namespace":
			s.spaces[l.ref.Name] = i
		case l.ref.Kind == "CustomResourceDefinition":
			s.crds = append(s.crds, i)
		}
	}
	if len(leftovers) == 0 {
		return s.users
	}
	var objects []object.Object
	for i := range snapshot.Resources {
		r := &snapshot.Resources[i]
		for _, side := range []object.Object{r.Live, r.Target} {
			if side != nil {
				objects = append(objects, side)
			}
		}
	}
	objects = append(objects, snapshot.Related...)
	for _, o := range objects {
		if uid := object.Text(o, "metadata", "uid"); uid != "" {
			s.byUID[uid] = o
		}
	}
	for _, o := range objects {
		s.look(o)
	}
	return s.users
}

// search looks for references.
type search struct {
	leftovers []*leftover
	users     uses
	byName    map[[2]string][]int
	byUID     map[string]object.Object
	// hosts are the leftover Services by their name in the cluster's DNS.
	hosts map[string][]int
	// crds and spaces are the leftovers that hold others: definitions, and namespaces
	// by name.
	crds   []int
	spaces map[string]int
	// the object that is looked at
	from      drift.ResourceRef
	who       string
	goesWith  int
	namespace string
}

// look notes what the object refers to.
func (s *search) look(o object.Object) {
	s.from = drift.RefOf(o)
	s.who, s.namespace = s.from.Words(), s.from.Namespace
	s.goesWith = s.root(o, 0)
	for name, value := range o {
		if name != "status" && name != "metadata" {
			s.walk(name, value, 0)
		}
	}
	if class := object.Annotation(o, "kubernetes.io/ingress.class"); class != "" {
		s.note("IngressClass", class, "", "is of this class")
	}
	for _, owner := range object.List(o, "metadata", "ownerReferences") {
		// Its dependents go with an object; those that Git renders must not.
		if s.managed(o) {
			s.note(object.Text(owner, "kind"), object.Text(owner, "name"), "", "is owned by it, and would be deleted with it")
		}
	}
	s.held()
	s.selected(o)
	s.aggregates(o)
}

// managed reports whether the object carries a mark of Argo CD: what is only made
// from a leftover does not.
func (s *search) managed(o object.Object) bool {
	return object.Annotation(o, mark.TrackingID) != "" && s.goesWith < 0
}

// maxOwnerDepth bounds chains of owners.
const maxOwnerDepth = 8

// root is the leftover that the object is or descends from, -1 when there is none.
func (s *search) root(o object.Object, depth int) int {
	ref := drift.RefOf(o)
	if i := s.index(ref.Group, ref.Kind, ref.Namespace, ref.Name); i >= 0 {
		return i
	}
	if depth == maxOwnerDepth {
		return -1
	}
	for _, owner := range object.List(o, "metadata", "ownerReferences") {
		kind, name := object.Text(owner, "kind"), object.Text(owner, "name")
		for _, i := range s.byName[[2]string{kind, name}] {
			if l := s.leftovers[i]; l.ref.Namespace == ref.Namespace || l.ref.Namespace == "" {
				return i
			}
		}
		if above, found := s.byUID[object.Text(owner, "uid")]; found {
			return s.root(above, depth+1)
		}
		if i := s.picked(o, ref); i >= 0 {
			return i
		}
	}
	return -1
}

// picked is the leftover workload whose selector picks a Pod, where the ReplicaSet
// between them is not in the snapshot.
func (s *search) picked(o object.Object, pod drift.ResourceRef) int {
	if pod.Kind != "Pod" {
		return -1
	}
	for i, l := range s.leftovers {
		selector := object.Map(l.live, "spec", "selector", "matchLabels")
		if len(selector) > 0 && l.ref.Namespace == pod.Namespace && state.Holds(object.Map(o, "metadata", "labels"), selector) {
			return i
		}
	}
	return -1
}

func (s *search) index(group, kind, namespace, name string) int {
	for _, i := range s.byName[[2]string{kind, name}] {
		if l := s.leftovers[i]; l.ref.Group == group && l.ref.Namespace == namespace {
			return i
		}
	}
	return -1
}

// note remembers a reference to whatever leftover has the kind and the name. Without
// a namespace it is the referring object's own.
func (s *search) note(kind, name, namespace, how string) {
	for _, i := range s.byName[[2]string{kind, name}] {
		l := s.leftovers[i]
		there := words.First(namespace, s.namespace)
		if l.ref.Namespace != "" && there != "" && l.ref.Namespace != there {
			continue
		}
		s.add(i, how)
	}
}

func (s *search) add(i int, how string) {
	if i == s.goesWith {
		return
	}
	found := use{who: s.who, how: how, leftover: s.goesWith}
	if !slices.Contains(s.users[i], found) {
		s.users[i] = append(s.users[i], found)
	}
}

// maxDepth bounds the walk into an object.
const maxDepth = 64

// namedFields are fields whose text, or whose field "name", is the name of an object.
var namedFields = map[string]string{
	"secretName": "Secret", "secretRef": "Secret", "secretKeyRef": "Secret", "imagePullSecrets": "Secret", "existingSecret": "Secret", "nodePublishSecretRef": "Secret", "secret": "Secret",
	"configMap": "ConfigMap", "configMapRef": "ConfigMap", "configMapKeyRef": "ConfigMap", "configMapName": "ConfigMap",
	"claimName": "PersistentVolumeClaim", "persistentVolumeClaim": "PersistentVolumeClaim", "volumeName": "PersistentVolume",
	"serviceAccountName": "ServiceAccount", "serviceAccount": "ServiceAccount", "serviceAccountRef": "ServiceAccount",
	"storageClassName": "StorageClass", "ingressClassName": "IngressClass", "priorityClassName": "PriorityClass",
	"runtimeClassName": "RuntimeClass", "gatewayClassName": "GatewayClass",
	"service": "Service", "serviceName": "Service", "serviceRef": "Service",
}

// walk looks for references in a value: fields that are named for what they refer
// to, maps that name a kind, and names of Services in text.
func (s *search) walk(name string, value any, depth int) {
	if depth > maxDepth {
		return
	}
	switch value := value.(type) {
	case string:
		if kind, found := namedFields[name]; found {
			s.note(kind, value, "", "refers to it ("+name+")")
		}
		s.host(value)
	case []any:
		for _, item := range value {
			s.walk(name, item, depth+1)
		}
	case map[string]any:
		s.reference(name, value)
		for child, below := range value {
			s.walk(child, below, depth+1)
		}
	}
}

// reference notes a map that names an object.
func (s *search) reference(field string, value map[string]any) {
	name := words.First(object.Text(value, "name"), object.Text(value, "secretName"))
	if name == "" {
		return
	}
	namespace := object.Text(value, "namespace")
	if kind := object.Text(value, "kind"); kind != "" {
		s.note(kind, name, namespace, "refers to it ("+field+")")
		return
	}
	if kind, found := namedFields[field]; found {
		s.note(kind, name, namespace, "refers to it ("+field+")")
	}
	if field == "backendRefs" || field == "backendRef" {
		s.note("Service", name, namespace, "sends requests to it")
	}
	if field == "parentRefs" {
		s.note("Gateway", name, namespace, "is attached to it")
	}
}

// serviceHost is what may be a Service's name in the cluster's DNS.
var serviceHost = regexp.MustCompile(`[a-z0-9]([a-z0-9-]*[a-z0-9])?\.[a-z0-9]([a-z0-9-]*[a-z0-9])?`)

// host notes the Services that a text names.
func (s *search) host(value string) {
	if len(s.hosts) == 0 || !strings.Contains(value, ".") {
		return
	}
	for _, found := range serviceHost.FindAllString(value, -1) {
		for _, i := range s.hosts[found] {
			s.add(i, "names its address")
		}
	}
}

// held notes what the object is deleted with: the definition of its kind, and its
// namespace.
func (s *search) held() {
	for _, i := range s.crds {
		live := s.leftovers[i].live
		if object.Text(live, "spec", "names", "kind") == s.from.Kind && object.Text(live, "spec", "group") == s.from.Group {
			s.add(i, "is of the kind that it defines, and would be deleted with it")
		}
	}
	if i, found := s.spaces[s.from.Namespace]; found {
		s.add(i, "is in it, and would be deleted with it")
	}
}

// selected notes the workloads that a Service sends requests to.
func (s *search) selected(o object.Object) {
	selector := object.Map(o, "spec", "selector")
	if s.from.Kind != "Service" || s.from.Group != "" || len(selector) == 0 {
		return
	}
	for i, l := range s.leftovers {
		if l.ref.Namespace == s.from.Namespace && state.Holds(object.Map(l.live, "spec", "template", "metadata", "labels"), selector) {
			s.add(i, "sends requests to its pods")
		}
	}
}

// aggregates notes the ClusterRoles that go into an aggregated one.
func (s *search) aggregates(o object.Object) {
	for _, selector := range object.List(o, "aggregationRule", "clusterRoleSelectors") {
		wanted := object.Map(selector, "matchLabels")
		for i, l := range s.leftovers {
			if l.ref.Kind == "ClusterRole" && len(wanted) > 0 && state.Holds(object.Map(l.live, "metadata", "labels"), wanted) {
				s.add(i, "takes its rules from it")
			}
		}
	}
}
