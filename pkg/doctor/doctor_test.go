package doctor_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/doctor"
)

var update = flag.Bool("update", false, "write the golden files anew")

func finding(t *testing.T, report doctor.Report, id string) doctor.Finding {
	t.Helper()
	i := slices.IndexFunc(report.Findings, func(f doctor.Finding) bool { return f.Check == id })
	if i < 0 {
		t.Fatalf("there is no check %s", id)
	}
	return report.Findings[i]
}

func TestHealthy(t *testing.T) {
	p := healthy(t)
	report := p.examine(t)
	if !report.Well() || report.Counts[doctor.OK] != len(doctor.Checks()) {
		t.Errorf("an installation in which nothing is amiss:\n%s", report.Text())
	}
	if diff := cmp.Diff([]string{"moorpin/api/v1/capabilities argocd/shop web"}, p.server.asked); diff != "" {
		t.Errorf("asked of the backend, -want +have:\n%s", diff)
	}
	for _, f := range report.Findings {
		if len(f.Remedy) > 0 {
			t.Errorf("%s is well and has a remedy: %v", f.Check, f.Remedy)
		}
	}
	golden(t, "testdata/healthy.txt", report.Text())
}

// TestNothing: where nothing can be asked, nothing is said to be amiss.
func TestNothing(t *testing.T) {
	p := healthy(t)
	p.sources = doctor.Sources{Namespace: "argocd", Now: p.sources.Now}
	report := p.examine(t)
	if report.Counts[doctor.Unknown] != len(doctor.Checks()) {
		t.Errorf("not all is unknown:\n%s", report.Text())
	}
}

