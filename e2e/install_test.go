package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/moorpin/moorpin/manifests"
)

// TestInstallApplies: a real API server takes Argo CD with all components without an error
// or a warning, in a namespace that enforces the profile "restricted" of Pod Security, and
// applying it again changes nothing.
func TestInstallApplies(t *testing.T) {
	installCRDs(t, "monitoring.coreos.com")
	for release := range manifests.Releases() {
		for _, sidecar := range []string{"cmp", "cmp-native-sidecar"} {
			namespace := "install-" + strings.ReplaceAll(release, ".", "-") + "-" + sidecar
			o := manifests.Overlay{
				Release: release, Base: "ha/cluster-install", Namespace: namespace,
				Components: append([]string{sidecar}, manifests.Everything()[1:]...),
			}
			t.Run(o.String(), func(t *testing.T) {
				a := newApplier(t)
				a.restricted(t, namespace)
				objects := a.built(t, o)
				before := a.apply(t, objects)
				if len(before) < 60 {
					t.Errorf("only %d objects were applied", len(before))
				}
				for name, version := range a.apply(t, objects) {
					if version != before[name] {
						t.Errorf("%s is written anew each time", name)
					}
				}
			})
		}
	}
}

// TestInstallRestricted: the namespace of these tests would say so if a Pod were not.
func TestInstallRestricted(t *testing.T) {
	a := newApplier(t)
	a.restricted(t, "install-restricted")
	object := find(t, a.built(t, manifests.Overlay{Release: "v2.14", Base: "namespace-install", Namespace: "install-restricted", Components: []string{"cmp"}}), "Deployment", "argocd-repo-server")
	spec, _, err := unstructured.NestedMap(object.Object, "spec", "template", "spec")
	if err != nil {
		t.Fatal(err)
	}
	spec["hostNetwork"] = true
	if err := unstructured.SetNestedMap(object.Object, spec, "spec", "template", "spec"); err != nil {
		t.Fatal(err)
	}
	if err := a.one(t.Context(), object, true); err != nil {
		t.Fatal(err)
	}
	if warnings := a.warnings.take(); len(warnings) == 0 {
		t.Error("the API server does not warn of a Pod on the host's network")
	}
}

// applier applies objects, and hears what the API server warns of.
type applier struct {
	client   dynamic.Interface
	kinds    *restmapper.DeferredDiscoveryRESTMapper
	warnings *heard
	// versions are the resource versions of what was applied.
	versions map[string]string
}

// heard keeps warnings.
type heard struct {
	sync.Mutex

	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (h *heard) HandleWarningHeader(code int, _, text string) {
	h.Lock()
	defer h.Unlock()
	h.texts = append(h.texts, fmt.Sprintf("%d %s", code, text))
}

func (h *heard) take() []string {
	h.Lock()
	defer h.Unlock()
	texts := h.texts
	h.texts = nil
	return texts
}

func newApplier(t *testing.T) *applier {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	a := &applier{warnings: &heard{}}
	config.WarningHandler, config.QPS = a.warnings, -1
	if a.client, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	discover, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	a.kinds = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discover))
	return a
}

// built builds an overlay.
func (*applier) built(t *testing.T, o manifests.Overlay) []*unstructured.Unstructured {
	t.Helper()
	objects, err := o.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// restricted makes a namespace that takes no Pod beyond "restricted", and warns of what
// would make one.
func (a *applier) restricted(t *testing.T, name string) {
	t.Helper()
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": name, "labels": map[string]any{
			"pod-security.kubernetes.io/enforce": "restricted",
			"pod-security.kubernetes.io/warn":    "restricted",
		},
	}}}
	if err := a.one(t.Context(), namespace, false); err != nil {
		t.Fatal(err)
	}
}

// apply applies objects until the test ends, fails for each error and warning, and returns
// the resource version of each.
func (a *applier) apply(t *testing.T, objects []*unstructured.Unstructured) map[string]string {
	t.Helper()
	a.versions = map[string]string{}
	for _, object := range objects {
		if err := a.one(t.Context(), object, false); err != nil {
			t.Error(err)
			continue
		}
		t.Cleanup(func() { a.remove(t, object) })
		for _, warning := range a.warnings.take() {
			t.Errorf("%s %s: the API server warns: %s", object.GetKind(), object.GetName(), warning)
		}
	}
	return a.versions
}

func (a *applier) place(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := a.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if object.GetNamespace() == "" {
		return a.client.Resource(mapping.Resource), nil
	}
	return a.client.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

// one applies an object as `kubectl apply --server-side --validate=strict` does.
func (a *applier) one(ctx context.Context, object *unstructured.Unstructured, dryRun bool) error {
	place, err := a.place(object)
	if err != nil {
		return err
	}
	data, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	force := true
	options := metav1.PatchOptions{FieldManager: "install", Force: &force, FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	applied, err := place.Patch(ctx, object.GetName(), types.ApplyPatchType, data, options)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	if a.versions != nil {
		a.versions[object.GetKind()+"/"+object.GetName()] = applied.GetResourceVersion()
	}
	return nil
}

// remove takes an object away again; it may be gone.
func (a *applier) remove(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	if place, err := a.place(object); err == nil {
		_ = place.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{})
	}
}

// find returns an object by its kind and name.
func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}
