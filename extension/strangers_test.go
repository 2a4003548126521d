package extension

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMetricsConnections: who holds connections of the port that needs no secret can
// hold so many only, and each for a while only.
func TestMetricsConnections(t *testing.T) {
	if s := metricsServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler)); s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 {
		t.Errorf("a connection can be held for ever: %+v", s)
	}
	r := start(t, listening{}, http.NotFoundHandler())
	ask := func() net.Conn {
		t.Helper()
		connection, err := net.Dial("tcp", r.ports.metrics.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
		if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		return connection
	}
	answered := func(connection net.Conn, patience time.Duration) bool {
		t.Helper()
		if err := connection.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		_, err := connection.Read(make([]byte, 1))
		return err == nil
	}
	var first net.Conn
	for range metricsConnections {
		first = ask()
		if !answered(first, 10*time.Second) {
			t.Fatal("within the limit there is no answer")
		}
	}
	last := ask()
	if answered(last, 200*time.Millisecond) {
		t.Error("there is no limit")
	}
	_ = first.Close()
	if !answered(last, 10*time.Second) {
		t.Error("a place that was given back is not taken")
	}
}

// TestMCPClusterIsHome: one kubeconfig cannot be that of each Application's destination.
func TestMCPClusterIsHome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := (&assisting{kubeconfig: file}).collecting()
	if err != nil || options.Cluster == nil || !options.Home {
		t.Errorf("%v, %+v", err, options)
	}
	if usage := mcpCommand().Flags().Lookup("kubeconfig").Usage; !strings.Contains(usage, "Argo CD runs in") {
		t.Errorf("--kubeconfig is %q", usage)
	}
}

// TestServeHelp: whoever writes the role of --in-cluster reads here what has to be in it.
func TestServeHelp(t *testing.T) {
	words := strings.Join(strings.Fields(serveHelp), " ")
	for _, right := range []string{
		"CRDs", "Namespaces", "argocd-cm and argocd-cmd-params-cm", "webhook configurations", "HorizontalPodAutoscalers", "ScaledObjects",
		"Rollouts", "Canaries", "Jobs", "ReplicaSets", "Pods", "Events",
	} {
		if !strings.Contains(words, right) {
			t.Errorf("the help does not name the right on %s", right)
		}
	}
	for _, name := range []string{"server", "auth-token-file"} {
		if usage := serveCommand().Flags().Lookup(name).Usage; strings.Contains(usage, "else the argocd CLI") || !strings.Contains(usage, "--argocd-context") {
			t.Errorf("--%s is %q, but serve takes nobody's session by itself", name, usage)
		}
	}
}
