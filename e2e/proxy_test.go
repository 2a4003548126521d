package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/proxied"
	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/e2e/record/scenarios"
	"github.com/moorpin/moorpin/pkg/drift"
)

// proxySample are the Applications that people ask about most.
var proxySample = []string{
	"crd-list-default/external-secret",                     // class A
	"explicit-default-dropped/certificate-authority-false", // class B
	"hpa-replicas/autoscaler-in-the-same-application",
	"manual-edit/configmap-in-lens",
	"pending-prune/service-and-role-after-a-sync",
	"hook-leftover/finished-migration",
}

// extensionPath is where argocd-server serves the backend.
const extensionPath = "/extensions/moorpin"

// TestProxy: whoever Argo CD lets in gets the report of an Application through its API
// server, both of a snapshot that the browser makes with the user's own rights and of
// one that the backend makes with its token; nobody else does.
func TestProxy(t *testing.T) {
	addAccounts(t)
	secret, next := secretFile(t, proxySecret), secretFile(t, nextSecret)
	if err := os.Remove(next); err != nil {
		t.Fatal(err)
	}
	user := logIn(t, "sees-and-asks")
	token := secretFile(t, robotToken(t))
	b := startBackend(t, "--secret-file", secret, "--secret-file", next, "--server", plane.ServerURL(), "--auth-token-file", token, "--kubeconfig", plane.Kubeconfig(), "--scan", "0")
	addExtension(t, proxied.Service{URL: b.url})

	var played []recorder.Scenario
	for _, scenario := range scenarios.All() {
		if slices.Contains(proxySample, scenario.Name) {
			played = append(played, scenario)
		}
	}
	if len(played) != len(proxySample) {
		t.Fatalf("%d of the %d scenarios of the sample exist", len(played), len(proxySample))
	}
	err := recorder.Run(t.Context(), plane, played, func(ctx context.Context, scenario recorder.Scenario) (err error) {
		label, err := cases.Label(corpus, scenario.Name)
		if err != nil {
			return err
		}
		stage, err := recorder.Open(ctx, plane, scenario)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stage.Clear(ctx)) }()
		if err := stage.Inject(ctx); err != nil {
			return err
		}
		recorded, err := stage.Case(ctx, label)
		if err != nil {
			return err
		}
		asker := asker{token: user, application: scenario.App, project: "default"}
		want := labelled(recorded.Expect.Findings)
		return errors.Join(asker.check(ctx, "backend", want, asker.report), asker.check(ctx, "browser", want, asker.classify))
	})
	if err != nil {
		t.Error(err)
	}
	t.Run("rights", func(t *testing.T) { proxyRights(t, user) })
	t.Run("rotation", func(t *testing.T) { proxyRotation(t, b, user, [2]string{secret, next}) })
}

// asker is a browser that asks about one Application.
type asker struct{ token, application, project string }

// ask sends a request as the page of the extension does.
func (a asker) ask(ctx context.Context, method, path string, body []byte) (answered, error) {
	return call{method: method, url: plane.ServerURL() + path, body: body, headers: map[string]string{
		"Cookie": "argocd.token=" + a.token, "Content-Type": "application/json",
		"Argocd-Application-Name": controlplane.Namespace + ":" + a.application, "Argocd-Project-Name": a.project,
	}}.do(ctx)
}

func (a asker) report(ctx context.Context) (answered, error) {
	return a.ask(ctx, http.MethodGet, extensionPath+"/api/v1/report", nil)
}

