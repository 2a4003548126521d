package kube

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var configMapResource = runtimeschema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// ConfigMaps reads and writes ConfigMaps of one cluster. It needs the verbs get and
// patch on them.
type ConfigMaps struct{ client dynamic.Interface }

// NewConfigMaps makes a client; it asks nothing yet.
func NewConfigMaps(config *rest.Config) (*ConfigMaps, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	return &ConfigMaps{client: client}, nil
}

// Get returns a ConfigMap, managedFields included, and false where there is none.
func (c *ConfigMaps) Get(ctx context.Context, namespace, name string) (map[string]any, bool, error) {
	return get(ctx, c.client.Resource(configMapResource).Namespace(namespace), name)
}

// Apply writes a ConfigMap by server-side apply under a field manager; force takes over
// the fields of other managers. A resourceVersion in it makes the API server refuse
// when the ConfigMap has changed since.
func (c *ConfigMaps) Apply(ctx context.Context, manager string, object map[string]any, force bool) error {
	wanted := unstructured.Unstructured{Object: object}
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode ConfigMap: %w", err)
	}
	options := metav1.PatchOptions{FieldManager: manager, Force: &force}
	_, err = c.client.Resource(configMapResource).Namespace(wanted.GetNamespace()).Patch(ctx, wanted.GetName(), types.ApplyPatchType, data, options)
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w: somebody else changed the ConfigMap meanwhile, and nothing was written; try again", err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w: grant get and patch on this ConfigMap", err)
	case err != nil:
		return fmt.Errorf("apply ConfigMap %s/%s: %w", wanted.GetNamespace(), wanted.GetName(), err)
	}
	return nil
}
