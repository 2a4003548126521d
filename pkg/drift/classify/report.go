package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// finding writes an answer out. r is nil for an answer about the Application.
func finding(s *state.Application, r *state.Resource, c *rule.Answer) rule.Finding {
	c.Evidence = together(c.Evidence, c.Differences)
	f := rule.Finding{Of: r, By: c, Finding: drift.Finding{
		Mechanism: c.Mechanism, Class: c.Mechanism.Class(), Flagged: len(c.Hidden) == 0 && c.Mechanism != drift.None, Confidence: c.Confidence,
		Evidence: slices.Clone(c.Evidence), Sync: c.Sync, Loss: words.Unique(c.Loss), Summary: c.Summary, Fields: []drift.Field{},
	}}
	switch {
	case c.About != nil:
		f.Resource = *c.About
	case r != nil:
		f.Resource = r.Ref
	default:
		f.Resource = s.Ref()
	}
	if r != nil {
		f.Fields = fieldsOf(r, c)
	}
	if f.Summary == "" {
		f.Summary = c.Mechanism.Summary()
	}
	return f
}

// fieldsOf writes the answer's fields out, values of Secrets masked.
func fieldsOf(r *state.Resource, c *rule.Answer) []drift.Field {
	found := make([]drift.Field, 0, len(c.Differences)+len(c.Hidden))
	for _, d := range c.Differences {
		field := drift.Field{Pointer: d.Pointer, Target: d.Target, Live: d.Live, InTarget: d.InTarget, InLive: d.InLive}
		w := r.WritersOf(d)
		if owner, ok := owners.Newest(w.All); ok {
			if w.Role != owners.Nobody && !w.Argo {
				owner = w.Last
			}
			field.Owner = &owner
		}
		found = append(found, field)
	}
	found = append(found, c.Hidden...)
	slices.SortStableFunc(found, func(a, b drift.Field) int { return fieldpath.Compare(a.Pointer, b.Pointer) })
	return r.Masked(found)
}

// reportOf puts the findings together.
func reportOf(s *state.Application, findings []rule.Finding) *drift.Report {
	report := &drift.Report{Application: s.Object.Name, Counts: map[drift.Mechanism]int{}, Findings: make([]drift.Finding, 0, len(findings)), Sync: drift.NothingToDo, Unheeded: s.Unheeded}
	if s.Object.Namespace != "" {
		report.Application = s.Object.Namespace + "/" + s.Object.Name
	}
	for i := range findings {
		report.Findings = append(report.Findings, findings[i].Finding)
	}
	slices.SortStableFunc(report.Findings, func(a, b drift.Finding) int {
		return cmp.Or(b.Sync.Severity()-a.Sync.Severity(), cmp.Compare(a.Mechanism, b.Mechanism),
			cmp.Compare(a.Resource.Kind, b.Resource.Kind), cmp.Compare(a.Resource.Namespace, b.Resource.Namespace), cmp.Compare(a.Resource.Name, b.Resource.Name))
	})
	for i := range report.Findings {
		report.Counts[report.Findings[i].Mechanism]++
		report.Sync = drift.Worse(report.Sync, report.Findings[i].Sync)
	}
	report.Verdict = verdict(s, report)
	if outcome.Uncompared(s) {
		report.Verdict += " Argo CD has not compared the Application: its status is " + words.First(string(s.Object.Status.Sync.Status), "missing") + "."
	}
	return report
}

// verdict is one sentence about the whole report: how much there is, what is at
// work, and what a sync would do.
func verdict(s *state.Application, report *drift.Report) string {
	differences, hidden, problems, resources := 0, 0, 0, map[drift.Key]bool{}
	var mechanisms []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Mechanism == drift.None {
			return "In sync: Argo CD flags nothing, and nothing hides."
		}
		switch {
		case f.Differs():
			differences += max(1, len(f.Fields))
			resources[drift.KeyOf(f.Resource)] = true
		case f.Flagged:
			problems++
		default:
			hidden += len(f.Fields)
		}
		mechanisms = append(mechanisms, f.Mechanism.Title())
	}
	said := undiffering(s)
	if differences > 0 {
		said = fmt.Sprintf("%s in %s", words.Plural(differences, "difference"), words.Plural(len(resources), "resource"))
	}
	if problems > 0 {
		said += "; " + words.Plural(problems, "problem")
	}
	if hidden > 0 {
		said += "; " + words.Plural(hidden, "field") + " hidden from Argo CD"
	}
	return said + ": " + strings.Join(words.Unique(mechanisms), "; ") + ". " + outlook(report)
}

