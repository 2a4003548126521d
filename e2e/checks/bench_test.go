package checks

import (
	"slices"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/resource_customizations"

	"github.com/moorpin/moorpin/lua/verify"
)

// BenchmarkHandWritten measures each check against the one that Argo CD has for the same
// kind, on the objects that Argo CD tests it on. A run is what Argo CD does for every
// object that it looks at: a new VM, the object's conversion, compiling the script and
// running it. The metrics are the median of the ratios, and both medians in microseconds.
func BenchmarkHandWritten(b *testing.B) {
	type pair struct {
		derived, handWritten verify.Script
		object               map[string]any
	}
	var pairs []pair
	for _, made := range derive(b, read(b)) {
		suite, err := verify.ReadSuite(resource_customizations.Embedded, made.check.Group+"/"+made.check.Kind)
		if err != nil {
			continue // Argo CD has no check for the kind.
		}
		for _, test := range suite.Tests {
			pairs = append(pairs, pair{verify.Script{Text: made.script}, verify.Script{Text: suite.Script, OpenLibs: true}, test.Object})
		}
	}
	if len(pairs) < 50 {
		b.Fatalf("%d objects are too few to show anything", len(pairs))
	}
	var ratios, ours, theirs []float64
	for b.Loop() {
		ratios, ours, theirs = nil, nil, nil
		for _, one := range pairs {
			mine, its := fastest(b, one.derived, one.object), fastest(b, one.handWritten, one.object)
			ours, theirs, ratios = append(ours, mine), append(theirs, its), append(ratios, mine/its)
		}
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(ours), "µs/check")
	b.ReportMetric(median(theirs), "µs/hand-written")
	b.Logf("%d objects; a quarter of the ratios is below %.1f, a quarter above %.1f", len(ratios), ratios[len(ratios)/4], ratios[len(ratios)*3/4])
}

// fastest runs a script on an object several times: the fastest run is the one that
// nothing else on the machine disturbed.
func fastest(b *testing.B, script verify.Script, object map[string]any) float64 {
	b.Helper()
	const runs = 15
	best := time.Hour
	for range runs {
		start := time.Now()
		if _, err := script.Run(b.Context(), object); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	return float64(best.Microseconds())
}

// median sorts the numbers and returns the one in their middle.
func median(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}
