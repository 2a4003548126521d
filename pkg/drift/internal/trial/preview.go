package trial

import (
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Forecast collects a preview.
type Forecast struct {
	Rules   []v1alpha1.ResourceIgnoreDifferences
	Said    map[Place]drift.Finding
	Preview *drift.Preview
}

// Place is a flagged field.
type Place struct {
	key     drift.Key
	pointer fieldpath.Pointer
}

// SaidOf finds a report's findings by what they flag.
func SaidOf(report *drift.Report) map[Place]drift.Finding {
	said := map[Place]drift.Finding{}
	for _, f := range report.Findings {
		for _, field := range f.Fields {
			if f.Flagged {
				said[Place{drift.KeyOf(f.Resource), field.Pointer}] = f
			}
		}
	}
	return said
}

// Resource adds what the rules do to one resource.
func (p *Forecast) Resource(r *state.Resource) {
	mine := slices.DeleteFunc(slices.Clone(p.Rules), func(rule v1alpha1.ResourceIgnoreDifferences) bool { return !compare.Meets(r, rule) })
	p.covers(r, mine)
	if r.Given.Hook {
		return
	}
	if r.Target == nil || r.Live == nil || r.CompareError != nil {
		p.Preview.Synced = p.Preview.Synced && !r.OutOfSync()
		return
	}
	after := r.Differences
	if len(mine) > 0 {
		after = under(r, mine)
		p.Preview.Hides = append(p.Preview.Hides, p.fields(r, diff.Unmatched(r.Differences, after))...)
		p.Preview.Reveals = append(p.Preview.Reveals, p.fields(r, diff.Unmatched(after, r.Differences))...)
	}
	p.Preview.Remaining += len(after)
	// Where nothing differs here and Argo CD says so all the same, no rule helps.
	p.Preview.Synced = p.Preview.Synced && len(after) == 0 && (len(r.Differences) > 0 || !r.SaidOutOfSync())
}

func (p *Forecast) fields(r *state.Resource, found []*diff.Difference) []drift.PreviewField {
	listed := make([]drift.PreviewField, 0, len(found))
	for _, d := range found {
		f := p.Said[Place{drift.KeyOf(r.Ref), d.Pointer}]
		listed = append(listed, drift.PreviewField{PreviewPlace: drift.PreviewPlace{Resource: r.Ref, Pointer: d.Pointer}, Mechanism: f.Mechanism, Sync: f.Sync})
	}
	return listed
}

// under are the differences that are left under further rules. Where the comparison
// made here does not find what Argo CD found, the rules are run on the two documents
// that Argo CD compared instead.
func under(r *state.Resource, rules []v1alpha1.ResourceIgnoreDifferences) []*diff.Difference {
	if foundAgain(r) {
		if after, err := compare.Try(r, compare.Trial{Ignores: rules}); err == nil {
			return after
		}
	}
	live, target := compare.WithoutIgnored(r.Normalized, rules), compare.WithoutIgnored(r.Predicted, rules)
	after, err := diff.Between(r.Application.Ctx, diff.NewAllowance(), live, target)
	if err != nil {
		return r.Differences // nothing is known to go away
	}
	return after
}

// foundAgain reports whether the comparison made here finds all that Argo CD found.
func foundAgain(r *state.Resource) bool {
	if r.Given.NormalizedLive == nil || r.Given.PredictedLive == nil {
		return true
	}
	again, err := compare.Try(r, compare.Trial{})
	return err == nil && diff.CountAll(r.Differences).Hold(again) && diff.CountAll(again).Hold(r.Differences)
}

// OutOfSyncElsewhere reports whether Argo CD lists something as OutOfSync that the
// snapshot does not hold, or cannot compare at all.
func OutOfSyncElsewhere(s *state.Application) bool {
	if s.Object.Status.Sync.Status == v1alpha1.SyncStatusCodeUnknown {
		return true
	}
	held := map[drift.Key]bool{}
	for _, r := range s.Resources {
		held[drift.KeyOf(r.Ref)] = true
	}
	for _, listed := range s.Object.Status.Resources {
		if listed.Status == v1alpha1.SyncStatusCodeOutOfSync && !listed.Hook && !held[drift.Key{Group: listed.Group, Kind: listed.Kind, Namespace: listed.Namespace, Name: listed.Name}] {
			return true
		}
	}
	return false
}

// CheckRules refuses what Argo CD would not run, or would run for nothing.
func CheckRules(rules []v1alpha1.ResourceIgnoreDifferences) error {
	if len(rules) == 0 || len(rules) > maxPreviewed {
		return &drift.RuleError{Part: "rules", Reason: fmt.Sprintf("there are %d; give 1 to %d", len(rules), maxPreviewed)}
	}
	total := 0
	for i, rule := range rules {
		part := fmt.Sprintf("rules[%d]", i)
		entries := len(rule.JSONPointers) + len(rule.JQPathExpressions) + len(rule.ManagedFieldsManagers)
		total += entries
		switch why := jq.UnsafePattern(rule.Group, rule.Kind); {
		case rule.Kind == "":
			return &drift.RuleError{Part: part + ".kind", Reason: "it is empty, and matches nothing; name a kind, or * for all"}
		case why != "":
			return &drift.RuleError{Part: part, Reason: why}
		case entries == 0:
			return &drift.RuleError{Part: part, Reason: "it names no field; add jsonPointers, jqPathExpressions or managedFieldsManagers"}
		}
		if err := checkPaths(part, rule); err != nil {
			return err
		}
	}
	if total > jq.GuardedRules {
		return &drift.RuleError{Part: "rules", Reason: fmt.Sprintf("they have %d entries; at most %d are tried", total, jq.GuardedRules)}
	}
	return nil
}

// maxPreviewed is how many rules are tried at once.
const maxPreviewed = 100

func checkPaths(part string, rule v1alpha1.ResourceIgnoreDifferences) error {
	for i, pointer := range rule.JSONPointers {
		if _, err := fieldpath.Parse(pointer); err != nil || pointer == "" {
			return &drift.RuleError{Part: fmt.Sprintf("%s.jsonPointers[%d]", part, i), Reason: words.Shortened(pointer) + " is no JSON pointer to a field; write such as /spec/replicas, with ~1 for a slash in a name"}
		}
	}
	for i, path := range rule.JQPathExpressions {
		at := fmt.Sprintf("%s.jqPathExpressions[%d]", part, i)
		if why := jq.Unsafe(path); why != "" {
			return &drift.RuleError{Part: at, Reason: words.Shortened(path) + " is not run: " + why}
		}
		if _, err := jq.Compile("del(" + path + ")"); err != nil {
			return &drift.RuleError{Part: at, Reason: fmt.Sprintf("%s: %v", words.Shortened(path), err)}
		}
	}
	for i, manager := range rule.ManagedFieldsManagers {
		if manager == "" {
			return &drift.RuleError{Part: fmt.Sprintf("%s.managedFieldsManagers[%d]", part, i), Reason: "it is empty"}
		}
	}
	return nil
}
