package fleet_test

import (
	"testing"

	"github.com/moorpin/moorpin/extension/fleet"
)

// BenchmarkStatusAlone reads 2000 Applications with 50 resources each, which are made
// meanwhile, by their status.
func BenchmarkStatusAlone(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if o := summarise(b, made(2000, 50), fleet.Options{}); o.Resources != 100_000 {
			b.Fatalf("%d resources", o.Resources)
		}
	}
}
