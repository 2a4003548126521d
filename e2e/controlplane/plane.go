package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Namespace is where Argo CD lives and where it looks for Applications.
const Namespace = "argocd"

// Options says what to start. The zero value is etcd and kube-apiserver in a
// temporary folder.
type Options struct {
	// Dir is the work folder. It stays after Stop, and a later plane started in
	// it finds the objects of the earlier one. When empty, a temporary folder
	// is made, and removed by Stop.
	Dir string
	// Log receives one line for each step, for people. Nil is silence.
	Log io.Writer
	// ArgoCD adds redis, argocd-repo-server, argocd-application-controller and
	// argocd-server, and builds helm and kustomize for them.
	ArgoCD bool
	// Release is the Argo CD to build and start. The zero value is v2.14.
	Release Release
	// Auth makes argocd-server ask for a login. Without it everybody is admin.
	// PostAPI and GetAPI log in by themselves.
	Auth bool
	// StockPlugin is the path of a plugin.yaml. When set, Argo CD's own
	// argocd-cmp-server runs it beside repo-server.
	StockPlugin string
}

// Plane is a running control plane. Its methods may be called from several
// goroutines at once.
type Plane struct {
	options    Options
	dir        string
	ports      *ports
	launcher   launcher
	processes  []*process
	programs   map[string]string // path by name
	toolPath   string
	plugin     stockPlugin
	argoModule string // folder of Argo CD's source, for its manifests
	clients    clients
	config     *rest.Config
	server     string // URL of argocd-server
	repoServer string
	session    session
	stop       func() error
}

// Start builds what the cache lacks, starts everything, and returns when all
// of it serves. The context bounds the start alone; the plane runs until Stop.
// A start that does not succeed stops what it had started, and its error holds
// the end of the log of the program at fault.
func Start(ctx context.Context, options Options) (*Plane, error) {
	begin := time.Now()
	options.Release = options.Release.orDefault()
	p := &Plane{options: options}
	p.stop = sync.OnceValue(p.stopOnce)
	if err := p.readOptions(); err != nil {
		return nil, fmt.Errorf("prepare control plane: %w", err)
	}
	if err := p.build(ctx); err != nil {
		return nil, fmt.Errorf("prepare control plane: %w", err)
	}
	var err error
	if p.ports, err = reservePorts(); err != nil {
		return nil, fmt.Errorf("prepare control plane: %w", err)
	}
	p.launcher = newLauncher()
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := p.launch(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start control plane: %w", err), p.Stop())
	}
	sayf(options.Log, "ready in %s, files in %s", time.Since(begin).Round(time.Millisecond), p.dir)
	return p, nil
}

// Stop ends the processes of this plane, and no others, and removes the work
// folder if Start made it. It may be called more than once, and answers the
// same each time: an error when a process had ended by itself before, or when
// something could not be ended or removed.
func (p *Plane) Stop() error { return p.stop() }

// Config is that of a cluster admin, without a limit on requests per second.
// The caller owns the copy.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.config) }

// Kubeconfig is the path of a file with the same access as Config.
func (p *Plane) Kubeconfig() string { return p.path("kubeconfig") }

// ServerURL is where argocd-server serves plain HTTP, such as
// http://127.0.0.1:20006. It is empty without Argo CD.
func (p *Plane) ServerURL() string { return p.server }

// RepoServerAddress is host:port of repo-server's gRPC, which speaks TLS with
// a certificate that it signed itself. It is empty without Argo CD.
func (p *Plane) RepoServerAddress() string { return p.repoServer }

// PluginDir is the folder in which repo-server looks for the sockets of
// plugins. A plugin may come and go while the plane runs.
func (p *Plane) PluginDir() string { return p.path("plugins") }

// ToolPath is a PATH fragment with the helm and kustomize that repo-server
// runs, for a sidecar that has to render the same. It is empty without Argo CD.
func (p *Plane) ToolPath() string { return p.toolPath }

// Release is the Argo CD that runs here.
func (p *Plane) Release() Release { return p.options.Release }

// Dir is the work folder. Each program's log is logs/<name>.log in it.
func (p *Plane) Dir() string { return p.dir }

// Processes are the ids of the programs by their names, such as etcd,
// kube-apiserver or argocd-repo-server.
func (p *Plane) Processes() map[string]int {
	ids := map[string]int{}
	for _, proc := range p.processes {
		ids[proc.name] = proc.pid()
	}
	return ids
}

// WriteLogs writes the last lines of every program's log, as a help after a
// test that did not pass.
func (p *Plane) WriteLogs(to io.Writer, lines int) error {
	for _, proc := range p.processes {
		if _, err := fmt.Fprintln(to, proc.tail(lines)); err != nil {
			return fmt.Errorf("write log of %s: %w", proc.name, err)
		}
	}
	return nil
}
