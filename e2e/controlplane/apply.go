package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// FieldManager owns what Apply sets.
const FieldManager = "moorpin-e2e"

// waitLimit bounds every wait whose context has no deadline of its own, as the
// contexts of tests have none.
const waitLimit = 3 * time.Minute

// clients reach objects of any kind.
type clients struct {
	dynamic dynamic.Interface
	kinds   *restmapper.DeferredDiscoveryRESTMapper
}

func newClients(config *rest.Config) (clients, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return clients{}, fmt.Errorf("make dynamic client: %w", err)
	}
	discover, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return clients{}, fmt.Errorf("make discovery client: %w", err)
	}
	kinds := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discover))
	return clients{dynamic: client, kinds: kinds}, nil
}

// Resource is where objects of the kind are read and written, in the namespace
// if the kind has one. A kind that the server does not serve is waited for,
// because a CRD is served a moment after it is established.
func (p *Plane) Resource(
	ctx context.Context, kind schema.GroupVersionKind, namespace string,
) (dynamic.ResourceInterface, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	for {
		mapping, err := p.clients.kinds.RESTMapping(kind.GroupKind(), kind.Version)
		if err == nil {
			all := p.clients.dynamic.Resource(mapping.Resource)
			if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
				return all.Namespace(namespace), nil
			}
			return all, nil
		}
		if !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("find resource of %s: %w", kind, err)
		}
		p.clients.kinds.Reset()
		if pauseErr := pause(ctx); pauseErr != nil {
			return nil, fmt.Errorf("find resource of %s: %w (%w)", kind, err, pauseErr)
		}
	}
}

// Apply writes the objects by server-side apply, in the given order, taking
// over fields of other managers. The namespace is for namespaced objects that
// name none. It returns once every CRD among the objects is established.
func (p *Plane) Apply(ctx context.Context, namespace string, objects ...*unstructured.Unstructured) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	options := metav1.ApplyOptions{FieldManager: FieldManager, Force: true}
	for _, object := range objects {
		place := object.GetNamespace()
		if place == "" {
			place = namespace
		}
		resource, err := p.Resource(ctx, object.GroupVersionKind(), place)
		if err != nil {
			return fmt.Errorf("apply %s: %w", describe(object), err)
		}
		if _, err := resource.Apply(ctx, object.GetName(), object, options); err != nil {
			return fmt.Errorf("apply %s: %w", describe(object), err)
		}
	}
	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			if err := p.awaitEstablished(ctx, object); err != nil {
				return err
			}
		}
	}
	return nil
}

// ApplyYAML applies every document of a YAML or JSON stream, as Apply does.
func (p *Plane) ApplyYAML(ctx context.Context, namespace string, stream []byte) error {
	objects, err := decode(stream)
	if err != nil {
		return err
	}
	return p.Apply(ctx, namespace, objects...)
}

// ApplyFiles applies files, and in folders every file *.yaml, *.yml and *.json
// except a kustomization, in the order of their names.
func (p *Plane) ApplyFiles(ctx context.Context, namespace string, paths ...string) error {
	var objects []*unstructured.Unstructured
	for _, path := range paths {
		files, err := manifestFiles(path)
		if err != nil {
			return err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("read manifest: %w", err)
			}
			found, err := decode(data)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			objects = append(objects, found...)
		}
	}
	return p.Apply(ctx, namespace, objects...)
}

// manifestFiles is the file itself, or what ApplyFiles takes from a folder.
func manifestFiles(path string) ([]string, error) {
	endings := []string{".yaml", ".yml", ".json"}
	var files []string
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir():
			return err
		case file == path,
			slices.Contains(endings, filepath.Ext(file)) && entry.Name() != "kustomization.yaml":
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	return files, nil
}

// decode reads a stream with the decoder of Kubernetes, not with Moorpin's
// own, which is what the tests are about.
func decode(stream []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4<<10)
	for document := 1; ; document++ {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode document %d: %w", document, err)
		}
		if len(object.Object) > 0 { // a document may hold only comments
			objects = append(objects, object)
		}
	}
}

func (p *Plane) awaitEstablished(ctx context.Context, crd *unstructured.Unstructured) error {
	resource, err := p.Resource(ctx, crd.GroupVersionKind(), "")
	if err != nil {
		return err
	}
	for {
		live, err := resource.Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read %s: %w", describe(crd), err)
		}
		value, _, err := unstructured.NestedFieldNoCopy(live.Object, "status", "conditions")
		if err != nil {
			return fmt.Errorf("read %s: %w", describe(crd), err)
		}
		conditions, _ := value.([]any) // null at first
		for _, condition := range conditions {
			if fields, ok := condition.(map[string]any); ok && fields["type"] == "Established" && fields["status"] == "True" {
				return nil
			}
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("%s is not established: %w; conditions: %v", describe(crd), err, conditions)
		}
	}
}

func describe(object *unstructured.Unstructured) string {
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return object.GetKind() + " " + name
}

func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, waitLimit)
}

// pause is the breath between two looks at something that is waited for.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pollPause):
		return nil
	}
}
