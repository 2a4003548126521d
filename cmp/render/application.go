package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/argo"
	"github.com/argoproj/argo-cd/v2/util/git"
	kjson "sigs.k8s.io/json"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// pluginName is what the plugin is called in spec.source.plugin.name, alone or
// followed by a dash and a version.
const pluginName = "moorpin"

// ApplicationOptions is what an Application does not say about itself.
type ApplicationOptions struct {
	// Revision is the commit of the checkout, empty when unknown.
	Revision string
	// KubeVersion describes the destination as Argo CD does: "1.34".
	KubeVersion string
	// APIVersions are "group/version" and "group/version/Kind" of the destination.
	APIVersions []string
	// ControlPlaneNamespace is Argo CD's namespace, "argocd" by default; an
	// Application of another one is named `<namespace>_<name>`.
	ControlPlaneNamespace string
	// RepoURL says which repository the checkout is, for an Application whose
	// sources are in several; the sources of others are left out. Without it, all
	// must be in one.
	RepoURL string
}

// ParseApplication reads one Application from YAML or JSON. It refuses whatever
// else the text holds, and a field in metadata or spec that Argo CD does not know.
func ParseApplication(file string, data []byte) (*v1alpha1.Application, error) {
	objects, err := manifest.Decode(file, data, manifest.Limits{})
	if err != nil {
		return nil, fmt.Errorf("read the Application: %w", err)
	}
	if len(objects) != 1 || objects[0].Kind().GroupKind() != v1alpha1.ApplicationSchemaGroupVersionKind.GroupKind() {
		return nil, refuse(file, "must hold one Application and nothing else; it holds %d objects", len(objects))
	}
	content := objects[0].Content
	delete(content, "status")
	delete(content, "operation")
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("read the Application: %w", err)
	}
	app := new(v1alpha1.Application)
	faults, err := kjson.UnmarshalStrict(text, app)
	err = errors.Join(append(faults, err)...)
	if err != nil {
		return nil, refuse(file, "is no valid Application: %v", err)
	}
	return app, nil
}

// FromApplication makes the Requests of an Application, one for each source, in
// order, from a native block or from the plugin form. It reads checkout, only to
// merge .argocd-source files, which nothing confines: through no link that leads out of
// it, and no more than a MiB of each. Root and Release are left for the caller: Run needs a
// fresh private copy of the checkout for each Request.
//
// It refuses what a plugin cannot be sent: charts of a Helm repository, sources
// with a ref, and the source hydrator.
func FromApplication(app *v1alpha1.Application, checkout string, options ApplicationOptions) ([]Request, error) {
	spec := argo.NormalizeApplicationSpec(&app.Spec)
	if spec.SourceHydrator != nil {
		return nil, refuse("spec.sourceHydrator", "is not rendered here; write its dry source as spec.source")
	}
	sources := spec.GetSources()
	if len(sources) == 0 {
		return nil, refuse("spec.source", "is missing")
	}
	if options.ControlPlaneNamespace == "" {
		options.ControlPlaneNamespace = "argocd"
	}
	template := Request{
		AppName:     app.InstanceName(options.ControlPlaneNamespace),
		Namespace:   spec.Destination.Namespace,
		Project:     spec.Project,
		Revision:    options.Revision,
		KubeVersion: options.KubeVersion,
		APIVersions: options.APIVersions,
	}
	var requests []Request
	for i, source := range sources {
		where := "spec.source"
		if spec.HasMultipleSources() {
			where = fmt.Sprintf("spec.sources[%d]", i)
		}
		wanted, err := options.wants(where, source, sources[0])
		if err != nil {
			return nil, err
		}
		if !wanted {
			continue
		}
		request := template
		request.Path = filepath.Clean(source.Path)
		request.Source = source
		err = request.fromPlugin(where, checkout)
		if err != nil {
			return nil, err
		}
		requests = append(requests, request)
	}
	if len(requests) == 0 {
		return nil, refuse("spec.sources", "none is in the repository %s", options.RepoURL)
	}
	return requests, nil
}

// wants reports whether a source is in the checkout.
func (o ApplicationOptions) wants(where string, source, first v1alpha1.ApplicationSource) (bool, error) {
	if source.Ref != "" {
		return false, refuse(where+".ref", "sources that others refer to are not sent to plugins; render this Application without the plugin")
	}
	repository := o.RepoURL
	if repository == "" {
		repository = first.RepoURL
	}
	if !git.SameURL(source.RepoURL, repository) {
		if o.RepoURL != "" {
			return false, nil
		}
		return false, refuse(where+".repoURL", "%s is another repository than %s; say with --repo-url which one the checkout is", source.RepoURL, first.RepoURL)
	}
	if source.Chart != "" {
		return false, refuse(where+".chart", "a chart of a Helm repository is in no checkout; Argo CD sends it to plugins unpacked, so unpack it and give its folder as path")
	}
	return true, nil
}

// fromPlugin replaces the plugin form of a source by the native one. As
// .argocd-source files may hold the plugin block, they are merged first, which
// repo-server does before it calls the plugin.
func (r *Request) fromPlugin(where, checkout string) error {
	if !filepath.IsLocal(r.Path) {
		return refuse(where+".path", "%s leaves the repository", r.Source.Path)
	}
	root, err := os.OpenRoot(checkout)
	if err != nil {
		return fmt.Errorf("open the checkout: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	merged, err := mergeOverrides(r.Source, root, r.Path, r.AppName)
	if err != nil {
		return err
	}
	explicit, err := merged.ExplicitType()
	if err != nil {
		return refuse(where, "%v; keep one, here or in the .argocd-source files of the app's folder", err)
	}
	if explicit == nil || *explicit != v1alpha1.ApplicationSourceTypePlugin {
		return nil
	}
	name := merged.Plugin.Name
	if name != "" && name != pluginName && !strings.HasPrefix(name, pluginName+"-") {
		return refuse(where+".plugin.name", "%q is another plugin; Moorpin renders sources of the plugin %s, and those without one", name, pluginName)
	}
	text, err := json.Marshal(merged.Plugin.Parameters)
	if err != nil {
		return fmt.Errorf("read the plugin's parameters: %w", err)
	}
	var parameters []parameter
	err = json.Unmarshal(text, &parameters)
	if err != nil {
		return fmt.Errorf("read the plugin's parameters: %w", err)
	}
	r.Source.Plugin = nil
	return r.apply(parameters)
}
