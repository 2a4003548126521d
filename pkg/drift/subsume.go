package drift

import (
	"slices"
	"strings"
)

// failures are the mechanisms by which the write of an object fails.
var failures = []Mechanism{
	ImmutableField, AnnotationTooLong, AdmissionDenied, ResourceVersionInGit, MergeKeyConflict, InvalidManifest, DeletionStuck, RemovedAPIVersion, MissingCRD,
}

// failWhole gives to a claim about a write that fails what Git would change in the
// same object: an object is written as a whole or not at all.
func failWhole(claims []claim) []claim {
	i := slices.IndexFunc(claims, func(c claim) bool {
		return slices.Contains(failures, c.mechanism) && c.sync == WillFail && len(c.differences) > 0
	})
	if i < 0 {
		return claims
	}
	kept := []claim{claims[i]}
	for j, c := range claims {
		switch {
		case j == i:
		case c.mechanism == GitAhead && len(c.hidden) == 0:
			kept[0].differences = append(kept[0].differences, c.differences...)
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
func followTemplate(claims []claim) []claim {
	about := slices.IndexFunc(claims, func(c claim) bool {
		return slices.ContainsFunc(c.differences, func(d *difference) bool { return strings.HasPrefix(string(d.pointer), "/spec/template") })
	})
	if about < 0 {
		return claims
	}
	var counts []*difference
	for i := range claims {
		claims[i].differences = slices.DeleteFunc(slices.Clone(claims[i].differences), func(d *difference) bool {
			if i == about || d.pointer != templateGeneration {
				return false
			}
			counts = append(counts, d)
			return true
		})
	}
	claims[about].differences = append(claims[about].differences, counts...)
	return slices.DeleteFunc(claims, func(c claim) bool { return len(c.differences)+len(c.hidden) == 0 })
}

// subsumed are findings that others explain: the first is left out where one of the
// others stands.
var subsumed = []struct {
	mechanism Mechanism
	by        []Mechanism
}{
	{AutosyncGaveUp, append([]Mechanism{ProjectNotPermitted, HookFailed, ManifestGenerationError, ComparisonErrorSchema, AutosyncEmptyGuard, SyncWindowBlocked}, failures...)},
	{DuplicateListKey, []Mechanism{ComparisonErrorSchema}},
	{SyncInProgress, []Mechanism{DeletionStuck, HookStuck, WaveBlocked, ControllerStale, PruneProtected, SyncWindowBlocked}},
}

// subsume leaves out what other findings explain. That the workload is unhealthy is
// said of Applications alone in which nothing else is wrong, and that an Application
// is being deleted, or waits for a prune to be confirmed, only when none of its resources
// says so.
func subsume(findings []Finding) []Finding {
	has := map[Mechanism]int{}
	for _, f := range findings {
		has[f.Mechanism]++
	}
	loud := slices.ContainsFunc(findings, func(f Finding) bool { return f.Mechanism != UnhealthyNotDrift })
	said := map[key]map[Mechanism]bool{}
	return slices.DeleteFunc(findings, func(f Finding) bool {
		if about := keyOf(f.Resource); len(f.Fields) == 0 {
			if said[about][f.Mechanism] {
				return true
			}
			if said[about] == nil {
				said[about] = map[Mechanism]bool{}
			}
			said[about][f.Mechanism] = true
		}
		for _, rule := range subsumed {
			if f.Mechanism == rule.mechanism && slices.ContainsFunc(rule.by, func(m Mechanism) bool { return has[m] > 0 }) {
				return true
			}
		}
		return f.Mechanism == UnhealthyNotDrift && loud ||
			(f.Mechanism == DeletionStuck || f.Mechanism == PruneProtected) && f.Resource.Kind == "Application" && f.Resource.Group == "argoproj.io" && has[f.Mechanism] > 1
	})
}
