// Package ignore has the rules about ignoreDifferences: what they hide, what they keep
// from being applied, and rules that were meant for a field and miss it.
package ignore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	patterns "github.com/argoproj/argo-cd/v2/util/glob"
	"github.com/itchyny/gojq"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// HiddenByRules finds what ignoreDifferences hide. Without RespectIgnoreDifferences a
// sync still writes Git's value over it; with it, a change in Git under the rule is
// never applied.
func HiddenByRules(r *state.Resource) []rule.Answer {
	if r.Target == nil || r.Live == nil || r.Application.Incomparable {
		return nil
	}
	respected := r.Application.Respects()
	var answers []rule.Answer
	for _, d := range compare.HiddenDifferences(r) {
		if d.InLive && !d.InTarget && !d.InGit && r.IsDefault(d.Steps, d.Live) {
			continue // the API server fills it in again, whatever a sync writes
		}
		hidden := []drift.Field{{Pointer: d.Pointer, Target: d.Target, Live: d.Live, InTarget: d.InTarget, InLive: d.InLive}}
		w := r.WritersOf(d)
		if owner, found := owners.Newest(w.All); found {
			hidden[0].Owner = &owner
		}
		if !respected {
			answers = append(answers, rule.Answer{
				Mechanism: drift.IgnoreWithoutRespect, Confidence: drift.Certain, Sync: drift.OverwritesLive, Hidden: hidden, Loss: []string{rule.Lost(r, d)},
				Evidence: []string{fmt.Sprintf("an ignoreDifferences rule hides %s, but the Application lacks %s, so the next sync writes Git's value", d.Pointer, mark.RespectOption)},
			})
			continue
		}
		if c, ok := blockedChange(r, d); ok {
			c.Hidden = hidden
			answers = append(answers, c)
		}
	}
	return answers
}

// blockedChange: Git's value changed, and the rule keeps it from being applied.
// Evidence: it is not the one that was applied last, or it is applied nowhere yet
// although the field is Git's alone.
func blockedChange(r *state.Resource, d *diff.Difference) (rule.Answer, bool) {
	w := r.WritersOf(d)
	changed := r.LastApplied != nil && d.InGit != d.InApplied || r.LastApplied != nil && d.InGit && !value.Equal(d.Git, d.Applied)
	if r.LastApplied == nil || !changed {
		changed = d.InGit && (w.Argo || !d.InLive && w.Role == owners.Nobody)
	}
	if w.Role == owners.Controller && !w.Argo || w.Role == owners.Person || !changed {
		return rule.Answer{}, false
	}
	return rule.Answer{
		Mechanism: drift.RespectIgnoreBlocksChange, Confidence: drift.Likely, Sync: drift.Noop,
		Evidence: []string{fmt.Sprintf("Git wants %s at %s; an ignoreDifferences rule with %s keeps it from being applied, and the Application looks Synced", r.Show(d.Pointer, d.Target, d.InTarget), d.Pointer, mark.RespectOption)},
	}, true
}

// ReviseDeadRules gives to ignore-rule-dead the differences that a rule of the
// Application was meant for and misses. The effect of a sync stays that of what lies
// underneath.
func ReviseDeadRules(r *state.Resource, answers []rule.Answer) []rule.Answer {
	if len(answers) == 0 || len(r.Application.Object.Spec.IgnoreDifferences) == 0 {
		return answers
	}
	if !askable(r, answers) {
		return answers
	}
	var revised []rule.Answer
	for _, c := range answers {
		rest := c
		rest.Differences = nil
		for _, d := range c.Differences {
			why, dead := deadRule(r, d)
			if !dead {
				rest.Differences = append(rest.Differences, d)
				continue
			}
			revised = append(revised, rule.Answer{
				Mechanism: drift.IgnoreRuleDead, Differences: []*diff.Difference{d}, Confidence: drift.Likely, Sync: c.Sync, Loss: c.Loss,
				Evidence: append([]string{why, "without the rule this would be " + string(c.Mechanism)}, c.Evidence...),
			})
		}
		if len(rest.Differences) > 0 || len(c.Differences) == 0 {
			revised = append(revised, rest)
		}
	}
	return revised
}

// maxAims bounds the questions whether an entry of the rules was meant for a
// difference. Beyond it the differences keep the mechanism that they have.
const maxAims = 10_000_000

