package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	dto "github.com/prometheus/client_model/go"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/manifest"
)

func TestDrain(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{})
	s := startSidecar(t, rendererFunc(func(ctx context.Context, request render.Request) ([]manifest.Object, error) {
		close(entered)
		<-release
		return readFiles(ctx, request)
	}), nil)
	health := watchHealth(t, s.socket.path)
	if got := health(); got != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("before: %s", got)
	}
	root := checkout(t, map[string]string{"web/w.yaml": smallWidget})
	plugin := s.client(t)
	done := make(chan error, 1)
	go func() {
		_, err := plugin.generate(t.Context(), root, "web")
		done <- err
	}()
	<-entered
	s.stop()
	if got := health(); got != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("while it drains: %s", got)
	}
	eventually(t, "the socket is gone", func() bool {
		_, err := os.Lstat(s.socket.path)
		return errors.Is(err, fs.ErrNotExist)
	})
	_, _, err := apiclient.NewConfigManagementPluginClientSet(s.socket.path).NewConfigManagementPluginClient()
	if err == nil {
		t.Error("a newcomer was let in")
	}
	close(release)
	if err := <-done; err != nil {
		t.Errorf("the running request was cut off: %v", err)
	}
	s.wait(t)
}

func TestDrainEndsWithItsGrace(t *testing.T) {
	entered := make(chan struct{})
	s := startSidecar(t, rendererFunc(func(ctx context.Context, _ render.Request) ([]manifest.Object, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	}), nil)
	done := make(chan error, 1)
	plugin, root := s.client(t), checkout(t, map[string]string{"web/w.yaml": smallWidget})
	go func() {
		_, err := plugin.generate(t.Context(), root, "web")
		done <- err
	}()
	<-entered
	s.stop()
	s.wait(t)
	if err := <-done; err == nil {
		t.Error("a request that never ends was answered")
	}
}

// watchHealth returns a function that waits for the next state.
func watchHealth(t *testing.T, path string) func() grpc_health_v1.HealthCheckResponse_ServingStatus {
	t.Helper()
	connection, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	states, err := grpc_health_v1.NewHealthClient(connection).Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return func() grpc_health_v1.HealthCheckResponse_ServingStatus {
		t.Helper()
		state, err := states.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if state.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			cancel() // a watch that goes on would hold the server up
		}
		return state.GetStatus()
	}
}