// classify sends what the page sends: the Application and its resources that are
// OutOfSync, as the user's own cookie gets them.
func (a asker) classify(ctx context.Context) (answered, error) {
	path := "/api/v1/applications/" + a.application
	var application map[string]any
	if err := a.get(ctx, path, &application); err != nil {
		return answered{}, err
	}
	application["apiVersion"], application["kind"] = "argoproj.io/v1alpha1", "Application"
	var managed struct {
		Items []struct {
			drift.ResourceRef `json:",inline"`

			TargetState         string `json:"targetState"`
			LiveState           string `json:"liveState"`
			NormalizedLiveState string `json:"normalizedLiveState"`
			PredictedLiveState  string `json:"predictedLiveState"`
		} `json:"items"`
	}
	if err := a.get(ctx, path+"/managed-resources", &managed); err != nil {
		return answered{}, err
	}
	resources := []map[string]any{}
	for _, item := range managed.Items {
		if item.NormalizedLiveState == item.PredictedLiveState && item.TargetState != "" && item.LiveState != "" {
			continue
		}
		resource := map[string]any{"group": item.Group, "kind": item.Kind, "namespace": item.Namespace, "name": item.Name}
		for name, state := range map[string]string{"target": item.TargetState, "live": item.LiveState, "normalizedLive": item.NormalizedLiveState, "predictedLive": item.PredictedLiveState} {
			if state != "" {
				resource[name] = json.RawMessage(state)
			}
		}
		resources = append(resources, resource)
	}
	body, err := json.Marshal(map[string]any{"application": application, "resources": resources, "settings": map[string]any{}})
	if err != nil {
		return answered{}, err
	}
	return a.ask(ctx, http.MethodPost, extensionPath+"/api/v1/classify", body)
}

func (a asker) get(ctx context.Context, path string, into any) error {
	got, err := a.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return fmt.Errorf("GET %s: %d %s", path, got.status, got.body)
	}
	return json.Unmarshal(got.body, into)
}

// verdict is what a report says of one resource.
type verdict struct {
	Name      string
	Mechanism drift.Mechanism
	Fields    []string
}

// check asks, and compares what is flagged with the label.
func (a asker) check(ctx context.Context, feed string, want []verdict, ask func(context.Context) (answered, error)) error {
	got, err := a.untilProxied(ctx, ask)
	if err != nil {
		return fmt.Errorf("%s by the %s: %w", a.application, feed, err)
	}
	var answer struct {
		Report drift.Report `json:"report"`
	}
	if err := json.Unmarshal(got.body, &answer); err != nil || got.status != http.StatusOK {
		return fmt.Errorf("%s by the %s: %d %s (%w)", a.application, feed, got.status, got.body, err)
	}
	var have []verdict
	for _, f := range answer.Report.Findings {
		if f.Flagged {
			fields := []string{}
			for _, field := range f.Fields {
				fields = append(fields, string(field.Pointer))
			}
			slices.Sort(fields)
			have = append(have, verdict{f.Resource.Name, f.Mechanism, fields})
		}
	}
	sortVerdicts(have)
	if diff := gocmp.Diff(want, have); diff != "" {
		return fmt.Errorf("%s by the %s (-label +report):\n%s", a.application, feed, diff)
	}
	return nil
}

// labelled is what the label says of what Argo CD flags.
func labelled(findings []cases.Finding) []verdict {
	var want []verdict
	for _, f := range findings {
		if f.Flagged {
			want = append(want, verdict{f.Resource.Name, f.Mechanism, slices.Sorted(slices.Values(f.Fields))})
		}
	}
	for i := range want {
		if want[i].Fields == nil {
			want[i].Fields = []string{}
		}
	}
	sortVerdicts(want)
	return want
}

func sortVerdicts(all []verdict) {
	slices.SortFunc(all, func(x, y verdict) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Mechanism, y.Mechanism))
	})
}

// untilProxied asks again while argocd-server has not read its new settings yet.
func (a asker) untilProxied(ctx context.Context, ask func(context.Context) (answered, error)) (answered, error) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(250 * time.Millisecond) {
		got, err := ask(ctx)
		unknown := got.status == http.StatusNotFound && strings.Contains(string(got.body), "not found") ||
			got.status == http.StatusUnauthorized
		if err != nil || !unknown || time.Now().After(deadline) {
			return got, err
		}
	}
}

