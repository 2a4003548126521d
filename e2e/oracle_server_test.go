package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/crds"
	generator "github.com/moorpin/moorpin/e2e/generate"
)

// oracleNamespace holds the namespaced objects.
const oracleNamespace = "oracle"

// oracleServer is the API server that knows what is right.
type oracleServer struct {
	client dynamic.Interface
}

func newOracleServer(t *testing.T, plane *controlplane.Plane) oracleServer {
	t.Helper()
	config := plane.Config()
	config.WarningHandler = rest.NoWarnings{} // Every deprecated version would warn.
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": oracleNamespace},
	}}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if _, err := client.Resource(namespaces).Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return oracleServer{client}
}

// install creates the CRDs and waits until the server has established them.
func (s oracleServer) install(ctx context.Context, all []crds.CRD) error {
	resource := s.client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	var work errgroup.Group
	work.SetLimit(8)
	for _, crd := range all {
		work.Go(func() error {
			object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(crd.Content)}
			if _, err := resource.Create(ctx, object, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("install %s of %s: %w", crd.Name(), crd.Module, err)
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	return askUntil(ctx, time.Second, func() (bool, error) {
		installed, err := resource.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, fmt.Errorf("list CRDs: %w", err)
		}
		ready := 0
		for i := range installed.Items {
			if isEstablished(&installed.Items[i]) {
				ready++
			}
		}
		return ready == len(all), nil
	})
}

func isEstablished(crd *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return false // not written yet: null
	}
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if condition["type"] == "Established" {
			return condition["status"] == "True"
		}
	}
	return false
}

// askUntil asks again after every pause until the answer is yes, for three minutes.
func askUntil(ctx context.Context, pause time.Duration, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		if done, err := ask(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("still not so after three minutes: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

func (s oracleServer) resource(kind *generator.Kind) dynamic.ResourceInterface {
	if kind.Namespaced {
		return s.client.Resource(kind.Resource).Namespace(oracleNamespace)
	}
	return s.client.Resource(kind.Resource)
}

// stored creates the object, reads it back and removes it. A storage version's
// defaults show only on reading. An object that is refused comes back as the
// refusal's text.
func (s oracleServer) stored(ctx context.Context, kind *generator.Kind, object map[string]any) (live map[string]any, refusal string, err error) {
	resource := s.resource(kind)
	sent := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	name := sent.GetName()
	err = askUntil(ctx, 50*time.Millisecond, func() (bool, error) {
		// Fields that no schema knows are part of the question.
		_, err := resource.Create(ctx, sent, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			refusal = err.Error()
			return true, nil
		}
		if apierrors.IsNotFound(err) {
			return false, nil // A CRD is served a moment after it is established.
		}
		return err == nil, err
	})
	if err != nil || refusal != "" {
		return nil, refusal, err
	}
	read, err := resource.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, "", fmt.Errorf("read back: %w", err)
	}
	if err := resource.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return nil, "", fmt.Errorf("remove: %w", err)
	}
	return read.Object, "", nil
}
