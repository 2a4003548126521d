package recorder

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	// KubectlApply is the field manager of `kubectl apply`.
	KubectlApply = "kubectl-client-side-apply"
)

// KubectlApply applies every object of a YAML stream as `kubectl apply` does: a
// three-way merge of what was applied last, what is live and what is given.
func (s *Stage) KubectlApply(ctx context.Context, stream string) error {
	return s.each(ctx, stream, func(resource dynamic.ResourceInterface, object *unstructured.Unstructured) error {
		given, err := json.Marshal(object.Object)
		if err != nil {
			return err
		}
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[lastApplied] = string(given) + "\n"
		object.SetAnnotations(annotations)
		live, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = resource.Create(ctx, object, metav1.CreateOptions{FieldManager: KubectlApply})
			return err
		}
		if err != nil {
			return err
		}
		kind, patch, err := threeWay(object, live)
		if err != nil {
			return err
		}
		_, err = resource.Patch(ctx, object.GetName(), kind, patch, metav1.PatchOptions{FieldManager: KubectlApply})
		return err
	})
}

// threeWay is the patch that makes live what is wanted, without what was applied last.
func threeWay(wanted, live *unstructured.Unstructured) (types.PatchType, []byte, error) {
	original := []byte(live.GetAnnotations()[lastApplied])
	modified, err := json.Marshal(wanted.Object)
	if err != nil {
		return "", nil, fmt.Errorf("encode object: %w", err)
	}
	current, err := json.Marshal(live.Object)
	if err != nil {
		return "", nil, fmt.Errorf("encode live object: %w", err)
	}
	typed, err := scheme.Scheme.New(wanted.GroupVersionKind())
	if err != nil { // a custom resource
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
		return types.MergePatchType, patch, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return "", nil, fmt.Errorf("look up merge keys: %w", err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, meta, true)
	return types.StrategicMergePatchType, patch, err
}
