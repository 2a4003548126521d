package classify

import (
	"encoding/json"
	"fmt"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// projectObject is the Application's AppProject as the snapshot holds it.
func (s *situation) projectObject() (object.Object, bool) {
	name := words.First(s.app.Spec.Project, "default")
	for _, o := range s.related.of("argoproj.io", "AppProject") {
		if object.Text(o, "metadata", "name") == name {
			return o, true
		}
	}
	return object.Object{}, false
}

// project is the AppProject in its own type. It goes by way of JSON, for the
// converter cannot set what these types keep private.
func (s *situation) project() (*v1alpha1.AppProject, bool) {
	project := &v1alpha1.AppProject{}
	o, found := s.projectObject()
	if !found {
		return project, false
	}
	data, err := json.Marshal(o)
	return project, err == nil && json.Unmarshal(data, project) == nil
}

// forbidden says why the AppProject does not permit the resource; nothing when it
// does, or when the snapshot lacks the AppProject. Source: v1alpha1,
// IsGroupKindPermitted and IsDestinationPermitted.
func (r *resource) forbidden() []string {
	s := r.situation
	project, found := s.projectObject()
	if !found {
		return nil
	}
	spec, name := object.Map(project, "spec"), object.Text(project, "metadata", "name")
	namespace := words.First(r.ref.Namespace, object.Text(r.target, "metadata", "namespace"))
	var why []string
	if !permits(spec, r.ref, namespace != "") {
		why = append(why, fmt.Sprintf("AppProject %s does not permit %s in group %q", name, r.ref.Kind, r.ref.Group))
	}
	if namespace == "" || namespace == s.app.Spec.Destination.Namespace {
		return why // the destination itself was asked about before
	}
	typed, ok := s.project()
	if !ok || typed.Spec.PermitOnlyProjectScopedClusters {
		return why
	}
	destination := v1alpha1.ApplicationDestination{Server: s.app.Spec.Destination.Server, Name: s.app.Spec.Destination.Name, Namespace: namespace}
	if permitted, err := typed.IsDestinationPermitted(destination, noClusters); err == nil && !permitted {
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
