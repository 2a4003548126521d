package classify

import (
	"context"
	"strconv"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/compare"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Compared is what Argo CD's packages made of one resource.
type Compared struct {
	Ref                   drift.ResourceRef
	Normalized, Predicted map[string]any
	Err                   error
}

// Compare shows the tests what a report rests on.
func Compare(snapshot *drift.Snapshot) ([]Compared, error) {
	s, err := state.New(context.Background(), snapshot)
	if err != nil {
		return nil, err
	}
	compare.All(s)
	var found []Compared
	for _, r := range s.Resources {
		found = append(found, Compared{r.Ref, r.Normalized, r.Predicted, r.CompareError})
	}
	return found, nil
}

// Differences shows the tests the smallest nodes that differ between two documents, as a
// report names them; none where there are too many to name.
func Differences(live, target map[string]any) []fieldpath.Pointer {
	found, err := diff.Between(context.Background(), diff.NewAllowance(), live, target)
	if err != nil {
		return nil
	}
	pointers := make([]fieldpath.Pointer, len(found))
	for i, d := range found {
		pointers[i] = d.Pointer
	}
	return pointers
}

// Row is a row of one of the tables of the order, in words.
type Row struct{ What, Why string }

// Order shows the tests the tables that say who wins.
func Order() map[string][]Row {
	tables := map[string][]Row{}
	add := func(table string, mechanism drift.Mechanism, why string) {
		what := "`" + string(mechanism) + "`"
		if mechanism == "" {
			what = "several"
		}
		tables[table] = append(tables[table], Row{what, why})
	}
	for _, row := range applicationRules {
		add("application", row.Mechanism, row.Why)
	}
	for _, row := range oneSidedRules {
		add("one-sided", row.Mechanism, row.Why)
	}
	for i := range fieldRules {
		add("field", fieldRules[i].Mechanism, fieldRules[i].Why)
	}
	for _, row := range silences {
		by := make([]string, 0, len(row.by))
		for _, m := range row.by {
			by = append(by, "`"+string(m)+"`")
		}
		what := "`" + string(row.mechanism) + "`, by "
		switch {
		case len(by) == 0:
			what += "any other"
		case row.whole:
			what = "`" + string(row.mechanism) + "` of the Application, by one of a resource"
		default:
			what += strings.Join(by, ", ")
		}
		tables["silence"] = append(tables["silence"], Row{what, row.why})
	}
	for i, row := range merges {
		tables["merge"] = append(tables["merge"], Row{strconv.Itoa(i + 1), row.why})
	}
	for i, row := range corrections {
		tables["correction"] = append(tables["correction"], Row{strconv.Itoa(i + 1), row.why})
	}
	return tables
}