func TestSocketIsForThisUserAlone(t *testing.T) {
	socket, err := Listen(t.Context(), filepath.Join(t.TempDir(), "moorpin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := os.Lstat(socket.path)
	if err != nil {
		t.Fatal(err)
	}
	if found.Mode().Type() != fs.ModeSocket || found.Mode().Perm() != 0o600 {
		t.Errorf("want a socket with mode 0600, have %s", found.Mode())
	}
	err = errors.Join(socket.Remove(), socket.Close(), socket.Remove())
	if err != nil {
		t.Error(err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "moorpin.sock")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false) // as a killed process leaves it
	err = stale.Close()
	if err != nil {
		t.Fatal(err)
	}
	socket, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(socket.Remove(), socket.Close())
	if err != nil {
		t.Error(err)
	}
}

func TestSocketOfASuccessorStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "moorpin.sock")
	first, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	err = os.Remove(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(first.Close(), first.Remove())
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Lstat(path)
	if err != nil {
		t.Errorf("the successor's socket is gone: %v", err)
	}
	err = errors.Join(second.Remove(), second.Close())
	if err != nil {
		t.Error(err)
	}
}

func TestListenRefuses(t *testing.T) {
	live := filepath.Join(t.TempDir(), "live.sock")
	other, err := Listen(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	err = os.WriteFile(plain, []byte("kept"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ reason, path, says string }{
		"live socket":     {"another sidecar must not be cut off", live, "another plugin server answers on " + live},
		"plain file":      {"a file that is no socket is not ours to remove", plain, "is no socket"},
		"no folder":       {"the volume is not mounted", filepath.Join(t.TempDir(), "none", "x.sock"), "does not exist"},
		"folder a file":   {"the path is wrong", filepath.Join(plain, "x.sock"), "is not a folder"},
		"folder not ours": {"nobody can make a file there, root neither", "/proc/moorpin.sock", "socket folder /proc is not writable"},
		"path too long":   {"the kernel's limit is not obvious", filepath.Join(t.TempDir(), strings.Repeat("a", 100)), "at most 107"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			socket, err := Listen(t.Context(), test.path)
			t.Log(err)
			if err == nil {
				t.Fatalf("%s: %s was taken: %v", test.reason, test.path, socket.Close())
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: want %q in %v", test.reason, test.says, err)
			}
		})
	}
	kept, err := os.ReadFile(plain)
	if err != nil || string(kept) != "kept" {
		t.Errorf("the plain file was touched: %q, %v", kept, err)
	}
	err = errors.Join(other.Remove(), other.Close())
	if err != nil {
		t.Error(err)
	}
}

// TestPings speaks HTTP/2 itself, because the gRPC client never pings more
// often than every ten seconds.
func TestPings(t *testing.T) {
	tests := map[string]struct {
		reason   string
		interval time.Duration
		dropped  bool
	}{
		"within the policy": {"a long render keeps its connection", 10 * time.Millisecond, false},
		"beyond it":         {"the policy is the one that is set: this test can fail", time.Hour, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := startSidecar(t, rendererFunc(readFiles), func(o *Options) { o.PingInterval = test.interval })
			acknowledged, dropped := ping(t, s.socket.path, 10, 30*time.Millisecond)
			if dropped != test.dropped {
				t.Errorf("%s: dropped is %t after %d pings", test.reason, dropped, acknowledged)
			}
		})
	}
}

// ping opens a stream that waits for its renderer and pings beside it. It says
// how many pings were acknowledged and whether the server closed the
// connection for their number.
func ping(t *testing.T, path string, times int, pause time.Duration) (acknowledged int, dropped bool) {
	t.Helper()
	connection, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	err = connection.SetDeadline(time.Now().Add(10 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	frames := http2.NewFramer(connection, connection)
	_, err = connection.Write([]byte(http2.ClientPreface))
	err = errors.Join(err, frames.WriteSettings(), openStream(frames))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range times {
			time.Sleep(pause)
			if frames.WritePing(false, [8]byte{1}) != nil {
				return // the server hung up, which the reader sees
			}
		}
	}()
	for acknowledged < times {
		frame, err := frames.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		switch frame := frame.(type) {
		case *http2.PingFrame:
			if frame.IsAck() && frame.Data == [8]byte{1} {
				acknowledged++
			}
		case *http2.GoAwayFrame:
			return acknowledged, string(frame.DebugData()) == "too_many_pings"
		}
	}
	return acknowledged, false
}

func openStream(frames *http2.Framer) error {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":authority", "localhost"},
		{":path", "/plugin.ConfigManagementPluginService/GenerateManifest"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
	} {
		err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		if err != nil {
			return err
		}
	}
	return frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
}

func TestMetrics(t *testing.T) {
	s := startSidecar(t, rendererFunc(readFiles), nil)
	root := checkout(t, map[string]string{"web/w.yaml": smallWidget + "---\n{apiVersion: unknown.dev/v1, kind: Box}\n", "bad/b.yaml": "a: b: c"})
	plugin := s.client(t)
	_, err := plugin.generate(t.Context(), root, "web")
	if err != nil {
		t.Fatal(err)
	}
	_, err = plugin.generate(t.Context(), root, "bad")
	if err == nil {
		t.Fatal("bad YAML was taken")
	}
	for _, want := range []struct {
		name   string
		labels []string
		value  float64
	}{
		{"moorpin_cmp_requests_total", []string{"GenerateManifest", "OK"}, 1},
		{"moorpin_cmp_requests_total", []string{"GenerateManifest", "InvalidArgument"}, 1},
		{"moorpin_cmp_objects_total", nil, 2},
		{"moorpin_cmp_pinned_fields_total", []string{"Widget.test.moorpin.dev"}, 2},
		{"moorpin_cmp_warnings_total", []string{"Box.unknown.dev", "no CRD known"}, 1},
	} {
		if got := sum(t, s.metrics, want.name, want.labels...); got != want.value {
			t.Errorf("%s%v is %v, want %v", want.name, want.labels, got, want.value)
		}
	}
}

func TestKindLabelsAreBounded(t *testing.T) {
	kinds := kindLabels{known: map[schema.GroupKind]string{}}
	labels := map[string]bool{}
	for i := range 10 * maxKinds {
		labels[kinds.label(schema.GroupKind{Group: fmt.Sprintf("g%d.dev", i), Kind: "K"})] = true
	}
	if len(labels) != maxKinds+1 || !labels[otherKind] {
		t.Errorf("%d labels, want %d and other", len(labels), maxKinds)
	}
}

func TestKindLabel(t *testing.T) {
	long := strings.Repeat("k", 9<<20)
	tests := map[string]struct {
		reason string
		kind   schema.GroupKind
		want   string
	}{
		"core":        {"a group may be empty", schema.GroupKind{Kind: "ConfigMap"}, "ConfigMap"},
		"custom":      {"as kubectl says it", schema.GroupKind{Group: "test.moorpin.dev", Kind: "Widget"}, "Widget.test.moorpin.dev"},
		"no kind":     {"an object without one is no object of an API server", schema.GroupKind{}, otherKind},
		"long kind":   {"a label is kept for ever", schema.GroupKind{Kind: long}, otherKind},
		"long group":  {"and so is a group", schema.GroupKind{Group: long, Kind: "K"}, otherKind},
		"line":        {"no kind has a second line", schema.GroupKind{Kind: "K\nforged 1"}, otherKind},
		"other group": {"a group is a name of DNS", schema.GroupKind{Group: "a b", Kind: "K"}, otherKind},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			kinds := kindLabels{known: map[schema.GroupKind]string{}}
			if got := kinds.label(test.kind); got != test.want {
				t.Errorf("%s: got %.100q, want %q", test.reason, got, test.want)
			}
			if test.want == otherKind && len(kinds.known) > 0 {
				t.Errorf("%s: it is kept all the same", test.reason)
			}
		})
	}
}

