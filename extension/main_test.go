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
	os.Exit(run(m))
}

// buildFolder is where the tests build the program.
var buildFolder string

func run(m *testing.M) int {
	var err error
	buildFolder, err = os.MkdirTemp("", "moorpin-built-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(buildFolder)
	return m.Run()
}
