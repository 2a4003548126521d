package classify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// jqUse is one jq path of the rules and who it is for.
type jqUse struct {
	path string
	rule v1alpha1.ResourceIgnoreDifferences
}

// guard takes out of the rules what could take the process's time or memory. What it
// took out is in unheeded.
func (s *situation) guard(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, jq.GuardedTotal)
	defer cancel()
	left := jq.GuardedRules
	for i := range s.app.Spec.IgnoreDifferences {
		rule := &s.app.Spec.IgnoreDifferences[i]
		if why := jq.UnsafePattern(rule.Group, rule.Kind); why != "" {
			s.unheed("the ignoreDifferences rule for "+s.shortened(rule.Kind), why)
			*rule = v1alpha1.ResourceIgnoreDifferences{}
			continue
		}
		rule.JSONPointers = s.atMost(rule.JSONPointers, &left)
		rule.JQPathExpressions = s.guarded(ctx, s.atMost(rule.JQPathExpressions, &left), *rule)
	}
	left = jq.GuardedRules // an Application's rules leave argocd-cm's their place
	for _, name := range slices.Sorted(maps.Keys(s.overrides)) {
		override := s.overrides[name]
		group, kind, found := strings.Cut(name, "/")
		if !found {
			group, kind = "", name
		}
		if why := jq.UnsafePattern(group, kind); why != "" {
			s.unheed("the customization of "+s.shortened(name), why)
			delete(s.overrides, name)
			continue
		}
		ignored := &override.IgnoreDifferences
		ignored.JSONPointers = s.atMost(ignored.JSONPointers, &left)
		ignored.JQPathExpressions = s.guarded(ctx, s.atMost(ignored.JQPathExpressions, &left), v1alpha1.ResourceIgnoreDifferences{Group: group, Kind: kind})
		s.overrides[name] = override
	}
}

// atMost keeps as many as are left.
func (s *situation) atMost(entries []string, left *int) []string {
	if len(entries) > *left {
		s.unheed("the rest of ignoreDifferences, from entry "+strconv.Itoa(*left+1)+" on,", fmt.Sprintf("there are more than %d", jq.GuardedRules))
		entries = entries[:*left]
	}
	*left -= len(entries)
	return entries
}

func (s *situation) unheed(what, why string) {
	s.unheeded = append(s.unheeded, what+" was not heeded: "+why)
}

// guarded are the jq paths of a rule that may run on every resource that it is for.
func (s *situation) guarded(ctx context.Context, paths []string, rule v1alpha1.ResourceIgnoreDifferences) []string {
	var kept []string
	for _, path := range paths {
		if why := s.worry(ctx, jqUse{path, rule}); why != "" {
			s.unheed("the jq path "+s.shortened(path), why)
			continue
		}
		kept = append(kept, path)
	}
	return kept
}

// worry says why a jq path must not run, or "". A path that cannot be compiled runs
// nowhere, and the rules about ignored fields say so.
func (s *situation) worry(ctx context.Context, use jqUse) string {
	if why := jq.Unsafe(use.path); why != "" {
		return why
	}
	code, err := jq.Compile("del(" + use.path + ")")
	if err != nil {
		return ""
	}
	for _, r := range s.resources {
		if !r.meets(use.rule) {
			continue
		}
		for _, side := range []object.Object{r.target, r.live, r.given.NormalizedLive, r.given.PredictedLive} {
			if why := jq.TryOnce(ctx, code, side); why != "" {
				return why + " on " + words.Shortened(r.ref.Kind+" "+r.ref.Name)
			}
		}
	}
	return ""
}

// shortened is a text for a sentence, without values of Secrets.
func (s *situation) shortened(said string) string { return words.Shortened(s.hidden().quoted(said)) }
