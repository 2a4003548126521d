package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	proxy "github.com/argoproj/argo-cd/v2/server/extension"
	"github.com/argoproj/argo-cd/v2/util/rbac"
	"github.com/argoproj/argo-cd/v2/util/settings"
	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/pkg/argocd"
)

// world is what the proxy of Argo CD's API server asks: two Applications, one of them
// in another namespace, and a user who may not do one thing.
type world struct {
	config, user string
	denied       string
}

func (w world) Get() (*settings.ArgoCDSettings, error) {
	return &settings.ArgoCDSettings{
		ExtensionConfig: map[string]string{"moorpin": w.config},
		Secrets:         map[string]string{"moorpin.secret": secret},
	}, nil
}

type applications struct{}

func (applications) Get(namespace, name string) (*v1alpha1.Application, error) {
	known := map[string]string{"argocd/shop": "default", "elsewhere/shop": "default", "argocd/bank": "money"}
	project, ok := known[namespace+"/"+name]
	if !ok {
		return nil, errors.New("not found")
	}
	return &v1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.ApplicationSpec{Project: project, Destination: v1alpha1.ApplicationDestination{Server: "https://kubernetes.default.svc", Namespace: "web"}},
	}, nil
}

type projects struct{}

func (projects) Get(name string) (*v1alpha1.AppProject, error) {
	if name == "nowhere" {
		return nil, errors.New("not found")
	}
	return &v1alpha1.AppProject{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.AppProjectSpec{Destinations: []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}}},
	}, nil
}

func (projects) GetClusters(string) ([]*v1alpha1.Cluster, error) { return nil, nil }

func (w world) EnforceErr(values ...any) error {
	if len(values) > 1 && values[1] == w.denied {
		return errors.New("denied")
	}
	return nil
}

func (w world) GetUser(context.Context) string     { return w.user }
func (w world) GetGroups(context.Context) []string { return []string{"dev", "ops"} }

