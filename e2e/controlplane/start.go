package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// startLimit bounds how long programs may take to serve; builds are not
	// counted. It is generous because a busy machine is slow, not broken.
	startLimit = 3 * time.Minute
	// longestFolder leaves room for the name of a plugin's socket: the path of
	// a unix socket has at most 107 bytes on Linux, 103 elsewhere.
	longestFolder = 70
	// temporaryName begins the names of work folders that Start makes.
	temporaryName = "moorpin-"
)

// readOptions refuses what could not work before anything is built.
func (p *Plane) readOptions() error {
	var err error
	if p.options.Dir != "" {
		if p.dir, err = filepath.Abs(p.options.Dir); err != nil {
			return fmt.Errorf("find work folder: %w", err)
		}
	}
	if p.options.StockPlugin != "" {
		if p.plugin, err = readPlugin(p.options.StockPlugin); err != nil {
			return fmt.Errorf("read stock plugin: %w", err)
		}
	}
	folder := p.dir
	if folder == "" {
		folder = filepath.Join(os.TempDir(), temporaryName+"0123456789")
	}
	if len(folder) > longestFolder {
		return fmt.Errorf("path of the work folder has %d bytes, more than %d: "+
			"unix sockets inside would be out of reach; choose a shorter one: %s", len(folder), longestFolder, folder)
	}
	return nil
}

// build finds or builds every program of the plane.
func (p *Plane) build(ctx context.Context) error {
	needed := []string{"etcd"}
	if p.options.ArgoCD {
		needed = append(needed, "redis-server", "git")
	}
	var err error
	if p.programs, err = systemPrograms(needed...); err != nil {
		return err
	}
	sources := []source{kubeAPIServer()}
	if p.options.ArgoCD {
		sources = append(sources, p.options.Release.argoCD())
	}
	for _, program := range sources {
		if p.programs[program.name], err = program.build(ctx, p.options.Log); err != nil {
			return err
		}
	}
	if !p.options.ArgoCD {
		return nil
	}
	if p.argoModule, err = p.options.Release.argoCD().download(ctx); err != nil {
		return err
	}
	p.toolPath, err = p.options.Release.ToolPath(ctx, p.options.Log)
	return err
}

// launch starts Kubernetes, gives it Argo CD's objects, and starts Argo CD.
func (p *Plane) launch(ctx context.Context) error {
	if err := p.makeFolders(); err != nil {
		return err
	}
	if err := p.startKubernetes(ctx); err != nil {
		return err
	}
	if !p.options.ArgoCD {
		return nil
	}
	if err := p.installArgoCD(ctx); err != nil {
		return fmt.Errorf("install Argo CD: %w", err)
	}
	return p.startArgoCD(ctx)
}

// run starts the programs together and waits until each of them serves.
func (p *Plane) run(ctx context.Context, programs ...program) error {
	first := len(p.processes)
	for _, prog := range programs {
		proc, err := p.launcher.start(prog, p.path("logs"))
		if err != nil {
			return err
		}
		p.processes = append(p.processes, proc)
	}
	for _, proc := range p.processes[first:] {
		if err := proc.awaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// makeFolders makes the work folder and what every program needs in it.
func (p *Plane) makeFolders() error {
	if p.dir == "" {
		temporary, err := os.MkdirTemp("", temporaryName)
		if err != nil {
			return fmt.Errorf("make work folder: %w", err)
		}
		p.dir = temporary
	}
	for _, name := range []string{"logs", "home", "plugins", "tmp", "etcd", "redis", "kubernetes", "argocd/tls", "argocd/ssh"} {
		if err := os.MkdirAll(p.path(name), 0o700); err != nil {
			return fmt.Errorf("make work folder: %w", err)
		}
	}
	return nil
}

func (p *Plane) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *Plane) stopOnce() error {
	problems := []error{stopAll(p.processes)}
	p.launcher.close()
	p.ports.release()
	if p.options.Dir == "" && p.dir != "" {
		problems = append(problems, removeTree(p.dir))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("stop control plane: %w", err)
	}
	return nil
}

// removeTree also removes what repo-server locks against its own plugins: the
// checkouts that it is not using have no permission bits at all.
func removeTree(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return fmt.Errorf("remove work folder: %w", err)
	}
	return nil
}
