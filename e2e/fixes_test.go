package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// fixSample is played when MOORPIN_FULL is not 1: an edit of Git and a rule each, with
// a controller, a webhook and a person who write.
var fixSample = []string{
	"crd-list-default/external-secret",
	"hpa-replicas/autoscaler-in-the-same-application",
	"multiple/keys-of-a-configmap",
	"webhook-overwrite/replicas-floor",
}

// TestFixes: every fix that a report calls proven is applied for real, to the Git
// repository or to the Application, and does what it promises: Argo CD flags the
// finding no more, and nothing else that it did not flag before.
// MOORPIN_FULL=1 tries the fixes of all scenarios instead of a sample.
func TestFixes(t *testing.T) {
	committed := committedCases(t)
	tally := newFixTally()
	var played []recorder.Scenario
	for _, scenario := range chosenScenarios(t, fixSample) {
		before, ok := committed[scenario.Name]
		if !ok {
			t.Errorf("%s is not in the corpus", scenario.Name)
			continue
		}
		report, err := classify.Classify(t.Context(), &before.Snapshot, classify.Options{Prove: true})
		if err != nil {
			t.Errorf("%s: %v", scenario.Name, err)
			continue
		}
		if len(provenFixes(report)) == 0 {
			tally.without++
			continue
		}
		played = append(played, scenario)
	}
	tally.scenarios = len(played)
	dir := t.TempDir()
	err := recorder.Run(t.Context(), plane, played, func(ctx context.Context, scenario recorder.Scenario) error {
		for nth, left := 0, true; left; nth++ {
			var err error
			if left, err = tryFix(ctx, trial{scenario: scenario, dir: dir, nth: nth}, tally); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Log(tally.String())
	if tally.held == 0 {
		t.Error("no fix was applied")
	}
}

// proven is a fix that a report calls so.
type proven struct {
	finding drift.Finding
	fix     drift.Fix
}

func provenFixes(report *drift.Report) []proven {
	var found []proven
	for _, finding := range report.Findings {
		for _, fix := range finding.Fixes {
			if fix.Proven {
				found = append(found, proven{finding, fix})
			}
		}
	}
	return found
}

// trial is one proven fix of a scenario, and where its cases may be written.
type trial struct {
	scenario recorder.Scenario
	dir      string
	nth      int
}

// tryFix plays the scenario, applies one fix of its report and looks what came of it.
// It reports whether there are more fixes.
func tryFix(ctx context.Context, this trial, tally *fixTally) (left bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, scenarioLimit)
	defer cancel()
	stage, err := recorder.Open(ctx, plane, this.scenario)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, stage.Clear(ctx)) }()
	if err := stage.Inject(ctx); err != nil {
		return false, err
	}
	seen, err := stage.Look(ctx)
	if err != nil {
		return false, err
	}
	before, err := reread(ctx, this.dir, *seen)
	if err != nil {
		return false, err
	}
	report, err := classify.Classify(ctx, &before.Snapshot, classify.Options{Prove: true})
	if err != nil {
		return false, fmt.Errorf("%s: classify: %w", this.scenario.Name, err)
	}
	fixes := provenFixes(report)
	if this.nth >= len(fixes) {
		return false, fmt.Errorf("%s: %d proven fixes, more in the corpus or a moment ago", this.scenario.Name, len(fixes))
	}
	attempt := &attempt{stage: stage, before: before, proven: fixes[this.nth], dir: this.dir}
	problems, err := attempt.run(ctx)
	said := fmt.Sprintf("%s: %s of %s on %s %s", this.scenario.Name, attempt.fix.Kind, attempt.finding.Mechanism, attempt.finding.Resource.Kind, attempt.finding.Resource.Name)
	left = this.nth+1 < len(fixes)
	if skipped, ok := errors.AsType[*notApplicableError](err); ok {
		tally.skip(attempt.fix.Kind, skipped.reason)
		return left, nil
	}
	tally.add(attempt.fix.Kind, err == nil && len(problems) == 0)
	switch {
	case err != nil:
		return left, fmt.Errorf("%s: %w", said, err)
	case len(problems) > 0:
		return left, fmt.Errorf("%s: the fix does not hold (%s):\n  %s", said, attempt.done(), strings.Join(problems, "\n  "))
	}
	return left, nil
}

// attempt is a fix that is applied on a stage.
type attempt struct {
	proven

	stage  *recorder.Stage
	before cases.Case
	dir    string
	// edited are the files of Git that the fix changed.
	edited map[string]string
	// steps are what was done, for people.
	steps []string
}

func (a *attempt) done() string { return strings.Join(a.steps, ", ") }

// run applies the fix, and syncs where it needs that. What is wrong afterwards is no
// error but a list of problems.
func (a *attempt) run(ctx context.Context) ([]string, error) {
	keeps, err := a.apply(ctx)
	if err != nil {
		return nil, err
	}
	problems, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	needsSync := len(problems) > 0 && len(a.edited) > 0
	if !needsSync && (!keeps || len(problems) > 0) {
		return problems, nil
	}
	// A commit is followed by a sync; a rule that keeps live values has to outlive one.
	a.steps = append(a.steps, "synced")
	if _, err := a.stage.Sync(ctx); err != nil {
		return nil, err
	}
	if problems, err = a.look(ctx); err != nil || len(problems) > 0 || keeps {
		return problems, err
	}
	if a.finding.Sync != drift.FightsController && a.finding.Sync != drift.HarmlessFlap {
		return nil, nil
	}
	if err := a.replay(ctx); err != nil {
		return nil, err
	}
	return a.look(ctx)
}

// replay does again what the controller does after a sync, and leaves Git as the fix
// made it.
func (a *attempt) replay(ctx context.Context) error {
	a.steps = append(a.steps, "written again")
	if err := a.stage.Inject(ctx); err != nil {
		return err
	}
	_, err := a.stage.Repository.Commit(ctx, "Keep the fix", a.edited)
	return err
}

// look is what is wrong now.
func (a *attempt) look(ctx context.Context) ([]string, error) {
	if a.stage.Scenario.NoRefresh {
		if _, err := a.stage.Refresh(ctx); err != nil {
			return nil, err
		}
	}
	seen, err := a.stage.Look(ctx)
	if err != nil {
		return nil, err
	}
	after, err := reread(ctx, a.dir, *seen)
	if err != nil {
		return nil, err
	}
	problems := newlyFlagged(a.before, after, a.finding)
	if a.finding.Flagged {
		return problems, nil
	}
	report, err := classify.Classify(ctx, &after.Snapshot, classify.Options{})
	if err != nil {
		return nil, fmt.Errorf("classify: %w", err)
	}
	return append(problems, stillThere(report, a.finding)...), nil
}
