package extension_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/extension"
	"github.com/moorpin/moorpin/pkg/drift"
)

// execute runs one command line as main does.
func execute(ctx context.Context, stdin string, args ...string) (code int, out, errs string) {
	command := extension.Command()
	command.SilenceErrors, command.SilenceUsage = true, true
	var outBuffer, errBuffer bytes.Buffer
	command.SetArgs(args)
	command.SetIn(strings.NewReader(stdin))
	command.SetOut(&outBuffer)
	command.SetErr(&errBuffer)
	err := command.ExecuteContext(ctx)
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
	case errors.As(err, &coded):
		code = coded.ExitCode()
	default:
		code = 2
	}
	if err != nil {
		fmt.Fprintln(&errBuffer, err)
	}
	return code, outBuffer.String(), errBuffer.String()
}

// argoCD serves one Application, shop, to whoever has the token.
func argoCD(t *testing.T, token string) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if got := r.Header.Get("Authorization"); got != token && got != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch {
		case r.URL.Path == "/api/v1/applications/down":
			w.WriteHeader(http.StatusBadGateway)
		case strings.HasPrefix(r.URL.Path, "/api/v1/projects/"):
			w.WriteHeader(http.StatusForbidden)
		case strings.HasSuffix(r.URL.Path, "/managed-resources"):
			_, _ = fmt.Fprintf(w, `{"items":[{"kind":"ConfigMap","namespace":"web","name":"c","targetState":%q,"liveState":%q}]}`, configMap("git"), configMap("live"))
		default:
			_, _ = fmt.Fprintf(w, `{"metadata":{"name":"shop","namespace":"argocd","annotations":{"namespace-asked":%q}},"spec":{"project":"default"},"status":{"sync":{"status":"OutOfSync"}}}`, r.URL.Query().Get("appNamespace"))
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func configMap(value string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"},"data":{"a":"` + value + `"}}`
}

// home is an empty home, without an Argo CD in the environment.
func home(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, value := range map[string]string{"HOME": folder, "XDG_CONFIG_HOME": "", "ARGOCD_CONFIG_DIR": "", "ARGOCD_SERVER": "", "ARGOCD_AUTH_TOKEN": ""} {
		t.Setenv(name, value)
	}
	return folder
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func session(address, token, current string) string {
	if current == "" {
		current = address
	}
	return fmt.Sprintf("current-context: %[3]q\ncontexts: [{name: %[1]q, server: %[1]q, user: u}, {name: core, server: kubernetes}]\nservers: [{server: %[1]q, plain-text: true}, {server: kubernetes, core: true}]\nusers: [{name: u, auth-token: %[2]q}]\n", address, token, current)
}

func TestSnapshotFindsArgoCD(t *testing.T) {
	tests := map[string]struct {
		reason string
		args   func(address, folder string) []string
		env    func(address string) map[string]string
		config bool
		// current is the current context of the configuration.
		current string
		code    int
		says    string
	}{
		"session": {reason: "who is logged in needs no flag", config: true},
		"session by server": {
			reason: "the session with the named server is used", config: true,
			args:    func(address, _ string) []string { return []string{"--server", "http://" + address} },
			current: "core",
		},
		"environment": {
			reason: "pipelines set variables",
			env: func(address string) map[string]string {
				return map[string]string{"ARGOCD_SERVER": "http://" + address, "ARGOCD_AUTH_TOKEN": "right"}
			},
		},
		"flags over environment": {
			reason: "what is written last counts",
			env: func(string) map[string]string {
				return map[string]string{"ARGOCD_SERVER": "nowhere.invalid", "ARGOCD_AUTH_TOKEN": "wrong"}
			},
			args: func(address, folder string) []string {
				return []string{"--server", address, "--plaintext", "--auth-token-file", filepath.Join(folder, "token")}
			},
		},
		"own configuration": {
			reason: "a configuration may lie anywhere", config: true,
			args: func(_, folder string) []string {
				return []string{"--config", filepath.Join(folder, ".config/argocd/config")}
			},
			env: func(string) map[string]string { return map[string]string{"HOME": "/nowhere"} },
		},
		"nothing": {reason: "nobody guesses a server", code: 2, says: "argocd login"},
		"token of another server": {
			reason: "a session's token goes to its server alone", config: true, code: 2, says: "401",
			args: func(address, _ string) []string {
				return []string{"--plaintext", "--server", strings.Replace(address, "127.0.0.1", "localhost", 1)}
			},
		},
		"context of another server": {
			reason: "a session's token goes to its server alone", config: true, code: 2, says: "goes nowhere else",
			args: func(address, _ string) []string {
				return []string{"--argocd-context", address, "--server", "localhost:1"}
			},
		},
		"core":           {reason: "there is no API server", config: true, code: 2, says: "--core", args: func(string, string) []string { return []string{"--argocd-context", "core"} }},
		"no such config": {reason: "a named file has to be there", code: 2, says: "none", args: func(string, string) []string { return []string{"--config", "none"} }},
		"empty token": {reason: "a named token has to be one", code: 2, says: "empty", args: func(address, folder string) []string {
			return []string{"--server", address, "--auth-token-file", filepath.Join(folder, "empty")}
		}},
		"no such CA":    {reason: "a named file has to be there", config: true, code: 2, says: "--server-crt", args: func(string, string) []string { return []string{"--server-crt", "none"} }},
		"no kubeconfig": {reason: "a named file has to be there", config: true, code: 2, says: "--kubeconfig", args: func(string, string) []string { return []string{"--kubeconfig", "none"} }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			address, folder := argoCD(t, "right"), home(t)
			write(t, filepath.Join(folder, "token"), "right\n")
			write(t, filepath.Join(folder, "empty"), "\n")
			if test.config {
				write(t, filepath.Join(folder, ".config/argocd/config"), session(address, "right", test.current))
			}
			if test.env != nil {
				for name, value := range test.env(address) {
					t.Setenv(name, value)
				}
			}
			args := []string{"snapshot", "shop"}
			if test.args != nil {
				args = append(args, test.args(address, folder)...)
			}
			code, out, errs := execute(t.Context(), "", args...)
			if code != test.code || !strings.Contains(errs, test.says) || (code == 0) != strings.Contains(out, `"ConfigMap"`) {
				t.Errorf("%s: want exit code %d and %q, have %d:\n%s%s", test.reason, test.code, test.says, code, out, errs)
			}
			if strings.Contains(out+errs, "right") {
				t.Errorf("the token is written:\n%s%s", out, errs)
			}
		})
	}
}

func TestSnapshot(t *testing.T) {
	address := argoCD(t, "")
	home(t)
	t.Setenv("ARGOCD_SERVER", "http://"+address)
	tests := map[string]struct {
		reason string
		args   []string
		code   int
		says   string
	}{
		"own namespace":   {"Argo CD knows its own", []string{"shop"}, 0, `"namespace-asked": ""`},
		"namespace":       {"the name holds it", []string{"team/shop"}, 0, `"namespace-asked": "team"`},
		"namespace flag":  {"the argocd CLI has such a flag", []string{"shop", "-N", "team"}, 0, `"namespace-asked": "team"`},
		"two namespaces":  {"they contradict one another", []string{"team/shop", "-N", "other"}, 2, "give one of them"},
		"no name":         {"there is nothing to collect", nil, 2, "name one APP"},
		"no such name":    {"it could never be", []string{"Shop!"}, 2, "Shop!"},
		"a server down":   {"that is nobody's mistake here", []string{"down"}, 3, "502"},
		"no such folder":  {"a named file has to be writable", []string{"shop", "-o", "/nowhere/s.json"}, 2, "/nowhere/s.json"},
		"without a clue":  {"what is missing is said", []string{"shop"}, 0, "warning: the snapshot lacks"},
		"not enough time": {"a limit is one", []string{"shop", "--timeout", "1ns"}, 3, "deadline"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, out, errs := execute(t.Context(), "", append([]string{"snapshot"}, test.args...)...)
			if code != test.code || !strings.Contains(out+errs, test.says) {
				t.Errorf("%s: want exit code %d and %q, have %d:\n%s%s", test.reason, test.code, test.says, code, out, errs)
			}
		})
	}
}

