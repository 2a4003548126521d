package api_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/pkg/argocd"
)

func TestAttackSlowBodies(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), Timeout: 600 * time.Millisecond})
	for name, row := range map[string]struct{ secret, status string }{
		"who may ask":     {secret, "408"},
		"who may not ask": {"guess", "403"},
	} {
		t.Run(name, func(t *testing.T) {
			connection, err := net.Dial("tcp", b.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			fmt.Fprintf(connection, "POST /api/v1/classify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n%s: %s\r\n%s: argocd:shop\r\n%s: default\r\n\r\n{",
				api.SecretHeader, row.secret, argocd.HeaderApplication, argocd.HeaderProject)
			_ = connection.SetDeadline(time.Now().Add(20 * time.Second))
			began := time.Now()
			got, err := io.ReadAll(connection) // to the end: the server closes the connection
			if err != nil {
				t.Fatalf("%v after %s, having got %q", err, time.Since(began), got)
			}
			if !strings.HasPrefix(string(got), "HTTP/1.1 "+row.status) {
				t.Errorf("got %q, want %s", got, row.status)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the connection was held for %s", took)
			}
		})
	}
}

func TestAttackManyAtOnce(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true, PerUser: api.Rate{PerSecond: 100, Burst: 1000}, Global: api.Rate{PerSecond: 1, Burst: requests * 2 / 5}})
	transport := &http.Transport{MaxConnsPerHost: askers, MaxIdleConnsPerHost: askers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var codes [600]atomic.Int64
	var running sync.WaitGroup
	for i := range requests {
		running.Go(func() {
			r := b.request(t, http.MethodGet, "/api/v1/report", nil)
			r.Header.Set(argocd.HeaderUsername, fmt.Sprintf("user-%d", i%20))
			response, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			codes[response.StatusCode].Add(1)
		})
	}
	running.Wait()
	ok, refused := codes[http.StatusOK].Load(), codes[http.StatusTooManyRequests].Load()
	if at := int64(requests * 2 / 5); ok < at || ok > at+100 || ok+refused != requests {
		t.Errorf("%d answered and %d refused of %d, want the two in five that are allowed at once and the rest refused", ok, refused, requests)
	}
	if got := gauge(t, b, "moorpin_extension_requests_in_flight"); got != 0 {
		t.Errorf("%v requests are in flight after all", got)
	}
}

