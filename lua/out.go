package lua

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/moorpin/moorpin/lua/gaps"
	"github.com/moorpin/moorpin/lua/install"
	"github.com/moorpin/moorpin/lua/verify"
	"github.com/moorpin/moorpin/pkg/cli"
)

// Names in the folder that generate writes.
const (
	patchFile    = "argocd-cm.patch.yaml"
	markdownFile = "report.md"
	htmlFile     = "report.html"
	suiteFolder  = "suite"
	scriptSuffix = ".lua"
)

// checkOut refuses a folder with anything that no earlier run has written.
func checkOut(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cli.Mistake(fmt.Errorf("--out: %w", err))
	}
	ours := len(entries) == 0
	for _, entry := range entries {
		ours = ours || entry.Name() == patchFile
	}
	for _, entry := range entries {
		if !ours || !isOurs(entry) {
			return cli.Mistake(fmt.Errorf("--out: %s holds %s, which no earlier run has written; name an empty folder", dir, entry.Name()))
		}
	}
	return nil
}

func isOurs(entry fs.DirEntry) bool {
	switch name := entry.Name(); name {
	case suiteFolder:
		return entry.IsDir()
	case patchFile, markdownFile, htmlFile:
		return !entry.IsDir()
	default:
		return !entry.IsDir() && strings.HasSuffix(name, scriptSuffix) && strings.Contains(name, "_")
	}
}

// patchChecks are the checks for the patch: those of kinds that Argo CD does not check.
func patchChecks(results []result) []install.Check {
	var checks []install.Check
	for _, one := range results {
		if _, builtin := gaps.Builtin(one.kind); one.outcome == written && !builtin {
			checks = append(checks, install.Check{Kind: one.kind, Script: one.script})
		}
	}
	return checks
}

// contents are the files of the folder by name, but for the patch.
func contents(results []result) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, one := range results {
		if one.outcome != written {
			continue
		}
		files[one.name()+scriptSuffix] = []byte(one.script)
		suite, err := verify.Files(one.script, one.proof)
		if err != nil {
			return nil, fmt.Errorf("write the suite of %s: %w", one.name(), err)
		}
		for name, text := range suite {
			files[path.Join(suiteFolder, one.kind.Group, one.kind.Kind, name)] = text
		}
	}
	rows := reportRows(results)
	files[markdownFile] = []byte(markdown(rows))
	page, err := html(rows)
	if err != nil {
		return nil, fmt.Errorf("write the report: %w", err)
	}
	files[htmlFile] = page
	return files, nil
}

// writeOut replaces the folder's content. The patch comes last: it marks a folder that
// is whole and may be replaced.
func writeOut(dir string, results []result) error {
	files, err := contents(results)
	if err != nil {
		return err
	}
	patch, err := install.Patch(patchChecks(results))
	if err != nil {
		return err //nolint:wrapcheck // it names the step
	}
	if err := makeRoom(dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	for name, text := range files {
		if err := write(root, name, text); err != nil {
			return errors.Join(err, root.Close())
		}
	}
	return errors.Join(write(root, patchFile, patch), root.Close())
}

// makeRoom makes the folder, and takes away what checkOut found to be ours.
func makeRoom(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // G301: checks are no secrets
		return fmt.Errorf("make the folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list the folder: %w", err)
	}
	for _, entry := range entries {
		if !isOurs(entry) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("clear the folder: %w", err)
		}
	}
	return nil
}

// write writes a file inside the folder and nowhere else, whatever a CRD calls its kind.
func write(root *os.Root, name string, text []byte) error {
	if folder := path.Dir(name); folder != "." {
		if err := root.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("make folder %s: %w", folder, err)
		}
	}
	if err := root.WriteFile(name, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
