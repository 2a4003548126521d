package classify

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

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
