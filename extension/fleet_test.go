package extension_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fleetOf serves the two Applications of a fleet: shop, whose ConfigMap differs, and
// calm, which is Synced. It notes what was asked for.
func fleetOf(t *testing.T, asked *[]string) (address string) {
	t.Helper()
	const app = `{"metadata":{"name":%q,"namespace":"argocd"},"spec":{"project":%q},"status":{"sync":{"status":%q},"health":{"status":%q},"resources":[{"kind":"ConfigMap","version":"v1","namespace":"web","name":"c","status":%[3]q}]}}`
	shop, calm := fmt.Sprintf(app, "shop", "web", "OutOfSync", "Degraded"), fmt.Sprintf(app, "calm", "default", "Synced", "Healthy")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.RequestURI())
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/api/version":
			_, _ = fmt.Fprint(w, `{"Version":"v2.14.21"}`)
		case r.URL.Path == "/api/v1/applications":
			_, _ = fmt.Fprintf(w, `{"items":[%s,%s]}`, shop, calm)
		case r.URL.Path == "/api/v1/applications/shop":
			_, _ = fmt.Fprint(w, shop)
		case strings.HasSuffix(r.URL.Path, "/managed-resources"):
			_, _ = fmt.Fprintf(w, `{"items":[{"kind":"ConfigMap","namespace":"web","name":"c","targetState":%q,"liveState":%q}]}`, configMap("git"), configMap("live"))
		case strings.HasSuffix(r.URL.Path, "/resource-tree"):
			_, _ = fmt.Fprint(w, `{"nodes":[{"kind":"Pod","name":"p","info":[{"name":"Restart Count","value":"4"}]}]}`)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestFleetCommand(t *testing.T) {
	tests := map[string]struct {
		reason string
		args   []string
		code   int
		says   []string
		asks   string
		never  string
	}{
		"status alone": {reason: "no call for each Application that is well", says: []string{"2 Applications", "1 resources differ in fields that were not read", "argocd/shop", "OutOfSync", "Degraded", "4"}, never: "managed-resources"},
		"fields":       {reason: "the fields are read where they differ", args: []string{"--fields", "-o", "csv"}, says: []string{"argocd/shop,web,OutOfSync,Degraded,", ",1,1,"}, asks: "/api/v1/applications/shop/managed-resources", never: "calm/"},
		"one project":  {reason: "Argo CD need not send the others", args: []string{"--project", "web", "-o", "json"}, says: []string{`"applications": 1`}, asks: "projects=web"},
		"globs":        {reason: "Argo CD knows no globs of projects", args: []string{"--project", "w*", "-o", "markdown"}, says: []string{"Drift of 1 Applications"}, never: "projects="},
		"check":        {reason: "a pipeline wants to know", args: []string{"--check"}, code: 1, says: []string{"--check: of 2 Applications 1 drift"}},
		"check calm":   {reason: "nothing drifts there", args: []string{"--check", "--project", "default"}},
		"nobody":       {reason: "no Application is no error, but may be a typing error", args: []string{"--namespace", "elsewhere", "--check"}, says: []string{"0 Applications", "warning: no Application"}},
		"two words":    {reason: "--fields may stand alone", args: []string{"--fields", "all"}, code: 2, says: []string{"--fields=all"}, never: "/"},
		"a word":       {reason: "all are flags", args: []string{"shop"}, code: 2, says: []string{`"shop" is no argument`}, never: "/"},
		"expression":   {reason: "a broken one would match nothing, too", args: []string{"--namespace", "/[/"}, code: 2, says: []string{`"/[/" is no regular expression`}, never: "/"},
		"format":       {reason: "the format is known before any work is done", args: []string{"-o", "xml"}, code: 2, says: []string{`"xml" is not known`}, never: "/"},
		"depth":        {reason: "so is the depth", args: []string{"--fields=some"}, code: 2, says: []string{`"some" is not known`}, never: "/"},
		"pattern":      {reason: "a broken pattern would match nothing, and look like peace", args: []string{"--project", "w["}, code: 2, says: []string{`"w[" is no glob`}, never: "/"},
		"both":         {reason: "an API server has no fields to compare", args: []string{"--fields", "--kubeconfig", "x"}, code: 2, says: []string{"--fields"}, never: "/"},
		"parallel":     {reason: "nobody may be stormed", args: []string{"--parallel", "1000"}, code: 2, says: []string{"--parallel"}, never: "/"},
		"kubeconfig":   {reason: "a file that is not there is the user's mistake", args: []string{"--kubeconfig", "/nowhere"}, code: 2, says: []string{"--kubeconfig"}, never: "/"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			home(t)
			var asked []string
			address := fleetOf(t, &asked)
			code, out, errs := execute(t.Context(), "", append([]string{"fleet", "--server", "http://" + address, "--parallel", "1"}, test.args...)...)
			if code != test.code {
				t.Errorf("%s: exit code %d, want %d: %s", test.reason, code, test.code, errs)
			}
			for _, said := range test.says {
				if !strings.Contains(out+errs, said) {
					t.Errorf("%s: nothing says %q:\n%s%s", test.reason, said, out, errs)
				}
			}
			calls := strings.Join(asked, "\n")
			if !strings.Contains(calls, test.asks) || test.never != "" && strings.Contains(calls, test.never) {
				t.Errorf("%s: want calls with %q, without %q, have\n%s", test.reason, test.asks, test.never, calls)
			}
			if code == 0 && errs != "" && name != "nobody" {
				t.Errorf("where no terminal is, something is said: %s", errs)
			}
		})
	}
}

// TestFleetOfNoArgoCD: a cluster without Argo CD is a mistake, and no fleet of none.
func TestFleetOfNoArgoCD(t *testing.T) {
	folder := home(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			_, _ = fmt.Fprint(w, `{"kind":"APIVersions","versions":[]}`)
		case "/apis":
			_, _ = fmt.Fprint(w, `{"kind":"APIGroupList","groups":[]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(folder, "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: %q}}]\n", server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := execute(t.Context(), "", "fleet", "--kubeconfig", file)
	if code != 2 || out != "" || !strings.Contains(errs, "Argo CD runs in") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}
