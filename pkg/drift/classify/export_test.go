package classify

import (
	"context"

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
