package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	patterns "github.com/argoproj/argo-cd/v2/util/glob"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// WithoutIgnored is the document without what the rules' pointers and paths name, by
// Argo CD's own code. What it cannot do leaves the document as it is.
func WithoutIgnored(document object.Object, rules []v1alpha1.ResourceIgnoreDifferences) (left object.Object) {
	defer func() {
		if recover() != nil {
			left = document
		}
	}()
	normalizer, err := normalizers.NewIgnoreNormalizer(rules, nil, normalizers.IgnoreNormalizerOpts{})
	if err != nil {
		return document
	}
	data, err := json.Marshal(document)
	if err != nil {
		return document
	}
	copied := &unstructured.Unstructured{}
	if copied.UnmarshalJSON(data) != nil || normalizer.Normalize(copied) != nil {
		return document
	}
	return copied.Object
}

// HiddenDifferences are those that show only without the rules that somebody set.
// Where the API server's prediction is given, it was made under the rules, so the
// nearest comparison that needs no prediction takes its place.
func HiddenDifferences(r *state.Resource) []*diff.Difference {
	if !slices.ContainsFunc(r.Application.Object.Spec.IgnoreDifferences, func(rule v1alpha1.ResourceIgnoreDifferences) bool { return Meets(r, rule) }) && !overridden(r) {
		return nil
	}
	strategy, under := r.Strategy, r.Differences
	if r.Given.PredictedLive != nil {
		strategy = drift.Legacy
		if r.SyncsServerSide() {
			strategy = drift.StructuredMerge
		}
		ruled := again(r, strategy, RulesOf(r.Application))
		if ruled.CompareError != nil {
			return nil
		}
		under = append(slices.Clone(under), ruled.Differences...)
	}
	open := again(r, strategy, Rules{overrides: plainOverrides(r.Application)})
	if open.CompareError != nil {
		return nil
	}
	shown, folded := fieldpath.NewSet(), fieldpath.NewSet()
	for _, d := range under {
		shown.Insert(d.Pointer)
		if d.Folded {
			folded.Insert(d.Pointer)
		}
	}
	open.Differences = slices.DeleteFunc(open.Differences, func(d *diff.Difference) bool { return shown.Has(d.Pointer) || folded.Covers(d.Pointer) })
	open.Prepare()
	if r.LastApplied == nil {
		r.LastApplied = open.LastApplied
	}
	return open.Differences
}

// again compares the resource once more under other rules, without regard to a
// given prediction.
func again(r *state.Resource, strategy drift.Strategy, with Rules) *state.Resource {
	again := &state.Resource{Application: r.Application, Unfit: r.Unfit, Given: &drift.Resource{}, Ref: r.Ref, Target: r.Target, Live: r.Live, Strategy: strategy}
	compareAlone(again, again.Target, strategy, with)
	return again
}

// Meets reports whether a rule is for the resource.
func Meets(r *state.Resource, rule v1alpha1.ResourceIgnoreDifferences) bool {
	return patterns.Match(rule.Group, r.Ref.Group) && patterns.Match(rule.Kind, r.Ref.Kind) &&
		(rule.Name == "" || rule.Name == r.Ref.Name) && (rule.Namespace == "" || rule.Namespace == r.Ref.Namespace)
}

// overridden reports whether argocd-cm ignores fields of the kind.
func overridden(r *state.Resource) bool {
	for name, override := range r.Application.Overrides {
		group, kind, _ := strings.Cut(name, "/")
		if kind == "" {
			group, kind = "", group
		}
		ignores := override.IgnoreDifferences
		if patterns.Match(group, r.Ref.Group) && patterns.Match(kind, r.Ref.Kind) &&
			(slices.ContainsFunc(ignores.JSONPointers, func(p string) bool { return !slices.Contains(standardPointers, p) }) ||
				len(ignores.JQPathExpressions)+len(ignores.ManagedFieldsManagers) > 0) {
			return true
		}
	}
	return false
}

// standardPointers are what Argo CD itself ignores.
var standardPointers = []string{state.StatusPointer, "/spec/preserveUnknownFields"}

// plainOverrides are the overrides without what somebody chose to ignore.
func plainOverrides(s *state.Application) map[string]v1alpha1.ResourceOverride {
	left := make(map[string]v1alpha1.ResourceOverride, len(s.Overrides))
	for name, override := range s.Overrides {
		var standard []string
		for _, pointer := range override.IgnoreDifferences.JSONPointers {
			if slices.Contains(standardPointers, pointer) {
				standard = append(standard, pointer)
			}
		}
		override.IgnoreDifferences = v1alpha1.OverrideIgnoreDiff{JSONPointers: standard}
		left[name] = override
	}
	return left
}

// answered is a dry run whose answer is known.
type answered object.Object

// Run returns the known answer.
func (a answered) Run(_ context.Context, _ *unstructured.Unstructured, _ string) (string, error) {
	if a == nil {
		return "", errors.New("the snapshot holds no predicted live state")
	}
	data, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("write the predicted live state: %w", err)
	}
	return string(data), nil
}
