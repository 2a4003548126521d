package argocd_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/argocd"
)

const token = "secret-token-of-the-test"

var shop = argocd.Ref{Namespace: "team", Name: "shop"}

// serve starts a server that answers every request so, and a client of it.
func serve(t *testing.T, handler http.HandlerFunc) *argocd.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return connect(t, argocd.Config{URL: server.URL, Token: token, Bytes: 1 << 16, Timeout: 5 * time.Second})
}

func connect(t *testing.T, config argocd.Config) *argocd.Client {
	t.Helper()
	client, err := argocd.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
}

func TestWhatIsAsked(t *testing.T) {
	node := argocd.Node{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "web", Name: "front", UID: "u-1"}
	tests := map[string]struct {
		call func(context.Context, *argocd.Client) error
		want string
	}{
		"application": {func(ctx context.Context, c *argocd.Client) error {
			_, err := c.Application(ctx, shop)
			return err
		}, "/argo/api/v1/applications/shop?appNamespace=team"},
		"own namespace": {func(ctx context.Context, c *argocd.Client) error {
			_, err := c.ManagedResources(ctx, argocd.Ref{Name: "shop"})
			return err
		}, "/argo/api/v1/applications/shop/managed-resources"},
		"resource": {func(ctx context.Context, c *argocd.Client) error {
			_, err := c.Resource(ctx, shop, node)
			return err
		}, "/argo/api/v1/applications/shop/resource?appNamespace=team&group=apps&kind=Deployment&namespace=web&resourceName=front&version=v1"},
		"events of a resource": {func(ctx context.Context, c *argocd.Client) error {
			_, err := c.ResourceEvents(ctx, shop, node)
			return err
		}, "/argo/api/v1/applications/shop/events?appNamespace=team&resourceName=front&resourceNamespace=web&resourceUID=u-1"},
		"commit": {func(ctx context.Context, c *argocd.Client) error {
			_, err := c.CommitTime(ctx, shop, "a/b?c", 2)
			return err
		}, "/argo/api/v1/applications/shop/revisions/a%2Fb%3Fc/metadata?appNamespace=team&sourceIndex=2"},
		"project": {func(ctx context.Context, c *argocd.Client) error {
			_, err := c.Project(ctx, "pro/ject")
			return err
		}, "/argo/api/v1/projects/pro%2Fject"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var asked, bearer, method string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked, bearer, method = r.URL.String(), r.Header.Get("Authorization"), r.Method
				_, _ = fmt.Fprint(w, `{"spec":{},"manifest":"{}"}`)
			}))
			defer server.Close()
			err := test.call(t.Context(), connect(t, argocd.Config{URL: server.URL + "/", RootPath: "argo", Token: token}))
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{"GET", test.want, "Bearer " + token}, []string{method, asked, bearer}); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	ctx := t.Context()
	t.Run("application says what it is, and whole numbers stay whole", func(t *testing.T) {
		app, err := serve(t, answer(200, `{"metadata":{"name":"shop","generation":9007199254740993},"spec":{}}`)).Application(ctx, shop)
		want := map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": "shop", "generation": int64(9007199254740993)}, "spec": map[string]any{}}
		if diff := cmp.Diff(want, app); err != nil || diff != "" {
			t.Errorf("%v, -want +got:\n%s", err, diff)
		}
	})
	t.Run("null and nothing are absent sides", func(t *testing.T) {
		got, err := serve(t, answer(200, `{"items":[{"kind":"Pod","name":"p","targetState":"null","liveState":"{\"spec\":{\"n\":1}}","predictedLiveState":""}]}`)).ManagedResources(ctx, shop)
		want := []argocd.Managed{{Kind: "Pod", Name: "p", Live: map[string]any{"spec": map[string]any{"n": int64(1)}}}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, -want +got:\n%s", err, diff)
		}
	})
	t.Run("a tree has its orphans", func(t *testing.T) {
		got, err := serve(t, answer(200, `{"nodes":[{"kind":"Pod","name":"a","health":{"status":"Degraded"},"info":[{"name":"Status Reason","value":"Error"},{"name":"Restart Count","value":"7"}]}],"orphanedNodes":[{"kind":"Pod","name":"b","uid":"2"}]}`)).ResourceTree(ctx, shop)
		want := []argocd.Node{{Kind: "Pod", Name: "a", Health: "Degraded", Restarts: 7}, {Kind: "Pod", Name: "b", UID: "2", Orphaned: true}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, -want +got:\n%s", err, diff)
		}
	})
	t.Run("an empty list of events is null", func(t *testing.T) {
		got, err := serve(t, answer(200, `{"metadata":{},"items":null}`)).Events(ctx, shop)
		if err != nil || len(got) != 0 {
			t.Errorf("%v %v", got, err)
		}
	})
	t.Run("a version without its build", func(t *testing.T) {
		got, err := serve(t, answer(200, `{"Version":"v2.14.21+0a1b2c.dirty"}`)).Version(ctx)
		if err != nil || got != "v2.14.21" {
			t.Errorf("%q %v", got, err)
		}
	})
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		reason string
		status int
		body   string
		says   []string
	}{
		"401":      {"a new login helps", 401, `{"error":"invalid session: token expired","code":16,"message":"invalid session: token expired"}`, []string{"401", "token expired", "argocd login"}},
		"403":      {"the line to add is known", 403, `{"error":"permission denied","code":7,"message":"permission denied"}`, []string{"403", "permission denied", "p, ROLE, applications, get, PROJECT/team/shop, allow"}},
		"404":      {"a wrong name or a wrong path", 404, `404 page not found`, []string{"404", "page not found", "root path"}},
		"503":      {"it will pass", 503, `<html>nginx</html>`, []string{"503", "web page", "try again"}},
		"redirect": {"the token would go along", 307, ``, []string{"307", "redirects are not followed"}},
		"control":  {"a terminal must not obey a server", 500, "\x1b[2Jboom\r\n\u202edone", []string{"\uFFFD[2Jboom  \uFFFDdone"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example.com/")
				answer(test.status, test.body)(w, r)
			}).Application(t.Context(), shop)
			var refused *argocd.Error
			if !errors.As(err, &refused) || refused.Status != test.status {
				t.Fatalf("%s: want an Error with status %d, have %v", test.reason, test.status, err)
			}
			for _, says := range test.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%s: want %q in: %v", test.reason, says, err)
				}
			}
		})
	}
}

