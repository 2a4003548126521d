package classify

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
)

// failWhole gives to a claim about a write that fails what Git would change in the
// same object: an object is written as a whole or not at all.
func failWhole(claims []rule.Answer) []rule.Answer {
	i := slices.IndexFunc(claims, func(c rule.Answer) bool {
		return slices.Contains(drift.Failures, c.Mechanism) && c.Sync == drift.WillFail && len(c.Differences) > 0
	})
	if i < 0 {
		return claims
	}
	kept := []rule.Answer{claims[i]}
	for j, c := range claims {
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

// templateGeneration counts the changes of a DaemonSet's Pod template; the API server
// keeps it.
const templateGeneration = "/metadata/annotations/deprecated.daemonset.template.generation"

// followTemplate gives the count of template changes to the claim about the template:
// the one comes of the other.
func followTemplate(claims []rule.Answer) []rule.Answer {
	about := slices.IndexFunc(claims, func(c rule.Answer) bool {
		return slices.ContainsFunc(c.Differences, func(d *diff.Difference) bool { return strings.HasPrefix(string(d.Pointer), "/spec/template") })
	})
	if about < 0 {
		return claims
	}
	var counts []*diff.Difference
	for i := range claims {
		claims[i].Differences = slices.DeleteFunc(slices.Clone(claims[i].Differences), func(d *diff.Difference) bool {
			if i == about || d.Pointer != templateGeneration {
				return false
			}
			counts = append(counts, d)
			return true
		})
	}
	claims[about].Differences = append(claims[about].Differences, counts...)
	return slices.DeleteFunc(claims, func(c rule.Answer) bool { return len(c.Differences)+len(c.Hidden) == 0 })
}

// subsumed are findings that others explain: the first is left out where one of the
// others stands.
var subsumed = []struct {
	mechanism drift.Mechanism
	by        []drift.Mechanism
}{
	{drift.AutosyncGaveUp, append([]drift.Mechanism{drift.ProjectNotPermitted, drift.HookFailed, drift.ManifestGenerationError, drift.ComparisonErrorSchema, drift.AutosyncEmptyGuard, drift.SyncWindowBlocked}, drift.Failures...)},
	{drift.DuplicateListKey, []drift.Mechanism{drift.ComparisonErrorSchema}},
	{drift.SyncInProgress, []drift.Mechanism{drift.DeletionStuck, drift.HookStuck, drift.WaveBlocked, drift.ControllerStale, drift.PruneProtected, drift.SyncWindowBlocked}},
}

// subsume leaves out what other findings explain. That the workload is unhealthy is
// said of Applications alone in which nothing else is wrong, and that an Application
// is being deleted, or waits for a prune to be confirmed, only when none of its resources
// says so.
func subsume(findings []drift.Finding) []drift.Finding {
	has := map[drift.Mechanism]int{}
	for _, f := range findings {
		has[f.Mechanism]++
	}
	loud := slices.ContainsFunc(findings, func(f drift.Finding) bool { return f.Mechanism != drift.UnhealthyNotDrift })
	said := map[drift.Key]map[drift.Mechanism]bool{}
	return slices.DeleteFunc(findings, func(f drift.Finding) bool {
		if about := drift.KeyOf(f.Resource); len(f.Fields) == 0 {
			if said[about][f.Mechanism] {
				return true
			}
			if said[about] == nil {
				said[about] = map[drift.Mechanism]bool{}
			}
			said[about][f.Mechanism] = true
		}
		for _, rule := range subsumed {
			if f.Mechanism == rule.mechanism && slices.ContainsFunc(rule.by, func(m drift.Mechanism) bool { return has[m] > 0 }) {
				return true
			}
		}
		return f.Mechanism == drift.UnhealthyNotDrift && loud ||
			(f.Mechanism == drift.DeletionStuck || f.Mechanism == drift.PruneProtected) && f.Resource.Kind == "Application" && f.Resource.Group == "argoproj.io" && has[f.Mechanism] > 1
	})
}
