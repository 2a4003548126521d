package classify

import (
	"errors"
	"fmt"
	"runtime"
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
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/object"
)

// rules are the parts of Argo CD's comparison that a trial may change.
type rules struct {
	ignores   []v1alpha1.ResourceIgnoreDifferences
	overrides map[string]v1alpha1.ResourceOverride
}

// rules returns those in force.
func (s *situation) rules() rules {
	return rules{ignores: s.app.Spec.IgnoreDifferences, overrides: s.overrides}
}

// compare fills in what Argo CD makes of every two-sided resource. Where one
// resource cannot be compared, the others still are.
func (s *situation) compare() {
	groups := map[drift.Strategy][]*resource{}
	for _, r := range s.resources {
		r.strategy, r.allowance = s.strategyOf(r), s.allowance
		if s.ctx.Err() != nil {
			return
		}
		if r.unfit = r.unfitFor(); r.unfit != nil {
			r.compareError = r.unfit
		}
		if r.target == nil || r.live == nil || r.given.Hook || r.unfit != nil {
			continue
		}
		if r.given.NormalizedLive != nil && r.given.PredictedLive != nil {
			r.compareError = r.take(r.given.NormalizedLive, r.given.PredictedLive)
			continue
		}
		groups[r.strategy] = append(groups[r.strategy], r)
	}
	for _, strategy := range []drift.Strategy{drift.Legacy, drift.StructuredMerge} {
		s.compareAll(groups[strategy], strategy)
	}
	for _, r := range groups[drift.ServerSide] {
		if s.ctx.Err() == nil {
			r.compareAlone(r.target, drift.ServerSide, s.rules())
		}
	}
}

// chunk is how many resources are compared before the deadline is looked at: fewer
// where there are many ignore rules, each of which reads the object anew.
func (s *situation) chunk() int {
	entries := 0
	for _, rule := range s.app.Spec.IgnoreDifferences {
		entries += len(rule.JSONPointers) + len(rule.JQPathExpressions)
	}
	for _, override := range s.overrides {
		entries += len(override.IgnoreDifferences.JSONPointers) + len(override.IgnoreDifferences.JQPathExpressions)
	}
	return max(1, 64/(1+entries/16))
}

// compareAll compares the resources in as many portions as there are processors.
func (s *situation) compareAll(resources []*resource, strategy drift.Strategy) {
	if len(resources) == 0 {
		return
	}
	config, err := s.config(strategy, s.rules(), nil)
	if err != nil {
		for _, r := range resources {
			r.compareError = err
		}
		return
	}
	chunk := s.chunk()
	size := max(16, (len(resources)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for start := 0; start < len(resources); start += size {
		mine := resources[start:min(start+size, len(resources))]
		running.Go(func() {
			defer s.survive()
			for _, some := range portion(mine, chunk) {
				if s.ctx.Err() != nil {
					return
				}
				s.comparePortion(some, strategy, config)
			}
		})
	}
	running.Wait()
}

func (s *situation) comparePortion(resources []*resource, strategy drift.Strategy, config argodiff.DiffConfig) {
	lives, targets := make([]*unstructured.Unstructured, len(resources)), make([]*unstructured.Unstructured, len(resources))
	for i, r := range resources {
		lives[i], targets[i] = &unstructured.Unstructured{Object: r.live}, &unstructured.Unstructured{Object: r.target}
	}
	results, err := stateDiffs(lives, targets, config)
	if err != nil {
		// One resource alone can spoil the comparison of all.
		for _, r := range resources {
			if s.ctx.Err() == nil {
				r.compareAlone(r.target, strategy, s.rules())
			}
		}
		return
	}
	for i, r := range resources {
		if results[i].Modified {
			r.modified, r.compareError = true, r.decode(results[i])
		}
	}
}

// compareAlone compares one resource with another target or other rules than its own.
func (r *resource) compareAlone(target object.Object, strategy drift.Strategy, with rules) {
	result, err := r.diff(target, strategy, with)
	switch {
	case err != nil:
		r.compareError = err
	case result.Modified:
		r.modified, r.compareError = true, r.decode(result)
	}
}

// diff is Argo CD's comparison of the live object with a target.
func (r *resource) diff(target object.Object, strategy drift.Strategy, with rules) (gitopsdiff.DiffResult, error) {
	if r.unfit != nil {
		return gitopsdiff.DiffResult{}, r.unfit
	}
	predicted := r.given.PredictedLive
	if strategy == drift.ServerSide && predicted == nil {
		// Without the server's word, its merge is the nearest, and the defaults that it
		// would add are known from the CRD.
		strategy = drift.StructuredMerge
		if pinned, has := r.pinned(); has && value.Equal(target, r.target) {
			target = pinned
		}
	}
	config, err := r.situation.config(strategy, with, predicted)
	if err != nil {
		return gitopsdiff.DiffResult{}, err
	}
	results, err := stateDiffs([]*unstructured.Unstructured{{Object: r.live}}, []*unstructured.Unstructured{{Object: target}}, config)
	if err != nil {
		return gitopsdiff.DiffResult{}, err
	}
	return results[0], nil
}

// trial is a comparison under changed conditions.
type trial struct {
	// target takes the place of what Git renders; nil leaves it.
	target object.Object
	// live takes the place of the live object; nil leaves it.
	live object.Object
	// ignores are added to the Application's own.
	ignores []v1alpha1.ResourceIgnoreDifferences
	// without leaves the Application's own ignoreDifferences out.
	without bool
	// strategy takes the place of the resource's own; "" leaves it.
	strategy drift.Strategy
}

// try compares again under changed conditions and returns what then differs.
func (r *resource) try(t trial) ([]*diff.Difference, error) {
	with := r.situation.rules()
	if t.without {
		with.ignores = nil
	}
	with.ignores = append(append([]v1alpha1.ResourceIgnoreDifferences{}, with.ignores...), t.ignores...)
	again := &resource{situation: r.situation, unfit: r.unfit, given: r.given, ref: r.ref, target: r.target, live: r.live, strategy: r.strategy}
	if t.target != nil {
		again.target = t.target
	}
	if t.live != nil {
		again.live = t.live
	}
	if t.strategy != "" {
		again.strategy = t.strategy
	}
	again.compareAlone(again.target, again.strategy, with)
	return again.differences, again.compareError
}

// stateDiffs is Argo CD's own comparison. Its packages expect objects as the API
// server serves them; where a hostile one makes them panic, that is an error, which
// names only the type of the panic: its words may quote a Secret.
func stateDiffs(lives, targets []*unstructured.Unstructured, config argodiff.DiffConfig) (results []gitopsdiff.DiffResult, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			results, err = nil, fmt.Errorf("compare: the object has a shape that Argo CD's comparison does not expect: %T", cause)
		}
	}()
	list, err := argodiff.StateDiffs(lives, targets, config)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	if len(list.Diffs) != len(lives) {
		return nil, errors.New("compare: Argo CD's packages lost a resource")
	}
	return list.Diffs, nil
}

