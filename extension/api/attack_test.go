package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/pkg/argocd"
)

func TestAttackSecret(t *testing.T) {
	none := func() [][]byte { return nil }
	two := func() [][]byte { return [][]byte{[]byte("the-old-one"), []byte("the-new-one")} }
	literal := func() [][]byte { return [][]byte{[]byte("$moorpin:secret"), {}} }
	for name, row := range map[string]struct {
		accepted func() [][]byte
		sent     []string
		status   int
		reason   string
	}{
		"missing":                         {two, nil, http.StatusForbidden, "nobody vouches for the headers"},
		"empty":                           {literal, []string{""}, http.StatusForbidden, "an empty file is no secret"},
		"forged":                          {two, []string{"guess"}, http.StatusForbidden, "not accepted"},
		"a prefix":                        {two, []string{"the-old"}, http.StatusForbidden, "not accepted"},
		"the old one":                     {two, []string{"the-old-one"}, http.StatusOK, "both are accepted while it is changed"},
		"the new one":                     {two, []string{"the-new-one"}, http.StatusOK, "both are accepted while it is changed"},
		"doubled, one is right":           {two, []string{"guess", "the-new-one"}, http.StatusForbidden, "Argo CD sets one"},
		"an unresolved reference":         {two, []string{"$moorpin:secret"}, http.StatusForbidden, "everybody may read argocd-cm"},
		"an unresolved one on both sides": {literal, []string{"$moorpin:secret"}, http.StatusForbidden, "the same"},
		"none is accepted":                {none, []string{secret}, http.StatusForbidden, "fails closed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			b := start(t, api.Options{Reporter: f, Secrets: row.accepted})
			r := b.request(t, http.MethodGet, "/api/v1/report", nil)
			delete(r.Header, api.SecretHeader)
			for _, value := range row.sent {
				r.Header.Add(api.SecretHeader, value)
			}
			got := do(t, r)
			if row.status == http.StatusOK && got.status == row.status {
				return
			}
			got.refused(t, row.status)
			if asked := f.questions(); len(asked) > 0 {
				t.Errorf("answered without the secret: %v", asked)
			}
			for _, value := range append(row.sent, "the-old-one", "the-new-one") {
				if value != "" && (strings.Contains(b.log.String(), value) || strings.Contains(got.body, value)) {
					t.Errorf("the secret %q was repeated:\n%s\n%s", value, got.body, b.log)
				}
			}
		})
	}
}

// TestAttackIdleStrangers: connections are few, and only who knows the secret keeps one.
func TestAttackIdleStrangers(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
	for name, row := range map[string]struct {
		path, secret string
		closed       bool
	}{
		"the secret":    {"/api/v1/report", secret, false},
		"a wrong one":   {"/api/v1/report", "guess", true},
		"none":          {"/api/v1/report", "", true},
		"health":        {"/healthz", "", true},
		"no such route": {"/x", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.request(t, http.MethodGet, row.path, nil)
			r.Header.Set(api.SecretHeader, row.secret)
			reply, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = reply.Body.Close() }()
			if reply.Close != row.closed {
				t.Errorf("the connection is closed: %v", reply.Close)
			}
		})
	}
}

func TestAttackSecretsChange(t *testing.T) {
	var accepted atomic.Value
	accepted.Store("first")
	b := start(t, api.Options{Reporter: newFake(), Secrets: func() [][]byte { return [][]byte{[]byte(accepted.Load().(string))} }})
	for _, row := range []struct {
		now    string
		status int
	}{{"first", http.StatusOK}, {"second", http.StatusForbidden}} {
		accepted.Store(row.now)
		r := b.request(t, http.MethodGet, "/api/v1/report", nil)
		r.Header.Set(api.SecretHeader, "first")
		if got := do(t, r); got.status != row.status {
			t.Errorf("with %q accepted: status %d, want %d", row.now, got.status, row.status)
		}
	}
}

