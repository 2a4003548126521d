// Package checks holds generated health checks against the Go reference for the CRDs
// of many projects. It needs no control plane.
package checks

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moorpin/moorpin/e2e/crds"
	"github.com/moorpin/moorpin/lua/generate"
	"github.com/moorpin/moorpin/lua/verify"
	"github.com/moorpin/moorpin/pkg/health"
)

// derived is a check with its script.
type derived struct {
	check  health.Check
	script string
}

// read returns the CRDs of the Go modules.
func read(t testing.TB) []crds.CRD {
	t.Helper()
	found, err := crds.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// derive makes the checks of the CRDs that show a sign of health.
func derive(t testing.TB, found []crds.CRD) []derived {
	t.Helper()
	var made []derived
	for _, crd := range found {
		check, err := health.Derive(crd.Content, health.Options{})
		if err != nil {
			t.Errorf("%s: %v", crd.Name(), err)
			continue
		}
		if check.Grade == health.Nothing {
			continue
		}
		script, err := generate.Script(check)
		if err != nil {
			t.Errorf("%s: %v", crd.Name(), err)
			continue
		}
		made = append(made, derived{check, script})
	}
	if len(made) < 100 {
		t.Fatalf("%d of %d CRDs have a check; that is too few to show anything", len(made), len(found))
	}
	return made
}

// prove proves the checks on all cores, as the command does.
func prove(t testing.TB, made []derived) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, one := range made {
		group.Go(func() error {
			if _, err := verify.Prove(t.Context(), one.check, one.script); err != nil {
				t.Errorf("%s: %v", one.check.Name(), err)
			}
			return nil
		})
	}
	_ = group.Wait() // each has told its error
}

// TestProve: the check of every CRD proves right.
func TestProve(t *testing.T) {
	found := read(t)
	made := derive(t, found)
	t.Logf("%d of %d CRDs have a check", len(made), len(found))
	prove(t, made)
}

// BenchmarkGenerate makes and proves the checks of all CRDs. The figures to watch are the
// time for 250 CRDs, and that of the processor, which other programs change less.
func BenchmarkGenerate(b *testing.B) {
	found := read(b)
	begin := cpu(b)
	for b.Loop() {
		prove(b, derive(b, found))
	}
	each := 250 / float64(b.N) / float64(len(found))
	b.ReportMetric(b.Elapsed().Seconds()*each, "s/250CRDs")
	b.ReportMetric((cpu(b)-begin).Seconds()*each, "cpu-s/250CRDs")
}

// cpu is the time that this process has spent on processors.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
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

// FuzzLua holds the Lua of every CRD, in Argo CD's VM, against the reference in Go: the
// same status and message for each object, never an error, never nothing.
func FuzzLua(f *testing.F) {
	made := derive(f, read(f))
	random := rand.New(rand.NewPCG(1, 0))
	for which := range made {
		data := make([]byte, 256)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(uint16(which), data)
	}
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		one := made[int(which)%len(made)]
		object := verify.Arbitrary(one.check, drawFrom(data))
		if _, err := verify.Compare(t.Context(), one.check, one.script, object); err != nil {
			t.Errorf("%s: %v\n%v", one.check.Name(), err, object)
		}
	})
}
