package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v2/reposerver/repository"
	"github.com/argoproj/argo-cd/v2/util/git"

	_ "github.com/moorpin/moorpin/cmp/render/startup" // before Argo CD's packages
)

// job is a request that was found to be in order.
type job struct {
	renderer *Renderer
	request  Request
	// root and app are absolute; root holds no links.
	root, app string
	// source has an explicit type; merged has the blocks that Argo CD makes of it
	// together with the .argocd-source files.
	source, merged v1alpha1.ApplicationSource
	kind           v1alpha1.ApplicationSourceType
	// programs are the Jsonnet files of a directory source.
	programs []string
}

// prepare checks a request, settles its type, and makes the private copy ready.
func (r *Renderer) prepare(request Request) (*job, error) {
	j := &job{renderer: r, request: request}
	err := j.locate()
	if err != nil {
		return nil, err
	}
	j.source = *request.Source.DeepCopy()
	j.source.Plugin = nil
	j.nameProject()
	err = j.mergeOverrides()
	if err != nil {
		return nil, err
	}
	err = j.settleType()
	if err != nil {
		return nil, err
	}
	return j, j.guard()
}

// locate finds the app's folder.
func (j *job) locate() error {
	root, err := filepath.EvalSymlinks(j.request.Root)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return fmt.Errorf("open the private copy: %w", err)
	}
	if !filepath.IsLocal(j.request.Path) {
		return refuse(j.request.Path, "the app's folder is not below the repository's root; spec.source.path must be relative and without ..")
	}
	if strings.ContainsAny(j.request.AppName, "/\x00") {
		return refuse("ARGOCD_APP_NAME", "%q is no name of an Application", j.request.AppName)
	}
	j.root, j.app = root, filepath.Join(root, j.request.Path)
	info, err := os.Stat(j.app)
	if errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return refuse(j.request.Path, "the repository has no such folder; check spec.source.path")
	}
	if err != nil {
		return fmt.Errorf("open the app's folder: %w", err)
	}
	return nil
}

// mergeOverrides takes what the app's folder says of its source.
func (j *job) mergeOverrides() error {
	root, err := os.OpenRoot(j.root)
	if err != nil {
		return fmt.Errorf("open the private copy: %w", err)
	}
	defer func() { _ = root.Close() }() // it holds nothing that is not written yet
	err = j.stripOverrides(root)
	if err != nil {
		return err
	}
	j.merged, err = mergeOverrides(j.source, root, j.request.Path, j.request.AppName)
	return err
}

// settleType gives the source an explicit type, so that Argo CD's renderer does not
// look for plugins: it would find this one.
func (j *job) settleType() error {
	explicit, err := j.merged.ExplicitType()
	if err != nil {
		return refuse(j.request.Path, "%v; keep one, in the Application or in the .argocd-source files of the app's folder", err)
	}
	if explicit != nil {
		j.kind = *explicit
		return nil
	}
	j.kind, err = detect(j.app)
	if err != nil {
		return fmt.Errorf("detect the type of the app: %w", err)
	}
	switch j.kind {
	case v1alpha1.ApplicationSourceTypeHelm:
		j.source.Helm, j.merged.Helm = &v1alpha1.ApplicationSourceHelm{}, &v1alpha1.ApplicationSourceHelm{}
	case v1alpha1.ApplicationSourceTypeKustomize:
		j.source.Kustomize, j.merged.Kustomize = &v1alpha1.ApplicationSourceKustomize{}, &v1alpha1.ApplicationSourceKustomize{}
	case v1alpha1.ApplicationSourceTypeDirectory, v1alpha1.ApplicationSourceTypePlugin:
		j.source.Directory, j.merged.Directory = &v1alpha1.ApplicationSourceDirectory{}, &v1alpha1.ApplicationSourceDirectory{}
	}
	return nil
}

// generate calls Argo CD's renderer as repo-server does.
func (j *job) generate(ctx context.Context) ([]string, error) {
	if len(j.programs) > 0 {
		err := j.guardJsonnet(j.programs, j.merged.Directory.Jsonnet)
		if err != nil {
			return nil, err
		}
	}
	request := &apiclient.ManifestRequest{
		Repo:              &v1alpha1.Repository{Repo: j.request.Source.RepoURL},
		Revision:          j.request.Revision,
		AppName:           j.request.AppName,
		Namespace:         j.request.Namespace,
		ApplicationSource: &j.source,
		KubeVersion:       j.request.KubeVersion,
		ApiVersions:       j.request.APIVersions,
		ProjectName:       j.request.Project,
		HelmOptions:       &v1alpha1.HelmOptions{ValuesFileSchemes: j.renderer.config.ValueSchemes},
		// AppLabelKey stays empty: repo-server adds the tracking to the reply.
	}
	response, err := repository.GenerateManifests(ctx, j.app, j.root, j.request.Revision, request, false,
		git.NoopCredsStore{}, j.renderer.directorySize, nil)
	if err != nil {
		return nil, j.explain(err)
	}
	return response.Manifests, nil
}

// env is the build environment that Argo CD substitutes in sources.
func (j *job) env() *v1alpha1.Env {
	revision := j.request.Revision
	return &v1alpha1.Env{
		{Name: "ARGOCD_APP_NAME", Value: j.request.AppName},
		{Name: "ARGOCD_APP_NAMESPACE", Value: j.request.Namespace},
		{Name: "ARGOCD_APP_REVISION", Value: revision},
		{Name: "ARGOCD_APP_REVISION_SHORT", Value: revision[:min(7, len(revision))]},
		{Name: "ARGOCD_APP_REVISION_SHORT_8", Value: revision[:min(8, len(revision))]},
		{Name: "ARGOCD_APP_SOURCE_REPO_URL", Value: j.request.Source.RepoURL},
		{Name: "ARGOCD_APP_SOURCE_PATH", Value: j.request.Source.Path},
		{Name: "ARGOCD_APP_SOURCE_TARGET_REVISION", Value: j.request.Source.TargetRevision},
	}
}
