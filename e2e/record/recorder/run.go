package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

// Removed as the content of a committed file means that the file goes away.
const Removed = "\x00removed"

func removeFile(dir, name string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // a folder has nothing to flush
	return root.Remove(filepath.FromSlash(name))
}

// Run plays the scenarios, a few at once, those with the same settings of argocd-cm
// together. Each is played by do, such as one that takes its [Stage.Case]. The error joins
// those of all scenarios.
func Run(
	ctx context.Context, plane *controlplane.Plane, scenarios []Scenario, do func(context.Context, Scenario) error,
) error {
	if err := CheckNames(scenarios); err != nil {
		return err
	}
	var names []string
	for _, scenario := range scenarios {
		names = append(names, scenario.CRDs...)
	}
	slices.Sort(names)
	if err := InstallCRDs(ctx, plane, slices.Compact(names)...); err != nil {
		return err
	}
	var problems []error
	for _, group := range bySettings(scenarios) {
		problems = append(problems, runGroup(ctx, plane, group, do))
	}
	return errors.Join(problems...)
}

// parallel is how many scenarios play at once on a plane.
const parallel = 4

func runGroup(
	ctx context.Context, plane *controlplane.Plane, group []Scenario, do func(context.Context, Scenario) error,
) error {
	restore, err := Configure(ctx, plane, settingsOf(group[0]))
	if err != nil {
		return err
	}
	problems := make([]error, len(group))
	var running errgroup.Group
	running.SetLimit(parallel)
	for i, scenario := range group {
		running.Go(func() error {
			problems[i] = do(ctx, scenario)
			return nil
		})
	}
	_ = running.Wait() // the errors are in problems
	return errors.Join(errors.Join(problems...), restore(context.WithoutCancel(ctx)))
}

// bySettings groups the scenarios, in the order in which their settings first occur.
func bySettings(scenarios []Scenario) [][]Scenario {
	var groups [][]Scenario
	for _, scenario := range scenarios {
		i := slices.IndexFunc(groups, func(group []Scenario) bool {
			return reflect.DeepEqual(settingsOf(group[0]), settingsOf(scenario))
		})
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], scenario)
	}
	return groups
}

// CheckNames refuses scenarios that would be in each other's way on one plane.
func CheckNames(scenarios []Scenario) error {
	var problems []error
	seen := map[string]string{}
	for _, scenario := range scenarios {
		for _, name := range []string{"case " + scenario.Name, "application " + scenario.app(), "namespace " + scenario.namespace()} {
			if other, taken := seen[name]; taken {
				problems = append(problems, fmt.Errorf("scenario %s: %s is that of %s too; give it another", scenario.Name, name, other))
			}
			seen[name] = scenario.Name
		}
	}
	return errors.Join(problems...)
}

// settlePause is how long Argo CD may take to see its settings.
const settlePause = 3 * time.Second

// Configure lays the settings over argocd-cm, and returns what takes them back.
func Configure(
	ctx context.Context, plane *controlplane.Plane, settings map[string]string,
) (func(context.Context) error, error) {
	set, unset := map[string]any{}, map[string]any{}
	for key, value := range settings {
		set[key], unset[key] = value, nil
	}
	if err := patchSettings(ctx, plane, set); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return patchSettings(ctx, plane, unset) }, nil
}

func patchSettings(ctx context.Context, plane *controlplane.Plane, data map[string]any) error {
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return fmt.Errorf("configure Argo CD: %w", err)
	}
	ref, err := ParseRef("v1/ConfigMap/argocd-cm")
	if err != nil {
		return err
	}
	maps, err := plane.Resource(ctx, ref.Kind, controlplane.Namespace)
	if err != nil {
		return fmt.Errorf("configure Argo CD: %w", err)
	}
	options := metav1.PatchOptions{FieldManager: controlplane.FieldManager}
	if _, err := maps.Patch(ctx, ref.Name, types.MergePatchType, patch, options); err != nil {
		return fmt.Errorf("configure Argo CD: %w", err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("configure Argo CD: %w", context.Cause(ctx))
	case <-time.After(settlePause):
		return nil
	}
}