// TestAttackManyBodiesAtOnce: as many bodies are held as there is memory for, and no more.
func TestAttackManyBodiesAtOnce(t *testing.T) {
	const limit, senders, fit = 8 << 20, 60, 4
	var inside, most, ok, busy atomic.Int64
	all := make(chan struct{})
	f := newFake()
	f.before = func(context.Context) {
		if now := inside.Add(1); now > most.Load() {
			most.Store(now)
		}
		select { // until all the others are refused, or it shows that none is
		case <-all:
		case <-time.After(3 * time.Second):
		}
		inside.Add(-1)
	}
	b := start(t, api.Options{Reporter: f, MaxBody: limit, MaxHeld: 2 * limit})
	large := packed(t, io.MultiReader(
		strings.NewReader(`{"application":{"metadata":{"namespace":"argocd","name":"shop"},"status":{"a":"`),
		io.LimitReader(&endless{text: "x"}, limit/4+1), strings.NewReader(`"}}}`)))
	var running sync.WaitGroup
	for i := range senders {
		running.Go(func() {
			r := b.request(t, http.MethodPost, "/api/v1/classify", bytes.NewReader(large))
			r.Header.Set("Content-Encoding", "gzip")
			r.Header.Set(argocd.HeaderUsername, fmt.Sprint("user-", i))
			switch got := do(t, r); got.status {
			case http.StatusOK:
				ok.Add(1)
			case http.StatusTooManyRequests:
				if busy.Add(1) == senders-2 {
					close(all)
				}
				if got.header.Get("Retry-After") == "" {
					t.Error("a refusal for now does not say when to try again")
				}
			default:
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	running.Wait()
	if ok.Load() == 0 || ok.Load()+busy.Load() != senders || most.Load() > fit {
		t.Errorf("%d answered, %d refused, %d held at once, want some answered, all accounted for, and at most %d held", ok.Load(), busy.Load(), most.Load(), fit)
	}
	// Everything that was held is given back: a body of the full size fits again.
	r := b.request(t, http.MethodPost, "/api/v1/classify", bytes.NewReader(packed(t, io.MultiReader(
		strings.NewReader(`{"application":{"metadata":{"namespace":"argocd","name":"shop"},"status":{"a":"`),
		io.LimitReader(&endless{text: "x"}, limit-83), strings.NewReader(`"}}}`)))))
	r.Header.Set("Content-Encoding", "gzip")
	if got := do(t, r); got.status != http.StatusOK {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
}

// TestAttackSilentBodies: connections that send a part of a body and then nothing leave
// memory for others, and are ended soon.
func TestAttackSilentBodies(t *testing.T) {
	const limit = 4 << 20
	b := start(t, api.Options{Reporter: newFake(), MaxBody: limit, MaxHeld: 2 * limit, Timeout: 30 * time.Second})
	var connections []net.Conn
	for i := range 4 {
		connection, err := net.Dial("tcp", b.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		fmt.Fprintf(connection, "POST /api/v1/classify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s: %s\r\n%s: argocd:shop\r\n%s: default\r\n%s: user-%d\r\n\r\n",
			limit-1, api.SecretHeader, secret, argocd.HeaderApplication, argocd.HeaderProject, argocd.HeaderUsername, i)
		_, _ = connection.Write(bytes.Repeat([]byte(" "), limit/2+1)) // who is refused closes
		connections = append(connections, connection)
	}
	time.Sleep(200 * time.Millisecond)
	body := object{"application": application("argocd", "bank", "default"), "events": []object{{"message": strings.Repeat("x", limit/2-1000)}}}
	r := b.request(t, http.MethodPost, "/api/v1/classify", body)
	r.Header.Set(argocd.HeaderApplication, "argocd:bank")
	if got := do(t, r); got.status != http.StatusOK {
		t.Errorf("another is refused: %d %s", got.status, got.body)
	}
	began := time.Now()
	for _, connection := range connections {
		_ = connection.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = io.ReadAll(connection)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("who sends nothing more is waited for %s", took)
	}
}

// TestAttackBodiesOfAProject: those who may ask about the Applications of one project, be
// they ever so many, leave room for the bodies of others.
func TestAttackBodiesOfAProject(t *testing.T) {
	const limit = 4 << 20
	b := start(t, api.Options{Reporter: newFake(), MaxBody: limit, MaxHeld: 2 * limit, Timeout: 30 * time.Second})
	for i := range 8 {
		connection := b.dial(t, "POST /api/v1/classify", limit-1, map[string]string{
			argocd.HeaderApplication: fmt.Sprint("argocd:hostile-", i), argocd.HeaderProject: "mallory", argocd.HeaderUsername: fmt.Sprint("user-", i),
		})
		_, _ = connection.Write(bytes.Repeat([]byte(" "), limit/2+1)) // who is refused closes
	}
	time.Sleep(200 * time.Millisecond)
	body := object{"application": application("argocd", "shop", "default"), "events": []object{{"message": strings.Repeat("x", limit/16)}}}
	if got := b.ask(t, http.MethodPost, "/api/v1/classify", body); got.status != http.StatusOK {
		t.Errorf("another project is refused: %d %s", got.status, got.body)
	}
}

// dial sends the head of a request of a connection of its own.
func (b *backend) dial(t *testing.T, question string, length int, headers map[string]string) net.Conn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(descriptor uintptr) {
			_ = syscall.SetsockoptInt(int(descriptor), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 8<<10)
		})
	}}
	connection, err := dialer.DialContext(t.Context(), "tcp", b.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	_ = connection.SetDeadline(time.Now().Add(20 * time.Second))
	all := map[string]string{"Host": "x", "Content-Type": "application/json", api.SecretHeader: secret, argocd.HeaderApplication: "argocd:shop", argocd.HeaderProject: "default"}
	maps.Copy(all, headers)
	if length > 0 {
		all["Content-Length"] = fmt.Sprint(length)
	}
	fmt.Fprintf(connection, "%s HTTP/1.1\r\n", question)
	for name, value := range all {
		fmt.Fprintf(connection, "%s: %s\r\n", name, value)
	}
	fmt.Fprint(connection, "\r\n")
	return connection
}

const frontResource = "/api/v1/report/resource?group=apps&kind=Deployment&namespace=web&name=front"

// TestAttackSlowReaders: answers that nobody takes hold no more memory than there is for
// them, and small ones are answered beside them.
func TestAttackSlowReaders(t *testing.T) {
	const large, fit = 8 << 20, 2
	f := newFake()
	f.large = strings.Repeat("x", large)
	b := start(t, api.Options{Reporter: f, TokenMode: true, MaxHeld: 2*fit*large + large})
	sent := 0
	for i := range 3 * fit {
		connection := b.dial(t, "GET "+frontResource, 0, map[string]string{argocd.HeaderUsername: fmt.Sprint("user-", i)})
		head := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(connection, head); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(string(head), "200") {
			sent++
		}
	}
	if sent != fit {
		t.Errorf("%d answers are being sent, want %d", sent, fit)
	}
	if got := b.ask(t, http.MethodGet, "/api/v1/capabilities", nil); got.status != http.StatusOK {
		t.Errorf("a small answer is refused: %d %s", got.status, got.body)
	}
	problem := b.ask(t, http.MethodGet, frontResource, nil).refused(t, http.StatusTooManyRequests)
	if !strings.Contains(problem.Error, "answers being sent") {
		t.Errorf("the bound is not named: %s", problem.Error)
	}
}

// TestConnectionAfterSlowReader: a reader who takes longer than a request may does not
// spoil the connection, which Argo CD's API server keeps for the requests of others.
func TestConnectionAfterSlowReader(t *testing.T) {
	f := newFake()
	f.large = strings.Repeat("x", 16<<20)
	f.before = func(ctx context.Context) { f.fail = ctx.Err() }
	b := start(t, api.Options{Reporter: f, TokenMode: true, Timeout: time.Second})
	connection := b.dial(t, "GET "+frontResource, 0, nil)
	if err := connection.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(connection)
	time.Sleep(2500 * time.Millisecond) // above the timeout, and what is granted beyond it
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, answer.Body); err != nil || n < 16<<20 {
		t.Fatalf("%d bytes came, then %v", n, err)
	}
	fmt.Fprintf(connection, "GET /api/v1/report HTTP/1.1\r\nHost: x\r\n%s: %s\r\n%s: argocd:shop\r\n%s: default\r\n\r\n", api.SecretHeader, secret, argocd.HeaderApplication, argocd.HeaderProject)
	if answer, err = http.ReadResponse(reader, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("the next request on the connection has %d", answer.StatusCode)
	}
}

func TestAttackUserTakesNothingFromOthers(t *testing.T) {
	b := start(t, api.Options{Reporter: newFake(), TokenMode: true, PerUser: api.Rate{PerSecond: .001, Burst: 2}, Global: api.Rate{PerSecond: .001, Burst: 3}})
	got := []int{}
	for _, user := range []string{"mallory", "mallory", "mallory", "mallory", "zoe", "zoe"} {
		r := b.request(t, http.MethodGet, "/api/v1/report", nil)
		r.Header.Set(argocd.HeaderUsername, user)
		got = append(got, do(t, r).status)
	}
	want := fmt.Sprint([]int{200, 200, 429, 429, 200, 429})
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v: two for each user, three for all", got, want)
	}
}

// TestAttackRollbackWithoutTurn: what a rollback of the collected snapshot takes is the
// classifier's, which bounds it, and not this process's.
func TestAttackRollbackWithoutTurn(t *testing.T) {
	f := newFake()
	b := start(t, api.Options{Reporter: f, TokenMode: true})
	if got := b.ask(t, http.MethodGet, "/api/v1/rollback", nil); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if asked := f.questions(); !slices.Contains(asked, "rollback") {
		t.Errorf("it was written by who serves: %v", asked)
	}
}
