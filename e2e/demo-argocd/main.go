// Demo-argocd shows the plugin on a real Argo CD and a real kube-apiserver: every
// Application of the example repository is made twice, natively and through Moorpin,
// synced, and refreshed hard three times; Argo CD's own verdicts stand side by side.
//
// It builds the control plane on its first run. With --keep everything stays up until
// it is interrupted, and the addresses are printed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/crds"
)

// example is one Application of the example repository.
type example struct {
	name, path string
	// block is the name and block the content of the source's native block, if any.
	blockName string
	block     map[string]any
	parameter string
}

var examples = []example{
	{name: "external-secrets", path: "external-secrets"},
	{name: "app-of-apps", path: "app-of-apps"},
	{name: "checkout", path: "kustomize/overlays/production"},
	{
		name: "mailer", path: "chart", blockName: "helm", parameter: "valueFiles: [values-production.yaml]",
		block: map[string]any{"valueFiles": []any{"values-production.yaml"}},
	},
}

// The two ways in which every Application is made.
const (
	native = "native"
	pinned = "moorpin"
)

func main() {
	binary := flag.String("bin", "bin/moorpin", "the built sidecar")
	repository := flag.String("repo", "e2e/demo/repo", "the example repository")
	keep := flag.Bool("keep", false, "leave everything running until interrupted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *repository, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "demo-argocd:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func run(ctx context.Context, binary, repository string, keep bool) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	plane, err := controlplane.Start(ctx, controlplane.Options{ArgoCD: true, Log: os.Stderr})
	if err != nil {
		cancel()
		return fmt.Errorf("start the control plane: %w", err)
	}
	defer func() {
		cancel()
		err = errors.Join(err, plane.Stop())
	}()
	if err := installCRDs(ctx, plane); err != nil {
		return err
	}
	ended, err := startSidecar(ctx, plane, binary)
	if err != nil {
		return err
	}
	git, err := twinRepository(ctx, repository, filepath.Join(plane.Dir(), "repository"))
	if err != nil {
		return err
	}
	if err := compare(ctx, plane, git); err != nil {
		return err
	}
	if !keep {
		return nil
	}
	fmt.Printf("\nRunning until you press Ctrl-C:\n  Argo CD API  %s/api/v1/applications\n  kubectl      KUBECONFIG=%s\n  Git          %s\n  logs         %s\n",
		plane.ServerURL(), plane.Kubeconfig(), git.Dir(), filepath.Join(plane.Dir(), "logs"))
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return fmt.Errorf("the sidecar ended: %w", err)
	}
}

func installCRDs(ctx context.Context, plane *controlplane.Plane) error {
	all, err := crds.All(ctx)
	if err != nil {
		return fmt.Errorf("find the CRDs: %w", err)
	}
	for _, crd := range all {
		if crd.Group() != "external-secrets.io" {
			continue
		}
		if err := plane.Apply(ctx, "", &unstructured.Unstructured{Object: crd.Content}); err != nil {
			return fmt.Errorf("install %s: %w", crd.Name(), err)
		}
	}
	return nil
}

