package recorder

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/crds"
	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
)

const (
	applicationNamespace = controlplane.Namespace
	applicationRef       = "argoproj.io/v1alpha1/Application/" + applicationNamespace + "/"
)

// Stage is a control plane on which one scenario plays. It stays usable until it is
// closed: a fix can be tried on it after the snapshot was taken.
type Stage struct {
	Plane      *controlplane.Plane
	Repository *controlplane.Repository
	Scenario   Scenario
	App        string
	Namespace  string

	cleanups []func(context.Context) error
	scrubs   []string // pairs of old and new text
}

// Open makes the repository, the namespace, the cluster's own objects and the
// Application, and syncs it. The caller closes the stage.
func Open(ctx context.Context, plane *controlplane.Plane, scenario Scenario) (*Stage, error) {
	s := &Stage{
		Plane: plane, Scenario: scenario, App: scenario.app(), Namespace: scenario.namespace(),
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open stage of %s: %w", scenario.Name, err), s.Close(ctx))
	}
	return s, nil
}

// Scrub replaces a text that only this run knows, such as an address, in what is recorded.
func (s *Stage) Scrub(text, replacement string) { s.scrubs = append(s.scrubs, text, replacement) }

// Close deletes the Application, without its objects, and what would disturb others.
func (s *Stage) Close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var problems []error
	for len(s.cleanups) > 0 {
		last := s.cleanups[len(s.cleanups)-1]
		s.cleanups = s.cleanups[:len(s.cleanups)-1]
		problems = append(problems, last(ctx))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("close stage of %s: %w", s.Scenario.Name, err)
	}
	return nil
}

// Inject does what the scenario says.
func (s *Stage) Inject(ctx context.Context) error {
	// Field managers and renders are recorded with seconds, and a cause never comes in the
	// second of a sync.
	select {
	case <-ctx.Done():
		return fmt.Errorf("inject the cause of %s: %w", s.Scenario.Name, context.Cause(ctx))
	case <-time.After(time.Second):
	}
	if s.Scenario.Inject == nil {
		return nil
	}
	if err := s.Scenario.Inject(ctx, s); err != nil {
		return fmt.Errorf("inject the cause of %s: %w", s.Scenario.Name, err)
	}
	return nil
}

// Case waits for Argo CD's verdict and takes the case of the stage as it now is, with its
// label. The case is also returned, beside a [LabelError], when that is not what Argo CD
// saw.
func (s *Stage) Case(ctx context.Context, label cases.Expect) (*cases.Case, error) {
	seen, err := s.observe(ctx)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", s.Scenario.Name, err)
	}
	recorded := &cases.Case{
		Name: s.Scenario.Name, Origin: cases.Recorded, Cause: s.Scenario.Cause,
		Snapshot: *seen.snapshot, ArgoCD: &seen.verdict, Expect: label,
	}
	if recorded, err = s.scrub(recorded); err != nil {
		return nil, fmt.Errorf("record %s: %w", s.Scenario.Name, err)
	}
	return recorded, CheckLabel(*recorded)
}

// InstallCRDs installs CRDs of package e2e/crds that the plane lacks.
func InstallCRDs(ctx context.Context, plane *controlplane.Plane, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	all, err := crds.All(ctx)
	if err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	byName := map[string]crds.CRD{}
	for _, crd := range all {
		byName[crd.Name()] = crd
	}
	for _, name := range names {
		crd, ok := byName[name]
		if !ok {
			return fmt.Errorf("install CRDs: no module of e2e/crds ships %q", name)
		}
		object := &unstructured.Unstructured{Object: crd.Content}
		definitions, err := plane.Resource(ctx, object.GroupVersionKind(), "")
		if err != nil {
			return fmt.Errorf("install CRDs: %w", err)
		}
		if _, err := definitions.Get(ctx, name, metav1.GetOptions{}); err == nil {
			continue
		}
		if err := plane.Apply(ctx, "", object); err != nil {
			return fmt.Errorf("install CRDs: %w", err)
		}
	}
	return nil
}

// Snapshot is what a person would have of the Application now, without asking for a refresh.
func (s *Stage) Snapshot(ctx context.Context) (*drift.Snapshot, error) {
	seen, err := s.collect(ctx)
	if err != nil {
		return nil, err
	}
	return seen.snapshot, nil
}
