package cases

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/moorpin/moorpin/e2e/crds"
)

// shelf holds the well-known CRDs by name, once somebody asks for one.
var shelf struct {
	sync.Mutex

	byName map[string]map[string]any
}

// findCRD returns a copy of a well-known CRD.
func findCRD(ctx context.Context, name string) (map[string]any, error) {
	shelf.Lock()
	defer shelf.Unlock()
	if shelf.byName == nil {
		all, err := crds.All(ctx)
		if err != nil {
			return nil, fmt.Errorf("find CRD %s: %w", name, err)
		}
		shelf.byName = map[string]map[string]any{}
		for _, crd := range all {
			shelf.byName[crd.Name()] = crd.Content
		}
	}
	crd, ok := shelf.byName[name]
	if !ok {
		return nil, fmt.Errorf("no module of e2e/crds ships the CRD %q; put a CRD of the case's own there in full", name)
	}
	return runtime.DeepCopyJSON(crd), nil
}
