package cases

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/moorpin/moorpin/e2e/crds"
)

// crdShelf holds the well-known CRDs by name, once somebody asks for one.
type crdShelf struct{ byName map[string]map[string]any }

// find returns a copy of the CRD.
func (s *crdShelf) find(ctx context.Context, name string) (map[string]any, error) {
	if s.byName == nil {
		all, err := crds.All(ctx)
		if err != nil {
			return nil, fmt.Errorf("find CRD %s: %w", name, err)
		}
		s.byName = map[string]map[string]any{}
		for _, crd := range all {
			s.byName[crd.Name()] = crd.Content
		}
	}
	crd, ok := s.byName[name]
	if !ok {
		return nil, fmt.Errorf("no module of e2e/crds ships the CRD %q; put a CRD of the case's own there in full", name)
	}
	return runtime.DeepCopyJSON(crd), nil
}
