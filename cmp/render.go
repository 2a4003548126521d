package cmp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
)

const renderHelp = `Render one Application from a checkout as Argo CD would, pin the result, and
write it to standard output: what the sidecar would answer to repo-server.

The Application may have its source in the native form (helm, kustomize or
directory, or no block at all) or in the plugin form. The checkout is copied, and
left as it is. helm and kustomize must be on the PATH for sources of their kind,
in the versions of the Argo CD that is to be matched.

Of an Application with several sources, each is rendered and pinned on its own,
as Argo CD does; all of them must be of the repository in --repo.

Exit codes: 0 fine, 1 something was pinned or dropped (only with --check), 2 your
mistake, 3 our failure.`

const renderExample = `  # render the checkout in the current folder, with the CRDs of another one
  moorpin cmp render --application app.yaml --repo . --crds ../crds

  # as for a certain cluster, saying what was pinned and dropped
  kubectl api-versions > versions.txt
  moorpin cmp render --application app.yaml --repo . --kubeconfig ~/.kube/config \
    --kube-version 1.34 --api-versions versions.txt --explain`

// rendered holds the flags of render.
type rendered struct {
	pinning
	output
	rendering

	application, repo, repoURL, revision string
	kubeVersion, apiVersions, namespace  string
	limits                               receive.Limits
}

func renderCommand() *cobra.Command {
	var r rendered
	command := &cobra.Command{
		Use: "render --application APP.yaml --repo DIR", Short: "Render and pin one Application from a checkout",
		Long: renderHelp + "\n\n" + explainHelp + "\n\n" + rulesHelp, Example: renderExample, Args: cobra.NoArgs,
		RunE: coded(func(command *cobra.Command, _ []string) error { return r.run(command) }),
	}
	flags := command.Flags()
	flags.StringVar(&r.application, "application", "", "`FILE` with the Application (required)")
	flags.StringVar(&r.repo, "repo", "", "`DIR` of the checkout of the source's repository (required)")
	flags.StringVar(&r.repoURL, "repo-url", "", "which repository the checkout is, when the Application has sources of several; the others are left out")
	flags.StringVar(&r.revision, "revision", "", "`SHA` of the commit of the checkout, for sources that use it")
	flags.StringVar(&r.kubeVersion, "kube-version", "", "Kubernetes version of the destination, such as 1.34")
	flags.StringVar(&r.apiVersions, "api-versions", "", "`FILE` with what the destination serves: group/version and group/version/Kind, one a line or separated by commas")
	flags.StringVar(&r.namespace, "control-plane-namespace", "argocd", "namespace of Argo CD; an Application elsewhere is named NAMESPACE_NAME")
	r.pinning.flags(command)
	r.kubeconfigFlag(command, "`FILE` that says how to reach a cluster whose CRDs are used")
	r.output.flags(command)
	limitFlags(flags, &r.limits)
	r.rendering.flags(flags)
	return command
}

func (r *rendered) run(command *cobra.Command) error {
	ctx, errs := command.Context(), command.ErrOrStderr()
	err := r.validate()
	if err != nil {
		return err
	}
	requests, err := r.requests()
	if err != nil {
		return err
	}
	options, err := r.oneShot(ctx, errs)
	if err != nil {
		return err
	}
	results, err := r.renderAll(ctx, requests, options)
	if err != nil {
		return err
	}
	return r.write(command.OutOrStdout(), errs, results)
}

func (r *rendered) validate() error {
	if r.application == "" || r.repo == "" {
		return cli.Mistake(errors.New("--application and --repo are required"))
	}
	if _, err := os.Stat(r.repo); err != nil {
		return cli.Mistake(fmt.Errorf("--repo: open the checkout: %w", err))
	}
	return r.output.validate()
}

