package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	// syncManager is the field manager of Argo CD's syncs.
	syncManager = "argocd-controller"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// RefusalError is the API server's, or kubectl's, no to an object: the sync would be
// refused as well.
type RefusalError struct{ reason error }

// Error gives the refusal in its own words.
func (r *RefusalError) Error() string { return r.reason.Error() }

// Unwrap gives the error that the API server sent.
func (r *RefusalError) Unwrap() error { return r.reason }

// DryRun asks the API server what a sync of the target by Argo CD would make of the
// live object, or of nothing where live is nil, and writes nothing. The sync is a
// server-side apply, else kubectl's three-way merge of what was applied last, the
// target and live. It needs the verb patch on the kind, and create for what is
// missing. The error is a [*RefusalError] when the sync would be refused; any other says
// why there is no answer.
func (o *Objects) DryRun(ctx context.Context, target map[string]any, serverSide bool, live map[string]any) (map[string]any, error) {
	wanted := &unstructured.Unstructured{Object: target}
	place, err := o.placeOf(wanted)
	if err != nil {
		return nil, err
	}
	var found *unstructured.Unstructured
	switch {
	case serverSide:
		found, err = applyDry(ctx, place, wanted)
	case live == nil:
		found, err = createDry(ctx, place, wanted)
	default:
		found, err = patchDry(ctx, place, wanted, &unstructured.Unstructured{Object: live})
	}
	if err != nil {
		return nil, judged(err)
	}
	return found.Object, nil
}

// placeOf is where objects like the wanted one are written, in its own version.
func (o *Objects) placeOf(wanted *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := wanted.GroupVersionKind()
	mapping, err := o.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, &RefusalError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("ask what the cluster serves: %w", err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace && wanted.GetNamespace() == "" {
		return nil, errors.New("dry run: the object has no namespace, which its kind needs")
	}
	return o.reach(mapping, wanted.GetNamespace()), nil
}

func applyDry(ctx context.Context, place dynamic.ResourceInterface, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	force := true
	data, err := json.Marshal(wanted.Object)
	if err != nil {
		return nil, fmt.Errorf("encode object: %w", err)
	}
	return place.Patch(ctx, wanted.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: syncManager, Force: &force, DryRun: []string{metav1.DryRunAll}}) //nolint:wrapcheck // judged
}

func createDry(ctx context.Context, place dynamic.ResourceInterface, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	modified, err := recorded(wanted)
	if err != nil {
		return nil, err
	}
	return place.Create(ctx, modified, metav1.CreateOptions{FieldManager: syncManager, DryRun: []string{metav1.DryRunAll}}) //nolint:wrapcheck // judged
}

func patchDry(ctx context.Context, place dynamic.ResourceInterface, wanted, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if wanted.GetAPIVersion() != live.GetAPIVersion() {
		// A patch is made of one version, which is Git's.
		converted, err := place.Get(ctx, wanted.GetName(), metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read the object in Git's version: %w", err)
		}
		live = converted
	}
	modified, err := recorded(wanted)
	if err != nil {
		return nil, err
	}
	kind, patch, err := threeWay(modified, live)
	if err != nil {
		return nil, err
	}
	if string(patch) == "{}" {
		return live, nil // kubectl sends nothing
	}
	return place.Patch(ctx, wanted.GetName(), kind, patch, metav1.PatchOptions{FieldManager: syncManager, DryRun: []string{metav1.DryRunAll}}) //nolint:wrapcheck // judged
}

// recorded is the object with the annotation in which kubectl keeps what it applies.
func recorded(wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	plain := wanted.DeepCopy()
	annotations := plain.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{} // kubectl notes none as an empty map
	}
	delete(annotations, lastApplied)
	plain.SetAnnotations(annotations)
	text, err := plain.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode object: %w", err)
	}
	annotations[lastApplied] = string(text)
	plain.SetAnnotations(annotations)
	return plain, nil
}

// threeWay is kubectl's patch: strategic for the kinds that Kubernetes itself knows,
// JSON merge for all others. That there is none is kubectl's refusal.
func threeWay(wanted, live *unstructured.Unstructured) (types.PatchType, []byte, error) {
	modified, err := json.Marshal(wanted.Object)
	if err != nil {
		return "", nil, fmt.Errorf("encode object: %w", err)
	}
	current, err := json.Marshal(live.Object)
	if err != nil {
		return "", nil, fmt.Errorf("encode live object: %w", err)
	}
	original := []byte(live.GetAnnotations()[lastApplied])
	typed, err := scheme.Scheme.New(wanted.GroupVersionKind())
	if err != nil { // a kind that Kubernetes does not know
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current,
			mergepatch.RequireKeyUnchanged("apiVersion"), mergepatch.RequireKeyUnchanged("kind"), mergepatch.RequireMetadataKeyUnchanged("name"))
		return types.MergePatchType, patch, unpatchable(err)
	}
	shape, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return "", nil, fmt.Errorf("look up merge keys: %w", err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, shape, true)
	return types.StrategicMergePatchType, patch, unpatchable(err)
}

func unpatchable(err error) error {
	if err == nil {
		return nil
	}
	return &RefusalError{fmt.Errorf("cannot create patch: %w", err)}
}

// judged tells a refusal of the object from one of the asker and from accidents: a
// right that only the asker lacks, a webhook that answers no dry runs, an object
// that came or went meanwhile, a server that is busy or away.
func judged(err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return err
	}
	message := strings.ToLower(err.Error())
	code := int(status.ErrStatus.Code)
	switch {
	case code == 0, apierrors.IsUnauthorized(err), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsTooManyRequests(err), apierrors.IsAlreadyExists(err), apierrors.IsMethodNotSupported(err):
	case apierrors.IsForbidden(err) && strings.Contains(message, `is forbidden: user "`):
		return fmt.Errorf("%w: a dry run needs the verbs patch and create", err)
	case strings.Contains(message, "does not support dry run"):
	case code >= 500 && !strings.Contains(message, "failed calling webhook"):
	default:
		return &RefusalError{err}
	}
	return err
}
