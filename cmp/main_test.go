package cmp

import (
	"os"
	"testing"

	"github.com/moorpin/moorpin/cmp/child"
)

func TestMain(m *testing.M) {
	if child.IsChild() {
		os.Exit(child.Serve())
	}
	os.Exit(m.Run())
}
