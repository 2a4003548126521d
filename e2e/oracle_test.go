package e2e

import (
	"fmt"
	"maps"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/crds"
	generator "github.com/moorpin/moorpin/e2e/generate"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/schema"
)

// oracleSize is how many objects of a kind version the oracle is asked about.
type oracleSize struct{ corners, withDefaults, without int }

// The fixed sample, and all: more than 10 000 objects.
var (
	oracleSample = oracleSize{corners: 60, withDefaults: 10, without: 2}
	oracleFull   = oracleSize{corners: 500, withDefaults: 85, without: 12}
)

func (s oracleSize) of(kind *generator.Kind) int {
	switch {
	case kind.Resource.Group == cornersGroup:
		return s.corners
	case kind.HasDefaults():
		return s.withDefaults
	default:
		return s.without
	}
}

// cornersGroup is the group of testdata/corners.yaml.
const cornersGroup = "moorpin.example.com"

func cornerCRDs(t *testing.T) []crds.CRD {
	t.Helper()
	const name = "testdata/corners.yaml"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Decode(name, data, manifest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var found []crds.CRD
	for _, object := range objects {
		found = append(found, crds.CRD{Module: "corners", File: name, Content: object.Content})
	}
	return found
}

// TestOracle holds pin against the API server itself: for random objects of the CRDs
// of many projects, what pin makes of an object is, field for field, what the server
// stores and returns of it, and the pinned object comes back as it was sent.
//
// MOORPIN_FULL=1 asks about all objects instead of a sample, MOORPIN_SEED about others.
func TestOracle(t *testing.T) {
	size, seed := oracleSizeWanted(), oracleSeed(t)
	all, err := crds.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, cornerCRDs(t)...)
	kinds, schemas := oracleKinds(t, all)
	server := newOracleServer(t, controlplane.StartForTest(t, controlplane.Options{}))
	begin := time.Now()
	if err := server.install(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	t.Logf("installed %d CRDs in %s", len(all), time.Since(begin).Round(time.Millisecond))

	begin = time.Now()
	tally := newOracleTally(kinds)
	var work errgroup.Group
	work.SetLimit(8)
	for index := range size.corners {
		for _, kind := range kinds {
			if index >= size.of(kind) {
				continue
			}
			work.Go(func() error {
				object, facts := kind.Object(seed, index)
				verdict, err := oracle{server, schemas, kind}.judge(t.Context(), object, facts)
				if err != nil {
					return fmt.Errorf("%s, object %d: %w", kind, index, err)
				}
				tally.add(kind, verdict)
				return nil
			})
		}
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("asked in %s", time.Since(begin).Round(time.Millisecond))
	tally.report(t)
}

func oracleSizeWanted() oracleSize {
	if os.Getenv("MOORPIN_FULL") == "1" {
		return oracleFull
	}
	return oracleSample
}

func oracleSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("MOORPIN_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("MOORPIN_SEED is no number: %v", err)
	}
	return seed
}

// oracleKinds compiles the CRDs, for the generator and for pin.
func oracleKinds(t *testing.T, all []crds.CRD) ([]*generator.Kind, *schema.Set) {
	t.Helper()
	var kinds []*generator.Kind
	definitions := make([]*schema.Definition, len(all))
	for i := range all {
		all[i].Content = installable(all[i].Content)
		found, err := generator.Kinds(all[i].Content)
		if err != nil {
			t.Fatalf("%s %s: %v", all[i].Module, all[i].File, err)
		}
		kinds = append(kinds, found...)
		if definitions[i], err = schema.Parse(t.Context(), all[i].Content, all[i].File); err != nil {
			t.Fatalf("%s: %v", all[i].Module, err)
		}
	}
	return kinds, schema.NewSet(definitions...)
}

// installable returns the CRD as the server and pin get it. There are no webhooks of
// the projects here, and of a version that one converts pin promises nothing: with
// versions that differ in their schema alone, the CRD says as much about defaults as
// any other.
func installable(crd map[string]any) map[string]any {
	changed := maps.Clone(crd)
	delete(changed, "status")
	spec, _ := crd["spec"].(map[string]any)
	spec = maps.Clone(spec)
	spec["conversion"] = map[string]any{"strategy": "None"}
	changed["spec"] = spec
	return changed
}
