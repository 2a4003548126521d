package fleet

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/moorpin/moorpin/extension/view"
)

// Markdown writes the overview as a comment of GitHub's or GitLab's flavour, with the
// tables of Text.
func Markdown(to io.Writer, o *Overview) error {
	var out strings.Builder
	fmt.Fprintf(&out, "## Drift of %d Applications\n\n%s\n", o.Applications, strings.ReplaceAll(headline(o), "\n", "\n\n"))
	for _, t := range tables(o) {
		columns := strings.Split(t.head, ",")
		fmt.Fprintf(&out, "\n### %s\n\n| %s |\n|%s\n", t.title, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
		for _, row := range t.rows[:min(len(t.rows), mostRows)] {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = view.Prose(cell)
			}
			fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
		}
		if more := len(t.rows) - mostRows; more > 0 {
			fmt.Fprintf(&out, "\n... and %d more %s; the JSON form has all\n", more, t.of)
		}
	}
	_, err := io.WriteString(to, out.String())
	return err //nolint:wrapcheck // the caller names the step
}

// csvHead is the first line of CSV.
const csvHead = "application,project,sync,health,health_since,mechanism,findings,fields,effect"

// CSV writes one line for each Application and mechanism, under a line of names. What
// only the status was read of has the mechanism "unread", and in findings the number
// of resources; of what was read in vain it is "unexplained". A cell that a spreadsheet would take for a formula gets an apostrophe.
func CSV(to io.Writer, o *Overview) error {
	out := csv.NewWriter(to)
	_ = out.Write(strings.Split(csvHead, ",")) // Error tells at the end
	for i := range o.Affected {
		a := &o.Affected[i]
		start := []string{a.Ref().String(), a.Project, a.Sync, a.Health, a.Since}
		for _, c := range a.Counts {
			_ = out.Write(row(start, string(c.Mechanism), strconv.Itoa(c.Findings), strconv.Itoa(c.Fields), string(c.Sync)))
		}
		switch {
		case a.silent():
			_ = out.Write(row(start, unsaid(a), strconv.Itoa(a.Unread), "0", "?"))
		case a.Unread > 0:
			_ = out.Write(row(start, "unread", strconv.Itoa(a.Unread), "0", "?"))
		}
	}
	out.Flush()
	return out.Error() //nolint:wrapcheck // the caller names the step
}

// row is a line of cells that are data to whoever opens the file.
func row(start []string, rest ...string) []string {
	cells := slices.Concat(start, rest)
	for i, cell := range cells {
		cells[i] = view.Clean(cell)
		if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			cells[i] = "'" + cells[i]
		}
	}
	return cells
}
