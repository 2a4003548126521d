package extension_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/moorpin/moorpin/e2e/freeport"
)

const proxySecret = "0123456789abcdef-shared"

// TestServeRefuses: a mistake shows before anything is served.
func TestServeRefuses(t *testing.T) {
	folder := home(t)
	secret := write(t, filepath.Join(folder, "secret"), proxySecret)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	tests := map[string]struct {
		reason string
		args   []string
		says   string
	}{
		"no secret":             {"nobody could be let in", nil, "--secret-file"},
		"empty secret":          {"anybody would be let in", []string{"--secret-file", write(t, filepath.Join(folder, "empty"), "\n")}, "is empty"},
		"port taken":            {"somebody else serves there", []string{"--secret-file", secret, "--listen", taken.Addr().String()}, "--listen"},
		"metrics port taken":    {"somebody else serves there", []string{"--secret-file", secret, "--listen", "127.0.0.1:0", "--metrics-listen", taken.Addr().String()}, "--metrics-listen"},
		"cluster without token": {"nobody asks for it", []string{"--secret-file", secret, "--in-cluster"}, "--auth-token-file"},
		"two clusters":          {"one is meant", []string{"--secret-file", secret, "--in-cluster", "--kubeconfig", "x", "--server", "x"}, "one of them"},
		"scan without token":    {"there is nothing to scan", []string{"--secret-file", secret, "--scan", "1m"}, "--scan"},
		"scan too often":        {"Argo CD has other work", []string{"--secret-file", secret, "--scan", "1s", "--server", "x"}, "every 10s"},
		"no such token":         {"the user named it", []string{"--secret-file", secret, "--server", "x", "--auth-token-file", "none"}, "--auth-token-file"},
		"no such kubeconfig":    {"the user named it", []string{"--secret-file", secret, "--server", "x", "--kubeconfig", "none"}, "--kubeconfig"},
		"no time":               {"no report is made in it", []string{"--secret-file", secret, "--timeout", "1ms"}, "--timeout"},
		"no connections":        {"nobody could be served", []string{"--secret-file", secret, "--max-connections", "0"}, "--max-connections"},
		"no rate":               {"it is none", []string{"--secret-file", secret, "--rate", "often"}, "often"},
		"no burst":              {"it is none", []string{"--secret-file", secret, "--rate", "5:x"}, "at once"},
		"no namespace":          {"it is no glob", []string{"--secret-file", secret, "--application-namespaces", "[", "--listen", "127.0.0.1:0", "--metrics-listen", ""}, "glob"},
		"no format":             {"before any work", []string{"--secret-file", secret, "--log-format", "xml"}, "text or json"},
		"no level":              {"before any work", []string{"--secret-file", secret, "--log-level", "loud"}, "debug, info"},
		"an argument":           {"nothing is guessed", []string{"x"}, "x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			code, _, errs := execute(ctx, "", append([]string{"serve"}, test.args...)...)
			if code != 2 || !strings.Contains(errs, test.says) {
				t.Errorf("%s: want exit code 2 and %q, have %d:\n%s", test.reason, test.says, code, errs)
			}
		})
	}
}

// serve runs the command until the test ends, and returns its addresses and what stops
// it, which returns its exit code and all that it said.
func serve(t *testing.T, args ...string) (app, metrics string, stop func() string) {
	t.Helper()
	app, metrics = freeport.Address(t), freeport.Address(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan string, 1)
	go func() {
		code, _, errs := execute(ctx, "", append([]string{"serve", "--listen", app, "--metrics-listen", metrics, "--shutdown-delay", "0", "--log-format", "json", "--worker-memory", workerMemory}, args...)...)
		ended <- fmt.Sprint(code, " ", errs)
	}()
	stop = func() string { cancel(); return <-ended }
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if status, _ := request(t, question{method: http.MethodGet, url: "http://" + metrics + "/readyz"}); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("not ready: ", stop())
		}
	}
	return app, metrics, stop
}

