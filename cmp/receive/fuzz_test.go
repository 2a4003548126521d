package receive_test

import (
	"archive/tar"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/cmp/receive"
)

// Whatever arrives: no panic, nothing written outside the tree, no way out of it,
// and nothing left behind after an error.
func FuzzUnpack(f *testing.F) {
	for _, seed := range [][]byte{
		tarOf(f, regular("a/b.yaml", "kind: Secret\n"), symlink("a/l", "../a/b.yaml")),
		tarOf(f, tar.Header{Typeflag: tar.TypeDir, Name: "a/"}, regular("a/.git/x", "y"), symlink("up", "a/..")),
		tarOf(f, symlink("a/b/up", "../.."), symlink("a/b/out", "up/../x")),
		tarOf(f, regular(strings.Repeat("long/", 50)+"name", "x")),
		sparse(),
	} {
		f.Add(seed, false)
	}
	f.Add(pack(f, regular("a", "b")), true)
	f.Fuzz(func(t *testing.T, archive []byte, packed bool) {
		if !packed {
			archive = zip(t, archive)
		}
		parent := t.TempDir()
		work := filepath.Join(parent, "work")
		tree, err := receive.Unpack(t.Context(), streamOf(archive), work, receive.Limits{TreeBytes: 1 << 20, Files: 1000})
		if err != nil {
			empty(t, work)
			return
		}
		staysInside(t, tree.Dir)
		check(t, tree.Remove())
		empty(t, work)
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
			t.Errorf("outside the work folder: %v, %v", entries, err)
		}
	})
}

// staysInside resolves every path of the tree with the kernel's help.
func staysInside(t *testing.T, dir string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if entry.Name() == ".git" {
			t.Errorf("%s was unpacked", path)
		}
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil && resolved != dir && !strings.HasPrefix(resolved, dir+"/") {
			t.Errorf("%s leads to %s", path, resolved)
		}
		return nil
	}))
}
