package recorder

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// LabelError tells where a label is not what Argo CD saw.
type LabelError struct {
	Case     string
	Problems []string
}

func (e *LabelError) Error() string {
	return fmt.Sprintf("%s: the label is not what Argo CD saw:\n  %s", e.Case, strings.Join(e.Problems, "\n  "))
}

// CheckLabel compares the flagged fields of the label with the plain difference of the
// two states that Argo CD compared, and what is OutOfSync with what has a finding. A label
// is about objects of the snapshot.
func CheckLabel(recorded cases.Case) error {
	problem := &LabelError{Case: recorded.Name}
	for _, finding := range recorded.Expect.Findings {
		if !holds(&recorded.Snapshot, finding.Resource) {
			problem.Problems = append(problem.Problems, fmt.Sprintf("the label refers to %s %s/%s, which the snapshot lacks", finding.Resource.Kind, finding.Resource.Namespace, finding.Resource.Name))
		}
	}
	for _, resource := range recorded.ArgoCD.Resources {
		problem.Problems = append(problem.Problems, checkResource(recorded, resource)...)
	}
	if len(problem.Problems) > 0 {
		return problem
	}
	return nil
}

// holds reports whether the snapshot has the object, is of it, or says that Argo CD leaves
// it out.
func holds(snapshot *drift.Snapshot, ref drift.ResourceRef) bool {
	if ref.Group == "argoproj.io" && ref.Kind == "Application" || excluded(ref, snapshot.Application) {
		return true
	}
	return slices.ContainsFunc(snapshot.Resources, func(r drift.Resource) bool {
		return r.Group == ref.Group && r.Kind == ref.Kind && r.Namespace == ref.Namespace && r.Name == ref.Name
	})
}

func checkResource(recorded cases.Case, resource cases.ResourceVerdict) []string {
	var labelled []string
	flagged := false
	for _, finding := range recorded.Expect.Findings {
		if finding.Resource == resource.ResourceRef && finding.Flagged {
			flagged = true
			labelled = append(labelled, finding.Fields...)
		}
	}
	slices.Sort(labelled)
	seen := FlaggedFields(resource)
	name := fmt.Sprintf("%s %s/%s (%s)", resource.Kind, resource.Namespace, resource.Name, resource.Status)
	var problems []string
	if !slices.Equal(labelled, seen) {
		problems = append(problems, fmt.Sprintf("%s: the label has the fields %q, Argo CD flags %q", name, labelled, seen))
	}
	if resource.Status == "OutOfSync" && !flagged && !aboutApplication(recorded) {
		problems = append(problems, name+": it is OutOfSync, and the label has no flagged finding on it")
	}
	return problems
}

// aboutApplication tells whether a finding speaks for the whole Application.
func aboutApplication(recorded cases.Case) bool {
	return slices.ContainsFunc(recorded.Expect.Findings, func(finding cases.Finding) bool {
		return finding.Resource.Kind == "Application" && finding.Resource.Group == "argoproj.io" && len(finding.Fields) == 0 &&
			finding.Mechanism != drift.None
	})
}

// FlaggedFields are the fields that Argo CD flags; none where one side is missing.
func FlaggedFields(resource cases.ResourceVerdict) []string {
	if resource.NormalizedLive == nil || resource.PredictedLive == nil {
		return nil
	}
	return Differences(resource.NormalizedLive, resource.PredictedLive)
}

// Differences returns the pointers of the smallest nodes that differ, sorted. Items of
// lists of the same length are compared by place; of others by name or, where they have
// none, after what both lists begin and end with.
func Differences(live, predicted any) []string {
	var found []string
	compare(fieldpath.Of(), live, predicted, &found)
	slices.Sort(found)
	return found
}

func compare(at fieldpath.Pointer, live, predicted any, found *[]string) {
	if reflect.DeepEqual(live, predicted) {
		return
	}
	if liveMap, ok := live.(map[string]any); ok {
		if predictedMap, ok := predicted.(map[string]any); ok {
			compareMaps(at, liveMap, predictedMap, found)
			return
		}
	}
	if liveList, ok := live.([]any); ok {
		if predictedList, ok := predicted.([]any); ok {
			compareLists(at, liveList, predictedList, found)
			return
		}
	}
	*found = append(*found, string(at))
}

func compareMaps(at fieldpath.Pointer, live, predicted map[string]any, found *[]string) {
	keys := map[string]bool{}
	for key := range live {
		keys[key] = true
	}
	for key := range predicted {
		keys[key] = true
	}
	for key := range maps.Keys(keys) {
		liveValue, inLive := live[key]
		predictedValue, inPredicted := predicted[key]
		if inLive != inPredicted {
			*found = append(*found, string(at.Key(key)))
			continue
		}
		compare(at.Key(key), liveValue, predictedValue, found)
	}
}

func compareLists(at fieldpath.Pointer, live, predicted []any, found *[]string) {
	if len(live) == len(predicted) {
		for i := range live {
			compare(at.Index(i), live[i], predicted[i], found)
		}
		return
	}
	partner, ok := byName(live, predicted)
	if !ok {
		partner = byEnds(live, predicted)
	}
	paired := map[int]bool{}
	for i, j := range partner {
		if j < 0 {
			*found = append(*found, string(at.Index(i)))
			continue
		}
		paired[j] = true
		compare(at.Index(i), live[i], predicted[j], found)
	}
	for j := range predicted {
		if !paired[j] {
			*found = append(*found, string(at.Index(j)))
		}
	}
}

// byName returns for each live item the place of its partner, or -1.
func byName(live, predicted []any) ([]int, bool) {
	places := map[any]int{}
	for j, item := range predicted {
		name, ok := nameOf(item)
		if _, taken := places[name]; !ok || taken {
			return nil, false
		}
		places[name] = j
	}
	partner := make([]int, len(live))
	taken := map[int]bool{}
	for i, item := range live {
		name, ok := nameOf(item)
		if !ok {
			return nil, false
		}
		j, found := places[name]
		if !found || taken[j] {
			j = -1
		}
		partner[i], taken[j] = j, true
	}
	return partner, true
}

func nameOf(item any) (any, bool) {
	content, _ := item.(map[string]any)
	name, ok := content["name"].(string)
	return name, ok
}

// byEnds pairs what both begin and end with, and the rest by place.
func byEnds(live, predicted []any) []int {
	partner := make([]int, len(live))
	for i := range partner {
		partner[i] = -1
	}
	from := 0
	for from < len(live) && from < len(predicted) && reflect.DeepEqual(live[from], predicted[from]) {
		partner[from] = from
		from++
	}
	i, j := len(live)-1, len(predicted)-1
	for ; i >= from && j >= from && reflect.DeepEqual(live[i], predicted[j]); i, j = i-1, j-1 {
		partner[i] = j
	}
	for ; from <= i && from <= j; from++ {
		partner[from] = from
	}
	return partner
}