// behind puts the real proxy in front of the backend, as Argo CD's API server does,
// below a root path if there is one.
func behind(t *testing.T, w world, rootPath string) *backend {
	t.Helper()
	quiet := logrus.New()
	quiet.SetLevel(logrus.PanicLevel)
	manager := proxy.NewManager(quiet.WithField("test", t.Name()), "argocd", w, applications{}, projects{}, w, w)
	if err := manager.RegisterExtensions(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/extensions/", manager.CallExtension())
	var handler http.Handler = mux
	if rootPath != "" {
		handler = http.StripPrefix(rootPath, mux)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &backend{Server: server}
}

// configured is the value of extension.config.moorpin for a backend at the URL.
func configured(url, value string) string {
	return "services:\n- url: " + url + "\n  headers:\n  - name: " + api.SecretHeader + "\n    value: '" + value + "'\n"
}

// fromBrowser is a request as a browser sends it: it knows no secret.
func (b *backend) fromBrowser(t *testing.T, method, path string, body any) *http.Request {
	t.Helper()
	r := b.request(t, method, path, body)
	r.Header.Del(api.SecretHeader)
	r.Header.Del(argocd.HeaderUsername)
	return r
}

const classifyPath, reportPath = "/extensions/moorpin/api/v1/classify", "/extensions/moorpin/api/v1/report"

func TestProxyHappyPath(t *testing.T) {
	f := newFake()
	b := start(t, api.Options{Reporter: f, TokenMode: true})
	for name, row := range map[string]struct{ root, prefix string }{
		"at the root":       {"", ""},
		"below a root path": {"/argo-cd", "/argo-cd"},
	} {
		t.Run(name, func(t *testing.T) {
			front := behind(t, world{config: configured(b.URL, "$moorpin.secret"), user: "zoe"}, row.root)
			for path, r := range map[string]*http.Request{
				"classify": front.fromBrowser(t, http.MethodPost, row.prefix+classifyPath, snapshot()),
				"report":   front.fromBrowser(t, http.MethodGet, row.prefix+reportPath, nil),
				"rollback": front.fromBrowser(t, http.MethodGet, row.prefix+"/extensions/moorpin/api/v1/rollback", nil),
				"resource": front.fromBrowser(t, http.MethodGet, row.prefix+reportPath+"/resource?group=apps&kind=Deployment&namespace=web&name=front", nil),
				"can":      front.fromBrowser(t, http.MethodGet, row.prefix+"/extensions/moorpin/api/v1/capabilities", nil),
				"prove":    front.fromBrowser(t, http.MethodPost, row.prefix+"/extensions/moorpin/api/v1/fixes/prove", object{"rules": []object{{"kind": "Deployment", "jsonPointers": []string{"/spec/replicas"}}}}),
			} {
				if got := do(t, r); got.status != http.StatusOK {
					t.Errorf("%s: %d %s", path, got.status, got.body)
				}
			}
		})
	}
	if log := b.log.String(); !strings.Contains(log, "user=zoe") || !strings.Contains(log, "application=argocd/shop") {
		t.Errorf("the log names neither the user nor the Application:\n%s", log)
	}
}

func TestProxyRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		change func(http.Header)
		denied string
		value  string
		path   string
		status int
		ours   bool
		reason string
	}{
		"a forged user is overwritten": {
			change: func(h http.Header) { h.Set(argocd.HeaderUsername, "admin") }, status: http.StatusOK, reason: "Argo CD sets the user",
		},
		"a forged secret is overwritten": {
			change: func(h http.Header) { h.Set(api.SecretHeader, "guess") }, status: http.StatusOK, reason: "Argo CD sets the secret",
		},
		"the application doubled": {
			change: func(h http.Header) { h.Add(argocd.HeaderApplication, "argocd:bank") }, status: http.StatusBadRequest, ours: true, reason: "Argo CD checks the first and forwards both",
		},
		"the project doubled": {
			change: func(h http.Header) { h.Add(argocd.HeaderProject, "money") }, status: http.StatusBadRequest, ours: true, reason: "the same",
		},
		"Connection strips the secret": {
			change: func(h http.Header) { h.Set("Connection", api.SecretHeader) }, status: http.StatusForbidden, ours: true, reason: "without it nobody is trusted",
		},
		"Connection strips the application": {
			change: func(h http.Header) { h.Set("Connection", argocd.HeaderApplication) }, status: http.StatusBadRequest, ours: true, reason: "nothing was asked about",
		},
		"Connection strips the project": {
			change: func(h http.Header) { h.Set("Connection", argocd.HeaderProject) }, status: http.StatusBadRequest, ours: true, reason: "no project was checked",
		},
		"a reference that Argo CD cannot resolve": {
			value: "$moorpin.typo", status: http.StatusForbidden, ours: true, reason: "it is sent as it stands",
		},
		"another namespace": {
			change: func(h http.Header) { h.Set(argocd.HeaderApplication, "elsewhere:shop") }, status: http.StatusForbidden, ours: true, reason: "Argo CD lets it through, the backend serves one namespace",
		},
		"no headers": {
			change: func(h http.Header) { h.Del(argocd.HeaderApplication) }, status: http.StatusBadRequest, reason: "Argo CD's own refusal",
		},
		"an unknown project": {
			change: func(h http.Header) { h.Set(argocd.HeaderProject, "nowhere") }, status: http.StatusUnauthorized, reason: "Argo CD's own refusal",
		},
		"an unknown application": {
			change: func(h http.Header) { h.Set(argocd.HeaderApplication, "argocd:gone") }, status: http.StatusUnauthorized, reason: "Argo CD's own refusal",
		},
		"a user who may not get the application": {
			denied: rbac.ResourceApplications, status: http.StatusUnauthorized, reason: "Argo CD's own refusal",
		},
		"a user who may not invoke the extension": {
			denied: rbac.ResourceExtensions, status: http.StatusUnauthorized, reason: "Argo CD's own refusal, which the page explains",
		},
		"an extension that is not configured": {
			path: "/extensions/other/api/v1/report", status: http.StatusNotFound, reason: "Argo CD's own refusal",
		},
		"a route that is not there": {
			path: "/extensions/moorpin/api/v2/report", status: http.StatusNotFound, ours: true, reason: "the backend's",
		},
		"a path that climbs": {
			path: "/extensions/moorpin/api/v1/x%2F..%2Freport", status: http.StatusNotFound, ours: true, reason: "paths are not cleaned",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			b := start(t, api.Options{Reporter: f, TokenMode: true})
			value, path := "$moorpin.secret", reportPath
			if row.value != "" {
				value = row.value
			}
			if row.path != "" {
				path = row.path
			}
			front := behind(t, world{config: configured(b.URL, value), user: "zoe", denied: row.denied}, "")
			r := front.fromBrowser(t, http.MethodGet, path, nil)
			if row.change != nil {
				row.change(r.Header)
			}
			got := do(t, r)
			if got.status != row.status {
				t.Fatalf("status %d, want %d (%s): %s", got.status, row.status, row.reason, got.body)
			}
			if row.ours {
				got.refused(t, row.status)
			}
			if asked := f.questions(); row.status != http.StatusOK && len(asked) > 0 {
				t.Errorf("a refused request was answered: %v", asked)
			}
			if strings.Contains(b.log.String(), "admin") {
				t.Errorf("a forged user reached the log:\n%s", b.log)
			}
		})
	}
}

func TestProxyWithoutUser(t *testing.T) {
	// Argo CD sets no empty user, so that the browser's own comes through: it is
	// believed by nobody, and the request is answered like any other's.
	f := newFake()
	b := start(t, api.Options{Reporter: f, TokenMode: true})
	front := behind(t, world{config: configured(b.URL, "$moorpin.secret")}, "")
	r := front.fromBrowser(t, http.MethodGet, reportPath, nil)
	r.Header.Set(argocd.HeaderUsername, "forged")
	if got := do(t, r); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if diff := cmp.Diff([]string{"report argocd/shop"}, f.questions()); diff != "" {
		t.Error(diff)
	}
}

func TestProxyLargeBodies(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), MaxBody: 4 << 20})
	front := behind(t, world{config: configured(b.URL, "$moorpin.secret"), user: "zoe"}, "")
	for name, row := range map[string]struct{ size, status int }{
		"within the limit": {3 << 20, http.StatusOK},
		"above the limit":  {5 << 20, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			large := snapshot(object{"kind": "ConfigMap", "name": "large", "live": object{"data": object{"x": strings.Repeat("x", row.size)}}})
			if got := do(t, front.fromBrowser(t, http.MethodPost, classifyPath, large)); got.status != row.status {
				t.Errorf("status %d, want %d: %.200s", got.status, row.status, got.body)
			}
		})
	}
}

func TestProxyWithoutBackend(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake()})
	front := behind(t, world{config: configured(b.URL, "$moorpin.secret"), user: "zoe"}, "")
	b.Close()
	if got := do(t, front.fromBrowser(t, http.MethodGet, reportPath, nil)); got.status != http.StatusBadGateway || got.body != "" {
		t.Errorf("%d %q, want Argo CD's empty 502", got.status, got.body)
	}
}