// TestSnapshotFiles holds that what snapshot writes, classify reads, in every form.
func TestSnapshotFiles(t *testing.T) {
	address := argoCD(t, "")
	home(t)
	for _, name := range []string{"s.json", "s.yaml", "s"} {
		path := filepath.Join(t.TempDir(), name)
		code, out, errs := execute(t.Context(), "", "snapshot", "shop", "--server", address, "--plaintext", "-o", path)
		if code != 0 || out != "" {
			t.Fatalf("%s: exit code %d: %s%s", name, code, out, errs)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if snapshot, err := drift.Parse(data); err != nil || len(snapshot.Resources) != 1 {
			t.Errorf("%s: comes back as %v, %v", name, snapshot, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: others may read it: %v", name, info.Mode())
		}
		if code, _, errs = execute(t.Context(), "", "classify", path); code != 0 {
			t.Errorf("%s: classify: exit code %d: %s", name, code, errs)
		}
	}
}

// snapshotOf is a snapshot of an Application with one ConfigMap, edited by hand or not.
func snapshotOf(live string) string {
	sync := "OutOfSync"
	if live == "git" {
		sync = "Synced"
	}
	return `{"application":{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"shop","namespace":"argocd"},"spec":{"project":"default"},"status":{"sync":{"status":"` + sync + `"}}},` +
		`"resources":[{"group":"","version":"v1","kind":"ConfigMap","namespace":"web","name":"c","target":` + configMap("git") + `,"live":` + configMap(live) + `}]}`
}

func TestClassify(t *testing.T) {
	folder := t.TempDir()
	file := write(t, filepath.Join(folder, "s.json"), snapshotOf("live"))
	tests := map[string]struct {
		reason string
		stdin  string
		args   []string
		code   int
		says   string
	}{
		"text":           {"people read it", "", []string{file}, 0, "1. ConfigMap web/c"},
		"markdown":       {"it becomes a comment", "", []string{file, "-o", "markdown"}, 0, "### 1. `ConfigMap web/c`"},
		"json":           {"programs read it", "", []string{file, "-o", "json", "--prove=false"}, 0, `"pointer": "/data/a"`},
		"standard input": {"pipes work", snapshotOf("live"), []string{"-"}, 0, "/data/a"},
		"check":          {"something drifts", "", []string{file, "--check"}, 1, "--check: findings about argocd/shop: 1"},
		"check in sync":  {"nothing drifts", snapshotOf("git"), []string{"-", "--check"}, 0, "argocd/shop"},
		"no such format": {"before any work", "", []string{file, "-o", "yaml"}, 2, "text, json, markdown, plan or script"},
		"no such file":   {"the user named it", "", []string{filepath.Join(folder, "none")}, 2, "none"},
		"no snapshot":    {"it is another file", "a: b", []string{"-"}, 2, "no application"},
		"no YAML":        {"it is no file of ours", "{", []string{"-"}, 2, "neither JSON nor YAML"},
		"no argument":    {"nothing is guessed", "", nil, 2, "SNAPSHOT"},
		"two arguments":  {"nothing is guessed", "", []string{file, file}, 2, "SNAPSHOT"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, out, errs := execute(t.Context(), test.stdin, append([]string{"classify"}, test.args...)...)
			if code != test.code || !strings.Contains(out+errs, test.says) {
				t.Errorf("%s: want exit code %d and %q, have %d:\n%s%s", test.reason, test.code, test.says, code, out, errs)
			}
		})
	}
	_, out, _ := execute(t.Context(), "", "classify", file, "-o", "json")
	var report drift.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Findings) == 0 {
		t.Errorf("the JSON report comes back as %+v, %v", report, err)
	}
}
