package render

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"
)

// Tools are the programs that rendering calls, made ready once for all renders.
type Tools struct {
	// Guards is the folder of the guard before git.
	Guards string
	// Read names the programs, and what else of the machine they need to read.
	Read []string
}

// PrepareTools looks for the programs on the PATH and writes the guard before git to the
// folder guards, which it makes.
func PrepareTools(guards string) (Tools, error) {
	tools := Tools{Guards: guards, Read: []string{guards}}
	err := os.MkdirAll(guards, 0o700)
	if err != nil {
		return tools, fmt.Errorf("prepare the tools: %w", err)
	}
	for _, name := range []string{"helm", "kustomize", "git", "sh"} {
		file, err := exec.LookPath(name)
		if errors.Is(err, exec.ErrNotFound) {
			continue // a render that needs it says so
		}
		if err == nil {
			file, err = filepath.Abs(file)
		}
		if err != nil {
			return tools, fmt.Errorf("find %s: %w", name, err)
		}
		tools.Read = append(tools.Read, file)
		if name != "git" {
			continue
		}
		err = guardGit(guards, file)
		if err != nil {
			return tools, err
		}
	}
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"} {
		tools.Read = append(tools.Read, filepath.SplitList(os.Getenv(name))...)
	}
	return tools, nil
}

// passedOn are the variables of this process that a render may see: how to reach remote
// charts and bases, and how long tools may take. All others stay here.
var passedOn = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "LANG", "LC_ALL", "TZ",
	"ARGOCD_EXEC_TIMEOUT", "ARGOCD_EXEC_FATAL_TIMEOUT", "ARGOCD_HELM_ALLOW_CONCURRENCY",
}

// Environment is the whole environment of a process that renders with home and temporary
// as its folders, NAME=value.
func (t Tools) Environment(home, temporary string) []string {
	environment := []string{
		"PATH=" + t.Guards + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home, "TMPDIR=" + temporary,
		// Argo CD's libraries make loggers of their own as well, with this level.
		"ARGOCD_LOG_LEVEL=" + logrus.PanicLevel.String(),
		// A base is remote, or in the repository itself: git reads no other one of this machine,
		// also where a remote base or a submodule names it.
		"GIT_ALLOW_PROTOCOL=http:https:ssh:git",
		// A plugin of this pod has no business in a render.
		"ARGOCD_PLUGINSOCKFILEPATH=" + filepath.Join(temporary, "no-plugins"),
	}
	for _, name := range passedOn {
		if value, set := os.LookupEnv(name); set {
			environment = append(environment, name+"="+value)
		}
	}
	return environment
}

// CheckTools says which of helm and kustomize are not on the PATH. Run needs each only
// for sources of its kind, and says the same then.
func CheckTools() error {
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

// guardGit writes the guard before git to a folder that comes first in PATH.
func guardGit(folder, git string) error {
	if strings.Contains(git, "'") {
		return fmt.Errorf("guard git: its path %s holds a quote; move it", git)
	}
	err := os.WriteFile(filepath.Join(folder, "git"), fmt.Appendf(nil, gitGuard, git), 0o700) //nolint:gosec // it is a program.
	if err != nil {
		return fmt.Errorf("guard git: %w", err)
	}
	return nil
}