func TestAttackHeaderSmuggling(t *testing.T) {
	for name, row := range map[string]struct {
		header string
		values []string
		status int
	}{
		"application doubled":      {argocd.HeaderApplication, []string{"argocd:shop", "argocd:bank"}, http.StatusBadRequest},
		"application joined":       {argocd.HeaderApplication, []string{"argocd:shop,argocd:bank"}, http.StatusBadRequest},
		"application missing":      {argocd.HeaderApplication, nil, http.StatusBadRequest},
		"application of elsewhere": {argocd.HeaderApplication, []string{"kube-system:shop"}, http.StatusForbidden},
		"project doubled":          {argocd.HeaderProject, []string{"default", "admin"}, http.StatusBadRequest},
		"project of another":       {argocd.HeaderProject, []string{"admin"}, http.StatusForbidden},
		"user doubled":             {argocd.HeaderUsername, []string{"zoe", "admin"}, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
			r := b.request(t, http.MethodGet, "/api/v1/report", nil)
			r.Header[http.CanonicalHeaderKey(row.header)] = row.values
			do(t, r).refused(t, row.status)
		})
	}
}

func TestAttackOtherApplication(t *testing.T) {
	for name, app := range map[string]any{
		"another name":      application("argocd", "bank", "default"),
		"another namespace": application("elsewhere", "shop", "default"),
		"another project":   application("argocd", "shop", "money"),
		"no metadata":       object{"spec": object{"project": "default"}},
		"a name of no text": object{"metadata": object{"namespace": "argocd", "name": object{"shop": 1}}, "spec": object{"project": "default"}},
		"a list of names":   object{"metadata": object{"namespace": "argocd", "name": []string{"shop"}}, "spec": object{}},
		"project of a list": object{"metadata": object{"namespace": "argocd", "name": "shop"}, "spec": object{"project": []string{"default"}}},
		"no project's name": object{"metadata": object{"namespace": "argocd", "name": "shop"}, "spec": object{"project": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			b := start(t, api.Options{Reporter: f})
			posted := object{"application": app}
			b.ask(t, http.MethodPost, "/api/v1/classify", posted).refused(t, http.StatusForbidden)
			b.ask(t, http.MethodPost, "/api/v1/rollback", posted).refused(t, http.StatusForbidden)
			b.ask(t, http.MethodPost, "/api/v1/fixes/prove", object{"snapshot": posted, "rules": []object{{"kind": "ConfigMap"}}}).refused(t, http.StatusForbidden)
			if asked := f.questions(); len(asked) > 0 {
				t.Errorf("answered all the same: %v", asked)
			}
		})
	}
}

func TestAttackTwoApplicationsInOneBody(t *testing.T) {
	// Where a key is there twice, what was checked must be what is explained.
	f := newFake()
	b := start(t, api.Options{Reporter: f})
	body := `{"application":{"metadata":{"namespace":"argocd","name":"shop"}},"application":{"metadata":{"namespace":"argocd","name":"bank"}}}`
	b.ask(t, http.MethodPost, "/api/v1/classify", body).refused(t, http.StatusForbidden)
}

func TestAttackMovedApplication(t *testing.T) {
	// Between Argo CD's check and ours the Application moved to another project.
	f := newFake()
	b := start(t, api.Options{Reporter: f, TokenMode: true})
	if got := b.ask(t, http.MethodGet, "/api/v1/report", nil); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	f.app, f.version = application("argocd", "shop", "money"), "v2"
	for _, path := range []string{"/api/v1/report", "/api/v1/rollback", "/api/v1/report/resource?kind=ConfigMap&name=x"} {
		b.ask(t, http.MethodGet, path, nil).refused(t, http.StatusForbidden)
	}
}

