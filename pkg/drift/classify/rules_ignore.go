package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	patterns "github.com/argoproj/argo-cd/v2/util/glob"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// hiddenByRules finds what ignoreDifferences hide. Without RespectIgnoreDifferences a
// sync still writes Git's value over it; with it, a change in Git under the rule is
// never applied.
func hiddenByRules(r *resource) []claim {
	if r.target == nil || r.live == nil || r.situation.incomparable {
		return nil
	}
	respected := r.situation.respects()
	var claims []claim
	for _, d := range r.hiddenDifferences() {
		if d.InLive && !d.InTarget && !d.InGit && r.isDefault(d.Steps, d.Live) {
			continue // the API server fills it in again, whatever a sync writes
		}
		hidden := []drift.Field{{Pointer: d.Pointer, Target: d.Target, Live: d.Live, InTarget: d.InTarget, InLive: d.InLive}}
		w := r.writersOf(d)
		if owner, found := owners.Newest(w.all); found {
			hidden[0].Owner = &owner
		}
		if !respected {
			claims = append(claims, claim{
				mechanism: drift.IgnoreWithoutRespect, confidence: drift.Certain, sync: drift.OverwritesLive, hidden: hidden, loss: []string{r.lost(d)},
				evidence: []string{fmt.Sprintf("an ignoreDifferences rule hides %s, but the Application lacks %s, so the next sync writes Git's value", d.Pointer, mark.RespectOption)},
			})
			continue
		}
		if c, ok := r.blockedChange(d); ok {
			c.hidden = hidden
			claims = append(claims, c)
		}
	}
	return claims
}

// blockedChange: Git's value changed, and the rule keeps it from being applied.
// Evidence: it is not the one that was applied last, or it is applied nowhere yet
// although the field is Git's alone.
func (r *resource) blockedChange(d *diff.Difference) (claim, bool) {
	w := r.writersOf(d)
	changed := r.lastApplied != nil && d.InGit != d.InApplied || r.lastApplied != nil && d.InGit && !value.Equal(d.Git, d.Applied)
	if r.lastApplied == nil || !changed {
		changed = d.InGit && (w.argo || !d.InLive && w.role == owners.Nobody)
	}
	if w.role == owners.Controller && !w.argo || w.role == owners.Person || !changed {
		return claim{}, false
	}
	return claim{
		mechanism: drift.RespectIgnoreBlocksChange, confidence: drift.Likely, sync: drift.Noop,
		evidence: []string{fmt.Sprintf("Git wants %s at %s; an ignoreDifferences rule with %s keeps it from being applied, and the Application looks Synced", r.show(d.Pointer, d.Target, d.InTarget), d.Pointer, mark.RespectOption)},
	}, true
}

func (s *situation) respects() bool {
	policy := s.app.Spec.SyncPolicy
	return policy != nil && policy.SyncOptions.HasOption(mark.RespectOption)
}

// hiddenDifferences are those that show only without the rules that somebody set.
// Where the API server's prediction is given, it was made under the rules, so the
// nearest comparison that needs no prediction takes its place.
func (r *resource) hiddenDifferences() []*diff.Difference {
	if !slices.ContainsFunc(r.situation.app.Spec.IgnoreDifferences, func(rule v1alpha1.ResourceIgnoreDifferences) bool { return r.meets(rule) }) && !r.overridden() {
		return nil
	}
	strategy, under := r.strategy, r.differences
	if r.given.PredictedLive != nil {
		strategy = drift.Legacy
		if r.syncsServerSide() {
			strategy = drift.StructuredMerge
		}
		ruled := r.again(strategy, r.situation.rules())
		if ruled.compareError != nil {
			return nil
		}
		under = append(slices.Clone(under), ruled.differences...)
	}
	open := r.again(strategy, rules{overrides: r.situation.plainOverrides()})
	if open.compareError != nil {
		return nil
	}
	shown, folded := fieldpath.NewSet(), fieldpath.NewSet()
	for _, d := range under {
		shown.Insert(d.Pointer)
		if d.Folded {
			folded.Insert(d.Pointer)
		}
	}
	open.differences = slices.DeleteFunc(open.differences, func(d *diff.Difference) bool { return shown.Has(d.Pointer) || folded.Covers(d.Pointer) })
	open.prepare()
	if r.lastApplied == nil {
		r.lastApplied = open.lastApplied
	}
	return open.differences
}

