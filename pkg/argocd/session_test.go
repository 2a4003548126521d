package argocd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/argocd"
)

const cliConfig = `
contexts:
- {name: prod, server: "cd.example.com:443", user: prod}
- {name: local, server: "localhost:8080", user: local}
- {name: core, server: kubernetes, user: ""}
- {name: forwarded, server: port-forward, user: local}
- {name: lost, server: gone.example.com, user: prod}
- {name: broken, server: broken.example.com, user: prod}
current-context: prod
prompts-enabled: false
servers:
- {server: "cd.example.com:443", grpc-web: true, grpc-web-root-path: argo, certificate-authority-data: Q0E=}
- {server: "localhost:8080", plain-text: true, insecure: true, grpc-web-root-path: ""}
- {server: kubernetes, core: true}
- {server: port-forward, plain-text: true}
- {server: broken.example.com, client-certificate-data: "%%"}
users:
- {name: prod, auth-token: token-of-prod, refresh-token: refresh}
- {name: local, auth-token: token-of-local}
`

func TestSession(t *testing.T) {
	tests := map[string]struct {
		context string
		want    argocd.Config
		says    string
	}{
		"current":      {"", argocd.Config{URL: "https://cd.example.com:443", RootPath: "argo", Token: "token-of-prod", CA: []byte("CA"), ClientCertificate: []byte{}, ClientKey: []byte{}}, ""},
		"named":        {"local", argocd.Config{URL: "http://localhost:8080", Token: "token-of-local", Insecure: true, CA: []byte{}, ClientCertificate: []byte{}, ClientKey: []byte{}}, ""},
		"core":         {"core", argocd.Config{}, "--core"},
		"port-forward": {"forwarded", argocd.Config{}, "kubectl port-forward"},
		"no server":    {"lost", argocd.Config{}, "gone.example.com"},
		"bad base64":   {"broken", argocd.Config{}, "base64"},
		"no context":   {"other", argocd.Config{}, "prod, local, core"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := argocd.Session([]byte(cliConfig), test.context)
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Fatalf("want %q, have %v", test.says, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSessionHidesTokens(t *testing.T) {
	for name, data := range map[string]string{
		"a wrong type":  "users:\n- name: a\n  auth-token: [" + token + "]\ncurrent-context: a",
		"broken YAML":   "users:\n- auth-token: " + token + "\n  : : {",
		"no context":    "users:\n- auth-token: " + token,
		"only a scalar": token,
	} {
		if _, err := argocd.Session([]byte(data), ""); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: want an error without the token, have %v", name, err)
		}
	}
}

func FuzzSession(f *testing.F) {
	f.Add([]byte(cliConfig), "")
	f.Add([]byte(cliConfig), "local")
	f.Add([]byte("contexts: [null]\nservers: {}"), "a")
	f.Fuzz(func(t *testing.T, data []byte, context string) {
		config, err := argocd.Session(data, context)
		if err == nil && config.URL == "" {
			t.Errorf("a session without a server")
		}
	})
}

func TestParseRef(t *testing.T) {
	tests := map[string]struct {
		want argocd.Ref
		ok   bool
	}{
		"shop":       {argocd.Ref{Name: "shop"}, true},
		"team/shop":  {shop, true},
		"a.b-c/d.e":  {argocd.Ref{Namespace: "a.b-c", Name: "d.e"}, true},
		"":           {argocd.Ref{}, false},
		"/shop":      {argocd.Ref{}, false},
		"team/":      {argocd.Ref{}, false},
		"a/b/c":      {argocd.Ref{}, false},
		"..":         {argocd.Ref{}, false},
		"Shop":       {argocd.Ref{}, false},
		"shop?x=y":   {argocd.Ref{}, false},
		"team/sh op": {argocd.Ref{}, false},
	}
	for text, test := range tests {
		got, err := argocd.ParseRef(text)
		if (err == nil) != test.ok || test.ok && got != test.want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if test.ok && got.String() != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}
