package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Limits of a list: the objects of a page, and those of the answer.
const (
	listPage = 250
	listMost = 1000
)

// Objects reads objects of any kind of one cluster, in the version that the cluster
// prefers. It needs the verbs get and list on what is asked for. It is safe for
// concurrent use.
type Objects struct {
	client dynamic.Interface
	mapper meta.RESTMapper
}

// NewObjects makes a reader; it asks nothing yet.
func NewObjects(config *rest.Config) (*Objects, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	finder, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	return &Objects{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(finder))}, nil
}

// Definition returns the CRD of a kind; false where it has none or is not served.
func (o *Objects) Definition(ctx context.Context, group, kind string) (map[string]any, bool, error) {
	mapping, served, err := o.mapping(group, kind)
	if err != nil || !served {
		return nil, false, err
	}
	return get(ctx, o.client.Resource(crdResource), mapping.Resource.Resource+"."+group)
}

// List returns the objects of a kind in a namespace, or in all when it is "": none
// where the kind is not served. The second result is true when there are more than
// it returns.
func (o *Objects) List(ctx context.Context, group, kind, namespace string) ([]map[string]any, bool, error) {
	mapping, served, err := o.mapping(group, kind)
	if err != nil || !served {
		return nil, false, err
	}
	var found []map[string]any
	options := metav1.ListOptions{Limit: listPage}
	for {
		page, err := o.reach(mapping, namespace).List(ctx, options)
		if err != nil {
			return found, false, fmt.Errorf("list objects of kind %s: %w", kind, err)
		}
		for i := range page.Items {
			found = append(found, page.Items[i].Object)
		}
		options.Continue = page.GetContinue()
		if options.Continue == "" || len(found) >= listMost {
			return found, options.Continue != "", nil
		}
	}
}

// Get returns one object, and false where there is none.
func (o *Objects) Get(ctx context.Context, kind runtimeschema.GroupKind, namespace, name string) (map[string]any, bool, error) {
	mapping, served, err := o.mapping(kind.Group, kind.Kind)
	if err != nil || !served {
		return nil, false, err
	}
	return get(ctx, o.reach(mapping, namespace), name)
}

func get(ctx context.Context, resource dynamic.ResourceInterface, name string) (map[string]any, bool, error) {
	found, err := resource.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", name, err)
	}
	return found.Object, true, nil
}

// mapping finds how a kind is served, and whether it is.
func (o *Objects) mapping(group, kind string) (*meta.RESTMapping, bool, error) {
	mapping, err := o.mapper.RESTMapping(runtimeschema.GroupKind{Group: group, Kind: kind})
	if meta.IsNoMatchError(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("ask what the cluster serves: %w", err)
	}
	return mapping, true, nil
}

// reach is where objects of a kind are read. A kind without namespaces has none.
func (o *Objects) reach(mapping *meta.RESTMapping, namespace string) dynamic.ResourceInterface {
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace && namespace != "" {
		return o.client.Resource(mapping.Resource).Namespace(namespace)
	}
	return o.client.Resource(mapping.Resource)
}