// again compares the resource once more under other rules, without regard to a
// given prediction.
func (r *resource) again(strategy drift.Strategy, with rules) *resource {
	again := &resource{situation: r.situation, unfit: r.unfit, given: &drift.Resource{}, ref: r.ref, target: r.target, live: r.live, strategy: strategy}
	again.compareAlone(again.target, strategy, with)
	return again
}

// meets reports whether a rule is for the resource.
func (r *resource) meets(rule v1alpha1.ResourceIgnoreDifferences) bool {
	return patterns.Match(rule.Group, r.ref.Group) && patterns.Match(rule.Kind, r.ref.Kind) &&
		(rule.Name == "" || rule.Name == r.ref.Name) && (rule.Namespace == "" || rule.Namespace == r.ref.Namespace)
}

// overridden reports whether argocd-cm ignores fields of the kind.
func (r *resource) overridden() bool {
	for name, override := range r.situation.overrides {
		group, kind, _ := strings.Cut(name, "/")
		if kind == "" {
			group, kind = "", group
		}
		ignores := override.IgnoreDifferences
		if patterns.Match(group, r.ref.Group) && patterns.Match(kind, r.ref.Kind) &&
			(slices.ContainsFunc(ignores.JSONPointers, func(p string) bool { return !slices.Contains(standardPointers, p) }) ||
				len(ignores.JQPathExpressions)+len(ignores.ManagedFieldsManagers) > 0) {
			return true
		}
	}
	return false
}

// standardPointers are what Argo CD itself ignores.
var standardPointers = []string{statusPointer, "/spec/preserveUnknownFields"}

