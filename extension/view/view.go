// Package view writes the reports of package drift for people: as text for a
// terminal, and as Markdown for a comment.
//
// What a report quotes comes from clusters, repositories and other people. [Text]
// writes no control character that it did not mean, [Markdown] nothing that becomes
// markup. Long values are shortened and long lists cut, with a word about it; the
// JSON form of a report has everything.
package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/moorpin/moorpin/pkg/drift"
)

const (
	// mostFields is how many fields of a finding are shown.
	mostFields = 20
	// mostRunes is how much of a value is shown, mostProse of a sentence.
	mostRunes = 160
	mostProse = 2000
)

// effect is what a sync would do, by name and in words.
func effect(report *drift.Report, f *drift.Finding) string {
	if f.Sync.Severity() < drift.Blocked.Severity() && slices.ContainsFunc(report.Findings, blocks) {
		return string(f.Sync) + ", once a sync can start: " + f.Effect()
	}
	return string(f.Sync) + ": " + f.Effect()
}

// blocks reports whether a finding keeps every sync from starting, one by hand too.
func blocks(f drift.Finding) bool {
	return f.Sync == drift.Blocked && f.Effect() == drift.Blocked.Effect()
}

// lossWord is what the sentences about what a sync takes are headed with.
func lossWord(f *drift.Finding) string {
	switch f.Mechanism { //nolint:exhaustive // all others take what somebody wants
	case drift.TTLDeleted:
		return "repeats"
	case drift.RandomRender, drift.ChecksumChurn, drift.TimestampRender:
		return "replaces"
	}
	return "loses"
}

// quiet reports whether there is nothing to say beyond the verdict.
func quiet(report *drift.Report) bool {
	return len(report.Findings) == 1 && report.Findings[0].Mechanism == drift.None
}

// urgent are the findings, those that need somebody first: by the effect of a sync,
// then those that Argo CD flags, then as the report has them.
func urgent(report *drift.Report) []drift.Finding {
	findings := slices.Clone(report.Findings)
	slices.SortStableFunc(findings, func(a, b drift.Finding) int {
		if a.Sync.Severity() != b.Sync.Severity() {
			return b.Sync.Severity() - a.Sync.Severity()
		}
		return number(b.Flagged) - number(a.Flagged)
	})
	return findings
}

func number(truth bool) int {
	if truth {
		return 1
	}
	return 0
}

// name is Kind.group namespace/name.
func name(ref drift.ResourceRef) string {
	kind := ref.Kind
	if ref.Group != "" {
		kind += "." + ref.Group
	}
	if ref.Namespace == "" {
		return kind + " " + ref.Name
	}
	return kind + " " + ref.Namespace + "/" + ref.Name
}

// sides are both sides of a field on one line each; masks say only whether the hidden
// values differ.
func sides(f drift.Field) (target, live string) {
	if !masked(f.Target) && !masked(f.Live) {
		return value(f.Target, f.InTarget), value(f.Live, f.InLive)
	}
	hidden := func(v any, present bool) string {
		switch {
		case !present || !masked(v):
			return value(v, present)
		case f.InTarget && f.InLive && f.Target != f.Live:
			return "(hidden, differs)"
		}
		return "(hidden)"
	}
	return hidden(f.Target, f.InTarget), hidden(f.Live, f.InLive)
}

// masked reports whether a value is what stands for a Secret's.
func masked(v any) bool {
	text, ok := v.(string)
	return ok && len(text) >= 8 && strings.Trim(text, "+") == ""
}

// value is a side of a field on one line.
func value(v any, present bool) string {
	if !present {
		return "(absent)"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "(no JSON)"
	}
	// JSON hides <, > and & from browsers, which do not read this.
	return shorten(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text)), mostRunes)
}

func shorten(text string, most int) string {
	total := utf8.RuneCountInString(text)
	if total <= most {
		return text
	}
	return string([]rune(text)[:most]) + fmt.Sprintf("... (%d characters)", total)
}

// owner says who wrote a field and when.
func owner(o *drift.Owner) string {
	text := o.Manager + " (" + o.Operation
	if o.Subresource != "" {
		text += " of " + o.Subresource
	}
	text += ")"
	if o.Time != "" {
		text += " at " + o.Time
	}
	return text
}

// place says where a fix is made, and whether it is proven.
func place(fix drift.Fix) string {
	places := map[drift.Where]string{
		drift.InGit: "in Git", drift.InApplication: "in the Application", drift.InProject: "in the AppProject",
		drift.InArgoCM: "in argocd-cm", drift.InCluster: "in the cluster", drift.InOperation: "by an operation",
	}
	text, known := places[fix.Where]
	if !known {
		text = string(fix.Where)
	}
	if fix.Proven {
		text += ", proven"
	}
	return text
}

// clean is the text on one line without control and format characters, which are
// written as Go writes them: a terminal would obey them, or show another text.
func clean(text string) string {
	if !strings.ContainsFunc(text, hostile) && utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case r == '\n':
			out.WriteByte(' ')
		case hostile(r):
			quoted := fmt.Sprintf("%+q", r)
			out.WriteString(quoted[1 : len(quoted)-1])
		default:
			out.WriteRune(r)
		}
		i += size
	}
	return out.String()
}

// hostile reports whether a character does more than to be seen.
func hostile(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// lines are the lines of a snippet, each clean, tabs as spaces.
func lines(snippet string) []string {
	split := strings.Split(strings.TrimRight(snippet, "\n"), "\n")
	for i, line := range split {
		split[i] = clean(strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    "))
	}
	return split
}
