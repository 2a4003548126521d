package probe_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/cmp/probe"
	"github.com/moorpin/moorpin/cmp/server"
)

// TestSocket asks the real plugin server.
func TestSocket(t *testing.T) {
	for name, discovery := range map[string]bool{"by name only": false, "with discovery": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "moorpin.sock")
			socket, err := server.Listen(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			plugin := server.New(server.Options{Discovery: discovery, Parallelism: 1, Log: slog.New(slog.DiscardHandler), Metrics: server.NewMetrics()})
			go func() { ended <- plugin.Serve(ctx, socket, time.Second) }()
			got, err := probe.Socket(t.Context(), path)
			if diff := cmp.Diff(probe.Found{Serving: true, Discovery: discovery}, got); err != nil || diff != "" {
				t.Errorf("%v, -want +got:\n%s", err, diff)
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSocketRefuses(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(folder, "dead.sock")
	listener, err := net.Listen("unix", dead)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason, path, says string
		is                 error
	}{
		"none":   {"the sidecar does not run", filepath.Join(folder, "none.sock"), "no socket", fs.ErrNotExist},
		"a file": {"only sockets count", plain, "is no socket", nil},
		"dead":   {"what a killed sidecar leaves", dead, "nobody answers", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := probe.Socket(ctx, test.path)
			if err == nil || !strings.Contains(err.Error(), test.says) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%s: want %q, have %v", test.reason, test.says, err)
			}
		})
	}
}
