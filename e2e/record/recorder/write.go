package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

// resource is where the object that the text refers to is read and written.
func (s *Stage) resource(ctx context.Context, text string) (dynamic.ResourceInterface, string, error) {
	ref, err := ParseRef(text)
	if err != nil {
		return nil, "", err
	}
	if ref.Namespace == "" {
		ref.Namespace = s.Namespace
	}
	resource, err := s.Plane.Resource(ctx, ref.Kind, ref.Namespace)
	return resource, ref.Name, err
}

// Get reads an object.
func (s *Stage) Get(ctx context.Context, ref string) (*unstructured.Unstructured, error) {
	resource, name, err := s.resource(ctx, ref)
	if err != nil {
		return nil, err
	}
	return resource.Get(ctx, name, metav1.GetOptions{})
}

// Patch patches an object as the field manager does: a merge patch, or a JSON patch
// where it is a list. Subresources may follow, such as "status".
//
//nolint:revive // most callers leave the fifth argument out
func (s *Stage) Patch(ctx context.Context, manager, ref, patch string, subresources ...string) error {
	resource, name, err := s.resource(ctx, ref)
	if err != nil {
		return err
	}
	kind := types.MergePatchType
	data, err := yaml.YAMLToJSON([]byte(s.fill(patch)))
	if err != nil {
		return fmt.Errorf("patch %s: %w", ref, err)
	}
	if strings.HasPrefix(string(data), "[") {
		kind = types.JSONPatchType
	}
	if _, err := resource.Patch(ctx, name, kind, data, metav1.PatchOptions{FieldManager: manager}, subresources...); err != nil {
		return fmt.Errorf("patch %s as %s: %w", ref, manager, err)
	}
	return nil
}

// Update reads an object, changes it, and writes all of it back as the field manager,
// as most controllers do. Subresources may follow, such as "status".
//
//nolint:revive // most callers leave the fifth argument out
func (s *Stage) Update(
	ctx context.Context, manager, ref string, change func(map[string]any), subresources ...string,
) error {
	resource, name, err := s.resource(ctx, ref)
	if err != nil {
		return err
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object, err := resource.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(object.Object)
		_, err = resource.Update(ctx, object, metav1.UpdateOptions{FieldManager: manager}, subresources...)
		return err
	})
	if err != nil {
		return fmt.Errorf("update %s as %s: %w", ref, manager, err)
	}
	return nil
}

// UpdateStatus writes the status subresource as the field manager.
func (s *Stage) UpdateStatus(ctx context.Context, manager, ref, status string) error {
	var content map[string]any
	if err := yaml.Unmarshal([]byte(s.fill(status)), &content); err != nil {
		return fmt.Errorf("status of %s: %w", ref, err)
	}
	data, err := json.Marshal(map[string]any{"status": content})
	if err != nil {
		return fmt.Errorf("status of %s: %w", ref, err)
	}
	return s.Patch(ctx, manager, ref, string(data), "status")
}

// Scale sets the replicas through the scale subresource, as an autoscaler and
// `kubectl scale` do.
func (s *Stage) Scale(ctx context.Context, manager, ref string, replicas int) error {
	return s.Patch(ctx, manager, ref, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas), "scale")
}

// Create creates every object of a YAML stream as the field manager.
func (s *Stage) Create(ctx context.Context, manager, stream string) error {
	return s.each(ctx, stream, func(resource dynamic.ResourceInterface, object *unstructured.Unstructured) error {
		_, err := resource.Create(ctx, object, metav1.CreateOptions{FieldManager: manager})
		return err
	})
}

// Apply applies every object of a YAML stream by server-side apply, taking over what
// others own.
func (s *Stage) Apply(ctx context.Context, manager, stream string) error {
	return s.each(ctx, stream, func(resource dynamic.ResourceInterface, object *unstructured.Unstructured) error {
		_, err := resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: true})
		return err
	})
}

// each hands out the objects of a YAML stream with the place that they belong to.
func (s *Stage) each(
	ctx context.Context, stream string, do func(dynamic.ResourceInterface, *unstructured.Unstructured) error,
) error {
	for document := range strings.SplitSeq(s.fill(stream), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return fmt.Errorf("decode object: %w", err)
		}
		if len(object.Object) == 0 {
			continue
		}
		namespace := object.GetNamespace()
		if namespace == "" {
			namespace = s.Namespace
		}
		resource, err := s.Plane.Resource(ctx, object.GroupVersionKind(), namespace)
		if err != nil {
			return err
		}
		if err := do(resource, object); err != nil {
			return fmt.Errorf("write %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// Delete deletes an object at once; one that is not there is no error.
func (s *Stage) Delete(ctx context.Context, ref string) error {
	resource, name, err := s.resource(ctx, ref)
	if err != nil {
		return err
	}
	zero := int64(0)
	err = resource.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", ref, err)
	}
	return nil
}
