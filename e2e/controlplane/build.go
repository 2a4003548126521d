package controlplane

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"
)

// build returns the path of the executable, and builds it when the cache lacks
// it. Test binaries that run side by side build it once: a file lock guards the
// build, and a rename publishes it only when it is whole.
func (s source) build(ctx context.Context, log io.Writer) (string, error) {
	folder, err := s.folder(ctx)
	if err != nil {
		return "", err
	}
	return s.buildIn(ctx, folder, log)
}

// buildIn does so with the nested module that lies in the folder.
func (s source) buildIn(ctx context.Context, folder string, log io.Writer) (string, error) {
	var err error
	if s.nested != "" {
		s.version, err = goCommand(ctx, folder, []string{"list", "-m", "-f", "{{.Version}}", s.module})
		if err != nil {
			return "", fmt.Errorf("read version of %s: %w", s.name, err)
		}
	}
	cached, err := s.cachePath(ctx, folder)
	if err != nil {
		return "", err
	}
	executable := filepath.Join(cached, s.name)
	if exists(executable) {
		return executable, nil
	}
	unlock, err := lockFile(ctx, cached+".lock")
	if err != nil {
		return "", fmt.Errorf("lock build of %s: %w", s.name, err)
	}
	defer unlock()
	if exists(executable) { // somebody else built it while we waited
		return executable, nil
	}
	if err := s.compile(ctx, folder, cached, log); err != nil {
		return "", fmt.Errorf("build %s %s: %w", s.name, s.version, err)
	}
	return executable, nil
}

// compile builds into a folder beside the target and renames it. The caller
// holds the lock, so what lies there already is left by a build that was killed.
func (s source) compile(ctx context.Context, folder, target string, log io.Writer) error {
	fresh := target + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("clear %s: %w", fresh, err)
	}
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	begin := time.Now()
	sayf(log, "building %s %s once, into %s", s.name, s.version, target)
	// The flags are those of bin/moorpin, so that what both import is compiled once.
	arguments, env := []string{"install", "-trimpath", "-ldflags", s.linkerFlags(), s.main + "@" + s.version}, []string{"GOBIN=" + fresh, "CGO_ENABLED=0"}
	if s.nested != "" {
		arguments, env = []string{"build", "-ldflags", s.linkerFlags(), "-o", filepath.Join(fresh, s.name), s.main}, nil
	}
	if _, err := goCommand(ctx, folder, arguments, env...); err != nil {
		return err
	}
	if err := os.Rename(fresh, target); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	sayf(log, "built %s %s in %s", s.name, s.version, time.Since(begin).Round(time.Second))
	return nil
}

// folder is where the go command runs: the nested module, or for a tool that
// go install fetches by itself a folder without a module.
func (s source) folder(ctx context.Context) (string, error) {
	if s.nested == "" {
		return os.TempDir(), nil
	}
	home := reflect.TypeFor[source]().PkgPath()
	module := path.Dir(path.Dir(home))
	root, err := goCommand(ctx, "", []string{"list", "-m", "-f", "{{.Dir}}", module})
	if err != nil {
		return "", fmt.Errorf("find folder of module %s (run this inside the checkout): %w", module, err)
	}
	return filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(home, module)), s.nested), nil
}

// cachePath names all that decides the result: a change of the pinned sums, of
// the Go version or of the linker's variables is another folder.
func (s source) cachePath(ctx context.Context, folder string) (string, error) {
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	compiler, err := goCommand(ctx, folder, []string{"env", "GOVERSION"})
	if err != nil {
		return "", fmt.Errorf("read version of go: %w", err)
	}
	key := sha256.New()
	_, _ = fmt.Fprintln(key, compiler, s.main, s.linkerFlags()) // a hash never fails
	if s.nested != "" {
		for _, name := range []string{"go.mod", "go.sum"} {
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				return "", fmt.Errorf("read %s of %s: %w", name, s.nested, err)
			}
			_, _ = key.Write(data)
		}
	}
	name := fmt.Sprintf("%s-%s-%s-%s-%.6x", s.name, s.version, runtime.GOOS, runtime.GOARCH, key.Sum(nil))
	return filepath.Join(cache, name), nil
}

// goCommand runs go in the folder and returns what it prints. A workspace or
// module flags of the caller must not change what is built.
func goCommand(ctx context.Context, folder string, arguments []string, env ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), append([]string{"GOWORK=off", "GOFLAGS="}, env...)...)
	var errorText bytes.Buffer
	cmd.Stderr = &errorText
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, lastLines(errorText.String(), tailLines))
	}
	return strings.TrimSpace(string(output)), nil
}

// sayf writes one line of progress. A log that cannot be written stops nothing.
func sayf(log io.Writer, format string, arguments ...any) {
	if log != nil {
		_, _ = fmt.Fprintf(log, "controlplane: "+format+"\n", arguments...)
	}
}