// undiffering says that nothing differs, as far as that is known.
func undiffering(s *state.Application) string {
	switch {
	case s.Incomparable || outcome.Uncompared(s):
		return "Nothing could be compared"
	case slices.ContainsFunc(s.Resources, func(r *state.Resource) bool { return r.CompareError != nil || r.Unfit != nil }):
		return "No difference in what could be compared"
	}
	return "No difference"
}

// outlook is what a sync of the whole Application does: the worst of the findings,
// and where it fails although something else of it is worse.
func outlook(report *drift.Report) string {
	said := strings.TrimSuffix(report.Sync.Summary(), ".")
	var worst []*drift.Finding
	var failing []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Sync == report.Sync {
			worst = append(worst, f)
		}
		if f.Sync == drift.WillFail && f.Resource.Kind != "Application" {
			failing = append(failing, f.Resource.Kind+" "+f.Resource.Name)
		}
	}
	if len(worst) > 0 && !slices.ContainsFunc(worst, func(f *drift.Finding) bool { return f.Effect() != worst[0].Effect() }) && worst[0].Effect() != report.Sync.Effect() {
		said = "A sync " + worst[0].Effect()
	}
	switch failing = words.Unique(failing); {
	case len(failing) == 0:
	case report.Sync == drift.WillFail:
		said = "A sync fails at " + words.Some(failing)
	default:
		said += "; it fails at " + words.Some(failing) + ", of which it then writes nothing"
	}
	return said + "."
}

// likewise is how many fields a sentence that holds for several names.
const likewise = 3

// together says once what holds for several fields: sentences that differ in nothing
// but the pointer become one, which names the first few.
func together(evidence []string, differences []*diff.Difference) []string {
	pointers := make(map[string]bool, len(differences))
	for _, d := range differences {
		pointers[string(d.Pointer)] = true
	}
	kept := []string{}
	first, others := map[string]int{}, map[int][]string{}
	for _, said := range words.Unique(evidence) {
		pointer, found := pointerIn(said, pointers)
		if !found {
			kept = append(kept, said)
			continue
		}
		form := strings.Replace(said, pointer, "\x00", 1)
		if i, repeated := first[form]; repeated {
			others[i] = append(others[i], pointer)
			continue
		}
		first[form] = len(kept)
		kept = append(kept, said)
	}
	for i, more := range others {
		shown := strings.Join(more[:min(len(more), likewise)], ", ")
		if left := len(more) - likewise; left > 0 {
			shown += fmt.Sprintf(" and %d more", left)
		}
		kept[i] += "; likewise " + shown
	}
	return kept
}

// pointerIn returns the first of the pointers that a sentence names.
func pointerIn(said string, pointers map[string]bool) (string, bool) {
	for word := range strings.FieldsSeq(said) {
		if word = strings.TrimRight(word, ",:;."); strings.HasPrefix(word, "/") && pointers[word] {
			return word, true
		}
	}
	return "", false
}

// redact takes the values of the snapshot's Secrets out of a report, wherever a
// message, an event or an error of somebody else has quoted one. Of snippets only
// comments quote anybody; what they set of a Secret is hidden where it is spelled.
func redact(s *state.Application, report *drift.Report) {
	hide := s.Hidden().Text
	clean := func(texts []string) []string {
		cleaned := slices.Clone(texts)
		for i := range cleaned {
			cleaned[i] = hide(cleaned[i])
		}
		return cleaned
	}
	report.Verdict, report.Unheeded = hide(report.Verdict), clean(report.Unheeded)
	for i := range report.Findings {
		f := &report.Findings[i]
		f.Summary, f.Evidence, f.Loss = hide(f.Summary), clean(f.Evidence), clean(f.Loss)
		for j := range f.Fixes {
			fix := &f.Fixes[j]
			fix.Why = hide(fix.Why)
			lines := strings.SplitAfter(fix.Snippet, "\n")
			for k, line := range lines {
				if strings.HasPrefix(strings.TrimSpace(line), "#") {
					lines[k] = hide(line)
				}
			}
			fix.Snippet = strings.Join(lines, "")
		}
	}
}
