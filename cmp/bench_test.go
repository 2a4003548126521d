package cmp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkSidecar asks a whole sidecar, as repo-server does, for renders of plain
// manifests; the tarball's packing by repo-server's code is in it.
func BenchmarkSidecar(b *testing.B) {
	for _, objects := range []int{10, 100, 1000} {
		for _, mode := range []string{"none", "all"} {
			b.Run(fmt.Sprintf("objects=%d/pin=%s", objects, mode), func(b *testing.B) {
				folder, root := b.TempDir(), b.TempDir()
				b.Setenv("ARGOCD_PLUGINSOCKFILEPATH", folder)
				for file := range 10 {
					writeWidgets(b, filepath.Join(root, fmt.Sprintf("%d.yaml", file)), objects/10)
				}
				stop := serve(b, filepath.Join(folder, "moorpin.sock"), "--work-dir", b.TempDir(), "--live=off", "--crds", "testdata/crds", "--pin", mode)
				b.ReportAllocs()
				for b.Loop() {
					if got := len(ask(b, "moorpin", root, ".")); got != objects {
						b.Fatalf("%d objects", got)
					}
				}
				_, log := stop()
				reportPhases(b, log)
			})
		}
	}
}

// phaseTime finds how long a phase of a request took in the sidecar's log.
var phaseTime = regexp.MustCompile(`phases\.(receive|wait|render|pin)Ms=([0-9.]+)`)

// reportPhases reports the median of each phase of the requests in a log.
func reportPhases(b *testing.B, log string) {
	b.Helper()
	took := map[string][]float64{}
	for _, match := range phaseTime.FindAllStringSubmatch(log, -1) {
		ms, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			b.Fatal(err)
		}
		took[match[1]] = append(took[match[1]], ms)
	}
	for phase, times := range took {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2], phase+"-ms")
	}
}

func writeWidgets(b *testing.B, file string, count int) {
	b.Helper()
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "---\napiVersion: test.moorpin.dev/v1\nkind: Widget\nmetadata:\n  name: w%d\nspec:\n  parts:\n", i)
		for part := range 4 {
			fmt.Fprintf(&text, "    - name: part-%d\n", part)
		}
	}
	err := os.WriteFile(file, []byte(text.String()), 0o600)
	if err != nil {
		b.Fatal(err)
	}
}