// config is Argo CD's configuration of a comparison, as its controller makes it.
func (s *situation) config(strategy drift.Strategy, with rules, predicted object.Object) (argodiff.DiffConfig, error) {
	builder := argodiff.NewDiffConfigBuilder().
		WithDiffSettings(with.ignores, with.overrides, s.ignoreAggregatedRoles, normalizers.IgnoreNormalizerOpts{}).
		WithTracking(s.settings.instanceLabel, s.settings.tracking).
		WithNoCache().
		WithLogger(logr.Discard()).
		WithManager(mark.Manager)
	switch strategy {
	case drift.StructuredMerge:
		types, err := s.types()
		if err != nil {
			return nil, err
		}
		builder.WithStructuredMergeDiff(true).WithGVKParser(types)
	case drift.ServerSide:
		// What Argo CD reports as predicted has the webhooks' changes taken out already.
		builder.WithServerSideDiff(true).WithServerSideDryRunner(answered(predicted)).WithIgnoreMutationWebhook(false)
	case drift.Legacy:
		// Neither needs anything, except an object that asks for server-side apply itself.
		if s.someServerSideApply {
			types, err := s.types()
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
func (s *situation) types() (*managedfields.GvkParser, error) {
	s.typesOnce.Do(func() { s.parser, s.typesError = typesOf(s) })
	return s.parser, s.typesError
}

// decode reads what Argo CD compared.
func (r *resource) decode(result gitopsdiff.DiffResult) error {
	normalized, predicted := object.Object{}, object.Object{}
	if err := kjson.Unmarshal(result.NormalizedLive, &normalized); err != nil {
		return fmt.Errorf("compare: read the normalized live state: %w", err)
	}
	if err := kjson.Unmarshal(result.PredictedLive, &predicted); err != nil {
		return fmt.Errorf("compare: read the predicted live state: %w", err)
	}
	return r.take(normalized, predicted)
}

// take finds the differences of two documents that Argo CD compared.
func (r *resource) take(normalized, predicted object.Object) error {
	left := r.allowance
	if left == nil {
		left = diff.NewAllowance()
	}
	found, err := diff.Between(r.situation.ctx, left, normalized, predicted)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	r.normalized, r.predicted, r.differences = normalized, predicted, found
	return nil
}