// proxyRights: argocd-server asks for both rights, and lets nobody ask about one
// Application and read another.
func proxyRights(t *testing.T, user string) {
	repository := newRepository(t, map[string]string{"app/app.yaml": selectedApp})
	for _, name := range []string{"proxied", "proxied-other"} {
		if err := plane.CreateApplication(t.Context(), controlplane.Application{Name: name, Namespace: name, Source: pathSource(repository, "app")}); err != nil {
			t.Fatal(err)
		}
		refreshThrice(t, name)
	}
	admin, err := plane.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason string
		asker  asker
		status int
		says   string
	}{
		"both rights":   {"that is what they are for", asker{user, "proxied", "default"}, http.StatusOK, `"argocd/proxied"`},
		"only sees":     {"the line for the extension is missing", asker{logIn(t, "only-sees"), "proxied", "default"}, http.StatusUnauthorized, "Unauthorized extension request"},
		"only asks":     {"the Application is not theirs to see", asker{logIn(t, "only-asks"), "proxied", "default"}, http.StatusUnauthorized, "Unauthorized extension request"},
		"admin":         {"the line is missing for the admin, too", asker{admin, "proxied", "default"}, http.StatusUnauthorized, "Unauthorized extension request"},
		"not logged in": {"nobody is nobody", asker{"", "proxied", "default"}, http.StatusUnauthorized, ""},
		"other project": {"it is not the Application's", asker{user, "proxied", "other"}, http.StatusUnauthorized, "Unauthorized extension request"},
		"no such name":  {"there is nothing to see", asker{user, "none", "default"}, http.StatusUnauthorized, "Unauthorized extension request"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.asker.report(t.Context())
			if err != nil || got.status != test.status || !strings.Contains(string(got.body), test.says) {
				t.Errorf("%s: want %d and %q, have %d %s %v", test.reason, test.status, test.says, got.status, lastBytes(got.body, 500), err)
			}
		})
	}
	t.Run("another Application's snapshot", func(t *testing.T) {
		var other map[string]any
		if err := (asker{user, "proxied-other", "default"}).get(t.Context(), "/api/v1/applications/proxied-other", &other); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(map[string]any{"application": other, "resources": []any{}, "settings": map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := asker{user, "proxied", "default"}.ask(t.Context(), http.MethodPost, extensionPath+"/api/v1/classify", body)
		if err != nil || got.status != http.StatusForbidden && got.status != http.StatusBadRequest {
			t.Errorf("it is explained: %d %s %v", got.status, lastBytes(got.body, 500), err)
		}
	})
}

// proxyRotation changes the secret without losing a request: the backend takes the new
// one beside the old one, then Argo CD sends it, then the old one goes. argocd-server
// reads the value again when the extension's settings change, and only then.
func proxyRotation(t *testing.T, b *backend, user string, files [2]string) {
	asker := asker{user, "proxied", "default"}
	if err := os.WriteFile(files[1], []byte(nextSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	b.waitLog(t, `"the secrets changed" accepted=2`)
	done, lost := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(lost)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			got, err := asker.report(context.Background())
			if err != nil || got.status != http.StatusOK {
				lost <- errors.Join(err, fmt.Errorf("status %d: %s", got.status, got.body))
				return
			}
		}
	}()
	addExtension(t, proxied.Service{URL: b.url, Next: true})
	time.Sleep(3 * time.Second) // argocd-server reads its settings
	if err := os.WriteFile(files[0], []byte("somebody-elses-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := refused(t, b); got != http.StatusForbidden {
		t.Errorf("the old secret is still let in: %d", got)
	}
	close(done)
	if err := <-lost; err != nil {
		t.Errorf("a request was lost: %v", err)
	}
}

// refused asks with the old secret until it is refused, a quarter of a minute at most,
// and returns the last status.
func refused(t *testing.T, b *backend) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	for {
		got, err := call{method: http.MethodGet, url: b.url + "/api/v1/report", headers: map[string]string{
			"Moorpin-Secret": proxySecret, "Argocd-Application-Name": "argocd:proxied", "Argocd-Project-Name": "default",
		}}.do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
			return got.status
		case <-time.After(time.Second):
			if got.status != http.StatusOK {
				return got.status
			}
		}
	}
}