// TestAttackAnswerOfAnotherProject: what counts is the project of the Application that
// the answer is about, not that of one collected before or after it.
func TestAttackAnswerOfAnotherProject(t *testing.T) {
	f := newFake()
	f.explained = application("argocd", "shop", "default")
	b := start(t, api.Options{Reporter: f, TokenMode: true})
	if got := b.ask(t, http.MethodGet, "/api/v1/report", nil); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	f.app = application("argocd", "shop", "money") // the answer is still the old one
	for _, path := range []string{"/api/v1/report", "/api/v1/rollback", "/api/v1/report/resource?kind=ConfigMap&name=x"} {
		r := b.request(t, http.MethodGet, path, nil)
		r.Header.Set(argocd.HeaderProject, "money")
		do(t, r).refused(t, http.StatusForbidden)
	}
}

// TestAttackReplacedApplication: a dump is of the Application that was explained.
func TestAttackReplacedApplication(t *testing.T) {
	f := newFake()
	f.explained = application("argocd", "shop", "default")
	f.explained["metadata"].(object)["uid"] = "before"
	f.app["metadata"].(object)["uid"] = "after"
	b := start(t, api.Options{Reporter: f, TokenMode: true})
	b.ask(t, http.MethodGet, "/api/v1/rollback", nil).refused(t, http.StatusConflict)
	f.app["metadata"].(object)["uid"] = "before"
	if got := b.ask(t, http.MethodGet, "/api/v1/rollback", nil); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// packed are the data, compressed.
func packed(t testing.TB, data io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := io.Copy(writer, data); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at%len(e.text)]
		e.at++
	}
	return len(p), nil
}

func TestAttackBombs(t *testing.T) {
	const limit = 1 << 20
	const head, tail = `{"application":{"metadata":{"namespace":"argocd","name":"shop"},"status":`, `}}`
	for name, row := range map[string]struct {
		body   []byte
		gzip   bool
		status int
		reason string
	}{
		"none, packed": {packed(t, strings.NewReader(head+"[]"+tail)), true, http.StatusOK, "to see that the others fail for their own reason"},
		"none":         {[]byte(head + `[{"a":1e9}]` + tail), false, http.StatusOK, "to see that the others fail for their own reason"},
		"gzip":         {packed(t, io.LimitReader(&endless{text: " "}, 16<<20)), true, http.StatusRequestEntityTooLarge, "16 MiB in 16 KiB"},
		"gzip in gzip": {
			packed(t, bytes.NewReader(packed(t, strings.NewReader(head+"[]"+tail)))), true, http.StatusBadRequest, "it is unpacked once",
		},
		"gzip that is none":  {[]byte(head + "[]" + tail), true, http.StatusBadRequest, "not what it says"},
		"gzip broken off":    {packed(t, strings.NewReader(head+"[]"+tail))[:20], true, http.StatusBadRequest, "not what it says"},
		"empty objects":      {[]byte(head + "[{}" + strings.Repeat(",{}", limit/4) + "]" + tail), false, http.StatusRequestEntityTooLarge, "each takes 20 times its bytes in memory"},
		"deep lists":         {[]byte(head + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + tail), false, http.StatusBadRequest, "recursion"},
		"deep objects":       {[]byte(head + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300) + tail), false, http.StatusBadRequest, "recursion"},
		"never closed":       {[]byte(strings.Repeat("[", 150)), false, http.StatusBadRequest, "no JSON"},
		"a number as long":   {[]byte(head + `[{"a":` + strings.Repeat("9", 1000) + "}]" + tail), false, http.StatusBadRequest, "arithmetic"},
		"a number too large": {[]byte(head + `[{"a":1e999999}]` + tail), false, http.StatusUnprocessableEntity, "no double"},
		"YAML":               {[]byte("a: &a [x,x]\nb: &b [*a,*a]\n"), false, http.StatusBadRequest, "aliases multiply"},
		"two documents":      {[]byte(head + "[]" + tail + head + "[]" + tail), false, http.StatusBadRequest, "which of them was checked?"},
		"nothing":            {[]byte(" "), false, http.StatusBadRequest, "no JSON"},
		"no application":     {[]byte(`{"resources":[]}`), false, http.StatusUnprocessableEntity, "nothing to explain"},
		"of other types":     {[]byte(`{"application":{"metadata":{"namespace":"argocd","name":"shop"}},"resources":{"a":1}}`), false, http.StatusUnprocessableEntity, "no snapshot"},
		"wide":               {[]byte(head + `["` + strings.Repeat("x", limit) + `"]` + tail), false, http.StatusRequestEntityTooLarge, "too large as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			b := start(t, api.Options{Reporter: f, MaxBody: limit})
			r := b.request(t, http.MethodPost, "/api/v1/classify", bytes.NewReader(row.body))
			if row.gzip {
				r.Header.Set("Content-Encoding", "gzip")
			}
			got := do(t, r)
			if row.status == http.StatusOK && got.status == http.StatusOK {
				return
			}
			got.refused(t, row.status)
			if asked := f.questions(); len(asked) > 0 {
				t.Errorf("answered all the same (%s): %v", row.reason, asked)
			}
		})
	}
}

