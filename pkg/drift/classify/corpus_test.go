package classify_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

const ownCorpus = "../testdata/cases"

var (
	corpus  = flag.String("corpus", ownCorpus, "the `FOLDER` of the cases")
	matrix  = flag.Bool("matrix", false, "print the confusion matrix and the scores")
	update  = flag.Bool("update", false, "write docs/mechanisms.md anew")
	explain = flag.Bool("explain", false, "print what is wrong with each case that rules are written for")
)

// The shares that the corpus must reach, in percent.
const (
	wantMechanisms = 97
	wantSync       = 97
	wantFixes      = 95
)

// legend says how to read what -matrix prints.
var legend = fmt.Sprintf(`how to read this:
  open            cases that rules are written for, all of which must be right; kept aside: cases that nobody looks at while writing rules
  right           mechanism and fields: at least %d%%; sync effect: at least %d%%; kind of the first fix: at least %d%%
  flagged fields  must be exactly those of Argo CD in every recorded resource
  dangerous       a sync called harmless that fights, overwrites or destroys: must be 0
  a line "true -> answers" says how often the findings of a mechanism were answered how; "nothing" is no finding`, wantMechanisms, wantSync, wantFixes)

// TestCorpus holds the reports against what was done in each case. A fifth of the
// cases was kept aside while the rules were written; both scores are asked for.
func TestCorpus(t *testing.T) {
	all, err := cases.Load(t.Context(), *corpus)
	if err != nil {
		t.Fatal(err)
	}
	if *matrix {
		t.Log(legend)
	}
	scores := map[bool]*score{false: newScore("open"), true: newScore("kept aside")}
	for _, c := range all {
		report, err := classify.Classify(t.Context(), &c.Snapshot, classify.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if given := asCompared(t, c); given != nil && !slices.Equal(lines(given), lines(report)) {
			t.Errorf("%s: with what Argo CD itself compared, the findings are others:\n  %s\nwithout:\n  %s", c.Name, strings.Join(lines(given), "\n  "), strings.Join(lines(report), "\n  "))
		}
		s := scores[c.Holdout()]
		wrong := s.add(c, report)
		// The rules know the open cases of this repository: what was right stays right.
		known := !c.Holdout() && *corpus == ownCorpus
		if len(wrong) > 0 && (known || *explain && !c.Holdout()) {
			t.Logf("%s (%s)\n  %s", c.Name, c.Cause, strings.Join(wrong, "\n  "))
		}
		if known && len(wrong) > 0 {
			t.Errorf("%s is not answered as labelled", c.Name)
		}
	}
	for _, aside := range []bool{false, true} {
		s := scores[aside]
		t.Log(s.String())
		if *matrix {
			t.Log(s.confusion())
		}
		s.check(t)
	}
}

// asCompared classifies the case with Argo CD's own two documents in the snapshot, as
// the page and `moorpin extension snapshot` have them; nil when there are none.
func asCompared(t *testing.T, c cases.Case) *drift.Report {
	t.Helper()
	if c.ArgoCD == nil {
		return nil
	}
	snapshot := c.Snapshot
	snapshot.Resources = slices.Clone(snapshot.Resources)
	for _, verdict := range c.ArgoCD.Resources {
		for i := range snapshot.Resources {
			r := &snapshot.Resources[i]
			if same(r.ResourceRef, verdict.ResourceRef) && r.Live != nil && r.Target != nil && verdict.PredictedLive != nil {
				r.NormalizedLive, r.PredictedLive = verdict.NormalizedLive, verdict.PredictedLive
			}
		}
	}
	report, err := classify.Classify(t.Context(), &snapshot, classify.Options{})
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return report
}

// lines spell the findings.
func lines(report *drift.Report) []string {
	var spelled []string
	for _, f := range report.Findings {
		spelled = append(spelled, fmt.Sprintf("%s %s %s/%s %v flagged=%t %s", f.Mechanism, f.Resource.Kind, f.Resource.Namespace, f.Resource.Name, pointers(f), f.Flagged, f.Sync))
	}
	return spelled
}

// score counts right and wrong answers.
type score struct {
	name                                     string
	cases, findings, mechanisms, sync, fixes int
	fields, fieldsWrong                      int
	dangerous                                []string
	// taken counts, for each true mechanism, what was answered.
	taken map[drift.Mechanism]map[drift.Mechanism]int
}

func newScore(name string) *score {
	return &score{name: name, taken: map[drift.Mechanism]map[drift.Mechanism]int{}}
}

// String is the line of the scores.
func (s *score) String() string {
	return fmt.Sprintf("%s: %d cases, %d findings: mechanism and fields right %s, sync effect %s, first fix %s; flagged fields as Argo CD's in %d of %d resources; dangerous: %d %v",
		s.name, s.cases, s.findings, percent(s.mechanisms, s.findings), percent(s.sync, s.findings), percent(s.fixes, s.findings),
		s.fields-s.fieldsWrong, s.fields, len(s.dangerous), s.dangerous)
}

// add counts one case and says what is wrong with it.
func (s *score) add(c cases.Case, report *drift.Report) []string {
	s.cases++
	var wrong []string
	left := slices.Clone(report.Findings)
	for _, want := range c.Expect.Findings {
		s.findings++
		i := slices.IndexFunc(left, func(got drift.Finding) bool {
			return same(got.Resource, want.Resource) && got.Mechanism == want.Mechanism && slices.Equal(slices.Sorted(slices.Values(pointers(got))), slices.Sorted(slices.Values(want.Fields))) && (got.Flagged == want.Flagged || len(want.Fields) == 0)
		})
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("want %s %s %s %v flagged=%t sync=%s", want.Mechanism, want.Resource.Kind, want.Resource.Name, want.Fields, want.Flagged, want.Sync))
			s.confuse(want, report.Findings)
			continue
		}
		got := left[i]
		left = slices.Delete(left, i, i+1)
		s.mechanisms++
		s.count(want.Mechanism, got.Mechanism)
		if got.Sync == want.Sync {
			s.sync++
		} else {
			if harmful(want.Sync) && harmless(got.Sync) {
				s.dangerous = append(s.dangerous, c.Name+"/"+string(want.Mechanism))
			}
			wrong = append(wrong, fmt.Sprintf("%s %s: sync %s, want %s", want.Mechanism, want.Resource.Name, got.Sync, want.Sync))
		}
		if len(got.Fixes) > 0 && got.Fixes[0].Kind == want.Fix {
			s.fixes++
		} else {
			wrong = append(wrong, fmt.Sprintf("%s %s: fix %s, want %s", want.Mechanism, want.Resource.Name, firstFix(got), want.Fix))
		}
	}
	for _, got := range left {
		s.findings++
		s.count("nothing", got.Mechanism)
		wrong = append(wrong, fmt.Sprintf("got  %s %s %s %v flagged=%t sync=%s: %s", got.Mechanism, got.Resource.Kind, got.Resource.Name, pointers(got), got.Flagged, got.Sync, strings.Join(got.Evidence, "; ")))
	}
	if harmful(c.Expect.Sync) && harmless(report.Sync) {
		s.dangerous = append(s.dangerous, c.Name)
		wrong = append(wrong, fmt.Sprintf("DANGEROUS: sync %s, want %s", report.Sync, c.Expect.Sync))
	}
	return append(wrong, s.addFields(c, report)...)
}

