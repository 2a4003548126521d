package lua

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/lua/overrides"
	"github.com/moorpin/moorpin/lua/verify"
	"github.com/moorpin/moorpin/pkg/cli"
)

// checked is a check of a folder and what proving it said.
type checked struct {
	kind  schema.GroupKind
	suite verify.Suite
	// where is the suite's folder.
	where string
	// err is why the check is not proven; nil where it is.
	err  error
	live trial
}

// fragile reports whether the check passes its cases and breaks on broken objects.
func (c checked) fragile() bool {
	disproof, ok := errors.AsType[*verify.DisproofError](c.err)
	return ok && disproof.Broken
}

// readChecks reads all checks below a folder and proves them on their suites. A suite
// is a folder <group>/<Kind> with a health.lua, as in Argo CD's repository. Where there
// are scripts <group>_<Kind>.lua at the top, each must be that of its suite, and each
// suite must have one.
func readChecks(ctx context.Context, dir string, openLibs bool) ([]checked, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("open the folder of checks: %w", err))
	}
	defer func() { _ = root.Close() }() // only read from
	folder := folder{files: root.FS(), openLibs: openLibs}
	found, err := findSuites(folder.files)
	if err != nil {
		return nil, err
	}
	if folder.scripts, err = topScripts(folder.files); err != nil {
		return nil, err
	}
	found = append(found, folder.loose(found)...)
	if len(found) == 0 {
		return nil, cli.Mistake(fmt.Errorf("%s: holds no check; \"moorpin lua generate --out %s\" writes some", dir, dir))
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range found {
		group.Go(func() error {
			folder.prove(ctx, &found[i])
			return ctx.Err()
		})
	}
	err = group.Wait()
	slices.SortFunc(found, func(a, b checked) int {
		return compareResults(result{kind: a.kind}, result{kind: b.kind})
	})
	return found, err //nolint:wrapcheck // the same
}

func findSuites(files fs.FS) ([]checked, error) {
	var found []checked
	at := map[schema.GroupKind]string{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || entry.Name() != verify.ScriptFile {
			return nil
		}
		where := path.Dir(name)
		kind := schema.GroupKind{Group: path.Base(path.Dir(where)), Kind: path.Base(where)}
		if kind.Group == "." || kind.Group == "/" {
			return cli.Mistake(fmt.Errorf("%s: put it in a folder <group>/<Kind>, as in Argo CD's repository", name))
		}
		if before, twice := at[kind]; twice {
			return cli.Mistake(fmt.Errorf("%s and %s are both for %s; keep one", before, where, kind))
		}
		at[kind] = where
		found = append(found, checked{kind: kind, where: where})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for checks: %w", err)
	}
	return found, nil
}

// folder is where checks are read from.
type folder struct {
	files    fs.FS
	openLibs bool
	// scripts are the kinds of the scripts at the top; none in the layout of Argo CD's
	// repository.
	scripts []schema.GroupKind
}

func topScripts(files fs.FS) ([]schema.GroupKind, error) {
	names, err := fs.Glob(files, "*"+scriptSuffix)
	if err != nil {
		return nil, fmt.Errorf("look for scripts: %w", err)
	}
	var kinds []schema.GroupKind
	for _, name := range names {
		if kind, is := overrides.ParseName(strings.TrimSuffix(name, scriptSuffix)); is && kind.Group != "" {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// loose returns the scripts at the top that have no suite: they are not proven.
func (f folder) loose(suites []checked) []checked {
	var found []checked
	for _, kind := range f.scripts {
		if !slices.ContainsFunc(suites, func(c checked) bool { return c.kind == kind }) {
			found = append(found, checked{kind: kind, err: fmt.Errorf("%s has no suite; put one into %s, or delete it", overrides.Name(kind)+scriptSuffix, path.Join(suiteFolder, kind.Group, kind.Kind))})
		}
	}
	return found
}

// prove runs the suite, unless something is wrong with the check already.
func (f folder) prove(ctx context.Context, one *checked) {
	if one.err != nil {
		return
	}
	if one.suite, one.err = verify.ReadSuite(f.files, one.where); one.err != nil {
		return
	}
	top := overrides.Name(one.kind) + scriptSuffix
	script, err := fs.ReadFile(f.files, top)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(f.scripts) > 0:
		one.err = fmt.Errorf("%s is missing, and its suite is there; delete %s, too, or neither", top, one.where)
	case errors.Is(err, fs.ErrNotExist):
		one.err = one.suite.RunWith(ctx, f.openLibs)
	case err != nil:
		one.err = fmt.Errorf("read %s: %w", top, err)
	case string(script) != one.suite.Script:
		one.err = fmt.Errorf("%s is not the script of its suite, %s; change both, or neither", top, path.Join(one.where, verify.ScriptFile))
	default:
		one.err = one.suite.RunWith(ctx, f.openLibs)
	}
}
