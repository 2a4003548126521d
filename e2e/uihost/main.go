// Uihost shows the Drift page in a browser without Argo CD's own UI: a page that plays
// Argo CD's part (extension/ui/host) in front of a real argocd-server, its real proxy for
// extensions and the real backend, with Applications that drift for real.
//
// With a command after -- it runs that with MOORPIN_HOST set to the page's address, and
// ends with its exit code; without one it serves until it is interrupted:
//
//	uihost -- npx playwright test
//	uihost
//
// It refuses to start without the bundle, the host page's own build, and the binary.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/proxied"
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// options are the flags.
type options struct {
	binary, ui string
	listen     string
	command    []string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "bin", "bin/moorpin", "the built backend")
	flag.StringVar(&o.ui, "ui", "extension/ui", "the folder with the bundle and the built host page")
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "where to serve the page")
	flag.Parse()
	o.command = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, o)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(failed.ExitCode()) //nolint:gocritic // nothing is left to stop
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "uihost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	assets, err := readAssets(o.ui)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	plane, err := controlplane.Start(ctx, controlplane.Options{ArgoCD: true, Auth: true, Log: os.Stderr})
	if err != nil {
		return fmt.Errorf("start the control plane: %w", err)
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	tokens, stopBackends, err := connect(ctx, plane, o.binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopBackends()) }()
	if err := play(ctx, plane); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	page, err := newPage(assets, plane.ServerURL(), tokens)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: page, ReadHeaderTimeout: 10 * time.Second}
	defer func() { _ = server.Close() }() // nobody is left to serve
	go func() { _ = server.Serve(listener) }()
	return show(ctx, o.command, "http://"+listener.Addr().String())
}

// show runs the command, or waits for the interrupt.
func show(ctx context.Context, command []string, address string) error {
	if len(command) == 0 {
		fmt.Printf("Running until you press Ctrl-C:\n  %[1]s/login-as/ada                as Argo CD v2.14 would show it\n  %[1]s/v3.5/login-as/ada           as Argo CD v3.5 would\n  %[1]s/applications/argocd/checkout?view=Drift\n", address)
		<-ctx.Done()
		return nil
	}
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = 30 * time.Second
	child.Env = append(os.Environ(), "MOORPIN_HOST="+address)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Run(); err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	return nil
}

// policy lets ada see the shop and use the extension, ben only see it, and tess both
// everywhere, the extensions that answer badly included.
const policy = `p, role:team, applications, get, default/*, allow
p, role:team, projects, get, default, allow
p, role:drift, extensions, invoke, moorpin, allow
p, role:drift, extensions, invoke, moorpin-*, allow
p, role:drift, extensions, invoke, absent, allow
p, role:all, applications, get, */*, allow
p, role:all, projects, get, *, allow
g, ada, role:team
g, ada, role:drift
g, ben, role:team
g, tess, role:all
g, tess, role:drift
g, moorpin, role:all
`

// connect puts two backends behind argocd-server, one for each feed, and those that
// answer badly. The tokens are those of the people of the policy.
func connect(ctx context.Context, plane *controlplane.Plane, binary string) (tokens map[string]string, stop func() error, err error) {
	admin := proxied.Admin{Plane: plane}
	people := []string{"ada", "ben", "tess"}
	if err := admin.AddAccounts(ctx, policy, people...); err != nil {
		return nil, nil, err
	}
	robot, err := admin.RobotToken(ctx)
	if err != nil {
		return nil, nil, err
	}
	token := filepath.Join(plane.Dir(), "token")
	if err := os.WriteFile(token, []byte(robot), 0o600); err != nil {
		return nil, nil, fmt.Errorf("write token of the backend: %w", err)
	}
	plain, err := proxied.StartBackend(ctx, binary, filepath.Join(plane.Dir(), "backend-browser"))
	if err != nil {
		return nil, nil, err
	}
	collecting, err := proxied.StartBackend(ctx, binary, filepath.Join(plane.Dir(), "backend-collecting"),
		"--server", plane.ServerURL(), "--auth-token-file", token, "--kubeconfig", plane.Kubeconfig(), "--scan", "0")
	if err != nil {
		return nil, nil, errors.Join(err, plain.Stop())
	}
	faults := newFaults(plain.URL)
	stop = func() error {
		faults.close()
		return errors.Join(plain.Stop(), collecting.Stop())
	}
	services := map[string]proxied.Service{
		"moorpin": {URL: plain.URL}, "moorpin-collecting": {URL: collecting.URL}, "moorpin-down": {URL: "http://127.0.0.1:1"},
	}
	for name := range badAnswers {
		services["moorpin-"+name] = proxied.Service{URL: faults.url, Headers: map[string]string{faultHeader: name}}
	}
	if err := admin.AddExtensions(ctx, services); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	tokens = map[string]string{}
	for _, name := range people {
		if tokens[name], err = admin.LogIn(ctx, name); err != nil {
			return nil, nil, errors.Join(err, stop())
		}
	}
	return tokens, stop, nil
}

// atOnce is how many Applications are made at the same time.
const atOnce = 4

// play makes the Applications and lets them drift.
func play(ctx context.Context, plane *controlplane.Plane) error {
	all := applications()
	if err := recorder.CheckNames(all); err != nil {
		return fmt.Errorf("check the Applications: %w", err)
	}
	// The settings stay: what they track by would otherwise change below all Applications.
	if _, err := recorder.Configure(ctx, plane, recorder.DefaultSettings()); err != nil {
		return fmt.Errorf("configure Argo CD: %w", err)
	}
	if err := plane.ApplyYAML(ctx, controlplane.Namespace, []byte(projectLab)); err != nil {
		return fmt.Errorf("make the project: %w", err)
	}
	for _, scenario := range all {
		if err := recorder.InstallCRDs(ctx, plane, scenario.CRDs...); err != nil {
			return fmt.Errorf("install CRDs: %w", err)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, scenario := range all {
		group.Go(func() error {
			begin := time.Now()
			stage, err := recorder.Open(ctx, plane, scenario)
			if err != nil {
				return err
			}
			if err := stage.Inject(ctx); err != nil {
				return err
			}
			if _, err := stage.Look(ctx); err != nil { // waits until Argo CD has seen it all
				return err
			}
			fmt.Fprintf(os.Stderr, "application %s drifts, %s\n", scenario.Name, time.Since(begin).Round(time.Millisecond))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("make the Applications: %w", err)
	}
	return nil
}