// addFields checks that the fields that Argo CD itself flagged are all in the
// report, each once.
func (s *score) addFields(c cases.Case, report *drift.Report) []string {
	if c.ArgoCD == nil {
		return nil
	}
	var wrong []string
	for _, verdict := range c.ArgoCD.Resources {
		want := flaggedBy(verdict)
		var got []string
		for _, f := range report.Findings {
			if f.Flagged && same(f.Resource, verdict.ResourceRef) {
				got = append(got, pointers(f)...)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		s.fields++
		if !slices.Equal(got, want) {
			s.fieldsWrong++
			wrong = append(wrong, fmt.Sprintf("%s %s: fields %v, Argo CD flags %v", verdict.Kind, verdict.Name, got, want))
		}
	}
	return wrong
}

// flaggedBy are the fields that differ between what Argo CD compared.
func flaggedBy(verdict cases.ResourceVerdict) []string {
	if verdict.NormalizedLive == nil || verdict.PredictedLive == nil {
		return nil
	}
	var found []string
	for _, d := range classify.Differences(verdict.NormalizedLive, verdict.PredictedLive) {
		found = append(found, string(d))
	}
	return found
}

func (s *score) confuse(want cases.Finding, findings []drift.Finding) {
	answered := drift.Mechanism("nothing")
	for _, got := range findings {
		if same(got.Resource, want.Resource) && (len(want.Fields) == 0 || slices.ContainsFunc(pointers(got), func(p string) bool { return slices.Contains(want.Fields, p) })) {
			answered = got.Mechanism
		}
	}
	s.count(want.Mechanism, answered)
}

func (s *score) count(want, got drift.Mechanism) {
	if s.taken[want] == nil {
		s.taken[want] = map[drift.Mechanism]int{}
	}
	s.taken[want][got]++
}

// confusion lists, for each true mechanism, what was answered.
func (s *score) confusion() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: true mechanism -> answers\n", s.name)
	for _, want := range slices.Sorted(maps.Keys(s.taken)) {
		fmt.Fprintf(&text, "  %-30s", want)
		for _, got := range slices.Sorted(maps.Keys(s.taken[want])) {
			fmt.Fprintf(&text, " %s:%d", got, s.taken[want][got])
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func (s *score) check(t *testing.T) {
	t.Helper()
	for _, row := range []struct {
		what        string
		right, want int
	}{{"mechanism", s.mechanisms, wantMechanisms}, {"sync effect", s.sync, wantSync}, {"first fix", s.fixes, wantFixes}} {
		if row.right*100 < row.want*s.findings {
			t.Errorf("%s: %s right in %s of the findings, want %d%%", s.name, row.what, percent(row.right, s.findings), row.want)
		}
	}
	if len(s.dangerous) > 0 {
		t.Errorf("%s: a sync is called harmless that is not: %v", s.name, s.dangerous)
	}
	if s.fieldsWrong > 0 {
		t.Errorf("%s: %d resources have other fields than Argo CD flags", s.name, s.fieldsWrong)
	}
}

func percent(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

func same(a, b drift.ResourceRef) bool {
	return a.Group == b.Group && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

func pointers(f drift.Finding) []string {
	var found []string
	for _, field := range f.Fields {
		found = append(found, string(field.Pointer))
	}
	return found
}

func firstFix(f drift.Finding) drift.FixKind {
	if len(f.Fixes) == 0 {
		return "none at all"
	}
	return f.Fixes[0].Kind
}

func harmful(s drift.Sync) bool {
	return s == drift.FightsController || s == drift.OverwritesLive || s == drift.Destructive
}

func harmless(s drift.Sync) bool {
	return s == drift.NothingToDo || s == drift.Noop || s == drift.HarmlessFlap || s == drift.Safe
}