// TestServeIsNobody: a session that somebody left on the machine is not used.
func TestServeIsNobody(t *testing.T) {
	address, folder := argoCD(t, "right"), home(t)
	write(t, filepath.Join(folder, ".config/argocd/config"), session(address, "right", ""))
	secret := write(t, filepath.Join(folder, "secret"), proxySecret)
	token := write(t, filepath.Join(folder, "token"), "right")
	for name, test := range map[string]struct {
		args   []string
		status int
	}{
		"session":         {nil, http.StatusBadGateway},
		"named session":   {[]string{"--argocd-context", address}, http.StatusOK},
		"token of a file": {[]string{"--auth-token-file", token}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			app, _, stop := serve(t, append([]string{"--secret-file", secret, "--server", address, "--plaintext", "--scan", "0"}, test.args...)...)
			status, body := request(t, question{method: http.MethodGet, url: "http://" + app + "/api/v1/report", secret: proxySecret})
			said := stop()
			if status != test.status {
				t.Errorf("want %d, have %d %s\n%s", test.status, status, body, said)
			}
			if strings.Contains(body+said, "right") {
				t.Errorf("the token is told: %s\n%s", body, said)
			}
		})
	}
}

// TestServe: the page's snapshot is explained to whoever has the secret, and nobody
// needs one to see that the process is well.
func TestServe(t *testing.T) {
	secret := write(t, filepath.Join(home(t), "secret"), proxySecret+"\n")
	app, metrics, stop := serve(t, "--secret-file", secret)
	tests := map[string]struct {
		reason       string
		method, path string
		secret, body string
		status       int
		says         string
	}{
		"classify":     {"it is the page's question", http.MethodPost, "/api/v1/classify", proxySecret, snapshotOf("live"), http.StatusOK, `"/data/a"`},
		"wrong secret": {"it is not Argo CD who asks", http.MethodPost, "/api/v1/classify", "0123456789abcdef-other", snapshotOf("live"), http.StatusForbidden, "error"},
		"no token":     {"there is nothing to collect with", http.MethodGet, "/api/v1/report", proxySecret, "", http.StatusNotImplemented, "--server"},
		"what it can":  {"the page asks first", http.MethodGet, "/api/v1/capabilities", proxySecret, "", http.StatusOK, `"browser"`},
		"document":     {"it is no secret", http.MethodGet, "/openapi.json", "", "", http.StatusOK, "/api/v1/classify"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := request(t, question{test.method, "http://" + app + test.path, test.secret, test.body})
			if status != test.status || !strings.Contains(body, test.says) {
				t.Errorf("%s: want %d and %q, have %d %s", test.reason, test.status, test.says, status, body)
			}
		})
	}
	for path, says := range map[string]string{"/healthz": "", "/metrics": `moorpin_extension_requests_total{`} {
		if status, body := request(t, question{method: http.MethodGet, url: "http://" + metrics + path}); status != http.StatusOK || !strings.Contains(body, says) {
			t.Errorf("%s: %d, lacks %s", path, status, says)
		}
	}
	said := stop()
	if !strings.HasPrefix(said, "0 ") || !strings.Contains(said, `"msg":"stopped"`) {
		t.Errorf("it ended so: %s", said)
	}
	if strings.Contains(said, proxySecret) {
		t.Errorf("the log holds the secret: %s", said)
	}
}

// question is one request, as argocd-server passes it on.
type question struct{ method, url, secret, body string }

// request answers 0 where nobody does.
func request(t *testing.T, q question) (status int, text string) {
	t.Helper()
	asked, err := http.NewRequestWithContext(t.Context(), q.method, q.url, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Moorpin-Secret": q.secret, "Argocd-Application-Name": "argocd:shop", "Argocd-Project-Name": "default",
	} {
		asked.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(asked)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = reply.Body.Close() }()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(data)
}

// TestServeEndsWhatItStarted: once serving has ended, nothing of it is still at work, and
// no process that it started is left.
func TestServeEndsWhatItStarted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // which no other process uses
	address, folder := argoCD(t, "right"), home(t)
	secret := write(t, filepath.Join(folder, "secret"), proxySecret)
	token := write(t, filepath.Join(folder, "token"), "right")
	app, _, stop := serve(t, "--secret-file", secret, "--server", address, "--plaintext", "--auth-token-file", token, "--scan", "10s")
	if status, body := request(t, question{http.MethodPost, "http://" + app + "/api/v1/classify", proxySecret, snapshotOf("live")}); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	said := stop()
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, left := range []string{"secretFiles).watch", "Scanner).Run", "listening).serve"} {
		if strings.Contains(string(stacks), "moorpin/extension") && strings.Contains(string(stacks), left) {
			t.Errorf("%s is still at work after %s", left, said)
		}
	}
	if children, err := filepath.Glob(filepath.Join(os.TempDir(), "moorpin-worker-*")); err != nil || len(children) > 0 {
		t.Errorf("folders of processes are left: %v, %v", children, err)
	}
}
