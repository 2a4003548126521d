package recorder

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/crds"
	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
)

// leaveOutOthers takes out what belongs to other scenarios that play on the plane now:
// their webhooks and their events.
func (s *Stage) leaveOutOthers(snapshot *drift.Snapshot) {
	snapshot.Related = slices.DeleteFunc(snapshot.Related, func(object map[string]any) bool {
		webhooks, _, _ := unstructured.NestedSlice(object, "webhooks")
		return len(webhooks) > 0 && !slices.ContainsFunc(webhooks, s.concerns)
	})
	names := map[string]bool{s.App: true}
	for _, resource := range snapshot.Resources {
		names[resource.Name] = true
	}
	snapshot.Events = slices.DeleteFunc(snapshot.Events, func(event map[string]any) bool {
		namespace, _, _ := unstructured.NestedString(event, "metadata", "namespace")
		name, _, _ := unstructured.NestedString(event, "involvedObject", "name")
		return namespace != s.Namespace && !names[name]
	})
}

// concerns tells whether a webhook is asked about the stage's namespace.
func (s *Stage) concerns(webhook any) bool {
	content, _ := webhook.(map[string]any)
	namespace, _, _ := unstructured.NestedString(content, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name")
	return namespace == "" || namespace == s.Namespace
}

// relate adds what the scenario names and the snapshot lacks, and names well-known CRDs
// instead of repeating them.
func (s *Stage) relate(ctx context.Context, snapshot *drift.Snapshot) error {
	for _, text := range s.Scenario.Related {
		object, err := s.Get(ctx, s.fill(text))
		if err != nil {
			return fmt.Errorf("read what is related: %s: %w", text, err)
		}
		if object.GetKind() == "Secret" {
			return fmt.Errorf("%s: a Secret would be recorded with its values; relate something else", text)
		}
		if !slices.ContainsFunc(snapshot.Related, func(related map[string]any) bool { return sameObject(related, object.Object) }) {
			snapshot.Related = append(snapshot.Related, object.Object)
		}
	}
	shipped, err := shippedNames()
	if err != nil {
		return err
	}
	for i, object := range snapshot.Related {
		related := &unstructured.Unstructured{Object: object}
		if related.GetKind() != "CustomResourceDefinition" {
			continue
		}
		if shipped[related.GetName()] {
			snapshot.Related[i] = map[string]any{cases.CRDKey: related.GetName()}
			continue
		}
		related.SetManagedFields(nil)
	}
	return nil
}

func sameObject(a, b map[string]any) bool {
	first, second := &unstructured.Unstructured{Object: a}, &unstructured.Unstructured{Object: b}
	return first.GetUID() == second.GetUID()
}

// shippedNames are the names of the CRDs of package e2e/crds.
var shippedNames = sync.OnceValues(func() (map[string]bool, error) {
	all, err := crds.All(context.Background())
	if err != nil {
		return nil, fmt.Errorf("list well-known CRDs: %w", err)
	}
	names := map[string]bool{}
	for _, crd := range all {
		names[crd.Name()] = true
	}
	return names, nil
})
