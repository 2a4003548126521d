package kube

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/moorpin/moorpin/pkg/schema"
)

// pageSize bounds how many whole CRDs are in memory at once while listing:
// some of them weigh more than a megabyte.
const pageSize = 4

var crdResource = runtimeschema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// entry is what the watch keeps of one CRD: its definition, and what is wrong
// with it. Descriptions, status and managedFields are gone with the raw object.
type entry struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	definition *schema.Definition
	problem    error
}

// DeepCopyObject makes an entry a runtime.Object. The definition is shared,
// for it never changes.
func (e *entry) DeepCopyObject() runtime.Object {
	twin := &entry{TypeMeta: e.TypeMeta, definition: e.definition, problem: e.problem}
	e.ObjectMeta.DeepCopyInto(&twin.ObjectMeta) //nolint:staticcheck // QF1008: what is copied should be plain to see
	return twin
}

// entries is a list of them, as the informer wants lists to be.
type entries struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []runtime.Object
}

// DeepCopyObject makes the list a runtime.Object.
func (e *entries) DeepCopyObject() runtime.Object {
	twin := &entries{TypeMeta: e.TypeMeta, Items: make([]runtime.Object, len(e.Items))}
	e.ListMeta.DeepCopyInto(&twin.ListMeta) //nolint:staticcheck // QF1008: what is copied should be plain to see
	for i, item := range e.Items {
		twin.Items[i] = item.DeepCopyObject()
	}
	return twin
}

// source marks the definitions that come from here in reports.
const source = "live"

// digest turns a raw CRD into an entry. What is wrong with a CRD is kept in
// its entry, so that it hurts no other.
func digest(ctx context.Context, crd *unstructured.Unstructured) *entry {
	kept := &entry{ObjectMeta: metav1.ObjectMeta{Name: crd.GetName(), ResourceVersion: crd.GetResourceVersion()}}
	kept.definition, kept.problem = schema.Parse(ctx, crd.Object, source)
	if kept.problem != nil {
		return kept
	}
	for _, name := range kept.definition.VersionNames() {
		version := kept.definition.Version(name)
		if version.Obstacle == schema.NotStructural || version.Obstacle == schema.TooLarge {
			kept.problem = errors.Join(kept.problem, fmt.Errorf("version %s: %s: %s", name, version.Obstacle, version.Detail))
		}
	}
	return kept
}

// listCRDs reads all CRDs page by page and keeps their digests only. It asks
// for the latest state rather than for a cached one, because the API server
// ignores the page size when it answers from its cache.
func listCRDs(ctx context.Context, client dynamic.Interface) (*entries, error) {
	list := &entries{}
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := client.Resource(crdResource).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
		}
		for i := range page.Items {
			list.Items = append(list.Items, digest(ctx, &page.Items[i]))
		}
		list.ResourceVersion = page.GetResourceVersion()
		options.Continue = page.GetContinue()
		if options.Continue == "" {
			return list, nil
		}
	}
}

// watchCRDs watches them, each event reduced to its digest; seen is called for
// every event, bookmarks included.
func watchCRDs(ctx context.Context, client dynamic.Interface, options metav1.ListOptions, seen func()) (watch.Interface, error) {
	raw, err := client.Resource(crdResource).Watch(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("watch CustomResourceDefinitions: %w", err)
	}
	return watch.Filter(raw, func(event watch.Event) (watch.Event, bool) {
		crd, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Error {
			return event, true // a Status, which the informer understands
		}
		seen()
		if event.Type == watch.Bookmark {
			event.Object = bookmark(crd)
			return event, true
		}
		event.Object = digest(ctx, crd)
		return event, true
	}), nil
}

// bookmark keeps of a bookmark what the informer reads of it: the resource
// version, and the annotation that ends a streamed list.
func bookmark(from metav1.Object) *entry {
	return &entry{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: from.GetResourceVersion(), Annotations: from.GetAnnotations(),
	}}
}
