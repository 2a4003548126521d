package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

const (
	proxySecret = "a-secret-that-only-argocd-server-and-the-backend-know"
	nextSecret  = "the-secret-that-takes-its-place-when-it-is-rotated"
	password    = "correct horse battery staple"
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
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{url: "http://" + freeAddress(t), metrics: "http://" + freeAddress(t), log: filepath.Join(t.TempDir(), "backend.log"), done: make(chan struct{})}
	log, err := os.Create(b.log)
	if err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{
		"extension", "serve", "--listen", strings.TrimPrefix(b.url, "http://"), "--metrics-listen", strings.TrimPrefix(b.metrics, "http://"),
		"--application-namespaces", controlplane.Namespace, "--shutdown-delay", "1s",
	}, args...)
	b.process = exec.Command(binary, arguments...)
	b.process.Env = append(os.Environ(), "HOME="+t.TempDir(), "ARGOCD_SERVER=", "ARGOCD_AUTH_TOKEN=")
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

// freeAddress is one that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
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
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	accounts, passwords := map[string]string{"accounts.moorpin": "apiKey"}, map[string]string{}
	for _, name := range []string{"sees-and-asks", "only-sees", "only-asks"} {
		accounts["accounts."+name] = "login"
		passwords["accounts."+name+".password"] = string(hash)
		passwords["accounts."+name+".passwordMtime"] = "2026-01-01T00:00:00Z"
	}
	patchObject(t, "Secret", "argocd-secret", map[string]any{"stringData": passwords})
	patchObject(t, "ConfigMap", "argocd-rbac-cm", map[string]any{"data": map[string]string{"policy.moorpin.csv": proxyPolicy}})
	patchObject(t, "ConfigMap", "argocd-cm", map[string]any{"data": accounts})
}

// addExtension tells Argo CD where the backend is, and which secret to send.
func addExtension(t *testing.T, address, key string) {
	t.Helper()
	secret := fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: moorpin-proxy, labels: {app.kubernetes.io/part-of: argocd}}
stringData: {current: %q, next: %q}
`, proxySecret, nextSecret)
	if err := plane.ApplyYAML(t.Context(), controlplane.Namespace, []byte(secret)); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("services:\n- url: %s\n  headers:\n  - name: Moorpin-Secret\n    value: '$moorpin-proxy:%s'\n", address, key)
	patchObject(t, "ConfigMap", "argocd-cm", map[string]any{"data": map[string]string{"extension.config.moorpin": config}})
}

// patchObject patches a core object in Argo CD's namespace.
func patchObject(t *testing.T, kind, name string, patch map[string]any) {
	t.Helper()
	data, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	place, err := plane.Resource(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: kind}, controlplane.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := place.Patch(t.Context(), name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: controlplane.FieldManager}); err != nil {
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

// logIn is the token that the browser of a user keeps in its cookie. Argo CD needs a
// moment to know a new account, and locks out who tries too often before.
func logIn(t *testing.T, user string) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		var account struct {
			Enabled bool `json:"enabled"`
		}
		err := plane.GetAPI(t.Context(), "/api/v1/account/"+user, &account)
		if err == nil && account.Enabled {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("Argo CD does not know %s: %v", user, err)
		}
	}
	return newToken(t, call{method: http.MethodPost, url: plane.ServerURL() + "/api/v1/session"}, map[string]string{"username": user, "password": password})
}

// accountToken is one of the backend's own account, made by the admin.
func accountToken(t *testing.T, account string) string {
	t.Helper()
	admin, err := plane.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request := call{method: http.MethodPost, url: plane.ServerURL() + "/api/v1/account/" + account + "/token", headers: map[string]string{"Authorization": "Bearer " + admin}}
	return newToken(t, request, map[string]string{"name": account})
}

func newToken(t *testing.T, request call, body any) string {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request.body = data
	if request.headers == nil {
		request.headers = map[string]string{}
	}
	request.headers["Content-Type"] = "application/json"
	got, err := request.do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(got.body, &answer); err != nil || answer.Token == "" {
		t.Fatalf("no token: %d %s", got.status, got.body)
	}
	return answer.Token
}