// startSidecar runs the binary where repo-server looks for plugins. It ends with the context.
func startSidecar(ctx context.Context, plane *controlplane.Plane, binary string) (<-chan error, error) {
	sidecar := exec.CommandContext(ctx, binary, "cmp", "serve", "--kubeconfig", plane.Kubeconfig(), "--work-dir", filepath.Join(plane.Dir(), "work"))
	sidecar.Env = append(os.Environ(), "ARGOCD_PLUGINSOCKFILEPATH="+plane.PluginDir(), "PATH="+plane.ToolPath()+string(os.PathListSeparator)+os.Getenv("PATH"))
	log, err := os.Create(filepath.Join(plane.Dir(), "logs", "moorpin.log"))
	if err != nil {
		return nil, fmt.Errorf("make the sidecar's log: %w", err)
	}
	sidecar.Stdout, sidecar.Stderr = log, log
	sidecar.Cancel = func() error { return sidecar.Process.Signal(syscall.SIGTERM) }
	if err := sidecar.Start(); err != nil {
		return nil, fmt.Errorf("start the sidecar: %w; run make build", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sidecar.Wait() }()
	socket := filepath.Join(plane.PluginDir(), "moorpin.sock")
	for range 600 {
		if _, err := os.Stat(socket); err == nil {
			return ended, nil
		}
		select {
		case err := <-ended:
			return nil, fmt.Errorf("the sidecar ended: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil, errors.New("the sidecar does not listen after 30 s")
}

// twinRepository commits the example twice, below native/ and moorpin/, with names and
// namespaces of their own, so that the twins do not share objects.
func twinRepository(ctx context.Context, source, dir string) (*controlplane.Repository, error) {
	git, err := controlplane.NewRepository(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("make the repository: %w", err)
	}
	files := map[string]string{"leaf/configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: leaf}\n"}
	for _, way := range []string{native, pinned} {
		replace := strings.NewReplacer(
			"namespace: shop", "namespace: external-secrets-"+way,
			"namespace: checkout", "namespace: checkout-"+way,
			"name: web\n", "name: web-"+way+"\n", "namespace: web\n", "namespace: web-"+way+"\n",
			"name: payments\n", "name: payments-"+way+"\n", "namespace: payments\n", "namespace: payments-"+way+"\n",
			"https://git.example.com/web.git", git.URL(), "https://git.example.com/payments.git", git.URL(),
			"    path: chart\n", "    path: leaf\n", "    path: deploy\n", "    path: leaf\n",
			"    helm:\n      skipCrds: false\n      valueFiles:\n        - values-production.yaml\n", "    directory:\n      recurse: false\n",
			"  syncOptions:\n      - ServerSideApply=true\n", "  syncOptions:\n      - CreateNamespace=true\n",
			"    automated: {}\n", "    automated: {}\n    syncOptions:\n      - CreateNamespace=true\n",
		)
		err := os.CopyFS(filepath.Join(git.Dir(), way), os.DirFS(source))
		if err != nil {
			return nil, fmt.Errorf("copy the example: %w", err)
		}
		err = filepath.WalkDir(filepath.Join(git.Dir(), way), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil {
				relative, _ := filepath.Rel(git.Dir(), path)
				files[relative] = replace.Replace(string(text))
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the example: %w", err)
		}
	}
	if _, err := git.Commit(ctx, "Add the example", files); err != nil {
		return nil, fmt.Errorf("commit the example: %w", err)
	}
	return git, nil
}

// compare makes the twins and prints Argo CD's verdicts. Through Moorpin all must be Synced.
func compare(ctx context.Context, plane *controlplane.Plane, git *controlplane.Repository) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 3, ' ', 0)
	fmt.Fprintln(table, "APPLICATION\tRESOURCES\tNATIVE\tTHROUGH MOORPIN\tOUT OF SYNC NATIVELY")
	var drifting, failed []string
	for _, example := range examples {
		verdicts := map[string]controlplane.Status{}
		for _, way := range []string{native, pinned} {
			fmt.Fprintf(os.Stderr, "%s, %s: sync and three hard refreshes\n", example.name, way)
			status, err := settle(ctx, plane, example.application(way, git.URL()))
			if err != nil {
				return fmt.Errorf("application %s, %s: %w", example.name, way, err)
			}
			verdicts[way] = status
			if status.Operation.Phase == "Failed" {
				failed = append(failed, fmt.Sprintf("%s-%s: %s", example.name, way, status.Operation.Message))
			}
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n", example.name, len(verdicts[native].Resources), verdict(verdicts[native]), verdict(verdicts[pinned]), outOfSync(verdicts[native]))
		if verdict(verdicts[pinned]) != "Synced" {
			drifting = append(drifting, verdicts[pinned].String())
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if len(failed) > 0 {
		fmt.Printf("\nSyncs that failed, in Argo CD's words:\n%s\n", strings.Join(failed, "\n"))
	}
	if len(drifting) > 0 {
		return fmt.Errorf("not Synced through Moorpin:\n%s", strings.Join(drifting, "\n"))
	}
	return nil
}

func (e example) application(way, repoURL string) controlplane.Application {
	source := map[string]any{"repoURL": repoURL, "targetRevision": "main", "path": way + "/" + e.path}
	switch {
	case way == pinned && e.parameter != "":
		source["plugin"] = map[string]any{"name": "moorpin", "parameters": []any{map[string]any{"name": e.blockName, "string": e.parameter}}}
	case way == pinned:
		source["plugin"] = map[string]any{"name": "moorpin"}
	case e.block != nil:
		source[e.blockName] = e.block
	}
	return controlplane.Application{
		Name: e.name + "-" + way, Namespace: e.name + "-" + way, Source: source,
		SyncPolicy: map[string]any{"syncOptions": []any{"ServerSideApply=true"}},
	}
}

// settle syncs the Application and returns the verdict after three hard refreshes, once
// the children of an app of apps have synced by themselves.
func settle(ctx context.Context, plane *controlplane.Plane, application controlplane.Application) (controlplane.Status, error) {
	if err := plane.CreateApplication(ctx, application); err != nil {
		return controlplane.Status{}, err
	}
	status, err := plane.Sync(ctx, application.Name)
	if err != nil && status.Operation.Phase != "Failed" {
		return status, err
	}
	for _, resource := range status.Resources {
		if resource.Kind != "Application" {
			continue
		}
		if _, err := plane.WaitForApplication(ctx, resource.Name, func(child controlplane.Status) bool { return child.Operation.Phase == "Succeeded" }); err != nil {
			return status, err
		}
	}
	for range 3 {
		if status, err = plane.RefreshApplication(ctx, application.Name, controlplane.RefreshHard); err != nil {
			return status, err
		}
	}
	return status, nil
}

// verdict is Argo CD's, with a word when the sync itself failed.
func verdict(status controlplane.Status) string {
	if status.Operation.Phase == "Failed" {
		return status.Sync + ", sync failed"
	}
	return status.Sync
}

func outOfSync(status controlplane.Status) string {
	var names []string
	for _, resource := range status.Resources {
		if resource.Sync == "OutOfSync" {
			names = append(names, resource.Kind+"/"+resource.Name)
		}
	}
	return strings.Join(names, ", ")
}