// TestBare is an Argo CD without Moorpin: its report is the way to install it.
func TestBare(t *testing.T) {
	p := healthy(t)
	for _, one := range [][2]string{{"Deployment", "moorpin-extension"}, {"Service", "moorpin-extension"}, {"Secret", "moorpin-extension"}} {
		p.drop(t, one[0], one[1])
	}
	for _, name := range []string{"argocd-cm", "argocd-cmd-params-cm", "argocd-rbac-cm"} {
		p.set(t, "ConfigMap/"+name, map[string]any{}, "data")
	}
	spec := p.object(t, "Deployment", "argocd-repo-server")["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	spec["containers"] = spec["containers"].([]any)[:1]
	delete(spec, "initContainers")
	p.sources.Server, p.sources.Socket, p.sources.Metrics = nil, nil, nil
	delete(p.container(t, "argocd-server", 0), "volumeMounts")
	report := p.examine(t)
	golden(t, "testdata/bare.txt", report.Text())
	for _, id := range []string{"sidecar", "backend", "secret", "extension-config", "extension-flag", "rbac", "ui"} {
		if f := finding(t, report, id); f.Status != doctor.Fail || len(f.Remedy) == 0 {
			t.Errorf("%s is %s with %d lines of remedy", id, f.Status, len(f.Remedy))
		}
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
}

// TestForbidden: what may not be read is unknown, and the right is named.
func TestForbidden(t *testing.T) {
	p := healthy(t)
	p.cluster.forbidden = []string{"Secret", "Deployment", "Pod", "Service", "Application", "ConfigMap/argocd-rbac-cm"}
	p.sources.Socket, p.sources.Metrics, p.sources.Server = nil, nil, nil
	report := p.examine(t)
	for id, right := range map[string]string{
		"secret": "get secrets/moorpin-extension -n argocd", "sidecar": "list deployments.apps -n argocd",
		"service": "list services -n argocd", "rbac": "get configmaps/argocd-rbac-cm -n argocd",
	} {
		if f := finding(t, report, id); f.Status != doctor.Unknown || !strings.Contains(f.Says, "kubectl auth can-i "+right) {
			t.Errorf("%s is %s: %s", id, f.Status, f.Says)
		}
	}
	if report.Counts[doctor.Fail] > 0 {
		t.Errorf("what nobody may read fails:\n%s", report.Text())
	}
}

func TestSkip(t *testing.T) {
	p := healthy(t)
	p.plugin.Discovery = true
	report := doctor.Examine(doctor.Gather(t.Context(), p.sources), "discovery")
	if f := finding(t, report, "discovery"); f.Status != doctor.Unknown || !report.Well() {
		t.Errorf("discovery is %s", f.Status)
	}
}

// TestServer follows a call through argocd-server.
func TestServer(t *testing.T) {
	html := argocd.Answer{Status: http.StatusOK, Kind: "text/html", Body: []byte("<html>")}
	problem := func(status int, message string) argocd.Answer {
		return argocd.Answer{Status: status, Kind: "application/json", Body: fmt.Appendf(nil, `{"error":%q,"hint":"do this"}`, message)}
	}
	plain := func(status int, body string) argocd.Answer {
		return argocd.Answer{Status: status, Kind: "text/plain", Body: []byte(body)}
	}
	tests := map[string]struct {
		reason string
		answer argocd.Answer
		status doctor.Status
		says   string
		remedy string
	}{
		"off":         {"the page of the UI instead", html, doctor.Fail, "its own page", "rollout restart"},
		"no right":    {"argocd-server refuses", plain(http.StatusUnauthorized, "Unauthorized extension request\n"), doctor.Fail, "may not ask", "policy.moorpin.csv"},
		"no token":    {"argocd-server knows nobody", plain(http.StatusUnauthorized, "no session"), doctor.Fail, "does not take the token", "generate-token"},
		"unknown":     {"no key in argocd-cm", plain(http.StatusNotFound, "Extension not found\n"), doctor.Fail, "knows no extension", "extension.config.moorpin"},
		"down":        {"no Pod", plain(http.StatusBadGateway, ""), doctor.Fail, "does not reach", "endpointslices"},
		"secret":      {"the values differ", problem(http.StatusForbidden, "the header Moorpin-Secret holds no secret that is accepted"), doctor.Fail, "refuses argocd-server", "moorpin-extension"},
		"namespace":   {"the backend's own hint counts", problem(http.StatusForbidden, "Applications of the namespace team are not served"), doctor.Fail, "403", "do this"},
		"other":       {"whatever else", plain(http.StatusTeapot, "short and stout"), doctor.Fail, "short and stout", ""},
		"another one": {"JSON of somebody else", plain(http.StatusOK, `{"feeds":[]}`), doctor.Fail, "its own page", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := healthy(t)
			p.server.answer = test.answer
			f := finding(t, p.examine(t), "answer")
			if f.Status != test.status || !strings.Contains(f.Says, test.says) || !strings.Contains(strings.Join(f.Remedy, "\n"), test.remedy) {
				t.Errorf("%s: %+v", test.reason, f)
			}
		})
	}
}

// TestSubject: a call is about an Application that the token sees.
func TestSubject(t *testing.T) {
	p := healthy(t)
	p.apps = append(p.apps, map[string]any{"metadata": map[string]any{"name": "cart", "namespace": "team"}, "spec": map[string]any{}})
	p.sources.Application = argocd.Ref{Namespace: "team", Name: "cart"}
	p.examine(t)
	p.sources.Application = argocd.Ref{Name: "shop"}
	p.examine(t)
	if diff := cmp.Diff([]string{"moorpin/api/v1/capabilities team/cart default", "moorpin/api/v1/capabilities argocd/shop web"}, p.server.asked); diff != "" {
		t.Errorf("-want +asked:\n%s", diff)
	}
	p.sources.Application = argocd.Ref{Name: "none"}
	if f := finding(t, p.examine(t), "answer"); f.Status != doctor.Unknown || !strings.Contains(f.Says, "--application") {
		t.Errorf("%+v", f)
	}
	p.apps, p.sources.Application = nil, argocd.Ref{}
	if f := finding(t, p.examine(t), "answer"); f.Status != doctor.Unknown || !strings.Contains(f.Says, "applications, get") {
		t.Errorf("%+v", f)
	}
}

func golden(t *testing.T, path, have string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(have), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("-%s +have (write it with -update):\n%s", path, diff)
	}
}
