// Demo shows what the plugin does to an example repository, without a cluster:
// it starts the built sidecar on a temporary socket, talks to it with Argo CD's
// own client code in repo-server's order, and prints for each resource what was
// pinned and dropped and why, as a table and as a diff.
//
// The CRDs are those of the External Secrets Operator and of Argo CD, out of
// their Go modules. Every Application is rendered twice, once with the plugin
// parameter pin=none, which is what Argo CD alone would apply, and once with
// everything pinned; the difference must be what the explanation says, or the
// program fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/moorpin/moorpin/e2e/crds"
)

// application is one Application of the example.
type application struct {
	name, path, about string
	// tool is the program that renders it, or empty.
	tool string
	// parameters are those of spec.source.plugin.
	parameters map[string]string
}

// applications are the ways in which objects come into being. Those that need a program
// come last, as it may have to be built.
var applications = []application{
	{name: "external-secrets", path: "external-secrets", about: "a folder of plain YAML"},
	{name: "app-of-apps", path: "app-of-apps", about: "Applications with explicit empty values", parameters: map[string]string{"directory": "recurse: true"}},
	{name: "checkout", path: "kustomize/overlays/production", about: "a Kustomize overlay", tool: "kustomize"},
	{name: "mailer", path: "chart", about: "a Helm chart", tool: "helm", parameters: map[string]string{"helm": "valueFiles: [values-production.yaml]"}},
}

// crdModules are the Go modules whose CRDs the example needs.
var crdModules = []string{"github.com/external-secrets/external-secrets", "github.com/argoproj/argo-cd/v2"}

func main() {
	binary := flag.String("bin", "bin/moorpin", "the built sidecar")
	repository := flag.String("repo", "e2e/demo/repo", "the example repository")
	flag.Parse()
	// With SIGPIPE, so that `| head` stops the sidecar too.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	logrus.SetOutput(io.Discard) // Argo CD's client code logs what it also returns
	err := run(ctx, *binary, *repository)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func run(ctx context.Context, binary, repository string) error {
	began := time.Now()
	repository, err := filepath.Abs(repository)
	if err != nil {
		return fmt.Errorf("find the example repository: %w", err)
	}
	var folders []string
	err = during("fetching the CRDs of the example (5 of 5)", "a few seconds", func() error {
		folders, err = crdFolders(ctx)
		return err
	})
	if err != nil {
		return err
	}
	explainer, err := newExplainer(ctx, folders)
	if err != nil {
		return err
	}
	d := demo{binary: binary, repository: repository, folders: folders, explainer: explainer}
	missing := missingTools()
	err = d.show(ctx, needing(missing, false), "")
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		tools, err := buildTools(ctx, missing)
		if err != nil {
			return err
		}
		err = d.show(ctx, needing(missing, true), tools)
		if err != nil {
			return err
		}
	}
	explainer.summary(time.Since(began))
	return nil
}

// needing are the Applications that need one of the programs, or those that do not.
func needing(tools []string, need bool) []application {
	var found []application
	for _, app := range applications {
		if slices.Contains(tools, app.tool) == need {
			found = append(found, app)
		}
	}
	return found
}

// demo is what the example is shown with.
type demo struct {
	binary, repository string
	folders            []string
	explainer          *explainer
}

// show starts a sidecar that finds programs in the folders of tools, too, and shows
// what it does to the Applications.
func (d *demo) show(ctx context.Context, applications []application, tools string) (err error) {
	sidecar, err := startSidecar(ctx, d.binary, tools, d.folders)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sidecar.stop()) }()
	for _, app := range applications {
		err = show(ctx, app, d.repository, d.explainer)
		if err != nil {
			return fmt.Errorf("application %s: %w", app.name, errors.Join(err, sidecar.lastWords()))
		}
	}
	return nil
}

// show renders one Application with and without pins and prints the difference.
func show(ctx context.Context, app application, repository string, explainer *explainer) error {
	plain, err := render(ctx, app, repository, "none")
	if err != nil {
		return err
	}
	pinned, err := render(ctx, app, repository, "all")
	if err != nil {
		return err
	}
	return explainer.explain(ctx, app, plain, pinned)
}

// crdFolders are the folders of the CRDs that the example needs.
func crdFolders(ctx context.Context) ([]string, error) {
	var folders []string
	for _, path := range crdModules {
		for _, module := range crds.Modules() {
			if module.Path != path {
				continue
			}
			dir, err := crds.Dir(ctx, module)
			if err != nil {
				return nil, fmt.Errorf("find CRDs: %w", err)
			}
			for _, glob := range module.Globs {
				folders = append(folders, filepath.Join(dir, filepath.Dir(glob)))
			}
		}
	}
	return folders, nil
}
