// Package compare has Argo CD's own packages compare both sides of every resource, by the
// strategy that the Application uses, and finds the smallest nodes that differ.
//
// [All] compares a snapshot, [Try] one resource under changed conditions. Where Argo CD's
// own two documents are in the snapshot, they are taken for the truth. An object that
// could take the process's memory or time is not given to the libraries, and an ignore
// rule that could is not run for strangers ([Guard]).
package compare

import (
	"errors"
	"fmt"
	"sync"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	argodiff "github.com/argoproj/argo-cd/v2/util/argo/diff"
	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	gitopsdiff "github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/object"
)

// Rules are the parts of Argo CD's comparison that a trial may change.
type Rules struct {
	ignores   []v1alpha1.ResourceIgnoreDifferences
	overrides map[string]v1alpha1.ResourceOverride
}

// RulesOf returns those in force.
func RulesOf(s *state.Application) Rules {
	return Rules{ignores: s.Object.Spec.IgnoreDifferences, overrides: s.Overrides}
}

// All fills in what Argo CD makes of every two-sided resource. Where one
// resource cannot be compared, the others still are.
func All(s *state.Application) {
	groups := map[drift.Strategy][]*state.Resource{}
	for _, r := range s.Resources {
		r.Strategy, r.Allowance = s.StrategyOf(r), s.Allowance
		if s.Ctx.Err() != nil {
			return
		}
		if r.Unfit = unfitFor(r); r.Unfit != nil {
			r.CompareError = r.Unfit
		}
		if r.Target == nil || r.Live == nil || r.Given.Hook || r.Unfit != nil {
			continue
		}
		if r.Given.NormalizedLive != nil && r.Given.PredictedLive != nil {
			r.CompareError = take(r, r.Given.NormalizedLive, r.Given.PredictedLive)
			continue
		}
		groups[r.Strategy] = append(groups[r.Strategy], r)
	}
	for _, strategy := range []drift.Strategy{drift.Legacy, drift.StructuredMerge} {
		compareAll(s, groups[strategy], strategy)
	}
	for _, r := range groups[drift.ServerSide] {
		if s.Ctx.Err() == nil {
			compareAlone(r, r.Target, drift.ServerSide, RulesOf(s))
		}
	}
}

// chunk is how many resources are compared before the deadline is looked at: fewer
// where there are many ignore rules, each of which reads the object anew.
func chunk(s *state.Application) int {
	entries := 0
	for _, rule := range s.Object.Spec.IgnoreDifferences {
		entries += len(rule.JSONPointers) + len(rule.JQPathExpressions)
	}
	for _, override := range s.Overrides {
		entries += len(override.IgnoreDifferences.JSONPointers) + len(override.IgnoreDifferences.JQPathExpressions)
	}
	return max(1, 64/(1+entries/16))
}

// compareAll compares the resources in as many portions as there are processors.
func compareAll(s *state.Application, resources []*state.Resource, strategy drift.Strategy) {
	if len(resources) == 0 {
		return
	}
	config, err := config(s, strategy, RulesOf(s), nil)
	if err != nil {
		for _, r := range resources {
			r.CompareError = err
		}
		return
	}
	chunk := chunk(s)
	const fewest = 16 // resources, below which a processor more costs more than it brings
	var running sync.WaitGroup
	for _, portion := range state.Portions(len(resources), fewest) {
		mine := resources[portion[0]:portion[1]]
		running.Go(func() {
			defer s.Recover()
			for _, some := range Portion(mine, chunk) {
				if s.Ctx.Err() != nil {
					return
				}
				comparePortion(s, some, strategy, config)
			}
		})
	}
	running.Wait()
}

func comparePortion(s *state.Application, resources []*state.Resource, strategy drift.Strategy, config argodiff.DiffConfig) {
	lives, targets := make([]*unstructured.Unstructured, len(resources)), make([]*unstructured.Unstructured, len(resources))
	for i, r := range resources {
		lives[i], targets[i] = &unstructured.Unstructured{Object: r.Live}, &unstructured.Unstructured{Object: r.Target}
	}
	results, err := stateDiffs(lives, targets, config)
	if err != nil {
		// One resource alone can spoil the comparison of all.
		for _, r := range resources {
			if s.Ctx.Err() == nil {
				compareAlone(r, r.Target, strategy, RulesOf(s))
			}
		}
		return
	}
	for i, r := range resources {
		if results[i].Modified {
			r.Modified, r.CompareError = true, decode(r, results[i])
		}
	}
}

// compareAlone compares one resource with another target or other rules than its own.
func compareAlone(r *state.Resource, target object.Object, strategy drift.Strategy, with Rules) {
	result, err := compareWith(r, target, strategy, with)
	switch {
	case err != nil:
		r.CompareError = err
	case result.Modified:
		r.Modified, r.CompareError = true, decode(r, result)
	}
}

// compareWith is Argo CD's comparison of the live object with a target.
func compareWith(r *state.Resource, target object.Object, strategy drift.Strategy, with Rules) (gitopsdiff.DiffResult, error) {
	if r.Unfit != nil {
		return gitopsdiff.DiffResult{}, r.Unfit
	}
	predicted := r.Given.PredictedLive
	if strategy == drift.ServerSide && predicted == nil {
		// Without the server's word, its merge is the nearest, and the defaults that it
		// would add are known from the CRD.
		strategy = drift.StructuredMerge
		if pinned, has := r.Pinned(); has && value.Equal(target, r.Target) {
			target = pinned
		}
	}
	config, err := config(r.Application, strategy, with, predicted)
	if err != nil {
		return gitopsdiff.DiffResult{}, err
	}
	results, err := stateDiffs([]*unstructured.Unstructured{{Object: r.Live}}, []*unstructured.Unstructured{{Object: target}}, config)
	if err != nil {
		return gitopsdiff.DiffResult{}, err
	}
	return results[0], nil
}

