package state

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// Globs reports whether one of the patterns fits; no pattern fits everything.
// Patterns are those of argocd-cm: "*" stands for any text.
func Globs(patterns []string, value string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, pattern := range patterns {
		if glob(pattern, value) {
			return true
		}
	}
	return false
}

func glob(pattern, value string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == value
	}
	if !strings.HasPrefix(value, parts[0]) {
		return false
	}
	value = value[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(value, part)
		if i < 0 {
			return false
		}
		value = value[i+len(part):]
	}
	return strings.HasSuffix(value, last)
}

// projectObject is the Application's AppProject as the snapshot holds it.
func (s *Application) projectObject() (object.Object, bool) {
	name := words.First(s.Object.Spec.Project, "default")
	for _, o := range s.Related.Of("argoproj.io", "AppProject") {
		if object.Text(o, "metadata", "name") == name {
			return o, true
		}
	}
	return object.Object{}, false
}

// project is the AppProject in its own type, read once and not to be changed. It goes
// by way of JSON, for the converter cannot set what these types keep private.
func (s *Application) project() (*v1alpha1.AppProject, bool) {
	s.projectOnce.Do(func() {
		s.projectFound = &v1alpha1.AppProject{}
		o, found := s.projectObject()
		if !found {
			return
		}
		data, err := json.Marshal(o)
		s.projectRead = err == nil && json.Unmarshal(data, s.projectFound) == nil
	})
	return s.projectFound, s.projectRead
}

// permitsNamespace reports whether the AppProject lets the Application write to a
// namespace, which is asked once for each: a project may list very many.
func (s *Application) permitsNamespace(project *v1alpha1.AppProject, namespace string) bool {
	if known, found := s.namespaces.Load(namespace); found {
		return known == true
	}
	destination := v1alpha1.ApplicationDestination{Server: s.Object.Spec.Destination.Server, Name: s.Object.Spec.Destination.Name, Namespace: namespace}
	permitted, err := project.IsDestinationPermitted(destination, noClusters)
	permitted = permitted || err != nil
	s.namespaces.Store(namespace, permitted)
	return permitted
}

// Forbidden says why the AppProject does not permit the resource; nothing when it
// does, or when the snapshot lacks the AppProject. Source: v1alpha1,
// IsGroupKindPermitted and IsDestinationPermitted.
func (r *Resource) Forbidden() []string {
	s := r.Application
	project, found := s.projectObject()
	if !found {
		return nil
	}
	spec, name := object.Map(project, "spec"), object.Text(project, "metadata", "name")
	namespace := words.First(r.Ref.Namespace, object.Text(r.Target, "metadata", "namespace"))
	var why []string
	if !permits(spec, r.Ref, namespace != "") {
		why = append(why, fmt.Sprintf("AppProject %s does not permit %s in group %q", name, r.Ref.Kind, r.Ref.Group))
	}
	if namespace == "" || namespace == s.Object.Spec.Destination.Namespace {
		return why // the destination itself was asked about before
	}
	typed, ok := s.project()
	if !ok || typed.Spec.PermitOnlyProjectScopedClusters {
		return why
	}
	if !s.permitsNamespace(typed, namespace) {
		why = append(why, fmt.Sprintf("AppProject %s does not permit namespace %s", name, namespace))
	}
	return why
}

func noClusters(string) ([]*v1alpha1.Cluster, error) { return []*v1alpha1.Cluster{}, nil }

// permits reports whether the lists of an AppProject let the kind through: without
// a list every namespaced kind passes and no cluster-wide one.
func permits(spec map[string]any, ref drift.ResourceRef, namespaced bool) bool {
	scope := "cluster"
	if namespaced {
		scope = "namespace"
	}
	allowed, listed := object.At(spec, scope+"ResourceWhitelist")
	denied, _ := object.At(spec, scope+"ResourceBlacklist")
	passes := listsKind(allowed, ref) || namespaced && (!listed || allowed == nil)
	return passes && !listsKind(denied, ref)
}

func listsKind(entries any, ref drift.ResourceRef) bool {
	items, _ := entries.([]any)
	for _, entry := range items {
		if glob(object.Text(entry, "group"), ref.Group) && glob(object.Text(entry, "kind"), ref.Kind) {
			return true
		}
	}
	return false
}
