package extension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// running is one run of listening.serve.
type running struct {
	ports *ports
	stop  context.CancelFunc
	ended chan error
}

func start(t *testing.T, l listening, app http.Handler) *running {
	t.Helper()
	l.address, l.metricsAddress = "127.0.0.1:0", "127.0.0.1:0"
	if l.connections == 0 {
		l.connections = 64
	}
	if err := l.validate(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	opened, err := l.open(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := &running{ports: opened, stop: cancel, ended: make(chan error, 1)}
	health := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if opened.shuttingDown.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	go func() { r.ended <- l.serve(ctx, opened, handlers{app: app, metrics: health, timeout: time.Second}) }()
	t.Cleanup(cancel)
	return r
}

func (r *running) url() string { return "http://" + r.ports.app.listener.Addr().String() }

// get answers the body, and whether the reply ended the connection.
func get(url string) (body string, closed bool, err error) {
	reply, err := http.Get(url)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = reply.Body.Close() }()
	data, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", reply.StatusCode)
	}
	return string(data), reply.Close, err
}

// TestDrain: after the signal an instance says that it is not ready, goes on answering
// for the delay, and lets what runs end.
func TestDrain(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	r := start(t, listening{delay: 300 * time.Millisecond, grace: 10 * time.Second}, http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/slow" {
			close(begun)
			<-finish
		}
		_, _ = io.WriteString(w, "answer")
	}))
	if body, closed, err := get(r.url()); body != "answer" || closed || err != nil {
		t.Fatalf("before the signal: %q, closed %v, %v", body, closed, err)
	}
	slow := make(chan error, 1)
	go func() {
		_, _, err := get(r.url() + "/slow")
		slow <- err
	}()
	<-begun
	r.stop()
	for !r.ports.shuttingDown.Load() {
		time.Sleep(time.Millisecond)
	}
	if _, _, err := get("http://" + r.ports.metrics.listener.Addr().String()); err == nil {
		t.Error("the health says yes while the instance shuts down")
	}
	if body, closed, err := get(r.url()); body != "answer" || !closed || err != nil {
		t.Errorf("during the delay: %q, closed %v, %v", body, closed, err)
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, _, err := get(r.url()); err != nil {
			break
		}
	}
	select {
	case err := <-r.ended:
		t.Fatalf("ended with a request under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(finish)
	if err := <-slow; err != nil {
		t.Errorf("the request under way was lost: %v", err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestGraceEnds: a request that never ends does not keep the process.
func TestGraceEnds(t *testing.T) {
	begun := make(chan struct{})
	r := start(t, listening{grace: 50 * time.Millisecond}, http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		close(begun)
		<-request.Context().Done()
	}))
	go func() { _, _, _ = get(r.url()) }()
	<-begun
	r.stop()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("still there")
	}
}

// TestConnections: no more than the limit are served at once, and those beyond it wait.
func TestConnections(t *testing.T) {
	var now, most atomic.Int64
	r := start(t, listening{connections: 2}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(20 * time.Millisecond)
		w.Header().Set("Connection", "close")
	}))
	done := make(chan error, 10)
	for range cap(done) {
		go func() {
			_, _, err := get(r.url())
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 2 {
		t.Errorf("%d were served at once, want 2", most.Load())
	}
}

// TestSlowHeaders: a connection that never becomes a request is given up, and large
// headers are refused.
func TestSlowHeaders(t *testing.T) {
	r := start(t, listening{}, http.NotFoundHandler())
	for name, sent := range map[string]string{
		"slow":  "GET / HTTP/1.1\r\nHost: x\r\n",
		"large": "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection, err := net.Dial("tcp", r.ports.app.listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = connection.Close() }()
			if _, err := io.WriteString(connection, sent); err != nil {
				t.Fatal(err)
			}
			if err := connection.SetReadDeadline(time.Now().Add(2 * headerTimeout)); err != nil {
				t.Fatal(err)
			}
			reply, err := io.ReadAll(connection)
			if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
				t.Error("the connection is kept")
			}
			if strings.Contains(string(reply), " 404 ") {
				t.Errorf("it was served: %s", reply)
			}
		})
	}
}
