package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/weight"
)

// family is a metric with all its labels.
func family(t testing.TB, b *backend, name string) []*dto.Metric {
	t.Helper()
	families, err := b.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()
		}
	}
	return nil
}

func gauge(t testing.TB, b *backend, name string) float64 {
	t.Helper()
	found := family(t, b, name)
	if len(found) != 1 {
		t.Fatalf("%s has %d series", name, len(found))
	}
	return found[0].GetGauge().GetValue()
}

// counts are a counter's values by its labels' values.
func counts(t testing.TB, b *backend, name string) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for _, m := range family(t, b, name) {
		var labels []string
		for _, label := range m.GetLabel() {
			labels = append(labels, label.GetValue())
		}
		got[strings.Join(labels, " ")] = m.GetCounter().GetValue()
	}
	return got
}

func TestNewRefuses(t *testing.T) {
	for name, options := range map[string]api.Options{
		"no reporter":        {},
		"an empty pattern":   {Reporter: newFake(), Namespaces: []string{""}},
		"a broken glob":      {Reporter: newFake(), Namespaces: []string{"team-[a"}},
		"a broken regexp":    {Reporter: newFake(), Namespaces: []string{"/team-(/"}},
		"less than one body": {Reporter: newFake(), MaxBody: 10, MaxHeld: 9},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := api.New(options); err == nil {
				t.Error("New accepts it")
			}
		})
	}
}

func TestNamespaces(t *testing.T) {
	for name, row := range map[string]struct {
		options   api.Options
		namespace string
		status    int
	}{
		"none given, Argo CD's own":     {api.Options{}, "argocd", http.StatusOK},
		"none given, another":           {api.Options{}, "team-a", http.StatusForbidden},
		"Argo CD lives elsewhere":       {api.Options{ArgoCDNamespace: "cd"}, "argocd", http.StatusForbidden},
		"a glob":                        {api.Options{Namespaces: []string{"argocd", "team-*"}}, "team-a", http.StatusOK},
		"a glob does not match":         {api.Options{Namespaces: []string{"argocd", "team-*"}}, "steam-a", http.StatusForbidden},
		"a regular expression":          {api.Options{Namespaces: []string{"/^team-[ab]$/"}}, "team-b", http.StatusOK},
		"a regular expression, another": {api.Options{Namespaces: []string{"/^team-[ab]$/"}}, "team-c", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			row.options.Reporter, row.options.TokenMode = newFake(), true
			b := start(t, row.options)
			r := b.request(t, http.MethodGet, "/api/v1/capabilities", nil)
			r.Header.Set(argocd.HeaderApplication, row.namespace+":shop")
			if got := do(t, r); got.status != row.status {
				t.Errorf("%d, want %d: %s", got.status, row.status, got.body)
			}
		})
	}
}

func TestConditionalRequests(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
	for name, row := range map[string]struct {
		known, tag string
		status     int
	}{
		"nothing known":       {"", `"v1"`, http.StatusOK},
		"this version":        {`"v1"`, `"v1"`, http.StatusNotModified},
		"its compressed form": {`"v0", "v1-gzip"`, `"v1-gzip"`, http.StatusNotModified},
		"weakly":              {`W/"v1"`, `"v1"`, http.StatusNotModified},
		"anything":            {"*", `"v1"`, http.StatusNotModified},
		"another version":     {`"v0"`, `"v1"`, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.request(t, http.MethodGet, "/api/v1/report", nil)
			r.Header.Set("Accept-Encoding", "identity")
			if row.known != "" {
				r.Header.Set("If-None-Match", row.known)
			}
			got := do(t, r)
			if got.status != row.status || got.header.Get("ETag") != row.tag {
				t.Errorf("%d %s, want %d %s", got.status, got.header.Get("ETag"), row.status, row.tag)
			}
			if got.status == http.StatusNotModified && got.body != "" {
				t.Errorf("304 with a body: %q", got.body)
			}
			if cache := got.header.Get("Cache-Control"); cache != "private, no-cache" {
				t.Errorf("Cache-Control %q", cache)
			}
			if vary := strings.Join(got.header.Values("Vary"), ", "); !strings.Contains(vary, argocd.HeaderApplication) {
				t.Errorf("Vary %q: the same URL is asked about every Application", vary)
			}
		})
	}
}