func TestHostileAnswers(t *testing.T) {
	tests := map[string]http.HandlerFunc{
		"a page of the UI": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprint(w, "<!doctype html>")
		},
		"too large":         answer(200, `{"spec":{},"x":"`+strings.Repeat("x", 1<<16)+`"}`),
		"a large refusal":   answer(500, strings.Repeat("x", 1<<20)),
		"no JSON":           answer(200, `spec: {}`),
		"no object":         answer(200, `[]`),
		"null":              answer(200, `null`),
		"no application":    answer(200, `{"items":[]}`),
		"items of no shape": answer(200, `{"items":[1]}`),
		"a bad live state":  answer(200, `{"items":[{"kind":"Pod","name":"p","liveState":"[1]"}]}`),
		"deep":              answer(200, strings.Repeat(`{"a":`, 20000)+`1`+strings.Repeat(`}`, 20000)),
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = fmt.Fprint(w, `{"spec":`)
		},
		"silence": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	}
	says := map[string]string{"a page of the UI": "check the URL and the root path", "too large": "is larger than", "silence": "deadline"}
	for name, handler := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			client := connect(t, argocd.Config{URL: server.URL, Token: token, Bytes: 1 << 16, Timeout: 300 * time.Millisecond})
			_, err := client.Application(t.Context(), shop)
			_, managedErr := client.ManagedResources(t.Context(), shop)
			_, eventsErr := client.Events(t.Context(), shop)
			if err == nil || managedErr == nil && eventsErr == nil && !strings.HasPrefix(name, "no app") {
				t.Fatalf("want errors, have %v, %v and %v", err, managedErr, eventsErr)
			}
			if says[name] != "" && !strings.Contains(err.Error(), says[name]) {
				t.Errorf("want %q in: %v", says[name], err)
			}
			for _, err := range []error{err, managedErr, eventsErr} {
				if err != nil && (strings.Contains(err.Error(), token) || len(err.Error()) > 4096) {
					t.Errorf("the error holds the token or too much: %v", err)
				}
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]argocd.Config{
		"no scheme":          {URL: "cd.example.com"},
		"another scheme":     {URL: "ftp://cd.example.com"},
		"no host":            {URL: "https://"},
		"user in URL":        {URL: "https://admin:" + token + "@cd.example.com"},
		"control in URL":     {URL: "https://admin:" + token + "@cd.example.com\x7f"},
		"query":              {URL: "https://cd.example.com?token=" + token},
		"token of two lines": {URL: "https://cd.example.com", Token: token + "\nX: y"},
		"no CA":              {URL: "https://cd.example.com", CA: []byte(token)},
		"no certificate":     {URL: "https://cd.example.com", ClientCertificate: []byte(token)},
	}
	for name, config := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := argocd.New(config); err == nil || strings.Contains(err.Error(), token) {
				t.Errorf("want an error without the token, have %v", err)
			}
		})
	}
}

func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(answer(200, `{"Version":"v3.0.0"}`))
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	tests := map[string]struct {
		config argocd.Config
		says   string
	}{
		"unknown CA": {argocd.Config{URL: server.URL}, "--insecure"},
		"named CA":   {argocd.Config{URL: server.URL, CA: ca}, ""},
		"insecure":   {argocd.Config{URL: server.URL, Insecure: true}, ""},
		"plain text": {argocd.Config{URL: strings.Replace(server.URL, "https", "http", 1)}, "400"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := connect(t, test.config).Version(t.Context())
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("want %q, have %v", test.says, err)
			}
		})
	}
	plain := httptest.NewServer(answer(200, `{}`))
	defer plain.Close()
	_, err := connect(t, argocd.Config{URL: strings.Replace(plain.URL, "http", "https", 1)}).Version(t.Context())
	if err == nil || !strings.Contains(err.Error(), "--plaintext") {
		t.Errorf("a server of plain text: %v", err)
	}
}