// TestHugeNamesStayOut renders, over the socket, what a repository may call its kinds.
func TestHugeNamesStayOut(t *testing.T) {
	long := strings.Repeat("K", 1<<20)
	s := startSidecar(t, rendererFunc(readFiles), nil)
	root := checkout(t, map[string]string{
		"web/w.yaml": "{apiVersion: unknown.dev/v1, kind: " + long + "}",
		"bad/b.yaml": "{apiVersion: v1, kind: " + long + ", metadata: [1",
	})
	plugin := s.client(t)
	if _, err := plugin.generate(t.Context(), root, "web", "ARGOCD_APP_NAME="+long, "ARGOCD_APP_REVISION="+long); err != nil {
		t.Fatal(err)
	}
	if _, err := plugin.generate(t.Context(), root, "bad"); err == nil {
		t.Fatal("bad YAML was taken")
	}
	if got := sum(t, s.metrics, "moorpin_cmp_warnings_total", otherKind); got != 1 {
		t.Errorf("%v warnings about other kinds, want 1", got)
	}
	scraped := httptest.NewRecorder()
	s.metrics.Handler().ServeHTTP(scraped, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if size := scraped.Body.Len(); size > 64<<10 {
		t.Errorf("/metrics has %d bytes", size)
	}
	if size := len(s.log.Bytes()); size > 16<<10 {
		t.Errorf("the log has %d bytes", size)
	}
}

func TestAnsweredErrorIsBounded(t *testing.T) {
	s := startSidecar(t, rendererFunc(func(context.Context, render.Request) ([]manifest.Object, error) {
		return nil, &render.Refusal{Where: "app", Reason: strings.Repeat("x", 1<<20)}
	}), nil)
	_, err := s.client(t).generate(t.Context(), checkout(t, map[string]string{"web/w.yaml": smallWidget}), "web")
	said := status.Convert(err)
	if said.Code() != codes.InvalidArgument || len(said.Message()) > maxAnswer+100 || !strings.Contains(said.Message(), "cut") {
		t.Errorf("%s with %d bytes: %.300s", said.Code(), len(said.Message()), said.Message())
	}
}

func gauge(t *testing.T, metrics *Metrics, name string) float64 {
	t.Helper()
	return sum(t, metrics, name)
}

// sum adds up the values of a metric that have all of the given label values.
func sum(t *testing.T, metrics *Metrics, name string, labels ...string) float64 {
	t.Helper()
	families, err := metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			if has(metric, labels) {
				total += metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
			}
		}
	}
	return total
}

func has(metric *dto.Metric, values []string) bool {
	found := map[string]bool{}
	for _, pair := range metric.GetLabel() {
		found[pair.GetValue()] = true
	}
	for _, value := range values {
		if !found[value] {
			return false
		}
	}
	return true
}
