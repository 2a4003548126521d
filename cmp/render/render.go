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
// GHSA-fw5c-w8rc-j7fx, GHSA-m3vr-7329-44ww: arguments that begin with a dash,
// helmGlobals.configHome, imports of Jsonnet that leave the repository).
package render

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"

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
	// Release, where set, is called exactly once, when nothing uses Root any more:
	// after Run has returned, when the context ends first.
	Release func() `json:"-"`
}

// Renderer renders requests, several at a time if need be. [New] makes one.
type Renderer struct {
	config        Config
	directorySize resource.Quantity
	// guards and temporary are folders that messages should not name.
	guards, temporary string
}

// Run renders one request and calls request.Release in every case. What it
// returns has the app's folder as its origin, and the number of the object as the
// document. Mistakes of the user, and with them whatever Argo CD's renderer
// complains about, are a [*Refusal] or a [*manifest.Error].
//
// When ctx ends first, Run returns at once. It kills helm, kustomize and the process
// that Jsonnet runs in, and releases Root after them.
func (r *Renderer) Run(ctx context.Context, request Request) ([]manifest.Object, error) {
	start := time.Now()
	done := make(chan outcome, 1)
	go func() {
		result := r.render(ctx, request)
		if request.Release != nil {
			request.Release()
		}
		done <- result
	}()
	select {
	case result := <-done:
		return result.objects, result.err
	case <-ctx.Done():
		go killUntil(request.Root, done)
		return nil, fmt.Errorf("render %s: %w after %s; raise Argo CD's timeout for plugins or make the render faster",
			request.Path, context.Cause(ctx), time.Since(start).Round(time.Millisecond))
	}
}

// killUntil kills the tools that work below root until the renderer has noticed.
func killUntil(root string, done <-chan outcome) {
	for {
		killBelow(root)
		select {
		case <-done:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// outcome is what became of a request.
type outcome struct {
	objects []manifest.Object
	err     error
}

// Breakdown is a panic in Argo CD's renderer, which must not end the process.
type Breakdown struct { //nolint:errname // it reads as what it is: render.Breakdown.
	// Stack is for the log: it tells whoever mends it where it happened.
	Stack []byte
	cause any
}

// Error returns the sentence for people.
func (e *Breakdown) Error() string {
	return fmt.Sprintf("the renderer broke down: %v; this is a fault of Moorpin or Argo CD, please report it with the plugin's log", e.cause)
}

func (r *Renderer) render(ctx context.Context, request Request) (result outcome) {
	defer func() {
		if cause := recover(); cause != nil {
			result = outcome{err: &Breakdown{Stack: debug.Stack(), cause: cause}}
		}
	}()
	job, err := r.prepare(request)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return outcome{err: err}
	}
	generate := job.generate
	if job.needsChild() {
		generate = job.generateInChild
	}
	manifests, err := generate(ctx)
	if err != nil {
		return outcome{err: err}
	}
	objects, err := job.objects(manifests)
	return outcome{objects: objects, err: err}
}

// objects decodes what was rendered.
func (j *job) objects(manifests []string) ([]manifest.Object, error) {
	objects, err := manifest.DecodeTexts(filepath.ToSlash(j.request.Path), manifests)
	if err != nil {
		return nil, fmt.Errorf("read what was rendered: %w", err)
	}
	return objects, nil
}
