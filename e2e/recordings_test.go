package e2e

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/e2e/record/scenarios"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

var only = flag.String("scenarios", "", "`REGEXP` of the scenarios that TestRecordings and TestFixes play, instead of their samples")

// corpus is the folder of the recorded cases.
const corpus = "../pkg/drift/testdata/cases"

// scenarioLimit bounds how long one scenario may play.
const scenarioLimit = 4 * time.Minute

// recordingSample is played when MOORPIN_FULL is not 1: one scenario for each way in
// which a cause comes about.
var recordingSample = []string{
	"crd-list-default/http-route",                         // the API server fills a CRD's defaults in
	"git-ahead/variable-removed",                          // Git moves on
	"hidden-live-addition/variable-set",                   // a person adds what nobody compares
	"hpa-replicas/autoscaler-of-the-platform-team",        // a controller writes through a subresource
	"multiple/autoscaler-person-and-addition",             // several of them on one object
	"resource-missing/configmap-deleted",                  // an object goes away
	"webhook-overwrite/replicas-floor",                    // a webhook rewrites at admission
	"progressive-delivery/selector-in-a-server-side-diff", // the API server predicts the sync
}

// comesOutOtherwise are the scenarios whose verdict is another one on a release of Argo
// CD later than that of the corpus, as docs/compatibility.md says.
var comesOutOtherwise = map[string][]string{
	"v3.1": {"none/old-crd", "status-in-git/exported-budget"},
}

// TestRecordings: the recorded cases of the drift classifier come out again, on a real
// API server and a real Argo CD: the same label, the same verdict and flagged fields of
// Argo CD, and of the fresh snapshot the classifier says what the label says.
// MOORPIN_FULL=1 plays all scenarios instead of a sample.
func TestRecordings(t *testing.T) {
	committed := committedCases(t)
	var known atomic.Int32
	played := chosenScenarios(t, recordingSample)
	dir := t.TempDir()
	err := recorder.Run(t.Context(), plane, played, func(ctx context.Context, scenario recorder.Scenario) error {
		before, ok := committed[scenario.Name]
		if !ok {
			t.Errorf("%s is not in the corpus; record it with go run ./e2e/record -run %s", scenario.Name, scenario.Name)
			return nil
		}
		right, err := recordAgain(ctx, dir, scenario, before)
		if err != nil {
			t.Error(err)
		}
		if !right {
			known.Add(1)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d scenarios; of %d the committed case is classified otherwise than its label", len(played), known.Load())
}

// recordAgain plays the scenario, and reports whether the committed case is classified
// as its label says. Where it is not, the fresh one has to get the same answer.
func recordAgain(ctx context.Context, dir string, scenario recorder.Scenario, before cases.Case) (right bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, scenarioLimit)
	defer cancel()
	stage, err := recorder.Open(ctx, plane, scenario)
	if err != nil {
		return true, err
	}
	defer func() { err = errors.Join(err, stage.Clear(ctx)) }()
	if err := stage.Inject(ctx); err != nil {
		return true, err
	}
	recorded, err := stage.Case(ctx, before.Expect)
	if err != nil {
		return true, err
	}
	again, err := reread(ctx, dir, *recorded)
	if err != nil {
		return true, err
	}
	if err := recorder.SameFacts(before, again); err != nil {
		return true, err
	}
	want, err := answer(ctx, &before.Snapshot)
	if err != nil {
		return true, fmt.Errorf("%s: classify the committed case: %w", scenario.Name, err)
	}
	got, err := answer(ctx, &again.Snapshot)
	if err != nil {
		return true, fmt.Errorf("%s: classify the fresh case: %w", scenario.Name, err)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		return true, fmt.Errorf("%s: the fresh case is classified otherwise than the committed one (-committed +fresh):\n%s", scenario.Name, diff)
	}
	return gocmp.Equal(want, plainly(before.Expect.Findings)), nil
}

// reread writes the case and reads it back, as it would stand in the corpus.
func reread(ctx context.Context, dir string, recorded cases.Case) (cases.Case, error) {
	if err := cases.Write(dir, recorded); err != nil {
		return cases.Case{}, err
	}
	return cases.Read(ctx, filepath.Join(dir, filepath.FromSlash(recorded.Name)+".json"))
}

// answer is what the classifier says of the snapshot, in the words of a label.
func answer(ctx context.Context, snapshot *drift.Snapshot) ([]cases.Finding, error) {
	report, err := classify.Classify(ctx, snapshot, classify.Options{})
	if err != nil {
		return nil, err
	}
	found := make([]cases.Finding, 0, len(report.Findings))
	for _, finding := range report.Findings {
		fields := make([]string, 0, len(finding.Fields))
		for _, field := range finding.Fields {
			fields = append(fields, string(field.Pointer))
		}
		said := cases.Finding{
			Resource: finding.Resource, Mechanism: finding.Mechanism, Fields: fields, Flagged: finding.Flagged, Sync: finding.Sync,
		}
		if len(finding.Fixes) > 0 {
			said.Fix = finding.Fixes[0].Kind
		}
		found = append(found, said)
	}
	return plainly(found), nil
}

// plainly returns the findings without what a label leaves open: versions, order,
// and whether something without fields is flagged.
func plainly(findings []cases.Finding) []cases.Finding {
	stripped := slices.Clone(findings)
	for i := range stripped {
		stripped[i].Resource.Version = ""
		stripped[i].Flagged = stripped[i].Flagged && len(stripped[i].Fields) > 0
		stripped[i].Fields = slices.Sorted(slices.Values(stripped[i].Fields))
	}
	slices.SortFunc(stripped, func(a, b cases.Finding) int {
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	return stripped
}

// committedCases are the recorded cases of the corpus by name.
func committedCases(t *testing.T) map[string]cases.Case {
	t.Helper()
	all, err := cases.Load(t.Context(), corpus)
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]cases.Case{}
	for _, c := range all {
		if c.Origin == cases.Recorded {
			recorded[c.Name] = c
		}
	}
	return recorded
}

// chosenScenarios are those of the sample, or more where more is asked for.
func chosenScenarios(t *testing.T, sample []string) []recorder.Scenario {
	t.Helper()
	wanted, err := regexp.Compile(*only)
	if err != nil {
		t.Fatalf("-scenarios: %v", err)
	}
	all := os.Getenv("MOORPIN_FULL") == "1"
	var chosen []recorder.Scenario
	for _, scenario := range scenarios.All() {
		asked := all || slices.Contains(sample, scenario.Name)
		if *only != "" {
			asked = wanted.MatchString(scenario.Name)
		}
		if asked && !slices.Contains(comesOutOtherwise[plane.Release().Name], scenario.Name) {
			chosen = append(chosen, scenario)
		}
	}
	if !all && *only == "" && len(chosen) != len(sample) {
		t.Fatalf("%d of the %d scenarios of the sample exist", len(chosen), len(sample))
	}
	return chosen
}
