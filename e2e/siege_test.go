package e2e

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moorpin/moorpin/e2e/attack"
)

// asking is a request as argocd-server passes it on.
type asking struct {
	method, route, user, name, project string
	// body is packed.
	body []byte
}

func (s *siege) call(a asking) call {
	return call{method: a.method, url: s.url + a.route, body: a.body, headers: map[string]string{
		"Moorpin-Secret": proxySecret, "Argocd-Application-Name": "argocd:" + a.name, "Argocd-Project-Name": a.project, "Argocd-Username": a.user,
		"Content-Type": "application/json", "Content-Encoding": "gzip",
	}}
}

func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var into bytes.Buffer
	writer, err := gzip.NewWriterLevel(&into, gzip.BestSpeed)
	if err == nil {
		_, err = writer.Write(text)
	}
	if err := cmp.Or(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	return into.Bytes()
}

// crowded are the refusals that any attack may meet while others go on.
var crowded = []string{"too many reports are being made", "that all may take together", "too many requests", "came too slowly"}

// attack sends one, and judges the answer.
func (s *siege) attack(ctx context.Context, t *testing.T, by weapon) {
	t.Helper()
	answer, err := s.call(by.asking).do(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		t.Errorf("%s: %v", by.name, err)
		return
	}
	said := fmt.Sprint(answer.status)
	if answer.status != http.StatusOK {
		said += " " + string(lastBytes(answer.body, 300))
	}
	holds := func(text string) bool { return strings.Contains(said, text) }
	switch {
	case answer.status == http.StatusOK && by.Answered:
	case answer.status != http.StatusOK && slices.ContainsFunc(crowded, holds):
		said = "crowded"
		time.Sleep(100 * time.Millisecond)
	case answer.status != http.StatusOK && slices.ContainsFunc(by.Says, holds):
	default:
		t.Errorf("%s (%s): no bound is named in %.400s", by.name, by.Reason, said)
	}
	s.count(s.of(by.name), said)
}

func (s *siege) of(name string) map[string]int {
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.answers[name] == nil {
		s.answers[name] = map[string]int{}
	}
	return s.answers[name]
}

func (s *siege) count(in map[string]int, what string) {
	s.guard.Lock()
	defer s.guard.Unlock()
	in[digits.ReplaceAllString(what, "N")]++
}

var digits = regexp.MustCompile(`[0-9]{4,}`)

// slowBody sends the half of a body, and then nothing.
func (s *siege) slowBody(ctx context.Context, t *testing.T, nth int) {
	t.Helper()
	connection := s.dial(ctx, t, asking{http.MethodPost, attack.Classify, fmt.Sprint("mallory-", nth%hostileUsers), fmt.Sprint("slow-", nth), hostileProject, nil}, 31<<20)
	defer connection.Close()
	_, _ = connection.Write(bytes.Repeat([]byte(" "), 9<<20))
	reply := make([]byte, 1<<10)
	n, err := connection.Read(reply)
	if ctx.Err() != nil {
		return
	}
	said := string(reply[:n])
	if !strings.HasPrefix(said, "HTTP/1.1 408") && !strings.HasPrefix(said, "HTTP/1.1 429") && n > 0 {
		t.Errorf("a slow body: %v %.300s", err, said)
	}
	s.count(s.of("slow bodies"), strings.SplitN(said, "\r", 2)[0])
}

// slowReader asks for a large answer, and reads a little of it.
func (s *siege) slowReader(ctx context.Context, t *testing.T, a asking) {
	t.Helper()
	connection := s.dial(ctx, t, a, len(a.body))
	defer connection.Close()
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10)
	}
	_, _ = connection.Write(a.body)
	reply := make([]byte, 512)
	n, _ := connection.Read(reply)
	s.count(s.of("slow readers"), strings.SplitN(string(reply[:n]), "\r", 2)[0])
	for ctx.Err() == nil {
		time.Sleep(300 * time.Millisecond)
		if _, err := connection.Read(reply[:16]); err != nil {
			return
		}
	}
}