// Trial is a comparison under changed conditions.
type Trial struct {
	// Target takes the place of what Git renders; nil leaves it.
	Target object.Object
	// Live takes the place of the live object; nil leaves it.
	Live object.Object
	// Ignores are added to the Application's own.
	Ignores []v1alpha1.ResourceIgnoreDifferences
	// Without leaves the Application's own ignoreDifferences out.
	Without bool
	// Strategy takes the place of the resource's own; "" leaves it.
	Strategy drift.Strategy
}

// Try compares again under changed conditions and returns what then differs.
func Try(r *state.Resource, t Trial) ([]*diff.Difference, error) {
	with := RulesOf(r.Application)
	if t.Without {
		with.ignores = nil
	}
	with.ignores = append(append([]v1alpha1.ResourceIgnoreDifferences{}, with.ignores...), t.Ignores...)
	again := &state.Resource{Application: r.Application, Unfit: r.Unfit, Given: r.Given, Ref: r.Ref, Target: r.Target, Live: r.Live, Strategy: r.Strategy}
	if t.Target != nil {
		again.Target = t.Target
	}
	if t.Live != nil {
		again.Live = t.Live
	}
	if t.Strategy != "" {
		again.Strategy = t.Strategy
	}
	compareAlone(again, again.Target, again.Strategy, with)
	return again.Differences, again.CompareError
}

// RefusedError is what Argo CD's own comparison refuses; other errors are this package's.
type RefusedError struct{ cause error }

// Error says what was refused.
func (e *RefusedError) Error() string { return e.cause.Error() }

// Unwrap returns Argo CD's own error.
func (e *RefusedError) Unwrap() error { return e.cause }

// stateDiffs is Argo CD's own comparison. Its packages expect objects as the API
// server serves them; where a hostile one makes them panic, that is an error, which
// names only the type of the panic: its words may quote a Secret.
func stateDiffs(lives, targets []*unstructured.Unstructured, config argodiff.DiffConfig) (results []gitopsdiff.DiffResult, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			results, err = nil, &RefusedError{fmt.Errorf("compare: the object has a shape that Argo CD's comparison does not expect: %T", cause)}
		}
	}()
	list, err := argodiff.StateDiffs(lives, targets, config)
	if err != nil {
		return nil, &RefusedError{fmt.Errorf("compare: %w", err)}
	}
	if len(list.Diffs) != len(lives) {
		return nil, errors.New("compare: Argo CD's packages lost a resource")
	}
	return list.Diffs, nil
}

// config is Argo CD's configuration of a comparison, as its controller makes it.
func config(s *state.Application, strategy drift.Strategy, with Rules, predicted object.Object) (argodiff.DiffConfig, error) {
	builder := argodiff.NewDiffConfigBuilder().
		WithDiffSettings(with.ignores, with.overrides, s.IgnoreAggregatedRoles, normalizers.IgnoreNormalizerOpts{}).
		WithTracking(s.Settings.InstanceLabel, s.Settings.Tracking).
		WithNoCache().
		WithLogger(logr.Discard()).
		WithManager(mark.Manager)
	switch strategy {
	case drift.StructuredMerge:
		types, err := types(s)
		if err != nil {
			return nil, err
		}
		builder.WithStructuredMergeDiff(true).WithGVKParser(types)
	case drift.ServerSide:
		// What Argo CD reports as predicted has the webhooks' changes taken out already.
		builder.WithServerSideDiff(true).WithServerSideDryRunner(answered(predicted)).WithIgnoreMutationWebhook(false)
	case drift.Legacy:
		// Neither needs anything, except an object that asks for server-side apply itself.
		if s.SomeServerSideApply {
			types, err := types(s)
			if err != nil {
				return nil, err
			}
			builder.WithGVKParser(types)
		}
	}
	config, err := builder.Build()
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	return config, nil
}

// types are the schemas of all kinds, made once.
func types(s *state.Application) (*managedfields.GvkParser, error) {
	s.TypesOnce.Do(func() { s.Parser, s.TypesError = typesOf(s) })
	return s.Parser, s.TypesError
}

// decode reads what Argo CD compared.
func decode(r *state.Resource, result gitopsdiff.DiffResult) error {
	normalized, predicted := object.Object{}, object.Object{}
	if err := kjson.Unmarshal(result.NormalizedLive, &normalized); err != nil {
		return fmt.Errorf("compare: read the normalized live state: %w", err)
	}
	if err := kjson.Unmarshal(result.PredictedLive, &predicted); err != nil {
		return fmt.Errorf("compare: read the predicted live state: %w", err)
	}
	return take(r, normalized, predicted)
}

// take finds the differences of two documents that Argo CD compared.
func take(r *state.Resource, normalized, predicted object.Object) error {
	left := r.Allowance
	if left == nil {
		left = diff.NewAllowance()
	}
	found, err := diff.Between(r.Application.Ctx, left, normalized, predicted)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	r.Normalized, r.Predicted, r.Differences = normalized, predicted, found
	return nil
}
