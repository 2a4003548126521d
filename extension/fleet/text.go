package fleet

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/moorpin/moorpin/extension/view"
	"github.com/moorpin/moorpin/pkg/drift"
)

// mostRows is how many lines of each table are shown to people.
const mostRows = 20

// table is a part of the Overview for people.
type table struct {
	title string
	// head are the names of the columns, with commas between them.
	head string
	rows [][]string
	// of names what the rows are, for the word about those that are left out.
	of string
}

// Text writes the overview for a terminal. Long tables are cut, with a word about it;
// the JSON and CSV forms have everything.
func Text(to io.Writer, o *Overview) error {
	var out strings.Builder
	fmt.Fprintln(&out, headline(o))
	for _, t := range tables(o) {
		fmt.Fprintf(&out, "\n%s\n", t.title)
		columns := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		for i, row := range append([][]string{strings.Split(t.head, ",")}, t.rows[:min(len(t.rows), mostRows)]...) {
			cells := make([]string, len(row))
			for j, cell := range row {
				cells[j] = view.Clean(cell)
				if i == 0 {
					cells[j] = strings.ToUpper(cell)
				}
			}
			_, _ = fmt.Fprintln(columns, "  "+strings.Join(cells, "\t")) // a strings.Builder takes everything
		}
		_ = columns.Flush() // the same
		if more := len(t.rows) - mostRows; more > 0 {
			fmt.Fprintf(&out, "  ... and %d more %s; -o json has all\n", more, t.of)
		}
	}
	_, err := io.WriteString(to, trimLines(out.String()))
	return err //nolint:wrapcheck // the caller names the step
}

// trimLines takes the blanks from the ends of lines, which empty cells leave.
func trimLines(text string) string {
	split := strings.Split(text, "\n")
	for i, line := range split {
		split[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(split, "\n")
}

// headline is what there is to say in a line or three.
func headline(o *Overview) string {
	said := fmt.Sprintf("%d Applications with %d resources; %d drift or are in trouble.", o.Applications, o.Resources, o.Drifting)
	if o.Unread > 0 {
		said += fmt.Sprintf("\n%d resources differ in fields that were not read; --fields reads them, and says why.", o.Unread)
	}
	if o.Fields != nil {
		said += fmt.Sprintf("\nThe fields of %d Applications were read in %.1f s, %.1f a second.", o.Fields.Applications, o.Fields.Seconds, o.Fields.PerSecond)
	}
	return said
}

// tables are the parts of the Overview that have something to show.
func tables(o *Overview) []table {
	all := []table{stateTable(o), mechanismTable(o), kindTable(o), behindTable(o), unexplainedTable(o), affectedTable(o), problemTable(o)}
	kept := all[:0]
	for _, t := range all {
		if len(t.rows) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

func stateTable(o *Overview) table {
	t := table{title: "States", of: "states", head: "sync,health,applications"}
	for _, s := range o.States {
		t.rows = append(t.rows, []string{s.Sync, s.Health, strconv.Itoa(s.Applications)})
	}
	return t
}

func mechanismTable(o *Overview) table {
	t := table{title: "Why they drift", of: "mechanisms", head: "mechanism,applications,findings,fields,worst sync,example"}
	for _, m := range o.Mechanisms {
		name := string(m.Mechanism)
		if m.Class != "" {
			name += " (" + m.Class + ")"
		}
		t.rows = append(t.rows, []string{name, strconv.Itoa(m.Applications), strconv.Itoa(m.Findings), strconv.Itoa(m.Fields), string(m.Sync), m.Example})
	}
	return t
}

func kindTable(o *Overview) table {
	t := table{title: "Kinds that drift the most", of: "kinds", head: "kind,resources,applications,fields"}
	for _, k := range o.Kinds {
		name := k.Kind
		if k.Group != "" {
			name += "." + k.Group
		}
		t.rows = append(t.rows, []string{name, strconv.Itoa(k.Resources), strconv.Itoa(k.Applications), strconv.Itoa(k.Fields)})
	}
	return t
}

func behindTable(o *Overview) table {
	t := table{title: "Progressing or Degraded behind the drift", of: "Applications", head: "application,sync,health,since,restarts,what"}
	for _, b := range o.Behind {
		restarts := "?"
		if b.Restarts != nil {
			restarts = strconv.Itoa(*b.Restarts)
		}
		var what []string
		for _, i := range b.Resources {
			said := view.Name(i.Resource)
			if i.Message != "" {
				said += ": " + i.Message
			}
			what = append(what, said)
		}
		if b.More > 0 {
			what = append(what, fmt.Sprintf("and %d more", b.More))
		}
		t.rows = append(t.rows, []string{b.Application, b.Sync, b.Health, or(b.Since), restarts, strings.Join(what, "; ")})
	}
	return t
}

func unexplainedTable(o *Overview) table {
	t := table{title: "What nobody explained", of: "findings", head: "application,resource,fields,what"}
	for _, u := range o.Unexplained {
		pointers := make([]string, len(u.Pointers))
		for i, p := range u.Pointers {
			pointers[i] = string(p)
		}
		t.rows = append(t.rows, []string{u.Application, view.Name(u.Resource), strconv.Itoa(u.Fields), strings.Join(pointers, " ") + u.Evidence})
	}
	return t
}

func affectedTable(o *Overview) table {
	t := table{title: "Applications, the worst first", of: "Applications", head: "application,project,sync,health,a sync is,unread,why"}
	for i := range o.Affected {
		a := &o.Affected[i]
		why := make([]string, len(a.Counts))
		for j, c := range a.Counts {
			why[j] = fmt.Sprintf("%s %d", c.Mechanism, c.Findings)
		}
		if a.silent() {
			why = []string{unsaid(a)}
		}
		t.rows = append(t.rows, []string{a.Ref().String(), a.Project, a.Sync, a.Health, effect(a), strconv.Itoa(a.Unread), strings.Join(why, ", ")})
	}
	return t
}

// effect is what a sync would do; of an Application with unread fields nobody knows
// whether it is all.
func effect(a *Application) string {
	switch {
	case !a.partial():
		return string(a.Effect)
	case len(a.Counts) == 0:
		return "?"
	}
	return "at least " + string(a.Effect)
}

// unsaid is the word for an Application that is not Synced though nothing says why.
func unsaid(a *Application) string {
	if a.FieldsRead {
		return string(drift.Unexplained)
	}
	return "unread"
}

func problemTable(o *Overview) table {
	t := table{title: "What could not be read", of: "problems", head: "application,problem"}
	for _, p := range o.Problems {
		t.rows = append(t.rows, []string{p.Application, p.Error})
	}
	return t
}

// or is a text, or a word for none.
func or(text string) string {
	if text == "" {
		return "?"
	}
	return text
}
