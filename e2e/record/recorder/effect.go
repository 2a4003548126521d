package recorder

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
)

// CheckSync syncs for real, and is an error where that does other than the case's label
// says. What a controller would do afterwards, and whose change is lost, it cannot see.
func (s *Stage) CheckSync(ctx context.Context, recorded *cases.Case) error {
	effect := recorded.Expect.Sync
	if effect == drift.Waits || effect == drift.Blocked {
		return nil
	}
	before, err := s.states(ctx, recorded)
	if err != nil {
		return err
	}
	status, err := s.Sync(ctx)
	if err != nil {
		return fmt.Errorf("%s: sync: %w", recorded.Name, err)
	}
	after, err := s.states(ctx, recorded)
	if err != nil {
		return err
	}
	failed, changed := status.Operation.Phase != "Succeeded", !reflect.DeepEqual(before, after)
	wantChange := effect.Severity() >= drift.HarmlessFlap.Severity()
	switch {
	case failed != (effect == drift.WillFail):
		return fmt.Errorf("%s: the label says %s, the sync ended %s: %s", recorded.Name, effect, status.Operation.Phase, status.Operation.Message)
	case !failed && changed != wantChange:
		return fmt.Errorf("%s: the label says %s, the sync changed something: %t", recorded.Name, effect, changed)
	}
	return nil
}

// states are the objects of the case as they live now, without what every write changes.
func (s *Stage) states(ctx context.Context, recorded *cases.Case) ([]map[string]any, error) {
	var states []map[string]any
	for _, resource := range recorded.Snapshot.Resources {
		place, err := s.Plane.Resource(ctx, kindOf(resource), resource.Namespace)
		if err != nil {
			return nil, err
		}
		live, err := place.Get(ctx, resource.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", resource.Kind, resource.Name, err)
		}
		for _, fields := range [][]string{
			{"metadata", "managedFields"},
			{"metadata", "resourceVersion"},
			{"metadata", "generation"},
			{"metadata", "annotations", lastApplied},
			{"metadata", "annotations", "deprecated.daemonset.template.generation"},
			{"status"},
		} {
			unstructured.RemoveNestedField(live.Object, fields...)
		}
		states = append(states, live.Object)
	}
	return states, nil
}
