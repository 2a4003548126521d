package render_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moorpin/moorpin/cmp/render"
)

// hostileOverrides are .argocd-source.yaml files that must not be read to the end.
var hostileOverrides = map[string]struct {
	reason string
	put    func(t *testing.T, file string)
}{
	"device": {"it never ends", func(t *testing.T, file string) {
		t.Helper()
		check(t, os.Symlink("/dev/zero", file))
	}},
	"pipe": {"nobody writes to it", func(t *testing.T, file string) {
		t.Helper()
		check(t, syscall.Mkfifo(file, 0o600))
	}},
	"link out": {"it is another file of the machine", func(t *testing.T, file string) {
		t.Helper()
		outside := filepath.Join(t.TempDir(), "x.yaml")
		check(t, os.WriteFile(outside, []byte("directory: {recurse: true}\n"), 0o600))
		check(t, os.Symlink(outside, file))
	}},
	"huge": {"nobody writes a source of megabytes", func(t *testing.T, file string) {
		t.Helper()
		check(t, os.WriteFile(file, []byte("directory: {recurse: true} # "+strings.Repeat("x", 1<<20)+"\n"), 0o600))
	}},
}

// An Application is read in a process that nothing confines, and the same file is read
// again where it is rendered.
func TestHostileOverrides(t *testing.T) {
	const path = "directory/recurse"
	app, err := render.ParseApplication("app.yaml", []byte(header+"  project: default\n  source: {repoURL: 'https://g/r', path: "+path+"}\n"))
	check(t, err)
	for name, test := range hostileOverrides {
		t.Run(name, func(t *testing.T) {
			root := fixture(t, "directory", nil)
			test.put(t, filepath.Join(root, path, ".argocd-source.yaml"))
			readers := map[string]func() error{
				"application": func() error {
					_, err := render.FromApplication(app, root, render.ApplicationOptions{})
					return err
				},
				"render": func() error {
					_, err := renderer.Run(t.Context(), sourceCase{path: path}.request(root))
					return err
				},
			}
			for reader, read := range readers {
				done := make(chan error, 1)
				go func() { done <- read() }()
				select {
				case err := <-done:
					var refusal *render.Refusal
					if !errors.As(err, &refusal) || refusal.Where != ".argocd-source.yaml" {
						t.Errorf("%s: got %v, want a refusal: %s", reader, err, test.reason)
					}
				case <-time.After(10 * time.Second):
					t.Fatalf("%s: it does not end: %s", reader, test.reason)
				}
			}
		})
	}
}