func TestCompression(t *testing.T) {
	f := newFake()
	b := start(t, api.Options{Reporter: &long{f}, TokenMode: true})
	// The body as well.
	data, err := json.Marshal(snapshot())
	if err != nil {
		t.Fatal(err)
	}
	r := b.request(t, http.MethodPost, "/api/v1/classify", bytes.NewReader(packed(t, bytes.NewReader(data))))
	r.Header.Set("Content-Encoding", "gzip")
	if got := do(t, r); got.status != http.StatusOK {
		t.Errorf("a compressed body: %d %s", got.status, got.body)
	}
	r = b.request(t, http.MethodGet, "/api/v1/report", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	got := do(t, r)
	if got.header.Get("Content-Encoding") != "gzip" || got.header.Get("ETag") != `"v1-gzip"` {
		t.Fatalf("headers %v", got.header)
	}
	reader, err := gzip.NewReader(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil || !json.Valid(plain) || len(plain) < 10*len(got.body) {
		t.Errorf("%d bytes unpack to %d: %v", len(got.body), len(plain), err)
	}
}

// long answers at length.
type long struct{ *fake }

func (l *long) Report(ctx context.Context, ref argocd.Ref) (*report.Answer, error) {
	answer, err := l.fake.Report(ctx, ref)
	if err != nil {
		return nil, err
	}
	answer.Warnings = slices.Repeat([]string{"the same again"}, 1000)
	return answer, err
}

func TestErrors(t *testing.T) {
	for name, row := range map[string]struct {
		err    error
		status int
		reason string
	}{
		"no token":                     {report.ErrNoToken, http.StatusNotImplemented, "the page falls back to posting"},
		"busy":                         {fmt.Errorf("report: %w", report.ErrBusy), http.StatusServiceUnavailable, "try again"},
		"a snapshot":                   {fmt.Errorf("x: %w", report.ErrSnapshot), http.StatusUnprocessableEntity, "the sender's mistake"},
		"too late":                     {context.DeadlineExceeded, http.StatusGatewayTimeout, "try again"},
		"a rule":                       {&drift.RuleError{Part: "rules[0].jsonPointers[0]", Reason: "no pointer"}, http.StatusUnprocessableEntity, "the sender's mistake"},
		"Argo CD knows no such":        {&argocd.Error{Status: 404}, http.StatusNotFound, "gone"},
		"Argo CD refuses our token":    {&argocd.Error{Status: 401, Message: "token of ci-bot is expired"}, http.StatusBadGateway, "not the user's session: no 401"},
		"Argo CD forbids us":           {&argocd.Error{Status: 403}, http.StatusBadGateway, "not the user's right"},
		"Argo CD fails":                {&argocd.Error{Status: 500}, http.StatusBadGateway, "not ours"},
		"too heavy":                    {fmt.Errorf("x: %w", &weight.TooLargeError{What: "the snapshot", Weight: 9 << 20, Limit: 8 << 20}), http.StatusRequestEntityTooLarge, "8 MiB"},
		"no memory is left":            {fmt.Errorf("x: %w", &weight.FullError{Limit: 8 << 20}), http.StatusTooManyRequests, "8 MiB"},
		"takes too much":               {fmt.Errorf("x: %w", &report.BoundError{Reason: "it needs more than 7 bytes of memory"}), http.StatusUnprocessableEntity, "7 bytes of memory"},
		"more than its share":          {fmt.Errorf("x: %w", &report.ShareError{Share: 4 * time.Second}), http.StatusServiceUnavailable, "more than 4s"},
		"its process broke down":       {fmt.Errorf("%w: stack overflow of ci-bot", report.ErrWorker), http.StatusServiceUnavailable, "broke down"},
		"what nobody foresaw":          {errors.New("dial tcp 10.0.0.1:443"), http.StatusInternalServerError, "ours; no details"},
		"what nobody foresaw, wrapped": {fmt.Errorf("a: %w", errors.New("b")), http.StatusInternalServerError, "ours; no details"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.fail = row.err
			b := start(t, api.Options{Reporter: f, TokenMode: true})
			got := b.ask(t, http.MethodGet, "/api/v1/report", nil)
			problem := got.refused(t, row.status)
			for _, bound := range []string{"8 MiB", "7 bytes of memory", "broke down"} {
				if row.reason == bound && !strings.Contains(problem.Error, bound) {
					t.Errorf("%q does not name the bound, %s", problem.Error, bound)
				}
			}
			for _, detail := range []string{"10.0.0.1", "ci-bot"} {
				if strings.Contains(got.body, detail) {
					t.Errorf("%s is told to the caller: %s", detail, got.body)
				}
			}
			if row.status == http.StatusInternalServerError && !strings.Contains(b.log.String(), row.err.Error()) {
				t.Errorf("the cause is not in the log:\n%s", b.log)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	f := newFake()
	f.before = func(ctx context.Context) { <-ctx.Done() }
	f.fail = context.DeadlineExceeded
	b := start(t, api.Options{Reporter: f, TokenMode: true, Timeout: 100 * time.Millisecond})
	for _, got := range []answer{b.ask(t, http.MethodGet, "/api/v1/report", nil), b.ask(t, http.MethodPost, "/api/v1/classify", snapshot())} {
		if problem := got.refused(t, http.StatusGatewayTimeout); !strings.Contains(problem.Error, "100ms") {
			t.Errorf("the bound is not named: %s", problem.Error)
		}
	}
}

func TestRoutesThatAreNone(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
	for _, path := range []string{"/", "/api", "/api/v1", "/api/v1/report/", "//api/v1/report", "/api/v1/../v1/report", "/API/v1/report", "/metrics", "/debug/pprof/"} {
		r := b.request(t, http.MethodGet, "", nil)
		r.URL.Opaque = "//" + r.URL.Host + path // as it stands
		do(t, r).refused(t, http.StatusNotFound)
	}
	for path, allow := range map[string]string{"/api/v1/classify": "POST", "/api/v1/report": "GET", "/api/v1/rollback": "GET, POST", "/healthz": "GET"} {
		got := b.ask(t, http.MethodDelete, path, nil)
		got.refused(t, http.StatusMethodNotAllowed)
		if got.header.Get("Allow") != allow {
			t.Errorf("Allow of %s is %q, want %q", path, got.header.Get("Allow"), allow)
		}
	}
}

func TestHealth(t *testing.T) {
	ready := true
	b := start(t, api.Options{Reporter: newFake(), Secrets: func() [][]byte { return nil }, Ready: func() bool { return ready }})
	status := func(path string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return do(t, r).status
	}
	before := []int{status("/healthz"), status("/readyz"), status("/openapi.json")}
	ready = false
	after := []int{status("/healthz"), status("/readyz"), status("/openapi.json")}
	if diff := cmp.Diff([][]int{{200, 200, 200}, {200, 503, 200}}, [][]int{before, after}); diff != "" {
		t.Error(diff)
	}
}

func TestResource(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
	for name, row := range map[string]struct {
		query            string
		status, findings int
	}{
		"the one that drifts":  {"group=apps&kind=Deployment&namespace=web&name=front", http.StatusOK, 1},
		"another":              {"group=apps&kind=Deployment&namespace=web&name=back", http.StatusOK, 0},
		"of another group":     {"kind=Deployment&namespace=web&name=front", http.StatusOK, 0},
		"without a kind":       {"name=front", http.StatusBadRequest, 0},
		"without a name":       {"kind=Deployment", http.StatusBadRequest, 0},
		"a parameter twice":    {"kind=Deployment&kind=Secret&name=front", http.StatusBadRequest, 0},
		"a parameter too long": {"kind=Deployment&name=" + strings.Repeat("x", 254), http.StatusBadRequest, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := b.ask(t, http.MethodGet, "/api/v1/report/resource?"+row.query, nil)
			if row.status != http.StatusOK {
				got.refused(t, row.status)
				return
			}
			var answer api.ResourceReport
			if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
				t.Fatalf("%v: %s", err, got.body)
			}
			if len(answer.Findings) != row.findings || answer.Application != "argocd/shop" || answer.Version != "v1" {
				t.Errorf("%+v, want %d findings", answer, row.findings)
			}
		})
	}
}

func TestProve(t *testing.T) {
	rule := object{"group": "apps", "kind": "Deployment", "jsonPointers": []string{"/spec/replicas"}}
	for name, row := range map[string]struct {
		body   any
		status int
		part   string
	}{
		"on a posted snapshot":    {object{"snapshot": snapshot(), "rules": []object{rule}}, http.StatusOK, ""},
		"on the collected one":    {object{"rules": []object{rule}}, http.StatusOK, ""},
		"no snapshot, said so":    {object{"snapshot": nil, "rules": []object{rule}}, http.StatusOK, ""},
		"no rules":                {object{"snapshot": snapshot()}, http.StatusUnprocessableEntity, ""},
		"too many rules":          {object{"rules": slices.Repeat([]object{rule}, 21)}, http.StatusUnprocessableEntity, "rules"},
		"too many pointers":       {object{"rules": []object{{"jsonPointers": slices.Repeat([]string{"/a"}, 51)}}}, http.StatusUnprocessableEntity, "rules[0].jsonPointers"},
		"an expression too long":  {object{"rules": []object{rule, {"jqPathExpressions": []string{strings.Repeat(".", 1025)}}}}, http.StatusUnprocessableEntity, "rules[1].jqPathExpressions[0]"},
		"a key that is misspelt":  {object{"rules": []object{{"jqPathExpression": []string{".a"}}}}, http.StatusUnprocessableEntity, ""},
		"a list that is none":     {object{"rules": object{}}, http.StatusUnprocessableEntity, ""},
		"a snapshot that is none": {object{"snapshot": "x", "rules": []object{rule}}, http.StatusUnprocessableEntity, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
			got := b.ask(t, http.MethodPost, "/api/v1/fixes/prove", row.body)
			if row.status == http.StatusOK {
				if got.status != http.StatusOK || !strings.Contains(got.body, `"remaining":1`) {
					t.Errorf("%d %s", got.status, got.body)
				}
				return
			}
			if problem := got.refused(t, row.status); problem.Part != row.part {
				t.Errorf("the part is %q, want %q", problem.Part, row.part)
			}
		})
	}
}

func TestCapabilities(t *testing.T) {
	for name, row := range map[string]struct {
		token bool
		feeds []string
	}{"without a token": {false, []string{"browser"}}, "with a token": {true, []string{"browser", "backend"}}} {
		t.Run(name, func(t *testing.T) {
			b := start(t, api.Options{Reporter: newFake(), TokenMode: row.token, ArgoCDVersion: "v2.14.21", MaxBody: 1 << 20})
			var got api.Capabilities
			if err := json.Unmarshal([]byte(b.ask(t, http.MethodGet, "/api/v1/capabilities", nil).body), &got); err != nil {
				t.Fatal(err)
			}
			want := api.Capabilities{Version: "v0.0.1", ArgoCDVersion: "v2.14.21", Feeds: row.feeds, Limits: api.Limits{BodyBytes: 1 << 20, Depth: 200, Values: 1 << 16, Seconds: 9, Rules: 20}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMetricsAndLog(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
	b.ask(t, http.MethodGet, "/api/v1/report", nil)
	b.ask(t, http.MethodGet, "/random/"+strings.Repeat("x", 50), nil)
	r := b.request(t, http.MethodPost, "/api/v1/classify", object{"application": object{"metadata": object{"name": "confidential"}}})
	do(t, r)
	if diff := cmp.Diff(map[string]float64{"200 /api/v1/report": 1, "404 other": 1, "403 /api/v1/classify": 1}, counts(t, b, "moorpin_extension_requests_total")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]float64{"route": 1, "application": 1}, counts(t, b, "moorpin_extension_refused_total")); diff != "" {
		t.Error(diff)
	}
	log := b.log.String()
	if strings.Count(log, "\n") != 3 || !strings.Contains(log, "route=/api/v1/report status=200") || !strings.Contains(log, "reason=application") {
		t.Errorf("log:\n%s", log)
	}
	for _, forbidden := range []string{secret, "confidential", "random"} {
		if strings.Contains(log, forbidden) {
			t.Errorf("%q is in the log:\n%s", forbidden, log)
		}
	}
	observe, err := api.StepObserver(b.registry)
	if err != nil {
		t.Fatal(err)
	}
	observe("cached", time.Millisecond)
	if got := family(t, b, "moorpin_extension_step_seconds"); len(got) != 1 || got[0].GetHistogram().GetSampleCount() != 1 {
		t.Errorf("steps: %v", got)
	}
}
