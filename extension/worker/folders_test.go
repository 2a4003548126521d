package worker_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/moorpin/moorpin/extension/worker"
)

// TestStaleFolders: what a killed process left is gone once the next one starts, what a
// living one has stays, and so does what is not ours to judge.
func TestStaleFolders(t *testing.T) {
	below := t.TempDir()
	living, closeLiving := folders(t, below)
	killed := filepath.Join(below, "moorpin-worker-killed")
	old := filepath.Join(below, "moorpin-worker-old")
	fresh := filepath.Join(below, "moorpin-worker-fresh")
	for _, folder := range []string{killed, old, fresh} {
		if err := os.MkdirAll(filepath.Join(folder, "child-1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(killed, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link, aim := filepath.Join(below, "moorpin-worker-link"), filepath.Join(below, "aim")
	hour := time.Now().Add(-time.Hour)
	for _, err := range []error{os.Mkdir(aim, 0o700), os.Symlink(aim, link), os.Chtimes(old, hour, hour)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	own, closeOwn := folders(t, below)
	want := []string{aim, living, own, fresh, link}
	have, err := filepath.Glob(filepath.Join(below, "*"))
	slices.Sort(want)
	if slices.Sort(have); err != nil || !slices.Equal(have, want) {
		t.Errorf("there are %v, want %v: %v", have, want, err)
	}
	for _, end := range []func() error{closeOwn, closeOwn, closeLiving} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(own); !os.IsNotExist(err) {
		t.Errorf("the folder stays: %v", err)
	}
}

func folders(t *testing.T, below string) (string, func() error) {
	t.Helper()
	path, end, err := worker.Folders(below)
	if err != nil {
		t.Fatal(err)
	}
	return path, end
}
