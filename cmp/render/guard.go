package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/kustomize"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// guard refuses what Argo CD's renderer should not be asked to do here.
func (j *job) guard() error {
	switch j.kind {
	case v1alpha1.ApplicationSourceTypeHelm:
		return j.guardHelm(j.merged.Helm)
	case v1alpha1.ApplicationSourceTypeKustomize:
		return j.guardKustomize(j.merged.Kustomize)
	case v1alpha1.ApplicationSourceTypeDirectory:
		return j.guardDirectory(j.merged.Directory)
	case v1alpha1.ApplicationSourceTypePlugin:
		return refuse(j.request.Path, "a .argocd-source file of the app's folder names a plugin in another spelling than \"plugin\"; write it so")
	default:
		return refuse(j.request.Path, "sources of type %q are not known", j.kind)
	}
}

func (j *job) guardHelm(helm *v1alpha1.ApplicationSourceHelm) error {
	err := checkTool("helm")
	if err != nil {
		return err
	}
	if j.request.AppName == "" && helm.ReleaseName == "" {
		return refuse("ARGOCD_APP_NAME", "is not set, and helm.releaseName neither; one of them has to name the release")
	}
	for _, file := range helm.ValueFiles {
		if j.isReference(file) {
			return refuseReference("helm.valueFiles", file)
		}
	}
	for _, parameter := range helm.FileParameters {
		if j.isReference(parameter.Path) {
			return refuseReference("helm.fileParameters", parameter.Path)
		}
	}
	return j.checkAliases(filepath.Join(j.app, "Chart.yaml"))
}

// isReference reports whether a path begins with $ and something that is not in the
// build environment. Argo CD would take it for the ref of another source if it had
// one, and for the root of this repository otherwise.
func (j *job) isReference(path string) bool {
	if !strings.HasPrefix(path, "$") {
		return false
	}
	unknown := false
	first, _, _ := strings.Cut(path, "/")
	os.Expand(first, func(name string) string {
		known := name == "$" || slices.ContainsFunc(*j.env(), func(entry *v1alpha1.EnvEntry) bool { return entry.Name == name })
		unknown = unknown || !known
		return ""
	})
	return unknown
}

func refuseReference(where, path string) *Refusal {
	return refuse(where, "%s refers to another source of the Application, and Argo CD does not send those to plugins; render this Application without the plugin, or put the file into this repository", path)
}

func (j *job) guardKustomize(options *v1alpha1.ApplicationSourceKustomize) error {
	err := checkTool("kustomize")
	if err != nil {
		return err
	}
	if options.Version != "" {
		return refuse("kustomize.version", "%s is a name from argocd-cm, which Argo CD does not send to plugins; leave it out to use the kustomize of the plugin", options.Version)
	}
	err = j.guardArguments(options)
	if err != nil {
		return err
	}
	return j.guardKustomization()
}

// guardArguments refuses values that kustomize would take for flags; Argo CD hands
// them over as plain arguments.
func (j *job) guardArguments(options *v1alpha1.ApplicationSourceKustomize) error {
	arguments := map[string][]string{"kustomize.components": options.Components}
	for _, image := range options.Images {
		arguments["kustomize.images"] = append(arguments["kustomize.images"], j.env().Envsubst(string(image)))
	}
	for _, replica := range options.Replicas {
		arguments["kustomize.replicas"] = append(arguments["kustomize.replicas"], replica.Name)
	}
	for name := range options.CommonLabels {
		arguments["kustomize.commonLabels"] = append(arguments["kustomize.commonLabels"], name)
	}
	for name := range options.CommonAnnotations {
		arguments["kustomize.commonAnnotations"] = append(arguments["kustomize.commonAnnotations"], name)
	}
	for where, values := range arguments {
		for _, value := range values {
			if strings.HasPrefix(value, "-") {
				return refuse(where, "%s begins with a dash, so that kustomize would take it for a flag", value)
			}
		}
	}
	return nil
}

// guardKustomization looks at the file that Argo CD may read itself. Charts in a
// kustomization need --enable-helm, one of the build options that Argo CD does not
// send to plugins, so that a configHome has no use but to have Helm load plugins
// from the repository (GHSA-fw5c-w8rc-j7fx), should that ever change.
func (j *job) guardKustomization() error {
	for _, name := range kustomize.KustomizationNames {
		file := filepath.Join(j.app, name)
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		err = j.checkAliases(file)
		if err != nil {
			return err
		}
		var content struct {
			HelmGlobals struct {
				ConfigHome string `json:"configHome"`
			} `json:"helmGlobals"`
		}
		// What does not parse is for kustomize to report.
		if yaml.Unmarshal(text, &content) == nil && content.HelmGlobals.ConfigHome != "" {
			return refuse(j.relative(file), "helmGlobals.configHome is not taken: Helm would load plugins, and run their commands, from a folder of the repository; remove it")
		}
		return nil
	}
	return nil
}

// checkAliases refuses a file whose aliases would fill the memory of whoever
// expands them. A file that is not there is for others to report.
func (j *job) checkAliases(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read a file of the app: %w", err)
	}
	err = manifest.CheckAliases(j.relative(file), text, j.renderer.config.Documents)
	if err != nil {
		return fmt.Errorf("read a file of the app: %w", err)
	}
	return nil
}

// relative names a file of the private copy as the repository does.
func (j *job) relative(file string) string {
	return strings.TrimPrefix(file, j.root+"/")
}
