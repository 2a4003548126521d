package proxied

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

// Backend is a running `moorpin extension serve`.
type Backend struct {
	// URL is where it serves what argocd-server proxies.
	URL string

	metrics, log string
	process      *exec.Cmd
	ended        chan error
}

// StartBackend runs the binary with a log and its secret in the folder, and waits until
// it is ready. The arguments are added to those that every backend here needs.
func StartBackend(ctx context.Context, binary, dir string, args ...string) (*Backend, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of the backend: %w", err)
	}
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(Secret), 0o600); err != nil {
		return nil, fmt.Errorf("write secret of the backend: %w", err)
	}
	listen, metrics := freeAddress(), freeAddress()
	b := &Backend{URL: "http://" + listen, metrics: "http://" + metrics, log: filepath.Join(dir, "backend.log"), ended: make(chan error, 1)}
	log, err := os.Create(b.log)
	if err != nil {
		return nil, fmt.Errorf("make log of the backend: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	b.process = exec.CommandContext(ctx, binary, append([]string{
		"extension", "serve", "--listen", listen, "--metrics-listen", metrics, "--secret-file", secret,
		"--application-namespaces", controlplane.Namespace, "--shutdown-delay", "0s",
	}, args...)...)
	b.process.Cancel = func() error { return b.process.Process.Signal(syscall.SIGTERM) }
	b.process.WaitDelay = 30 * time.Second
	b.process.Env = append(os.Environ(), "HOME="+dir, "ARGOCD_SERVER=", "ARGOCD_AUTH_TOKEN=")
	b.process.Stdout, b.process.Stderr = log, log
	if err := b.process.Start(); err != nil {
		return nil, fmt.Errorf("start the backend: %w; run make build", err)
	}
	go func() { b.ended <- b.process.Wait() }()
	return b, b.awaitReady(ctx)
}

// Stop ends the backend as Kubernetes does.
func (b *Backend) Stop() error {
	if err := b.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the backend: %w", err)
	}
	if err := <-b.ended; err != nil {
		return fmt.Errorf("the backend ended with %w:\n%s", err, b.tail())
	}
	return nil
}

func (b *Backend) awaitReady(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-b.ended:
			return fmt.Errorf("the backend ended: %w:\n%s", err, b.tail())
		case <-ctx.Done():
			return fmt.Errorf("wait for the backend: %w", context.Cause(ctx))
		default:
		}
		if reply, err := http.Get(b.metrics + "/readyz"); err == nil {
			_ = reply.Body.Close() // nothing in it matters
			if reply.StatusCode == http.StatusOK {
				return nil
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the backend is not ready after a minute:\n%s", b.tail())
		}
	}
}

// tail is the end of the log.
func (b *Backend) tail() string {
	text, err := os.ReadFile(b.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-4<<10):]))
}

// freeAddress is one that nobody listens on; without one the backend says so itself.
func freeAddress() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
