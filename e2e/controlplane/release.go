package controlplane

import (
	"errors"
	"fmt"
	"strings"
)

// ReleaseEnv names the environment variable that says on which release of Argo CD
// tests run. Programs read it once, in main or TestMain, by [FindRelease].
const ReleaseEnv = "MOORPIN_ARGOCD"

// errUnknownRelease is for names that FindRelease does not know.
var errUnknownRelease = errors.New("no such release of Argo CD")

// Release is a release of Argo CD that this package builds, and the tools that its
// image carries. The zero value is the first of [Releases].
type Release struct {
	// Name is such as "v2.14". The nested module argocd-<Name> pins the patch.
	Name string

	module          string // of Argo CD
	helm, kustomize string // as in hack/tool-versions.sh of that Argo CD
}

// Releases are all that this package builds. The first is the default: its packages
// are those that Moorpin links.
func Releases() []Release {
	return []Release{
		{Name: "v2.14", module: "github.com/argoproj/argo-cd/v2", helm: "v3.16.3", kustomize: "v5.4.3"},
		{Name: "v3.1", module: "github.com/argoproj/argo-cd/v3", helm: "v3.18.4", kustomize: "v5.7.0"},
	}
}

// FindRelease returns the release of the name, which is the default for an empty one.
func FindRelease(name string) (Release, error) {
	var known []string
	for _, release := range Releases() {
		if release.Name == name || name == "" {
			return release, nil
		}
		known = append(known, release.Name)
	}
	return Release{}, fmt.Errorf("%w: %q; set %s to one of %s", errUnknownRelease, name, ReleaseEnv, strings.Join(known, ", "))
}

// orDefault is what the zero value stands for.
func (r Release) orDefault() Release {
	if r.Name == "" {
		return Releases()[0]
	}
	return r
}

// argoCD is one executable for every component of Argo CD.
func (r Release) argoCD() source {
	return source{
		name:      "argocd",
		nested:    "argocd-" + r.Name,
		module:    r.module,
		main:      r.module + "/cmd",
		variables: []string{r.module + "/common.version=VERSION"},
	}
}

// renderers are the tools that this Argo CD's image carries.
func (r Release) renderers() []source {
	const helm = "helm.sh/helm/v3/"
	return []source{
		{
			name: "helm", version: r.helm, main: helm + "cmd/helm",
			variables: []string{helm + "internal/version.version=vVERSION"},
		},
		{name: "kustomize", version: r.kustomize, main: "sigs.k8s.io/kustomize/kustomize/v5"},
	}
}
