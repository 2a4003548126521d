package controlplane

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// StartForTest starts a plane that lives as long as the test, benchmark or
// fuzz test. When that fails, the ends of all logs are printed. The plane logs
// to the test unless the options name a log.
func StartForTest(t testing.TB, options Options) *Plane {
	t.Helper()
	if options.Log == nil {
		options.Log = t.Output()
	}
	p, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			if err := p.WriteLogs(t.Output(), tailLines); err != nil {
				t.Error(err)
			}
		}
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// RunTests is for TestMain: it starts one plane for the whole test binary,
// hands it to use, runs the tests, stops the plane, and returns the exit code.
// When a test failed, the ends of all logs go to stderr.
func RunTests(m *testing.M, options Options, use func(*Plane)) int {
	if options.Log == nil {
		options.Log = os.Stderr
	}
	p, err := Start(context.Background(), options)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err) // there is no test yet to report to
		return 1
	}
	use(p)
	code := m.Run()
	if code != 0 {
		_ = p.WriteLogs(os.Stderr, tailLines) // the code says already that all is not well
	}
	if err := p.Stop(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
