package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

type object = map[string]any

const secret = "correct-horse-battery-staple"

// fake is a reporter that notes what it was asked. Its answers are of one version.
type fake struct {
	mu      sync.Mutex
	asked   []string
	version string
	// app is what it collects; fail is what it answers instead of anything.
	app  object
	fail error
	// explained is what it explains, where that is another than what it collects.
	explained object
	// large is the live value of the only field of an answer.
	large string
	// before is called before every answer.
	before func(context.Context)
}

func (f *fake) Classify(ctx context.Context, posted report.Posted) (*report.Answer, error) {
	if _, err := posted.Read(); err != nil {
		return nil, err
	}
	if err := f.note(ctx, "classify"); err != nil {
		return nil, err
	}
	return f.answer(), nil
}

func (f *fake) Preview(ctx context.Context, _ *drift.Snapshot, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error) {
	if err := f.note(ctx, "preview"); err != nil {
		return nil, err
	}
	return &drift.Preview{Remaining: len(rules)}, nil
}

func (f *fake) Try(ctx context.Context, posted report.Posted, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error) {
	snapshot, err := posted.Read()
	if err != nil {
		return nil, err
	}
	return f.Preview(ctx, snapshot, rules)
}

func (f *fake) Rollback(ctx context.Context, about report.Question) ([]byte, error) {
	snapshot := about.Snapshot
	if snapshot == nil {
		var err error
		if snapshot, err = about.Posted.Read(); err != nil {
			return nil, err
		}
	}
	if err := f.note(ctx, "rollback"); err != nil {
		return nil, err
	}
	return report.Rollback(snapshot, f.answer().Report)
}

func (f *fake) Report(ctx context.Context, ref argocd.Ref) (*report.Answer, error) {
	if err := f.note(ctx, "report "+ref.String()); err != nil {
		return nil, err
	}
	about := f.app
	if f.explained != nil {
		about = f.explained
	}
	answer := f.answer()
	answer.Project, _ = about["spec"].(object)["project"].(string)
	answer.UID, _ = about["metadata"].(object)["uid"].(string)
	return answer, nil
}

func (f *fake) Snapshot(ctx context.Context, ref argocd.Ref) (*drift.Snapshot, error) {
	if err := f.note(ctx, "snapshot "+ref.String()); err != nil {
		return nil, err
	}
	return &drift.Snapshot{Application: f.app}, nil
}

func (f *fake) note(ctx context.Context, what string) error {
	if f.before != nil {
		f.before(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, what)
	return f.fail
}

func (f *fake) questions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.asked...)
}

func (f *fake) answer() *report.Answer {
	var live any = 2
	if f.large != "" {
		live = f.large
	}
	return &report.Answer{Version: f.version, ComparedAt: "2026-01-02T03:04:05Z", Report: &drift.Report{
		Application: "argocd/shop", Verdict: "one field drifts", Counts: map[drift.Mechanism]int{"unexplained": 1},
		Findings: []drift.Finding{{
			Resource: drift.ResourceRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "web", Name: "front"}, Mechanism: "unexplained",
			Fields: []drift.Field{{Pointer: "/spec/replicas", Target: 1, Live: live, InTarget: true, InLive: true, Owner: &drift.Owner{Manager: "kubectl", Operation: "Update"}}},
			Fixes:  []drift.Fix{{Kind: "ignore-pointer", Where: drift.InApplication, Snippet: "spec: {}", Why: "because"}},
		}},
	}}
}

// application is an Application object.
func application(namespace, name, project string) object {
	return object{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": object{"namespace": namespace, "name": name},
		"spec":     object{"project": project, "destination": object{"server": "https://kubernetes.default.svc", "namespace": "web"}},
	}
}

func newFake() *fake {
	return &fake{version: "v1", app: application("argocd", "shop", "default")}
}

// backend is a server with what it logged and counted.
type backend struct {
	*httptest.Server

	log      *safeBuffer
	registry *prometheus.Registry
}

type safeBuffer struct {
	bytes.Buffer

	mu sync.Mutex
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// start serves with the options; what they leave open is filled in for tests.
func start(t testing.TB, options api.Options) *backend {
	t.Helper()
	b := &backend{log: &safeBuffer{}, registry: prometheus.NewRegistry()}
	if options.Secrets == nil {
		options.Secrets = func() [][]byte { return [][]byte{[]byte(secret)} }
	}
	options.Registry, options.Logger, options.Version = b.registry, slog.New(slog.NewTextHandler(b.log, nil)), "v0.0.1"
	handler, err := api.New(options)
	if err != nil {
		t.Fatal(err)
	}
	b.Server = httptest.NewServer(handler)
	t.Cleanup(b.Close)
	return b
}

// request is one as Argo CD's API server forwards it.
func (b *backend) request(t testing.TB, method, path string, body any) *http.Request {
	t.Helper()
	var reader io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(body)
	case io.Reader:
		reader = body
	default:
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set(api.SecretHeader, secret)
	r.Header.Set(argocd.HeaderApplication, "argocd:shop")
	r.Header.Set(argocd.HeaderProject, "default")
	r.Header.Set(argocd.HeaderUsername, "zoe")
	return r
}

// answer is a response that was read.
type answer struct {
	status int
	header http.Header
	body   string
}

func do(t testing.TB, r *http.Request) answer {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: string(body)}
}

func (b *backend) ask(t testing.TB, method, path string, body any) answer {
	t.Helper()
	return do(t, b.request(t, method, path, body))
}

// refused fails unless the answer is a problem with the status.
func (a answer) refused(t testing.TB, status int) api.Problem {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	var problem api.Problem
	if err := json.Unmarshal([]byte(a.body), &problem); err != nil || problem.Error == "" {
		t.Errorf("a refusal is a problem in JSON, got %q: %v", a.body, err)
	}
	if got := a.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control of a refusal is %q", got)
	}
	return problem
}

func snapshot(resources ...object) object {
	return object{"application": application("argocd", "shop", "default"), "resources": resources}
}
