package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// source says where the source of an executable is pinned and how it is built.
type source struct {
	name    string // of the executable
	nested  string // folder of the nested module that pins the version, or empty
	module  string // whose version is that of the executable
	version string // read from the nested module when there is one
	main    string // package path
	// variables are set by the linker; VERSION, MAJOR and MINOR stand for
	// the version, its first and its second number.
	variables []string
}

// kubeAPIServer needs its version from the linker: Argo CD refuses to parse
// what a plain build reports.
func kubeAPIServer() source {
	const version = "k8s.io/component-base/version."
	return source{
		name:   "kube-apiserver",
		nested: "kubernetes",
		module: "k8s.io/kubernetes",
		main:   "k8s.io/kubernetes/cmd/kube-apiserver",
		variables: []string{
			version + "gitVersion=vVERSION", version + "gitMajor=MAJOR", version + "gitMinor=MINOR",
		},
	}
}

// linkerFlags fills the variables in.
func (s source) linkerFlags() string {
	version := strings.TrimPrefix(s.version, "v")
	numbers := append(strings.SplitN(version, ".", 3), "", "")
	fill := strings.NewReplacer("VERSION", version, "MAJOR", numbers[0], "MINOR", numbers[1])
	flags := []string{"-s", "-w"} // half the size, and nobody debugs these
	for _, variable := range s.variables {
		flags = append(flags, "-X", fill.Replace(variable))
	}
	return strings.Join(flags, " ")
}

// Build builds every program of a plane with that Argo CD that the cache lacks, one
// after the other. Start does so too; this is for those who want it done before.
func Build(ctx context.Context, release Release, log io.Writer) error {
	release = release.orDefault()
	for _, program := range append([]source{kubeAPIServer(), release.argoCD()}, release.renderers()...) {
		if _, err := program.build(ctx, log); err != nil {
			return err
		}
	}
	return nil
}

// ToolPath builds helm and kustomize in the versions that the release ships, unless
// the cache has them, and returns their folders joined as PATH joins them. Where names
// are given, it is about those alone. It needs no plane; what is built is reported to
// log.
func (r Release) ToolPath(ctx context.Context, log io.Writer, names ...string) (string, error) {
	var folders []string
	for _, tool := range r.orDefault().renderers() {
		if len(names) > 0 && !slices.Contains(names, tool.name) {
			continue
		}
		path, err := tool.build(ctx, log)
		if err != nil {
			return "", err
		}
		folders = append(folders, filepath.Dir(path))
	}
	return strings.Join(folders, string(os.PathListSeparator)), nil
}

// ToolPath is that of the default release, whose renderer Moorpin links.
func ToolPath(ctx context.Context, log io.Writer, names ...string) (string, error) {
	return Release{}.ToolPath(ctx, log, names...)
}

// systemPrograms are found on the PATH, and all that miss are named at once.
func systemPrograms(names ...string) (map[string]string, error) {
	found := map[string]string{}
	var missing []string
	for _, name := range names {
		path, err := exec.LookPath(name)
		switch {
		case errors.Is(err, exec.ErrNotFound):
			missing = append(missing, name)
		case err != nil:
			return nil, fmt.Errorf("look up %s: %w", name, err)
		default:
			found[name] = path
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: %s; on Debian and Ubuntu: apt-get install etcd-server redis-server git",
			exec.ErrNotFound, strings.Join(missing, ", "))
	}
	return found, nil
}
