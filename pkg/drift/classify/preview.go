package classify

import (
	"context"
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// PreviewRules says what the rules would do, if they were added to the Application's
// ignoreDifferences. It changes neither the snapshot nor the rules. The error is a
// *RuleError where a rule cannot be used, or takes too much; else those of [Classify].
// Of the options Prove says nothing here.
func PreviewRules(ctx context.Context, snapshot *drift.Snapshot, rules []v1alpha1.ResourceIgnoreDifferences, options Options) (preview *drift.Preview, err error) {
	defer catch(&err)
	if err := checkRules(rules); err != nil {
		return nil, err
	}
	s, err := arranged(ctx, snapshot, options)
	if err != nil {
		return nil, err
	}
	if err := s.tryRules(ctx, rules); err != nil {
		return nil, err
	}
	report := s.explain() // which finds out whether Argo CD could compare at all
	p := &previewing{
		rules: rules, said: saidOf(report),
		preview: &drift.Preview{Hides: []drift.PreviewField{}, Covers: []drift.PreviewPlace{}, Synced: !s.incomparable, Unheeded: s.unheeded},
	}
	for _, r := range s.resources {
		if s.ctx.Err() != nil {
			break
		}
		p.resource(r)
	}
	p.preview.Synced = p.preview.Synced && !s.outOfSyncElsewhere()
	if err := s.ended(); err != nil {
		return nil, err
	}
	return p.preview, nil
}

// previewing collects a preview.
type previewing struct {
	rules   []v1alpha1.ResourceIgnoreDifferences
	said    map[previewKey]drift.Finding
	preview *drift.Preview
}

// previewKey is a flagged field.
type previewKey struct {
	key     drift.Key
	pointer fieldpath.Pointer
}

// saidOf finds a report's findings by what they flag.
func saidOf(report *drift.Report) map[previewKey]drift.Finding {
	said := map[previewKey]drift.Finding{}
	for _, f := range report.Findings {
		for _, field := range f.Fields {
			if f.Flagged {
				said[previewKey{drift.KeyOf(f.Resource), field.Pointer}] = f
			}
		}
	}
	return said
}

// resource adds what the rules do to one resource.
func (p *previewing) resource(r *resource) {
	mine := slices.DeleteFunc(slices.Clone(p.rules), func(rule v1alpha1.ResourceIgnoreDifferences) bool { return !r.meets(rule) })
	p.covers(r, mine)
	if r.given.Hook {
		return
	}
	if r.target == nil || r.live == nil || r.compareError != nil {
		p.preview.Synced = p.preview.Synced && !r.outOfSync()
		return
	}
	after := r.differences
	if len(mine) > 0 {
		after = r.under(mine)
		p.preview.Hides = append(p.preview.Hides, p.fields(r, diff.Unmatched(r.differences, after))...)
		p.preview.Reveals = append(p.preview.Reveals, p.fields(r, diff.Unmatched(after, r.differences))...)
	}
	p.preview.Remaining += len(after)
	// Where nothing differs here and Argo CD says so all the same, no rule helps.
	p.preview.Synced = p.preview.Synced && len(after) == 0 && (len(r.differences) > 0 || !r.saidOutOfSync())
}

func (p *previewing) fields(r *resource, found []*diff.Difference) []drift.PreviewField {
	listed := make([]drift.PreviewField, 0, len(found))
	for _, d := range found {
		f := p.said[previewKey{drift.KeyOf(r.ref), d.Pointer}]
		listed = append(listed, drift.PreviewField{PreviewPlace: drift.PreviewPlace{Resource: r.ref, Pointer: d.Pointer}, Mechanism: f.Mechanism, Sync: f.Sync})
	}
	return listed
}

// under are the differences that are left under further rules. Where the comparison
// made here does not find what Argo CD found, the rules are run on the two documents
// that Argo CD compared instead.
func (r *resource) under(rules []v1alpha1.ResourceIgnoreDifferences) []*diff.Difference {
	if r.foundAgain() {
		if after, err := r.try(trial{ignores: rules}); err == nil {
			return after
		}
	}
	live, target := withoutIgnored(r.normalized, rules), withoutIgnored(r.predicted, rules)
	after, err := diff.Between(r.situation.ctx, diff.NewAllowance(), live, target)
	if err != nil {
		return r.differences // nothing is known to go away
	}
	return after
}

// foundAgain reports whether the comparison made here finds all that Argo CD found.
func (r *resource) foundAgain() bool {
	if r.given.NormalizedLive == nil || r.given.PredictedLive == nil {
		return true
	}
	again, err := r.try(trial{})
	return err == nil && diff.CountAll(r.differences).Hold(again) && diff.CountAll(again).Hold(r.differences)
}

// outOfSync reports whether Argo CD calls a resource that cannot be compared OutOfSync.
func (r *resource) outOfSync() bool {
	if r.status != nil && r.status.Status != "" {
		return r.saidOutOfSync()
	}
	return r.live == nil || r.target != nil || !hasOption(r.live, mark.CompareOptions, "IgnoreExtraneous")
}

func (r *resource) saidOutOfSync() bool {
	return r.status != nil && r.status.Status == v1alpha1.SyncStatusCodeOutOfSync
}

// outOfSyncElsewhere reports whether Argo CD lists something as OutOfSync that the
// snapshot does not hold, or cannot compare at all.
func (s *situation) outOfSyncElsewhere() bool {
	if s.app.Status.Sync.Status == v1alpha1.SyncStatusCodeUnknown {
		return true
	}
	held := map[drift.Key]bool{}
	for _, r := range s.resources {
		held[drift.KeyOf(r.ref)] = true
	}
	for _, listed := range s.app.Status.Resources {
		if listed.Status == v1alpha1.SyncStatusCodeOutOfSync && !listed.Hook && !held[drift.Key{Group: listed.Group, Kind: listed.Kind, Namespace: listed.Namespace, Name: listed.Name}] {
			return true
		}
	}
	return false
}

// checkRules refuses what Argo CD would not run, or would run for nothing.
func checkRules(rules []v1alpha1.ResourceIgnoreDifferences) error {
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
