package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// newlyFlagged is what Argo CD flags after the fix and did not flag before, beside the
// finding itself.
func newlyFlagged(before, after cases.Case, finding drift.Finding) []string {
	allowed := map[string]bool{}
	outOfSync := map[drift.ResourceRef]bool{}
	for _, verdict := range before.ArgoCD.Resources {
		outOfSync[verdict.ResourceRef] = verdict.Status == "OutOfSync"
		for _, field := range recorder.FlaggedFields(verdict) {
			if sameResource(verdict.ResourceRef, finding.Resource) && hasField(finding, field) {
				continue
			}
			allowed[at(verdict, field)] = true
			allowed[saying(verdict, field)] = true
		}
	}
	var problems []string
	for _, verdict := range after.ArgoCD.Resources {
		fields := recorder.FlaggedFields(verdict)
		for _, field := range fields {
			if !allowed[at(verdict, field)] && !allowed[saying(verdict, field)] {
				problems = append(problems, "Argo CD flags "+saying(verdict, field)+" at "+field)
			}
		}
		was := outOfSync[verdict.ResourceRef] && !sameResource(verdict.ResourceRef, finding.Resource)
		if verdict.Status == "OutOfSync" && len(fields) == 0 && !was {
			problems = append(problems, fmt.Sprintf("%s %s is OutOfSync without a field", verdict.Kind, verdict.Name))
		}
	}
	conditions := conditionsOf(before)
	for kind, message := range conditionsOf(after) {
		if _, had := conditions[kind]; !had {
			problems = append(problems, "Argo CD has the condition "+kind+": "+message)
		}
	}
	return problems
}

// at names a flagged field by its place.
func at(verdict cases.ResourceVerdict, field string) string {
	return fmt.Sprintf("%s/%s/%s/%s%s", verdict.Group, verdict.Kind, verdict.Namespace, verdict.Name, field)
}

// saying names it by its values, as items of lists move when one is hidden or removed.
func saying(verdict cases.ResourceVerdict, field string) string {
	pointer := fieldpath.Pointer(field)
	steps := slices.DeleteFunc(pointer.Steps(), func(step string) bool { return strings.Trim(step, "0123456789") == "" })
	live, inLive := pointer.Value(verdict.NormalizedLive)
	target, inTarget := pointer.Value(verdict.PredictedLive)
	data, err := json.Marshal([]any{live, inLive, target, inTarget})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s %s", verdict.Group, verdict.Kind, verdict.Namespace, verdict.Name, strings.Join(steps, "/"), data)
}

func conditionsOf(c cases.Case) map[string]string {
	found := map[string]string{}
	conditions, _, _ := unstructured.NestedSlice(c.Snapshot.Application, "status", "conditions")
	for _, condition := range conditions {
		content, _ := condition.(map[string]any)
		found[fmt.Sprint(content["type"])] = fmt.Sprint(content["message"])
	}
	return found
}

// stillThere says where a report has what the fix was for.
func stillThere(report *drift.Report, fixed drift.Finding) []string {
	var problems []string
	for _, finding := range report.Findings {
		if finding.Mechanism != fixed.Mechanism || !sameResource(finding.Resource, fixed.Resource) {
			continue
		}
		for _, field := range finding.Fields {
			if hasField(fixed, string(field.Pointer)) {
				problems = append(problems, fmt.Sprintf("%s still stands in the report as %s", field.Pointer, finding.Mechanism))
			}
		}
	}
	return problems
}

func hasField(finding drift.Finding, pointer string) bool {
	return slices.ContainsFunc(finding.Fields, func(field drift.Field) bool { return string(field.Pointer) == pointer })
}

func sameResource(a, b drift.ResourceRef) bool {
	a.Version, b.Version = "", ""
	return a == b
}

// fixTally counts what came of the fixes, by kind.
type fixTally struct {
	guard              sync.Mutex
	scenarios, without int
	held               int
	kinds              map[drift.FixKind]fixCount
	reasons            map[string]int
}

type fixCount struct{ proven, held, skipped int }

func newFixTally() *fixTally {
	return &fixTally{kinds: map[drift.FixKind]fixCount{}, reasons: map[string]int{}}
}

// String is the table.
func (f *fixTally) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "fixes of %d scenarios (%d others have no proven fix):\n", f.scenarios, f.without)
	row := func(name string, c fixCount) {
		fmt.Fprintf(&text, "  %-32s proven %3d  applied %3d  held %3d  skipped %3d\n", name, c.proven, c.proven-c.skipped, c.held, c.skipped)
	}
	var total fixCount
	for _, kind := range slices.Sorted(maps.Keys(f.kinds)) {
		count := f.kinds[kind]
		row(string(kind), count)
		total.proven += count.proven
		total.held += count.held
		total.skipped += count.skipped
	}
	row("all", total)
	for _, reason := range slices.Sorted(maps.Keys(f.reasons)) {
		fmt.Fprintf(&text, "  %d skipped: %s\n", f.reasons[reason], reason)
	}
	return text.String()
}

// add counts a fix that was applied.
func (f *fixTally) add(kind drift.FixKind, held bool) {
	f.guard.Lock()
	defer f.guard.Unlock()
	count := f.kinds[kind]
	count.proven++
	if held {
		count.held++
		f.held++
	}
	f.kinds[kind] = count
}

// skip counts a fix that was not.
func (f *fixTally) skip(kind drift.FixKind, reason string) {
	f.guard.Lock()
	defer f.guard.Unlock()
	count := f.kinds[kind]
	count.proven++
	count.skipped++
	f.kinds[kind] = count
	f.reasons[reason]++
}
