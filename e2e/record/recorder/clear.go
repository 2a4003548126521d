package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/e2e/record/cases"
)

// Look waits for Argo CD's verdict and takes what Case takes, without a label: for the
// time after a fix, when the label of the scenario is no longer true.
func (s *Stage) Look(ctx context.Context) (*cases.Case, error) {
	seen, err := s.observe(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", s.Scenario.Name, err)
	}
	return s.scrub(&cases.Case{
		Name: s.Scenario.Name, Origin: cases.Recorded, Cause: s.Scenario.Cause,
		Snapshot: *seen.snapshot, ArgoCD: &seen.verdict, Expect: cases.Expect{Findings: []cases.Finding{}},
	})
}

// Clear closes the stage and removes what it made, its repository included, so that
// the same scenario can be opened on the plane again. CRDs that were there before the
// first sync stay: they are of no Application.
func (s *Stage) Clear(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	left, err := s.outside(ctx)
	problems := []error{err, s.Close(ctx)}
	for _, object := range left {
		place, err := s.Plane.Resource(ctx, object.GroupVersionKind(), object.GetNamespace())
		if err == nil {
			err = purge(ctx, place, object)
		}
		problems = append(problems, err)
	}
	problems = append(problems, s.empty(ctx), os.RemoveAll(s.Repository.Dir()))
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("clear stage of %s: %w", s.Scenario.Name, err)
	}
	return nil
}

// outside are the objects of the scenario that are not in its namespace: those that
// Argo CD sees as the Application's, and those that were in the cluster before.
func (s *Stage) outside(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for document := range strings.SplitSeq(s.fill(s.Scenario.Cluster), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return nil, fmt.Errorf("decode object: %w", err)
		}
		if len(object.Object) > 0 && object.GetKind() != "CustomResourceDefinition" {
			found = append(found, object)
		}
	}
	snapshot, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	for _, resource := range snapshot.Resources {
		if resource.Live != nil {
			found = append(found, &unstructured.Unstructured{Object: resource.Live})
		}
	}
	return slices.DeleteFunc(found, func(object *unstructured.Unstructured) bool {
		return object.GetNamespace() == s.Namespace || object.GetKind() == "Namespace"
	}), nil
}

// empty deletes everything in the stage's namespace.
func (s *Stage) empty(ctx context.Context) error {
	config := s.Plane.Config()
	config.WarningHandler = rest.NoWarnings{} // what is deprecated is emptied, too
	discover, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("make discovery client: %w", err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make dynamic client: %w", err)
	}
	// A group whose CRD is just going away is no reason to leave the others.
	served, err := discover.ServerPreferredNamespacedResources()
	if len(served) == 0 {
		return fmt.Errorf("list kinds: %w", err)
	}
	var problems []error
	for _, group := range served {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return fmt.Errorf("list kinds: %w", err)
		}
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || !slices.Contains(kind.Verbs, "delete") {
				continue
			}
			place := client.Resource(version.WithResource(kind.Name)).Namespace(s.Namespace)
			problems = append(problems, purgeAll(ctx, place))
		}
	}
	return errors.Join(problems...)
}

func purgeAll(ctx context.Context, place dynamic.ResourceInterface) error {
	found, err := place.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list what is left: %w", err)
	}
	var problems []error
	for i := range found.Items {
		problems = append(problems, purge(ctx, place, &found.Items[i]))
	}
	return errors.Join(problems...)
}

// purge deletes an object whoever waits for it.
func purge(ctx context.Context, place dynamic.ResourceInterface, object *unstructured.Unstructured) error {
	name := object.GetName()
	if len(object.GetFinalizers()) > 0 && object.GetKind() != "CustomResourceDefinition" {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		_, err := place.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "recorder"})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("release %s %s: %w", object.GetKind(), name, err)
		}
	}
	zero := int64(0)
	// Nobody here collects what a Job leaves; it would wait for that for ever.
	background := metav1.DeletePropagationBackground
	err := place.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &zero, PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", object.GetKind(), name, err)
	}
	return nil
}