// plainOverrides are the overrides without what somebody chose to ignore.
func (s *situation) plainOverrides() map[string]v1alpha1.ResourceOverride {
	left := make(map[string]v1alpha1.ResourceOverride, len(s.overrides))
	for name, override := range s.overrides {
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

// reviseDeadRules gives to ignore-rule-dead the differences that a rule of the
// Application was meant for and misses. The effect of a sync stays that of what lies
// underneath.
func (r *resource) reviseDeadRules(claims []claim) []claim {
	if len(claims) == 0 || len(r.situation.app.Spec.IgnoreDifferences) == 0 {
		return claims
	}
	if !r.askable(claims) {
		return claims
	}
	var revised []claim
	for _, c := range claims {
		rest := c
		rest.differences = nil
		for _, d := range c.differences {
			why, dead := r.deadRule(d)
			if !dead {
				rest.differences = append(rest.differences, d)
				continue
			}
			revised = append(revised, claim{
				mechanism: drift.IgnoreRuleDead, differences: []*diff.Difference{d}, confidence: drift.Likely, sync: c.sync, loss: c.loss,
				evidence: append([]string{why, "without the rule this would be " + string(c.mechanism)}, c.evidence...),
			})
		}
		if len(rest.differences) > 0 || len(c.differences) == 0 {
			revised = append(revised, rest)
		}
	}
	return revised
}

// maxAims bounds the questions whether an entry of the rules was meant for a
// difference. Beyond it the differences keep the mechanism that they have.
const maxAims = 10_000_000

// askable reports whether every difference can be held against every rule.
func (r *resource) askable(claims []claim) bool {
	entries, differing := 0, 0
	for _, rule := range r.situation.app.Spec.IgnoreDifferences {
		entries += 1 + len(rule.JSONPointers) + len(rule.JQPathExpressions)
	}
	for _, c := range claims {
		differing += len(c.differences)
	}
	return differing <= maxAims/max(1, entries)
}

// deadRule returns why a rule that was meant for the difference misses it.
func (r *resource) deadRule(d *diff.Difference) (string, bool) {
	for _, rule := range r.situation.app.Spec.IgnoreDifferences {
		if r.situation.ctx.Err() != nil {
			break
		}
		if !patterns.Match(rule.Kind, r.ref.Kind) && !strings.EqualFold(rule.Kind, r.ref.Kind) {
			continue
		}
		aims, why := r.aims(rule, d)
		if !aims {
			continue
		}
		switch {
		case !patterns.Match(rule.Kind, r.ref.Kind):
			return fmt.Sprintf("an ignoreDifferences rule has the kind %q; it is spelt %q", rule.Kind, r.ref.Kind), true
		case !patterns.Match(rule.Group, r.ref.Group):
			return fmt.Sprintf("an ignoreDifferences rule for %s has the group %q; the kind's is %q", rule.Kind, rule.Group, r.ref.Group), true
		case rule.Name != "" && rule.Name != r.ref.Name:
			if r.situation.has(rule.Kind, rule.Name) {
				continue
			}
			return fmt.Sprintf("an ignoreDifferences rule for %s names %q, which no resource is called; this one is %q", rule.Kind, rule.Name, r.ref.Name), true
		case rule.Namespace != "" && rule.Namespace != r.ref.Namespace:
			return fmt.Sprintf("an ignoreDifferences rule for %s has the namespace %q; the resource is in %q", rule.Kind, rule.Namespace, r.ref.Namespace), true
		case why != "":
			return why, true
		}
	}
	return "", false
}

// has reports whether a resource of the Application has the kind and name.
func (s *situation) has(kind, name string) bool {
	return slices.ContainsFunc(s.resources, func(r *resource) bool { return r.ref.Kind == kind && r.ref.Name == name })
}

// aims reports whether a rule was meant for the difference, and what is wrong with
// its path, if anything is.
func (r *resource) aims(rule v1alpha1.ResourceIgnoreDifferences, d *diff.Difference) (aims bool, why string) {
	plain := "/" + strings.Join(d.Steps, "/")
	for _, pointer := range rule.JSONPointers {
		if aims, why := aimsAt(pointer, plain, d); aims {
			return true, why
		}
	}
	for _, path := range rule.JQPathExpressions {
		if aims, why := r.aimsByJQ(path, d); aims {
			return true, why
		}
	}
	if len(rule.ManagedFieldsManagers) == 0 || len(rule.JSONPointers)+len(rule.JQPathExpressions) > 0 {
		return false, ""
	}
	known := slices.ContainsFunc(r.ownership().Entries, func(owner drift.Owner) bool { return slices.Contains(rule.ManagedFieldsManagers, owner.Manager) })
	if known {
		return false, ""
	}
	return true, fmt.Sprintf("an ignoreDifferences rule trusts the managers %s, none of which is in managedFields", strings.Join(rule.ManagedFieldsManagers, ", "))
}

// aimsAt compares a JSON pointer with a difference, also as a person may have
// misspelt it: slashes in names not escaped, dots, wildcards, another case. plain are
// the difference's steps without escapes.
func aimsAt(pointer, plain string, d *diff.Difference) (aims bool, why string) {
	if spelled := fieldpath.Pointer(pointer); spelled.Covers(d.Pointer) || spelled.Covers(d.TargetPointer) {
		return true, ""
	}
	begins := func(spelt string) bool { return plain == spelt || strings.HasPrefix(plain, spelt+"/") }
	switch {
	case pointer == "" || pointer == "/":
		return false, ""
	case begins(pointer):
		return true, fmt.Sprintf("the JSON pointer %q does not escape the slash in a name as ~1", pointer)
	case !strings.HasPrefix(pointer, "/") && strings.HasPrefix(plain, dotted(pointer)):
		return true, fmt.Sprintf("%q is no JSON pointer; write %q", pointer, d.Pointer)
	case strings.Contains(pointer, "*") && matchesSteps(strings.Split(strings.Trim(pointer, "/"), "/"), d.Steps):
		return true, fmt.Sprintf("the JSON pointer %q has a wildcard, which JSON pointers do not know; use a jq path", pointer)
	case strings.EqualFold(pointer, string(d.Pointer)):
		return true, fmt.Sprintf("the JSON pointer %q is spelt in another case than %q", pointer, d.Pointer)
	}
	return false, ""
}

// dotted is a path with dots as a pointer.
func dotted(path string) string {
	return strings.ReplaceAll("/"+strings.ReplaceAll(strings.TrimLeft(path, "./$"), ".", "/"), "//", "/")
}

// matchesSteps compares step by step; "*" and "[*]" stand for any one.
func matchesSteps(pattern, steps []string) bool {
	if len(pattern) > len(steps) {
		return false
	}
	for i, want := range pattern {
		if want != steps[i] && strings.Trim(want, "[]") != "*" {
			return false
		}
	}
	return true
}
