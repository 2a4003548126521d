package lua

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/lua/gaps"
	"github.com/moorpin/moorpin/pkg/health"
)

// reportRow is a kind as the reports show it.
type reportRow struct {
	Kind, Group, Version string

	Outcome  outcome
	Why      string
	Grade    health.Grade
	Evidence []string
	// Proof says on how much the check was proven, Live what it says of live objects.
	Proof, Live string
	Note        string
}

func reportRows(results []result) []reportRow {
	rows := make([]reportRow, 0, len(results))
	for _, one := range results {
		row := reportRow{
			Kind: one.kind.Kind, Group: one.kind.Group, Version: one.check.Version,
			Outcome: one.outcome, Why: one.why, Grade: one.check.Grade, Live: one.live.String(),
		}
		if one.outcome == written {
			row.Evidence, row.Proof = one.check.Evidence, proofText(one.proof.Cases, one.proof.Codes)
		}
		if by, builtin := gaps.Builtin(one.kind); builtin {
			row.Note = "Argo CD " + gaps.Version + " checks it by " + by + ", so it is not in the patch"
		} else if later, is := gaps.Later(one.kind); is {
			row.Note = "Argo CD " + later + " checks it by itself; take this check away when you upgrade"
		}
		rows = append(rows, row)
	}
	return rows
}

func proofText(cases int, codes map[health.Code]int) string {
	parts := []string{}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		parts = append(parts, fmt.Sprintf("%d %s", codes[code], code))
	}
	return fmt.Sprintf("%d objects: %s", cases, strings.Join(parts, ", "))
}

// markdown is the report for pull requests.
func markdown(rows []reportRow) string {
	text := &strings.Builder{}
	text.WriteString("# Health checks\n\nEach check was proven in Argo CD's own Lua VM before it was written.\n\n")
	text.WriteString("| kind | grade | evidence | proven on | live | note |\n|---|---|---|---|---|---|\n")
	for _, row := range rows {
		if row.Outcome == written {
			fmt.Fprintf(text, "| %s | %s | %s | %s | %s | %s |\n", cell(row.Kind+"."+row.Group), row.Grade, cell(strings.Join(row.Evidence, "; ")), cell(row.Proof), cell(row.Live), cell(row.Note))
		}
	}
	text.WriteString("\n## Kinds without a check\n\n| kind | outcome | why | note |\n|---|---|---|---|\n")
	for _, row := range rows {
		if row.Outcome != written {
			fmt.Fprintf(text, "| %s | %s | %s | %s |\n", cell(row.Kind+"."+row.Group), row.Outcome, cell(row.Why), cell(row.Note))
		}
	}
	return text.String()
}

// cell is a text from elsewhere in a cell of a Markdown table, in which nothing is markup.
func cell(text string) string {
	escaped := &strings.Builder{}
	for _, letter := range inert(text) {
		if strings.ContainsRune("\\`*_{}[]<>#|~!&@", letter) {
			escaped.WriteByte('\\')
		}
		escaped.WriteRune(letter)
	}
	return escaped.String()
}

//go:embed report.html.tmpl
var pageText string

var page = template.Must(template.New("report").Parse(pageText))

// html is the report as a page of its own, without scripts.
func html(rows []reportRow) ([]byte, error) {
	var text bytes.Buffer
	if err := page.Execute(&text, rows); err != nil {
		return nil, fmt.Errorf("fill the page: %w", err)
	}
	return text.Bytes(), nil
}
