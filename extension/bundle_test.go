package extension_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/extension/ui"
)

func TestBundle(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "extensions", "moorpin")
	for _, reason := range []string{"the folder is missing", "the file is there"} {
		code, _, errs := execute(t.Context(), "", "bundle", folder)
		if code != 0 {
			t.Fatalf("%s: code %d: %s", reason, code, errs)
		}
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%s: %d files, %v, want the bundle alone", reason, len(entries), err)
		}
		got, err := os.ReadFile(filepath.Join(folder, ui.BundleName))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(ui.Bundle()), string(got)); diff != "" {
			t.Errorf("%s: (-built in +written)\n%s", reason, diff)
		}
	}
	info, err := os.Stat(filepath.Join(folder, ui.BundleName))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v: Argo CD's API server runs as another user and must be able to read it", info.Mode(), err)
	}
}

func TestBundleRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		args   []string
		code   int
		reason string
	}{
		"no folder":   {[]string{"bundle"}, 2, "there is no default that would be right"},
		"two folders": {[]string{"bundle", "a", "b"}, 2, "one is meant"},
		"a file":      {[]string{"bundle", file}, 3, "it is no folder"},
	} {
		if code, _, _ := execute(t.Context(), "", row.args...); code != row.code {
			t.Errorf("%s: code %d, want %d: %s", name, code, row.code, row.reason)
		}
	}
}
