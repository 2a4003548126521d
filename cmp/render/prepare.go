package render

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// Config is what holds for all renders of a process.
type Config struct {
	// WorkDir is a folder for the temporary files of the tools, their home and the
	// guard before git. It is made when missing; the caller removes it at the end.
	WorkDir string
	// DirectoryBytes bounds the files of one directory source together, as
	// repo-server's --max-combined-directory-manifests-size. Default 10 MB, as there.
	DirectoryBytes int64
	// ValueSchemes are the URL schemes that Helm value files may have, as
	// helm.valuesFileSchemes in argocd-cm. Default https and http, as there.
	ValueSchemes []string
	// Memory bounds the heap, in bytes, of the process that renders one Helm chart or
	// one folder with Jsonnet. Default 2 GiB.
	Memory int64
	// Documents bounds the YAML that is read in this process.
	Documents manifest.Limits
}

// New prepares this process for Argo CD's renderer. It changes what Argo CD's
// libraries and child processes see of it, so it is called once, before others
// start: PATH (the guard before git comes first), HOME and TMPDIR (private folders
// below config.WorkDir), and logrus, through which those libraries would log Helm's
// arguments with all their values, is silenced.
//
// Argo CD's libraries end a tool that takes longer than ARGOCD_EXEC_TIMEOUT, 90
// seconds by default. They read it before main begins, so it has to be in the
// environment that this process is started with, as for repo-server. Run kills
// tools earlier, when its context ends.
func New(config Config) (*Renderer, error) {
	if config.DirectoryBytes == 0 {
		config.DirectoryBytes = 10_000_000
	}
	if config.Memory <= 0 {
		config.Memory = 2 << 30
	}
	if config.ValueSchemes == nil {
		config.ValueSchemes = []string{"https", "http"}
	}
	work, err := filepath.Abs(config.WorkDir)
	if err != nil {
		return nil, fmt.Errorf("prepare the renderer: %w", err)
	}
	home, temporary, guards := filepath.Join(work, "home"), filepath.Join(work, "tmp"), filepath.Join(work, "bin")
	for _, folder := range []string{home, temporary} {
		err := os.MkdirAll(folder, 0o700)
		if err != nil {
			return nil, fmt.Errorf("prepare the renderer: %w", err)
		}
	}
	err = guardGit(guards)
	err = errors.Join(err, os.Setenv("HOME", home), os.Setenv("TMPDIR", temporary),
		// Argo CD's libraries make loggers of their own as well, with this level.
		os.Setenv("ARGOCD_LOG_LEVEL", logrus.PanicLevel.String()))
	if err != nil {
		return nil, fmt.Errorf("prepare the renderer: %w", err)
	}
	logrus.SetLevel(logrus.PanicLevel)
	logrus.SetOutput(io.Discard)
	return newRenderer(config, guards, temporary), nil
}

func newRenderer(config Config, guards, temporary string) *Renderer {
	return &Renderer{
		config:        config,
		directorySize: *resource.NewQuantity(config.DirectoryBytes, resource.DecimalSI),
		guards:        guards,
		temporary:     temporary,
	}
}

// CheckTools says which of helm and kustomize are not on the PATH. Run needs each
// only for sources of its kind, and says the same then.
func (r *Renderer) CheckTools() error {
	return errors.Join(checkTool("helm"), checkTool("kustomize"))
}

func checkTool(name string) error {
	_, err := exec.LookPath(name)
	if err != nil {
		return refuse("PATH", "%s is needed to render %s sources and is not there; install the version that Argo CD's repo-server has", name, name)
	}
	return nil
}

// gitGuard stands before git. Kustomize hands the ref of a remote base to git as it
// stands, where "--upload-pack=COMMAND" would run COMMAND (GHSA-9v9p-x54c-58gc),
// and remote bases can name others, so that only the call itself shows all of them.
// Of arguments with a dash, those that Kustomize itself uses pass. What git calls in
// turn passes as well.
const gitGuard = `#!/bin/sh
if [ -z "$MOORPIN_GIT" ]; then
	for argument in "$@"; do
		case "$argument" in
		--depth=1 | --init | --recursive) ;;
		-*)
			echo "moorpin: refused to call git with $argument; the URL or ref of a remote base may not begin with a dash" >&2
			exit 2
			;;
		esac
	done
fi
MOORPIN_GIT=called exec '%s' "$@"
`

// guardGit writes the guard to folder and puts it first in PATH.
func guardGit(folder string) error {
	git, err := exec.LookPath("git")
	if errors.Is(err, exec.ErrNotFound) {
		return nil // Kustomize cannot call it either
	}
	if err != nil {
		return fmt.Errorf("find git: %w", err)
	}
	if filepath.Dir(git) == folder {
		return nil // a second Renderer of this process
	}
	if strings.Contains(git, "'") {
		return fmt.Errorf("guard git: its path %s holds a quote; move it", git)
	}
	err = os.MkdirAll(folder, 0o700)
	if err != nil {
		return fmt.Errorf("guard git: %w", err)
	}
	guard := filepath.Join(folder, "git")
	err = os.WriteFile(guard, fmt.Appendf(nil, gitGuard, git), 0o700) //nolint:gosec // it is a program.
	if err != nil {
		return fmt.Errorf("guard git: %w", err)
	}
	path := folder + string(os.PathListSeparator) + os.Getenv("PATH")
	err = os.Setenv("PATH", path)
	if err != nil {
		return fmt.Errorf("guard git: %w", err)
	}
	return nil
}
