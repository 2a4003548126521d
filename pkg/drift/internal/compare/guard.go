package compare

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// JQUse is one jq path of the rules and who it is for.
type JQUse struct {
	Path string
	Rule v1alpha1.ResourceIgnoreDifferences
}

// Guard takes out of the rules what could take the process's time or memory. What it
// took out is in unheeded.
func Guard(ctx context.Context, s *state.Application) {
	ctx, cancel := context.WithTimeout(ctx, jq.GuardedTotal)
	defer cancel()
	left := jq.GuardedRules
	for i := range s.Object.Spec.IgnoreDifferences {
		rule := &s.Object.Spec.IgnoreDifferences[i]
		if why := jq.UnsafePattern(rule.Group, rule.Kind); why != "" {
			refuse(s, "the ignoreDifferences rule for "+s.Shortened(rule.Kind), why)
			*rule = v1alpha1.ResourceIgnoreDifferences{}
			continue
		}
		rule.JSONPointers = atMost(s, rule.JSONPointers, &left)
		rule.JQPathExpressions = guarded(ctx, s, atMost(s, rule.JQPathExpressions, &left), *rule)
	}
	left = jq.GuardedRules // an Application's rules leave argocd-cm's their place
	for _, name := range slices.Sorted(maps.Keys(s.Overrides)) {
		override := s.Overrides[name]
		group, kind, found := strings.Cut(name, "/")
		if !found {
			group, kind = "", name
		}
		if why := jq.UnsafePattern(group, kind); why != "" {
			refuse(s, "the customization of "+s.Shortened(name), why)
			delete(s.Overrides, name)
			continue
		}
		ignored := &override.IgnoreDifferences
		ignored.JSONPointers = atMost(s, ignored.JSONPointers, &left)
		ignored.JQPathExpressions = guarded(ctx, s, atMost(s, ignored.JQPathExpressions, &left), v1alpha1.ResourceIgnoreDifferences{Group: group, Kind: kind})
		s.Overrides[name] = override
	}
}

// atMost keeps as many as are left.
func atMost(s *state.Application, entries []string, left *int) []string {
	if len(entries) > *left {
		refuse(s, "the rest of ignoreDifferences, from entry "+strconv.Itoa(*left+1)+" on,", fmt.Sprintf("there are more than %d", jq.GuardedRules))
		entries = entries[:*left]
	}
	*left -= len(entries)
	return entries
}

func refuse(s *state.Application, what, why string) {
	s.Unheeded = append(s.Unheeded, what+" was not heeded: "+why)
}

// guarded are the jq paths of a rule that may run on every resource that it is for.
func guarded(ctx context.Context, s *state.Application, paths []string, rule v1alpha1.ResourceIgnoreDifferences) []string {
	var kept []string
	for _, path := range paths {
		if why := Unsafe(ctx, s, JQUse{path, rule}); why != "" {
			refuse(s, "the jq path "+s.Shortened(path), why)
			continue
		}
		kept = append(kept, path)
	}
	return kept
}

// Unsafe says why a jq path must not run, or "". A path that cannot be compiled runs
// nowhere, and the rules about ignored fields say so.
func Unsafe(ctx context.Context, s *state.Application, use JQUse) string {
	checked := jq.Check(use.Path)
	if checked.Why != "" {
		return checked.Why
	}
	code, err := jq.Compile("del(" + use.Path + ")")
	if err != nil {
		return ""
	}
	for _, r := range s.Resources {
		if !Meets(r, use.Rule) {
			continue
		}
		for _, side := range []object.Object{r.Target, r.Live, r.Given.NormalizedLive, r.Given.PredictedLive} {
			if why := checked.TryOnce(ctx, code, side); why != "" {
				return why + " on " + words.Shortened(r.Ref.Kind+" "+r.Ref.Name)
			}
		}
	}
	return ""
}
