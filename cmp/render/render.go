// Package render turns a private copy of a repository into Kubernetes objects with
// Argo CD's own renderer, so that they are what repo-server would render without a
// plugin.
//
// A [Request] comes from the environment that Argo CD gives to a plugin
// ([FromEnvironment]) or from an Application and a checkout ([FromApplication]).
// [Renderer.Run] strips .argocd-source files of their plugin block, finds out the
// source's type as Argo CD does, and calls Argo CD's GenerateManifests; tracking
// labels are left to repo-server.
//
// The source is native, or in plugin form: the block that would stand in the
// Application as helm, kustomize or directory travels verbatim, as text, in the one
// string parameter of that name.
//
//	valid:    parameters: [{name: directory, string: "recurse: true"}, {name: pin, string: atomic}]
//	invalid:  parameters: [{name: directory, string: "recursive: true"}]   (unknown field)
//
// It refuses, with a [*Refusal], what a plugin cannot render as Argo CD would
// (references to other sources, kustomize.version), and what would turn Git content
// into commands or into reads outside the repository (GHSA-9v9p-x54c-58gc,
// GHSA-fw5c-w8rc-j7fx, GHSA-m3vr-7329-44ww: arguments that begin with a dash or hold
// what the tool would split them at, templates in the release's name,
// helmGlobals.configHome, imports, bases and charts that leave the repository). These
// checks are the second line: the first is that the process around them is confined
// (docs/decisions/0005-confinement.md).
package render

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// Request is one source of one Application.
type Request struct {
	// Root is a private copy of the repository, which Run changes.
	Root string
	// Path is the app's folder, relative to Root, "." for Root itself.
	Path string
	// AppName is the Application's name, `<namespace>_<name>` outside Argo CD's
	// own namespace.
	AppName string
	// Namespace is the destination's.
	Namespace string
	// Project is the AppProject's name, where it is known. Argo CD v2 does not tell it
	// to plugins: where it is set, sources are rendered as Argo CD v3 does.
	Project string
	// Revision is the commit that Root holds.
	Revision string
	// Source is the source as the Application would say it natively: repoURL, path,
	// targetRevision and at most one of helm, kustomize and directory. Without one,
	// the files decide.
	Source v1alpha1.ApplicationSource
	// KubeVersion describes the destination as Argo CD does: "1.34".
	KubeVersion string
	// APIVersions are "group/version" and "group/version/Kind" of the destination.
	APIVersions []string
	// Pin is the plugin parameter of that name: all, atomic, none, or empty.
	Pin string
}

// Renderer renders requests, one after the other. [New] makes one.
type Renderer struct {
	config        Config
	directorySize resource.Quantity
	ranPrograms   bool
}

// RanPrograms reports whether the last render ran what the user programs: Jsonnet,
// charts, kustomizations. Plain manifests are only read.
func (r *Renderer) RanPrograms() bool { return r.ranPrograms }

// Run renders one request, and changes the private copy on the way. What it returns has
// the app's folder as its origin, and the number of the object as the document. Mistakes
// of the user, and with them whatever Argo CD's renderer complains about, are a
// [*Refusal] or a [*manifest.Error].
//
// Run may use up the memory and the stack of its process, and cannot be stopped: a
// Jsonnet program or a chart can have it do so. It is called where that harms nobody, in
// a process of package confine.
func (r *Renderer) Run(ctx context.Context, request Request) (objects []manifest.Object, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			objects, err = nil, NewBreakdown(cause, debug.Stack())
		}
	}()
	r.ranPrograms = true
	job, err := r.prepare(request)
	if err != nil {
		return nil, err
	}
	r.ranPrograms = job.kind != v1alpha1.ApplicationSourceTypeDirectory || len(job.programs) > 0
	manifests, err := job.generate(ctx)
	if err != nil {
		return nil, err
	}
	return job.objects(manifests)
}

// Breakdown is a panic in Argo CD's renderer, which must not end the process.
type Breakdown struct { //nolint:errname // it reads as what it is: render.Breakdown.
	// Stack is for the log: it tells whoever mends it where it happened.
	Stack []byte
	// Cause says what went wrong.
	Cause string
}

// NewBreakdown makes an error of what was recovered.
func NewBreakdown(cause any, stack []byte) *Breakdown {
	return &Breakdown{Stack: stack, Cause: fmt.Sprint(cause)}
}

// Error returns the sentence for people.
func (e *Breakdown) Error() string {
	return "the renderer broke down: " + e.Cause + "; this is a fault of Moorpin or Argo CD, please report it with the plugin's log"
}

// objects decodes what was rendered.
func (j *job) objects(manifests []string) ([]manifest.Object, error) {
	objects, err := manifest.DecodeTexts(filepath.ToSlash(j.request.Path), manifests)
	if err != nil {
		return nil, fmt.Errorf("read what was rendered: %w", err)
	}
	return objects, nil
}
