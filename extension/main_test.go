package extension_test

import (
	"os"
	"testing"

	"github.com/moorpin/moorpin/extension/worker"
)

// TestMain runs the tests, or what serve starts of its own program.
func TestMain(m *testing.M) {
	if worker.IsChild() {
		os.Exit(worker.Child())
	}
	os.Exit(m.Run())
}
