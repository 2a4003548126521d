package view

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
)

// Markdown writes the report as a comment of GitHub's or GitLab's flavour.
func Markdown(to io.Writer, report *drift.Report) error {
	var out strings.Builder
	linef := func(format string, values ...any) { fmt.Fprintf(&out, format+"\n", values...) }
	linef("## %s: %s\n", code(report.Application), prose(report.Verdict))
	linef("sync: **%s**", prose(string(report.Sync)))
	for i, f := range urgent(report) {
		if quiet(report) {
			break
		}
		hidden := ""
		if !f.Flagged && len(f.Fields) > 0 {
			hidden = ", hidden from Argo CD"
		}
		linef("\n### %d. %s\n", i+1, code(name(f.Resource)))
		linef("**%s** (%s%s)  ", prose(string(f.Mechanism)), prose(string(f.Confidence)), hidden)
		linef("%s\n", prose(f.Summary))
		fields(linef, f.Fields)
		linef("- sync: **%s**", prose(effect(report, &f)))
		for _, lost := range f.Loss {
			linef("- %s: %s", lossWord(&f), prose(lost))
		}
		for _, evidence := range f.Evidence {
			linef("- evidence: %s", prose(evidence))
		}
		for n, fix := range f.Fixes {
			linef("\n**Fix %d: %s** (%s)  ", n+1, prose(string(fix.Kind)), prose(place(fix)))
			if fix.Why != "" {
				linef("%s", prose(fix.Why))
			}
			if fix.Snippet != "" {
				linef("\n%s", fenced(fix.Snippet))
			}
		}
	}
	_, err := io.WriteString(to, out.String())
	return err //nolint:wrapcheck // the caller names the step
}

func fields(linef func(string, ...any), fields []drift.Field) {
	for i, f := range fields {
		if i == mostFields {
			linef("- and %d more fields; the JSON form has all", len(fields)-i)
			return
		}
		by := ""
		if f.Owner != nil {
			by = ", by " + code(owner(f.Owner))
		}
		target, live := sides(f)
		linef("- %s: target %s, live %s%s", code(string(f.Pointer)), code(target), code(live), by)
	}
}

var backticks = regexp.MustCompile("`+")

// fence is a run of backticks, of at least a length, that is longer than any in the
// text.
func fence(text string, least int) string {
	for _, run := range backticks.FindAllString(text, -1) {
		least = max(least, len(run)+1)
	}
	return strings.Repeat("`", least)
}

// code is the text as inline code, in which nothing is markup.
func code(text string) string {
	text = clean(text)
	if strings.TrimSpace(text) == "" {
		return "(empty)"
	}
	mark := fence(text, 1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return mark + text + mark
}

// fenced is a block of code.
func fenced(snippet string) string {
	text := strings.Join(lines(snippet), "\n")
	mark := fence(text, 3)
	return mark + "\n" + text + "\n" + mark
}

var (
	// markup are the characters that mean something anywhere in a line.
	markup = regexp.MustCompile("[\\\\`*_\\[\\]<>#|~&!$]")
	// opening are those that mean something where a line begins.
	opening = regexp.MustCompile(`^(\s*)([-+=]|[0-9]+[.)])`)
	// links are what becomes a link by itself.
	links = regexp.MustCompile(`(?i)(https?|ftp|mailto|xmpp)(:)|(www)(\.)`)
)

// prose is the text with all that would be markup escaped.
func prose(text string) string {
	text = strings.TrimSpace(clean(shorten(text, mostProse)))
	text = markup.ReplaceAllString(text, `\$0`)
	text = links.ReplaceAllString(text, `$1$3\$2$4`)
	return opening.ReplaceAllStringFunc(text, func(start string) string {
		return start[:len(start)-1] + `\` + start[len(start)-1:]
	})
}