func (s *siege) dial(ctx context.Context, t *testing.T, a asking, length int) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	context.AfterFunc(ctx, func() { _ = connection.SetDeadline(time.Now()) })
	fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", a.method, a.route, length)
	headers := s.call(a).headers
	if a.body == nil {
		delete(headers, "Content-Encoding")
	}
	for name, value := range headers {
		fmt.Fprintf(connection, "%s: %s\r\n", name, value)
	}
	fmt.Fprint(connection, "\r\n")
	return connection
}

// quiet are the honest Applications, each in a project of its own.
const quiet = 4

// peaceful is a small Application in which somebody has edited an object.
func peaceful(name string, nth int) []byte {
	return fmt.Appendf(nil, `{"application":{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"namespace":"argocd","name":%q},"spec":{"project":%q,"destination":{"namespace":"web"}}},
"resources":[{"version":"v1","kind":"ConfigMap","namespace":"web","name":"c",
"target":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"},"data":{"colour":"green"}},
"live":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web","managedFields":[{"manager":"kubectl-edit","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:colour":{}}}}]},"data":{"colour":"red-%d"}}}]}`, name, name, nth)
}

var colour = regexp.MustCompile(`red-[0-9]+`)

// honestly asks what honest users ask: about a posted snapshot that nobody has seen, or a
// report that may be there already. It returns the report, without what tells it from others.
func (s *siege) honestly(ctx context.Context, t *testing.T, name string, nth int) (string, error) {
	t.Helper()
	a := asking{http.MethodGet, "/api/v1/report", "zoe-" + name, name, name, nil}
	if name != attack.Calm {
		a.method, a.route, a.body = http.MethodPost, attack.Classify, packed(t, peaceful(name, nth))
	}
	answer, err := s.call(a).do(ctx)
	if err != nil {
		return "", err
	}
	if answer.status != http.StatusOK {
		return "", fmt.Errorf("%d %s", answer.status, lastBytes(answer.body, 300))
	}
	var told struct {
		Report json.RawMessage `json:"report"`
	}
	if err := json.Unmarshal(answer.body, &told); err != nil {
		return "", err
	}
	return colour.ReplaceAllString(string(told.Report), "red"), nil
}

// peace are the answers to the honest before anything else is asked.
func (s *siege) peace(t *testing.T) map[string]string {
	t.Helper()
	told := map[string]string{}
	for i := range quiet {
		name := cmp.Or(map[int]string{0: attack.Calm}[i], fmt.Sprint("honest-", i))
		report, err := s.honestly(t.Context(), t, name, 0)
		if err != nil || !strings.Contains(report, "manual-edit") {
			t.Fatalf("%s: %v %s", name, err, report)
		}
		told[name] = report
	}
	return told
}

// honests ask until the siege is over, and must be answered as before.
func (s *siege) honests(ctx context.Context, t *testing.T, all *sync.WaitGroup, before map[string]string) {
	t.Helper()
	for name, want := range before {
		all.Go(func() {
			for nth := 1; ctx.Err() == nil; nth++ {
				began := time.Now()
				report, err := s.honestly(t.Context(), t, name, nth)
				took := time.Since(began)
				switch {
				case err != nil:
					t.Errorf("%s, request %d after %s: %v", name, nth, took.Round(time.Millisecond), err)
					s.count(s.honest, name+" refused")
				case report != want:
					t.Errorf("%s, request %d: have %s\nwant %s", name, nth, report, want)
				}
				s.count(s.honest, name+" answered")
				s.guard.Lock()
				s.honest[name+" longest ms"] = max(s.honest[name+" longest ms"], int(took.Milliseconds()))
				s.guard.Unlock()
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
}

// tell writes down what came of it.
func (s *siege) tell(t *testing.T) {
	t.Helper()
	s.guard.Lock()
	defer s.guard.Unlock()
	sent := 0
	for _, name := range slices.Sorted(maps.Keys(s.answers)) {
		for said, times := range s.answers[name] {
			sent += times
			t.Logf("%-20s %4d: %.250s", name, times, said)
		}
	}
	t.Logf("%d attacks", sent)
}

// heavyArgoCD is an Argo CD with one calm Application, and those of the attackers, of
// which it tells far too much.
func heavyArgoCD(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(attack.ArgoCD(hostileProject))
	t.Cleanup(server.Close)
	return server.URL
}
