package doctor

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// Cluster reads objects of the cluster that Argo CD runs in.
type Cluster interface {
	// Get returns one object, and false where there is none.
	Get(ctx context.Context, kind schema.GroupKind, namespace, name string) (map[string]any, bool, error)
	// List returns the objects of a kind in a namespace; the second result is true when
	// there are more than it returns.
	List(ctx context.Context, group, kind, namespace string) ([]map[string]any, bool, error)
}

// Server is Argo CD's API server.
type Server interface {
	Version(ctx context.Context) (string, error)
	Scripts(ctx context.Context) (argocd.Answer, error)
	Extension(ctx context.Context, path string, ref argocd.Ref, project string) (argocd.Answer, error)
}

// Sources are what can be asked; each that is nil or empty is not.
type Sources struct {
	Cluster Cluster
	// Namespace is Argo CD's.
	Namespace string

	// Socket asks the sidecar on its socket, Metrics reads what it counts, as text.
	Socket  func(context.Context) (Plugin, error)
	Metrics func(context.Context) (string, error)

	Server Server
	// Applications are those that the token may see; the first is asked about, unless
	// Application names one.
	Applications func(context.Context) iter.Seq2[map[string]any, error]
	Application  argocd.Ref

	// Version and Bundle are those of this binary, Now is the clock.
	Version string
	Bundle  []byte
	Now     func() time.Time
}

// Gather asks all sources.
func Gather(ctx context.Context, from Sources) Facts {
	facts := Facts{
		Version: from.Version, Bundle: from.Bundle, Namespace: from.Namespace, Now: from.Now(),
		Plugin: Hidden[Plugin](noSocket), Metrics: Hidden[Metrics](noMetrics),
	}
	gatherCluster(ctx, from, &facts)
	gatherServer(ctx, from, &facts)
	if from.Socket != nil {
		facts.Plugin = answered(from.Socket(ctx))
	}
	if from.Metrics != nil {
		text, err := from.Metrics(ctx)
		facts.Metrics = answered(readMetrics(text), err)
	}
	return facts
}

// answered is the fact of an answer.
func answered[T any](value T, err error) Fact[T] {
	if err != nil {
		return Hidden[T](oneLine(err.Error()))
	}
	return There(value)
}

func gatherCluster(ctx context.Context, from Sources, facts *Facts) {
	r := reader{from.Cluster, from.Namespace}
	facts.Settings = one[corev1.ConfigMap](ctx, r, "ConfigMap", "argocd-cm")
	facts.Parameters = one[corev1.ConfigMap](ctx, r, "ConfigMap", "argocd-cmd-params-cm")
	facts.Policy = one[corev1.ConfigMap](ctx, r, "ConfigMap", "argocd-rbac-cm")
	facts.Deployments = all[appsv1.Deployment](ctx, r, "deployments.apps", schema.GroupKind{Group: "apps", Kind: "Deployment"})
	facts.Pods = all[corev1.Pod](ctx, r, "pods", schema.GroupKind{Kind: "Pod"})
	facts.Services = all[corev1.Service](ctx, r, "services", schema.GroupKind{Kind: "Service"})
	facts.Applications = applications(ctx, r, pluginName(*facts))
	facts.Secret = secret(ctx, r, *facts)
}

// reader reads of one namespace.
type reader struct {
	cluster   Cluster
	namespace string
}

// one reads an object of the core group.
func one[T any](ctx context.Context, r reader, kind, name string) Fact[T] {
	if r.cluster == nil {
		return Hidden[T](noCluster)
	}
	object, found, err := r.cluster.Get(ctx, schema.GroupKind{Kind: kind}, r.namespace, name)
	if err != nil {
		return Hidden[T](wanted{"get", strings.ToLower(kind) + "s", name, r.namespace}.obstacle(err))
	}
	if !found {
		return Absent[T]()
	}
	return typed[T](object)
}

// typed is the object as its Go type.
func typed[T any](object map[string]any) Fact[T] {
	var value T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &value); err != nil {
		return Hidden[T]("cannot be read: " + oneLine(err.Error()))
	}
	return There(value)
}

// all reads the objects of a kind.
func all[T any](ctx context.Context, r reader, resource string, kind schema.GroupKind) Fact[[]T] {
	if r.cluster == nil {
		return Hidden[[]T](noCluster)
	}
	objects, more, err := r.cluster.List(ctx, kind.Group, kind.Kind, r.namespace)
	if err != nil {
		return Hidden[[]T](wanted{"list", resource, "", r.namespace}.obstacle(err))
	}
	if more {
		return Hidden[[]T](fmt.Sprintf("there are more %s in the namespace %s than are looked through", resource, r.namespace))
	}
	values := make([]T, 0, len(objects))
	for _, object := range objects {
		value := typed[T](object)
		if !value.Found {
			return Hidden[[]T](value.Obstacle)
		}
		values = append(values, value.Value)
	}
	return There(values)
}

// applications counts the Applications of Argo CD's own namespace.
func applications(ctx context.Context, r reader, plugin string) Fact[Applications] {
	if r.cluster == nil {
		return Hidden[Applications](noCluster)
	}
	objects, more, err := r.cluster.List(ctx, argocd.Group, argocd.ApplicationKind, r.namespace)
	if err != nil {
		return Hidden[Applications](wanted{"list", "applications." + argocd.Group, "", r.namespace}.obstacle(err))
	}
	counted := Applications{Total: len(objects), More: more}
	for _, object := range objects {
		named, untyped := rendering(object, plugin)
		if named {
			counted.Named++
		}
		if untyped {
			counted.Untyped++
		}
	}
	return There(counted)
}

// rendering reports whether a source of the Application names the plugin, and whether
// one names no tool at all.
func rendering(app map[string]any, plugin string) (named, untyped bool) {
	spec, _ := app["spec"].(map[string]any)
	sources, _ := spec["sources"].([]any)
	if source, single := spec["source"]; single {
		sources = append(sources, source)
	}
	for _, one := range sources {
		source, _ := one.(map[string]any)
		typed := source["chart"] != nil || source["ref"] != nil && source["path"] == nil
		for _, tool := range []string{"helm", "kustomize", "directory"} {
			block, _ := source[tool].(map[string]any)
			typed = typed || len(block) > 0
		}
		block, is := source["plugin"].(map[string]any)
		name, _ := block["name"].(string)
		named = named || is && name == plugin
		untyped = untyped || !typed && name == ""
	}
	return named, untyped
}