// askable reports whether every difference can be held against every rule.
func askable(r *state.Resource, answers []rule.Answer) bool {
	entries, differing := 0, 0
	for _, rule := range r.Application.Object.Spec.IgnoreDifferences {
		entries += 1 + len(rule.JSONPointers) + len(rule.JQPathExpressions)
	}
	for _, c := range answers {
		differing += len(c.Differences)
	}
	return differing <= maxAims/max(1, entries)
}

// deadRule returns why a rule that was meant for the difference misses it.
func deadRule(r *state.Resource, d *diff.Difference) (string, bool) {
	for _, rule := range r.Application.Object.Spec.IgnoreDifferences {
		if r.Application.Ctx.Err() != nil {
			break
		}
		if !patterns.Match(rule.Kind, r.Ref.Kind) && !strings.EqualFold(rule.Kind, r.Ref.Kind) {
			continue
		}
		aims, why := aims(r, rule, d)
		if !aims {
			continue
		}
		switch {
		case !patterns.Match(rule.Kind, r.Ref.Kind):
			return fmt.Sprintf("an ignoreDifferences rule has the kind %q; it is spelt %q", rule.Kind, r.Ref.Kind), true
		case !patterns.Match(rule.Group, r.Ref.Group):
			return fmt.Sprintf("an ignoreDifferences rule for %s has the group %q; the kind's is %q", rule.Kind, rule.Group, r.Ref.Group), true
		case rule.Name != "" && rule.Name != r.Ref.Name:
			if has(r.Application, rule.Kind, rule.Name) {
				continue
			}
			return fmt.Sprintf("an ignoreDifferences rule for %s names %q, which no resource is called; this one is %q", rule.Kind, rule.Name, r.Ref.Name), true
		case rule.Namespace != "" && rule.Namespace != r.Ref.Namespace:
			return fmt.Sprintf("an ignoreDifferences rule for %s has the namespace %q; the resource is in %q", rule.Kind, rule.Namespace, r.Ref.Namespace), true
		case why != "":
			return why, true
		}
	}
	return "", false
}

// has reports whether a resource of the Application has the kind and name.
func has(s *state.Application, kind, name string) bool {
	return slices.ContainsFunc(s.Resources, func(r *state.Resource) bool { return r.Ref.Kind == kind && r.Ref.Name == name })
}

// aims reports whether a rule was meant for the difference, and what is wrong with
// its path, if anything is.
func aims(r *state.Resource, rule v1alpha1.ResourceIgnoreDifferences, d *diff.Difference) (aims bool, why string) {
	plain := "/" + strings.Join(d.Steps, "/")
	for _, pointer := range rule.JSONPointers {
		if aims, why := aimsAt(pointer, plain, d); aims {
			return true, why
		}
	}
	for _, path := range rule.JQPathExpressions {
		if aims, why := aimsByJQ(r, path, d); aims {
			return true, why
		}
	}
	if len(rule.ManagedFieldsManagers) == 0 || len(rule.JSONPointers)+len(rule.JQPathExpressions) > 0 {
		return false, ""
	}
	known := slices.ContainsFunc(r.Ownership().Entries, func(owner drift.Owner) bool { return slices.Contains(rule.ManagedFieldsManagers, owner.Manager) })
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

// aimsByJQ holds a difference against what a jq path selects in either side. One that
// cannot be read, or selects nothing, was meant for the difference when it names its
// last field.
func aimsByJQ(r *state.Resource, path string, d *diff.Difference) (aims bool, why string) {
	e := r.Application.Expression(path)
	if e.Err != nil {
		return e.Mentions(d), fmt.Sprintf("the jq path %q cannot be used: %v", path, e.Err)
	}
	selected := r.Selection(path)
	switch {
	case selected.Err != nil:
		return e.Mentions(d), fmt.Sprintf("the jq path %q does not fit the object: %s", path, jqError(r, selected.Err))
	case selected.Places.Covers(d.Pointer) || selected.Places.Covers(d.TargetPointer):
		return true, ""
	case selected.Places.Len() == 0 && e.Mentions(d):
		return true, fmt.Sprintf("the jq path %q selects nothing in this object", path)
	}
	return false, ""
}

// jqError says why a jq path ended. Its own words may be a part of what it has read, in any
// spelling: of a Secret only the kind of the error is told.
func jqError(r *state.Resource, err error) string {
	switch {
	case !r.IsSecret():
		return err.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "it takes too long"
	}
	if _, thrown := errors.AsType[gojq.ValueError](err); thrown {
		return "it ends in an error of its own (hidden, as the object is a Secret)"
	}
	return "it meets a value of another type (hidden, as the object is a Secret)"
}
