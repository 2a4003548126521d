package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInstallInto(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "self")
	if err := os.WriteFile(binary, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	target := filepath.Join(dir, "moorpin")
	for name, content := range map[string]string{"moorpin": "old", "other": "kept"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	running, err := os.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if err := installInto(binary, dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode() != 0o755 {
		t.Errorf("the copy must be executable: %v %v", info, err)
	}
	have := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		have[entry.Name()] = string(content)
	}
	if diff := cmp.Diff(map[string]string{"moorpin": "new", "other": "kept"}, have); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	old := make([]byte, 3)
	if _, err := running.Read(old); err != nil || string(old) != "old" {
		t.Errorf("who runs the old copy must keep it: %q %v", old, err)
	}
}

func TestInstallIntoRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason string
		args   []string
		code   int
		says   string
	}{
		"no folder":       {"the volume is not mounted", []string{"install-into", file + "-none"}, 2, "name an existing folder"},
		"a file":          {"a folder is asked for", []string{"install-into", file}, 2, "is no folder"},
		"nothing":         {"the folder is not optional", []string{"install-into"}, 2, "install-into --help"},
		"kernel's folder": {"nothing can be made there", []string{"install-into", "/proc/self"}, 2, "install into /proc/self"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(test.args, strings.NewReader(""), &out, &errs)
			if code != test.code || !strings.Contains(errs.String(), test.says) {
				t.Errorf("%s: want exit code %d and %q, have %d:\n%s", test.reason, test.code, test.says, code, errs.String())
			}
		})
	}
}

// TestInstallIntoBreaksOff: half a copy must not stay behind.
func TestInstallIntoBreaksOff(t *testing.T) {
	dir := t.TempDir()
	err := installInto(filepath.Join(dir, "none"), dir)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the binary is not there, but: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("something was left behind: %v %v", entries, err)
	}
	// A folder is no binary: reading it fails after the copy was begun.
	if err := installInto(t.TempDir(), dir); err == nil {
		t.Error("a folder was copied")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("something was left behind: %v %v", entries, err)
	}
}
