package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// foldedFields answers for what differs in too many fields to look at each: anybody
// may have written some of them.
func foldedFields(r *state.Resource, open []*diff.Difference) []rule.Answer {
	var answers []rule.Answer
	for _, d := range open {
		if !d.Folded {
			continue
		}
		c := rule.AnswerFor(r, d, drift.Possible, drift.OverwritesLive, fmt.Sprintf("more differs below %s than can be named field by field; compare the two sides by themselves", d.Pointer))
		c.Mechanism, c.Differences = drift.Unexplained, []*diff.Difference{d}
		answers = append(answers, c)
	}
	return answers
}

// failWhole gives to an answer about a write that fails what Git would change in the
// same object.
func failWhole(_ *state.Resource, answers []rule.Answer) []rule.Answer {
	i := slices.IndexFunc(answers, func(c rule.Answer) bool {
		return slices.Contains(drift.Failures, c.Mechanism) && c.Sync == drift.WillFail && len(c.Differences) > 0
	})
	if i < 0 {
		return answers
	}
	kept := []rule.Answer{answers[i]}
	for j, c := range answers {
		switch {
		case j == i:
		case c.Mechanism == drift.GitAhead && len(c.Hidden) == 0:
			kept[0].Differences = append(kept[0].Differences, c.Differences...)
		default:
			kept = append(kept, c)
		}
	}
	return kept
}

// restoreMark corrects the effect of an answer about nothing but Argo CD's own mark that
// somebody took away, while no other Application claims the object.
func restoreMark(r *state.Resource, answers []rule.Answer) []rule.Answer {
	if _, claimed := r.Claimant(); claimed {
		return answers
	}
	for i := range answers {
		c := &answers[i]
		marks := len(c.Differences) > 0 && !slices.ContainsFunc(c.Differences, func(d *diff.Difference) bool { return !r.Tracks(d) || d.InLive && len(d.Steps) < 3 })
		if marks && c.Sync == drift.OverwritesLive {
			c.Sync, c.Loss = drift.Safe, nil
			c.Evidence = append(c.Evidence, "nothing but Argo CD's own mark differs: a sync writes it again and overwrites nothing")
		}
	}
	return answers
}

// templateGeneration counts the changes of a DaemonSet's Pod template; the API server
// keeps it.
const templateGeneration = "/metadata/annotations/deprecated.daemonset.template.generation"

// followTemplate gives the count of template changes to the answer about the template.
func followTemplate(_ *state.Resource, answers []rule.Answer) []rule.Answer {
	about := slices.IndexFunc(answers, func(c rule.Answer) bool {
		return slices.ContainsFunc(c.Differences, func(d *diff.Difference) bool { return strings.HasPrefix(string(d.Pointer), "/spec/template") })
	})
	if about < 0 {
		return answers
	}
	var counts []*diff.Difference
	for i := range answers {
		answers[i].Differences = slices.DeleteFunc(slices.Clone(answers[i].Differences), func(d *diff.Difference) bool {
			if i == about || d.Pointer != templateGeneration {
				return false
			}
			counts = append(counts, d)
			return true
		})
	}
	answers[about].Differences = append(answers[about].Differences, counts...)
	return slices.DeleteFunc(answers, func(c rule.Answer) bool { return len(c.Differences)+len(c.Hidden) == 0 })
}
