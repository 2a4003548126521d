package verify_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/moorpin/moorpin/lua/generate"
	"github.com/moorpin/moorpin/lua/verify"
	"github.com/moorpin/moorpin/pkg/catalog"
	"github.com/moorpin/moorpin/pkg/health"
)

// made is a check with its script.
type made struct {
	check  health.Check
	script string
}

// checks derives the checks of the CRDs in testdata, one for each sort of rule.
func checks(t testing.TB) []made {
	t.Helper()
	objects, _, err := catalog.Objects("testdata/crds")
	if err != nil {
		t.Fatal(err)
	}
	var all []made
	for _, object := range objects {
		check, err := health.Derive(object.Content, health.Options{})
		if err != nil {
			t.Fatal(err)
		}
		script, err := generate.Script(check)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made{check, script})
	}
	if len(all) == 0 {
		t.Fatal("no CRDs in testdata/crds")
	}
	return all
}

// drawFrom turns a fuzzer's bytes into choices; at their end it always takes the first.
func drawFrom(data []byte) func(n int) int {
	return func(n int) int {
		if len(data) < 2 {
			return 0
		}
		drawn := int(binary.LittleEndian.Uint16(data)) % n
		data = data[2:]
		return drawn
	}
}

// FuzzLua holds the generated Lua, in Argo CD's VM, against the Go reference: the
// same status and message for every object, never an error, never nothing.
func FuzzLua(f *testing.F) {
	all := checks(f)
	random := rand.New(rand.NewPCG(1, 0))
	for i := range 8 * len(all) {
		data := make([]byte, 256)
		for at := range data {
			data[at] = byte(random.Uint32())
		}
		f.Add(uint8(i), data)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		one := all[int(which)%len(all)]
		object := verify.Arbitrary(one.check, drawFrom(data))
		if _, err := verify.Compare(t.Context(), one.check, one.script, object); err != nil {
			t.Errorf("%s: %v\n%v", one.check.Name(), err, object)
		}
	})
}