// requests reads the Application and makes one request for each of its sources.
func (r *rendered) requests() ([]render.Request, error) {
	data, err := os.ReadFile(r.application)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--application: %w", err))
	}
	application, err := render.ParseApplication(r.application, data)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--application: %w", err))
	}
	served, err := readAPIVersions(r.apiVersions)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--api-versions: %w", err))
	}
	if r.kubeVersion != "" && !kubeVersion.MatchString(r.kubeVersion) {
		return nil, cli.Mistake(fmt.Errorf("--kube-version: %q is no Kubernetes version; write it as 1.34", r.kubeVersion))
	}
	requests, err := render.FromApplication(application, r.repo, render.ApplicationOptions{
		Revision: r.revision, KubeVersion: r.kubeVersion, APIVersions: served,
		ControlPlaneNamespace: r.namespace, RepoURL: r.repoURL,
	})
	if err != nil {
		return nil, fmt.Errorf("read the Application's sources: %w", err)
	}
	return requests, nil
}

// readAPIVersions reads what `kubectl api-versions` writes, or the value of
// KUBE_API_VERSIONS. Without a file there is nothing to read.
func readAPIVersions(file string) ([]string, error) {
	if file == "" {
		return []string{}, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err //nolint:wrapcheck // the error names the operation and the file
	}
	versions := strings.FieldsFunc(string(data), func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	for _, version := range versions {
		if !apiVersion.MatchString(version) {
			return nil, fmt.Errorf("%s: %q is no API version; write group/version or group/version/Kind", file, version)
		}
	}
	return versions, nil
}

// What the flags about the destination take.
var (
	kubeVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+`)
	apiVersion  = regexp.MustCompile(`^([a-z0-9.-]+/)?v[0-9][a-z0-9]*(/[A-Za-z0-9]+)?$`)
)

// renderAll renders and pins each request in a private copy of the checkout.
func (r *rendered) renderAll(ctx context.Context, requests []render.Request, options pin.Options) (results []pin.Result, err error) {
	folder, err := os.MkdirTemp("", "moorpin-render-")
	if err != nil {
		return nil, fmt.Errorf("make a work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	work, err := openWorkDir(folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	rules, err := r.rulesText()
	if err != nil {
		return nil, err
	}
	pool, err := r.open(work, rules, r.limits, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	for _, request := range requests {
		more, err := r.renderOne(ctx, pool, request, options)
		if err != nil {
			return nil, err
		}
		results = append(results, more...)
	}
	return results, nil
}

// renderPatience bounds one render, which nobody else does here.
const renderPatience = 10 * time.Minute

func (r *rendered) renderOne(ctx context.Context, pool *child.Pool, request render.Request, options pin.Options) ([]pin.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, renderPatience)
	defer cancel()
	slot, err := pool.Take(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // the error names the step
	}
	defer slot.Release()
	tree, err := receive.Copy(ctx, r.repo, slot.Folder(), r.limits)
	if err != nil {
		return nil, fmt.Errorf("--repo: copy the checkout: %w", err)
	}
	outcome, err := slot.Do(ctx, child.Task{Root: tree.Dir, Path: request.Path, Request: &request, Mode: options.Mode, Changes: true}, options.Schemas)
	if err != nil {
		return nil, err //nolint:wrapcheck // the error names the step
	}
	return outcomeResults(request.Path, outcome)
}

// outcomeResults makes results of what a child answered. The warnings, each of which
// counts once, stand with the first.
func outcomeResults(path string, outcome *child.Outcome) ([]pin.Result, error) {
	objects, err := manifest.DecodeTexts(path, outcome.Texts)
	if err != nil {
		return nil, fmt.Errorf("read what was rendered: %w", err)
	}
	if len(objects) != len(outcome.Changes) {
		return nil, fmt.Errorf("read what was rendered: %d objects came with the changes of %d", len(objects), len(outcome.Changes))
	}
	results := make([]pin.Result, len(objects))
	for i, object := range objects {
		results[i] = pin.Result{Object: object, Changes: outcome.Changes[i]}
	}
	for _, warning := range outcome.Warnings {
		if len(results) == 0 {
			break // a warning is about an object
		}
		results[0].Warnings = append(results[0].Warnings, pin.Warning{Kind: warning.Kind, Obstacle: warning.Obstacle, Text: warning.Text})
	}
	return results, nil
}
