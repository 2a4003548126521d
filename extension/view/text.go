package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
)

// Text writes the report for a terminal, the verdict first. It wraps nothing and
// colours nothing.
func Text(to io.Writer, report *drift.Report) error {
	p := &page{}
	p.linef(0, "%s: %s", report.Application, report.Verdict)
	p.linef(0, "sync: %s", report.Sync)
	for i, finding := range urgent(report) {
		if quiet(report) {
			break
		}
		p.linef(0, "")
		p.finding(report, i+1, finding)
	}
	_, err := io.WriteString(to, p.text.String())
	return err //nolint:wrapcheck // the caller names the step
}

// page collects lines.
type page struct {
	text strings.Builder
}

// linef adds a line, cleaned, at a depth.
func (p *page) linef(depth int, format string, values ...any) {
	line := clean(shorten(fmt.Sprintf(format, values...), mostProse))
	if line != "" {
		p.text.WriteString(strings.Repeat("  ", depth))
	}
	p.text.WriteString(line)
	p.text.WriteByte('\n')
}

func (p *page) finding(report *drift.Report, number int, f drift.Finding) {
	hidden := ""
	if !f.Flagged && len(f.Fields) > 0 {
		hidden = ", hidden from Argo CD"
	}
	p.linef(0, "%d. %s", number, name(f.Resource))
	p.linef(1, "%s, %s%s", f.Mechanism, f.Confidence, hidden)
	if f.Summary != "" {
		p.linef(1, "%s", f.Summary)
	}
	p.fields(f.Fields)
	p.linef(1, "sync      %s", effect(report, &f))
	for _, lost := range f.Loss {
		p.linef(1, "%-9s %s", lossWord(&f), lost)
	}
	for _, evidence := range f.Evidence {
		p.linef(1, "evidence  %s", evidence)
	}
	for i, fix := range f.Fixes {
		p.linef(1, "fix %d     %s, %s", i+1, fix.Kind, place(fix))
		if fix.Why != "" {
			p.linef(6, "%s", fix.Why)
		}
		if fix.Snippet == "" {
			continue
		}
		for _, line := range lines(fix.Snippet) {
			p.linef(6, "| %s", line)
		}
	}
}

func (p *page) fields(fields []drift.Field) {
	for i, f := range fields {
		if i == mostFields {
			p.linef(1, "... and %d more fields; -o json has all", len(fields)-i)
			return
		}
		p.linef(1, "%s", f.Pointer)
		target, live := sides(f)
		p.linef(2, "target  %s", target)
		p.linef(2, "live    %s", live)
		if f.Owner != nil {
			p.linef(2, "by      %s", owner(f.Owner))
		}
	}
}