func TestAttackMediaTypes(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake()})
	for name, change := range map[string]func(http.Header){
		"a form of another site": func(h http.Header) { h.Set("Content-Type", "text/plain") },
		"none":                   func(h http.Header) { h.Del("Content-Type") },
		"another charset":        func(h http.Header) { h.Set("Content-Type", "application/json; charset=utf-7") },
		"another encoding":       func(h http.Header) { h.Set("Content-Encoding", "br") },
		"two encodings":          func(h http.Header) { h["Content-Encoding"] = []string{"gzip", "gzip"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := b.request(t, http.MethodPost, "/api/v1/classify", snapshot())
			change(r.Header)
			do(t, r).refused(t, http.StatusUnsupportedMediaType)
		})
	}
}

func TestAttackPanic(t *testing.T) {
	f := newFake()
	f.before = func(context.Context) { panic("the value of " + secret) }
	b := start(t, api.Options{Reporter: f, TokenMode: true})
	got := b.ask(t, http.MethodGet, "/api/v1/report", nil)
	got.refused(t, http.StatusInternalServerError)
	if strings.Contains(got.body, "goroutine") || strings.Contains(got.body+b.log.String(), secret) {
		t.Errorf("the panic was repeated:\n%s\n%s", got.body, b.log)
	}
	if !strings.Contains(b.log.String(), "msg=panic") {
		t.Errorf("the panic is not in the log:\n%s", b.log)
	}
	f.before, f.fail = nil, fmt.Errorf("report: %w", &fault.PanicError{Kind: "runtime.boundsError", Stack: "at drift.go:7"})
	b.ask(t, http.MethodGet, "/api/v1/report", nil).refused(t, http.StatusInternalServerError)
	for _, wanted := range []string{"runtime.boundsError", "at drift.go:7"} {
		if !strings.Contains(b.log.String(), wanted) {
			t.Errorf("the log does not say %q of a panic of the reporter's:\n%s", wanted, b.log)
		}
	}
}

func TestAttackLogForging(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true})
	for _, user := range []string{"zoe\u2028level=ERROR", "zoe status=200", "\u202ezoe", strings.Repeat("z", 1000)} {
		r := b.request(t, http.MethodGet, "/api/v1/report", nil)
		r.Header.Set(argocd.HeaderUsername, user)
		do(t, r)
	}
	log := b.log.String()
	if lines := strings.Count(log, "\n"); lines != 4 {
		t.Errorf("%d lines for four requests:\n%s", lines, log)
	}
	if strings.ContainsAny(log, "\u2028\u202e\x1b") || strings.Contains(log, "user=zoe status") {
		t.Errorf("a user wrote into the log:\n%q", log)
	}
}
