package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/freeport"
	"github.com/moorpin/moorpin/e2e/proxied"
)

const (
	proxySecret = proxied.Secret
	nextSecret  = proxied.NextSecret
)

// proxyPolicy lets the first user see and ask, the second see, the third ask. The
// backend's own account may see.
const proxyPolicy = `p, role:sees, applications, get, */*, allow
p, role:asks, extensions, invoke, moorpin, allow
g, sees-and-asks, role:sees
g, sees-and-asks, role:asks
g, only-sees, role:sees
g, only-asks, role:asks
g, moorpin, role:sees
`

// backend is a running `moorpin extension serve`.
type backend struct {
	url, metrics string
	process      *exec.Cmd
	log          string
	// done is closed once the process has ended, as err says.
	done chan struct{}
	err  error
}

// startBackend runs `moorpin extension serve` until the test ends, and waits until it is ready.
func startBackend(t testing.TB, args ...string) *backend {
	t.Helper()
	return startBackendIn(t, surroundings{}, args...)
}

// surroundings are what a backend runs in: a wrapper of shell text that may put it into a
// control group, and variables.
type surroundings struct {
	wrapper string
	env     []string
}

func startBackendIn(t testing.TB, in surroundings, args ...string) *backend {
	t.Helper()
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{url: "http://" + freeport.Address(t), metrics: "http://" + freeport.Address(t), log: filepath.Join(t.TempDir(), "backend.log"), done: make(chan struct{})}
	log, err := os.Create(b.log)
	if err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{
		"-c", in.wrapper + `exec "$0" "$@"`, binary, "extension", "serve", "--listen", strings.TrimPrefix(b.url, "http://"), "--metrics-listen", strings.TrimPrefix(b.metrics, "http://"),
		"--application-namespaces", controlplane.Namespace, "--shutdown-delay", "1s",
	}, args...)
	b.process = exec.Command("sh", arguments...)
	b.process.Env = append(append(os.Environ(), "HOME="+t.TempDir(), "ARGOCD_SERVER=", "ARGOCD_AUTH_TOKEN="), in.env...)
	b.process.Stdout, b.process.Stderr = log, log
	if err := b.process.Start(); err != nil {
		t.Fatal(err)
	}
	_ = log.Close()
	go func() {
		b.err = b.process.Wait()
		close(b.done)
	}()
	t.Cleanup(func() {
		b.stop(t)
		if t.Failed() {
			text, _ := os.ReadFile(b.log)
			t.Logf("log of the backend:\n%s", lastBytes(text, 8<<10))
		}
	})
	b.waitReady(t)
	return b
}

func lastBytes(text []byte, most int) []byte { return text[max(0, len(text)-most):] }

func (b *backend) waitReady(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !b.ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(b.log)
			t.Fatalf("the backend is not ready:\n%s", text)
		}
	}
}

// waitLog waits until the backend's log holds a text.
func (b *backend) waitLog(t testing.TB, wanted string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		text, err := os.ReadFile(b.log)
		if err == nil && strings.Contains(string(text), wanted) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log of the backend lacks %q: %v", wanted, err)
		}
	}
}

func (b *backend) ready() bool {
	reply, err := http.Get(b.metrics + "/readyz")
	if err != nil {
		return false
	}
	_ = reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

// stop ends the backend as Kubernetes does, and fails unless it ends well. It may be
// called twice.
func (b *backend) stop(t testing.TB) {
	t.Helper()
	_ = b.process.Process.Signal(syscall.SIGTERM) // it may have ended before
	select {
	case <-b.done:
		if b.err != nil {
			t.Errorf("the backend ended with %v", b.err)
		}
	case <-time.After(time.Minute):
		_ = b.process.Process.Kill()
		t.Error("the backend did not end within a minute of SIGTERM")
	}
}

// secretFile writes a shared secret into a file of its own.
func secretFile(t testing.TB, secret string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// addAccounts gives Argo CD the users of proxyPolicy.
func addAccounts(t *testing.T) {
	t.Helper()
	if err := (proxied.Admin{Plane: plane}).AddAccounts(t.Context(), proxyPolicy, "sees-and-asks", "only-sees", "only-asks"); err != nil {
		t.Fatal(err)
	}
}

// addExtension tells Argo CD where the backend is, and which secret to send.
func addExtension(t *testing.T, service proxied.Service) {
	t.Helper()
	if err := (proxied.Admin{Plane: plane}).AddExtensions(t.Context(), map[string]proxied.Service{"moorpin": service}); err != nil {
		t.Fatal(err)
	}
}

// call is one HTTP request of a test, and answer what came back.
type call struct {
	method, url string
	headers     map[string]string
	body        []byte
	// want is the status that load tests expect; 0 is 200.
	want int
}

type answered struct {
	status int
	header http.Header
	body   []byte
}

func (c call) do(ctx context.Context) (answered, error) {
	request, err := http.NewRequestWithContext(ctx, c.method, c.url, bytes.NewReader(c.body))
	if err != nil {
		return answered{}, err
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return answered{}, err
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(reply.Body)
	return answered{reply.StatusCode, reply.Header, body}, err
}

// logIn is the token that the browser of a user keeps in its cookie.
func logIn(t *testing.T, user string) string {
	t.Helper()
	token, err := proxied.Admin{Plane: plane}.LogIn(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// robotToken is one of the backend's own account, made by the admin.
func robotToken(t *testing.T) string {
	t.Helper()
	token, err := proxied.Admin{Plane: plane}.RobotToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return token
}
