package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/e2e/freeport"
	"github.com/moorpin/moorpin/extension/ui"
	"github.com/moorpin/moorpin/pkg/doctor"
)

// execute runs a command line.
func execute(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var written, complained bytes.Buffer
	code = run(args, strings.NewReader(""), &written, &complained)
	return code, written.String(), complained.String()
}

func TestDoctorRefuses(t *testing.T) {
	t.Setenv("ARGOCD_SERVER", "")
	tests := map[string]struct {
		reason string
		args   []string
		says   string
	}{
		"nothing":       {"there is nothing to look at", nil, "--kubeconfig, --in-cluster, --server"},
		"both clusters": {"which one", []string{"--kubeconfig", "x", "--in-cluster"}, "give one of them"},
		"no file":       {"a typo", []string{"--kubeconfig", "/none"}, "/none"},
		"no pod":        {"not in a cluster", []string{"--in-cluster"}, "no cluster to ask"},
		"format":        {"a typo", []string{"--socket", "x", "-o", "xml"}, "xml"},
		"check":         {"a check that there is not", []string{"--socket", "x", "--skip", "heart"}, "heart"},
		"application":   {"no name", []string{"--socket", "x", "--application", "/x"}, "--application"},
		"timeout":       {"no time", []string{"--socket", "x", "--timeout", "0s"}, "--timeout"},
		"server":        {"no URL", []string{"--server", "https://user:secret@host"}, "server"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, _, errs := execute(t, append([]string{"doctor"}, test.args...)...)
			if code != 2 || !strings.Contains(errs, test.says) {
				t.Errorf("%s: exit code %d:\n%s", test.reason, code, errs)
			}
		})
	}
}

// TestDoctorSources: each source that a flag names is asked, and what is found is told by
// the exit code with --check alone.
func TestDoctorSources(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := ""
		switch r.URL.Path {
		case "/metrics":
			body = "moorpin_live_crds_synced 0\n"
		case "/api/version":
			body = `{"Version":"v2.14.21+abc"}`
		case "/extensions.js":
			body = string(ui.Bundle())
		case "/api/v1/applications":
			body = `{"items":[{"metadata":{"name":"shop","namespace":"argocd"},"spec":{"project":"web"}}]}`
		case "/extensions/moorpin/api/v1/capabilities":
			if r.Header.Get("Argocd-Application-Name") != "argocd:shop" {
				t.Errorf("asked about %s", r.Header.Get("Argocd-Application-Name"))
			}
			body = `{"version":"v9.9.9","feeds":["browser"]}`
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	folder := t.TempDir()
	token, kubeconfig := filepath.Join(folder, "token"), filepath.Join(folder, "kubeconfig")
	for path, text := range map[string]string{
		token:      "a-token",
		kubeconfig: `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "http://` + freeport.Address(t) + `"}}], contexts: [{name: a, context: {cluster: a}}]}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"doctor", "--server", server.URL, "--auth-token-file", token, "--kubeconfig", kubeconfig, "--socket", filepath.Join(folder, "none.sock"), "--sidecar-metrics", server.URL + "/metrics"}
	code, out, errs := execute(t, append(args, "-o", "json")...)
	if code != 0 {
		t.Fatalf("without --check: exit code %d: %s", code, errs)
	}
	var report doctor.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	want := map[string]doctor.Status{"cluster": doctor.Fail, "argocd-version": doctor.OK, "socket": doctor.Fail, "schemas": doctor.Fail, "ui": doctor.OK, "answer": doctor.OK, "skew": doctor.Warn, "secret": doctor.Unknown}
	for _, f := range report.Findings {
		if status, looked := want[f.Check]; looked && f.Status != status {
			t.Errorf("%s is %s: %s", f.Check, f.Status, f.Says)
		}
	}
	if code, out, errs = execute(t, append(args, "--check")...); code != 1 || !strings.Contains(errs, "--check: 3 checks fail and 1 warn") || !strings.Contains(out, "fail     socket") {
		t.Errorf("with --check: exit code %d: %s\n%s", code, errs, out)
	}
	if code, _, errs = execute(t, append(args, "--check", "--skip", "cluster,socket,schemas,skew")...); code != 0 {
		t.Errorf("with all of them left out: exit code %d: %s", code, errs)
	}
}
