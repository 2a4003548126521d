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
	pathutil "github.com/argoproj/argo-cd/v2/util/io/path"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// guard refuses what Argo CD's renderer should not be asked to do here.
func (j *job) guard() error {
	if j.renderer.config.SkipChecks {
		return nil
	}
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
		if strings.ContainsAny(j.handedOver(file), ",\"\n\r") {
			return refuse("helm.valueFiles", "%q, or where it leads as a link, holds a comma, a quote or a line break, at which Helm would split it into several; rename the file", file)
		}
	}
	for _, parameter := range helm.FileParameters {
		if j.isReference(parameter.Path) {
			return refuseReference("helm.fileParameters", parameter.Path)
		}
	}
	err = j.guardHelmArguments(helm)
	if err != nil {
		return err
	}
	return j.guardChart(j.app, map[string]bool{})
}

// guardHelmArguments refuses what Helm would split into more than one thing, or run as a
// template. Argo CD makes name=value of each parameter and escapes commas in the value
// alone; after a comma in the name of a file parameter, Helm reads whatever file comes
// next. The name of the release is a template for Helm, with the environment in reach.
func (j *job) guardHelmArguments(helm *v1alpha1.ApplicationSourceHelm) error {
	for _, name := range []string{j.request.AppName, helm.ReleaseName} {
		if strings.Contains(name, "{{") {
			return refuse("helm.releaseName", "%q holds a template, which Helm would run; write the name itself", name)
		}
	}
	for _, parameter := range helm.Parameters {
		if !plainName(parameter.Name) {
			return refuse("helm.parameters", "the name %q holds one of , = { } or an escape of another sign than a dot, so that Helm would take it for several; use helm.valuesObject", parameter.Name)
		}
	}
	for _, parameter := range helm.FileParameters {
		if !plainName(parameter.Name) {
			return refuse("helm.fileParameters", "the name %q holds one of , = { } or an escape of another sign than a dot, so that Helm would take it for several", parameter.Name)
		}
		if strings.ContainsAny(j.handedOver(parameter.Path), ",{}\\\n") {
			return refuse("helm.fileParameters", "the path %q, or where it leads as a link, holds one of , { } or a backslash, at which Helm would split it; rename the file", parameter.Path)
		}
	}
	return nil
}

// handedOver is the file that Argo CD hands to Helm for one that the source names: it
// replaces variables, and a link by where it leads. What it refuses is left as it is.
func (j *job) handedOver(file string) string {
	file = j.env().Envsubst(file)
	found, _, err := pathutil.ResolveValueFilePathOrUrl(j.app, j.root, file, j.renderer.config.ValueSchemes)
	if err != nil {
		return file
	}
	return strings.TrimPrefix(string(found), j.root)
}

// plainName reports whether Helm takes a name for one key: a dot may be escaped in it,
// as in nodeSelector.kubernetes\.io/os.
func plainName(name string) bool {
	return !strings.ContainsAny(name, ",={}\n") && !strings.Contains(strings.ReplaceAll(name, `\.`, ""), `\`)
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
	for _, component := range options.Components {
		// Argo CD writes it into the kustomization of the app.
		err = j.guardEntry(filepath.Join(j.app, "kustomization.yaml"), component, map[string]bool{})
		if err != nil {
			return err
		}
	}
	return j.guardKustomization(j.app, map[string]bool{})
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
