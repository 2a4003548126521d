package render

import (
	"bytes"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// What Argo CD v3 does otherwise than the packages that are linked here. It tells
// plugins the project, which v2 does not: where the project is known, v3 is meant.

const (
	projectVariable = "ARGOCD_APP_PROJECT_NAME"
	// skipMarker, anywhere in a file of a directory source, asks not to render it.
	skipMarker = "+argocd:skip-file-rendering"
)

// nameProject replaces the variable of the project in the fields of the source in which
// Argo CD replaces variables. Those of .argocd-source files stay as they are.
func (j *job) nameProject() {
	if j.request.Project == "" {
		return
	}
	if helm := j.source.Helm; helm != nil {
		for i := range helm.ValueFiles {
			helm.ValueFiles[i] = j.withProject(helm.ValueFiles[i])
		}
		for i := range helm.Parameters {
			helm.Parameters[i].Value = j.withProject(helm.Parameters[i].Value)
		}
		for i := range helm.FileParameters {
			helm.FileParameters[i].Path = j.withProject(helm.FileParameters[i].Path)
		}
	}
	if kustomize := j.source.Kustomize; kustomize != nil {
		for i := range kustomize.Images {
			kustomize.Images[i] = v1alpha1.KustomizeImage(j.withProject(string(kustomize.Images[i])))
		}
		for name, value := range kustomize.CommonLabels {
			kustomize.CommonLabels[name] = j.withProject(value)
		}
		for name, value := range kustomize.CommonAnnotations {
			if kustomize.CommonAnnotationsEnvsubst {
				kustomize.CommonAnnotations[name] = j.withProject(value)
			}
		}
	}
	if directory := j.source.Directory; directory != nil {
		for _, variables := range [][]v1alpha1.JsonnetVar{directory.Jsonnet.TLAs, directory.Jsonnet.ExtVars} {
			for i := range variables {
				variables[i].Value = j.withProject(variables[i].Value)
			}
		}
	}
}

// withProject replaces one variable and leaves all others as they stand, "$$" too.
func (j *job) withProject(text string) string {
	return os.Expand(text, func(name string) string {
		switch name {
		case projectVariable:
			return j.request.Project
		case "$":
			return "$$"
		}
		return "${" + name + "}"
	})
}

// skip removes a file of a directory source that asks not to be rendered from the
// private copy, and reports whether it did.
func (j *job) skip(file string) (bool, error) {
	if j.request.Project == "" {
		return false, nil
	}
	text, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(text, []byte(skipMarker)) {
		return false, nil //nolint:nilerr // what cannot be read is Argo CD's to report
	}
	if err := os.Remove(file); err != nil {
		return false, fmt.Errorf("leave out %s: %w", j.relative(file), err)
	}
	return true, nil
}
