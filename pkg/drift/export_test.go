package drift

import "context"

// Compared is what Argo CD's packages made of one resource.
type Compared struct {
	Ref                   ResourceRef
	Normalized, Predicted map[string]any
	Err                   error
}

// Compare shows the tests what a report rests on.
func Compare(snapshot *Snapshot) ([]Compared, error) {
	s, err := newSituation(context.Background(), snapshot)
	if err != nil {
		return nil, err
	}
	s.compare()
	var found []Compared
	for _, r := range s.resources {
		found = append(found, Compared{r.ref, r.normalized, r.predicted, r.compareError})
	}
	return found, nil
}
