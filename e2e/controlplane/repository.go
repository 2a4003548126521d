package controlplane

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// commitTime is the same for all commits, so that the same files in the same
// order give the same revisions on every machine.
const commitTime = "2025-01-01T00:00:00Z"

// Repository is a Git repository on disk with the one branch main, which
// repo-server reads by its file:// URL.
type Repository struct{ dir string }

// NewRepository makes an empty repository in the folder, which must be empty
// or absent.
func NewRepository(ctx context.Context, dir string) (*Repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("make repository: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make repository: %w", err)
	}
	r := &Repository{dir: dir}
	if _, err := r.git(ctx, "init", "--quiet", "--initial-branch=main"); err != nil {
		return nil, fmt.Errorf("make repository: %w", err)
	}
	return r, nil
}

// URL is that of the repository for spec.source.repoURL.
func (r *Repository) URL() string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(r.dir)}).String()
}

// Dir is the folder of the checkout.
func (r *Repository) Dir() string { return r.dir }

// Commit writes the files, by slash-separated path, over what is there, and
// commits everything, removals made in Dir included. It returns the revision.
func (r *Repository) Commit(ctx context.Context, message string, files map[string]string) (string, error) {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	defer func() { _ = root.Close() }() // a folder has nothing to flush
	for name, content := range files {
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return "", fmt.Errorf("commit: make folder of %s: %w", name, err)
		}
		if err := root.WriteFile(name, []byte(content), 0o600); err != nil {
			return "", fmt.Errorf("commit: write %s: %w", name, err)
		}
	}
	for _, arguments := range [][]string{
		{"add", "--all", "--force"},
		{"commit", "--quiet", "--allow-empty", "--no-verify", "--message", message},
	} {
		if _, err := r.git(ctx, arguments...); err != nil {
			return "", fmt.Errorf("commit: %w", err)
		}
	}
	return r.git(ctx, "rev-parse", "HEAD")
}

// CommitFS commits a copy of all regular files of a file system, such as
// os.DirFS("testdata/app"), below the folder of the repository that prefix
// names; "" or "." is its root.
func (r *Repository) CommitFS(ctx context.Context, message, prefix string, files fs.FS) (string, error) {
	copied := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		copied[filepath.ToSlash(filepath.Join(prefix, name))] = string(data)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read files to commit: %w", err)
	}
	return r.Commit(ctx, message, copied)
}

// git runs in the repository with an environment in which neither the user's
// configuration nor the clock decides anything.
func (r *Repository) git(ctx context.Context, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", arguments...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Moorpin", "GIT_AUTHOR_EMAIL=moorpin@example.com", "GIT_AUTHOR_DATE=" + commitTime,
		"GIT_COMMITTER_NAME=Moorpin", "GIT_COMMITTER_EMAIL=moorpin@example.com", "GIT_COMMITTER_DATE=" + commitTime,
	}
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(arguments, " "), err, lastLines(string(output), tailLines))
	}
	return strings.TrimSpace(string(output)), nil
}
