package e2e

import (
	"maps"
	"slices"
	"sync"
	"testing"

	generator "github.com/moorpin/moorpin/e2e/generate"
	"github.com/moorpin/moorpin/pkg/pin"
)

// oracleTally counts what the oracle said.
type oracleTally struct {
	mutex    sync.Mutex
	kinds    []*generator.Kind
	verdicts map[*generator.Kind][]oracleVerdict
}

func newOracleTally(kinds []*generator.Kind) *oracleTally {
	return &oracleTally{kinds: kinds, verdicts: map[*generator.Kind][]oracleVerdict{}}
}

func (c *oracleTally) add(kind *generator.Kind, verdict oracleVerdict) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.verdicts[kind] = append(c.verdicts[kind], verdict)
}

// oracleCounts are numbers of objects, if nothing else is said.
type oracleCounts struct {
	objects, accepted, equal int
	// changed ones have fields that pin changed.
	changed int
	// foreseen ones are returned as the server's libraries, linked into this test,
	// foresee: a second witness.
	foreseen int
	// lost ones hold fields that the server does not keep, scaled ones leave out
	// what stands behind the scale subresource: these fields are not compared.
	lost, scaled int
}

func (c *oracleCounts) add(v oracleVerdict) {
	c.objects++
	if v.refusal != "" {
		return
	}
	c.accepted++
	c.equal += one(len(v.differences) == 0)
	c.changed += one(len(v.changes) > 0)
	c.foreseen += one(v.foreseen)
	c.lost += one(v.lost)
	c.scaled += one(v.scaled)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// report writes the counts and fails the test where a promise is not kept.
func (c *oracleTally) report(t *testing.T) {
	t.Helper()
	var total, corners oracleCounts
	profiles := map[generator.Profile]*oracleCounts{}
	changes := map[pin.Action]int{}
	withDefaults := 0
	for _, kind := range c.kinds {
		var own oracleCounts
		for _, v := range c.verdicts[kind] {
			if profiles[v.profile] == nil {
				profiles[v.profile] = &oracleCounts{}
			}
			for _, to := range []*oracleCounts{&total, &own, profiles[v.profile]} {
				to.add(v)
			}
			if kind.Resource.Group == cornersGroup {
				corners.add(v)
			}
			for _, change := range v.changes {
				changes[change.Action]++
			}
		}
		withDefaults += one(kind.HasDefaults())
		if kind.HasDefaults() && own.accepted < 2 {
			t.Errorf("%s has defaults, and %d accepted objects; a refused object is no evidence", kind, own.accepted)
		}
	}
	t.Logf("%d kind versions, %d of them with defaults; objects: %+v", len(c.kinds), withDefaults, total)
	t.Logf("  of them of testdata/corners.yaml: %+v", corners)
	for _, profile := range slices.Sorted(maps.Keys(profiles)) {
		t.Logf("  %-8s %+v", profile, *profiles[profile])
	}
	t.Logf("  fields changed by pin: %v", changes)
	if 2*total.accepted < total.objects {
		t.Errorf("the server accepts %d of %d objects, less than half", total.accepted, total.objects)
	}
	if total.equal != total.accepted {
		t.Errorf("%d of %d accepted objects are not as pinned", total.accepted-total.equal, total.accepted)
	}
	c.details(t)
}

// details says which objects were refused, and fails the test for each that is not as pinned.
func (c *oracleTally) details(t *testing.T) {
	t.Helper()
	const shown = 100
	unequal := 0
	for _, kind := range c.kinds {
		refused := 0
		for _, v := range c.verdicts[kind] {
			if v.refusal != "" {
				refused++
				t.Logf("  refused: %.400s", v.refusal)
			}
			if len(v.differences) == 0 {
				continue
			}
			if unequal++; unequal <= shown {
				t.Errorf("%s %s: %s", kind, v.profile, v)
			}
		}
		if refused > 0 {
			t.Logf("  %s: %d of %d objects refused", kind, refused, len(c.verdicts[kind]))
		}
	}
}
