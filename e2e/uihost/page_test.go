package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// servedPage is the page in front of an argocd-server that answers with what it was asked.
func servedPage(t *testing.T) *httptest.Server {
	t.Helper()
	argoCD := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "argocd-server: "+r.URL.String()+" "+r.Header.Get("Argocd-Application-Name"))
	}))
	t.Cleanup(argoCD.Close)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"host/host.html": `<base href="{{.Base}}"> {{.API}} {{.React}}`, "host/out/argo-16.js": "the page's script",
		"dist/" + bundleName: "the bundle\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	assets, err := readAssets(dir)
	if err != nil {
		t.Fatal(err)
	}
	page, err := newPage(assets, argoCD.URL, map[string]string{"ada": "her-token"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(page)
	t.Cleanup(server.Close)
	return server
}

// TestPage: below every root path the page is that of its release, and what goes to
// argocd-server goes without the root path.
func TestPage(t *testing.T) {
	server := servedPage(t)
	tests := map[string]struct {
		reason, path, fault, want string
	}{
		"page":               {"any address is the page's", "/applications/argocd/shop?view=Drift", "", `<base href="/"> 2.14 16`},
		"page below a root":  {"the base holds the root path", "/v3.5/applications/argocd/shop", "", `<base href="/v3.5/"> 3.5 19`},
		"API":                {"it is argocd-server's", "/api/v1/applications?fields=items", "", "argocd-server: /api/v1/applications?fields=items argocd:shop"},
		"API below a root":   {"the root path is taken away", "/v2.14/api/v1/applications", "", "argocd-server: /api/v1/applications argocd:shop"},
		"extension":          {"argocd-server proxies it", "/v3.5/extensions/moorpin/api/v1/report?a=b", "", "argocd-server: /extensions/moorpin/api/v1/report?a=b argocd:shop"},
		"bad answer":         {"another extension takes its place", "/v3.5/extensions/moorpin/api/v1/report", "slow", "argocd-server: /extensions/moorpin-slow/api/v1/report argocd:shop"},
		"unknown extension":  {"argocd-server knows none of the name", "/extensions/moorpin/api/v1/report", "absent", "argocd-server: /extensions/absent/api/v1/report argocd:shop"},
		"feature off":        {"argocd-server answers with its page", "/v3.5/extensions/moorpin/api/v1/report", "off", `<base href="/"> 2.14 16`},
		"fault and the API":  {"only the extension answers badly", "/api/v1/applications", "slow", "argocd-server: /api/v1/applications argocd:shop"},
		"script of the page": {"it is a file", "/v3.5/assets/argo-16.js", "", "the page's script"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Argocd-Application-Name", "argocd:shop")
			request.AddCookie(&http.Cookie{Name: faultCookie, Value: test.fault})
			reply, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = reply.Body.Close() }()
			body, err := io.ReadAll(reply.Body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(body)); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
		})
	}
}

// TestExtensionsShareOneFile: ours stands between those of others, as argocd-server
// writes them, without anything in between but its comment.
func TestExtensionsShareOneFile(t *testing.T) {
	reply, err := http.Get(servedPage(t).URL + "/extensions.js")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := neighbourBefore + "// source: /tmp/extensions/extension-moorpin.js/extension-moorpin.js \nthe bundle\n// source: "
	if !strings.Contains(string(body), want) {
		t.Errorf("want %q in:\n%s", want, body)
	}
}

// TestLogIn: who is known gets a cookie that scripts cannot read.
func TestLogIn(t *testing.T) {
	server := servedPage(t)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for name, want := range map[string]string{"ada": "argocd.token=her-token; Path=/; HttpOnly; SameSite=Lax", "eve": ""} {
		reply, err := client.Get(server.URL + "/v3.5/login-as/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_ = reply.Body.Close()
		if have := reply.Header.Get("Set-Cookie"); have != want {
			t.Errorf("%s: want the cookie %q, have %q", name, want, have)
		}
		if location := reply.Header.Get("Location"); name == "ada" && location != "/v3.5/applications" {
			t.Errorf("it leads to %q", location)
		}
	}
}
