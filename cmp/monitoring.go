package cmp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/moorpin/moorpin/pkg/cli"
)

// monitoring serves /metrics and /healthz over HTTP.
type monitoring struct {
	http *http.Server
	// serving is joined when it closes.
	serving sync.WaitGroup
}

// startMonitoring listens on address; an empty one serves nothing. /healthz
// answers 200 until ctx ends. Metrics
// that break later do not break the sidecar.
func startMonitoring(ctx context.Context, address string, metrics http.Handler, log *slog.Logger) (*monitoring, error) {
	if address == "" {
		return &monitoring{}, nil
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", metrics)
	routes.HandleFunc("GET /healthz", func(reply http.ResponseWriter, _ *http.Request) {
		if ctx.Err() != nil {
			http.Error(reply, "draining", http.StatusServiceUnavailable)
			return
		}
		reply.WriteHeader(http.StatusOK)
	})
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--metrics-address: %w", err))
	}
	m := &monitoring{http: &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}}
	m.serving.Go(func() {
		err := m.http.Serve(listener)
		if !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are not served any more", "address", address, "error", err)
		}
	})
	return m, nil
}

// Close stops serving at once.
func (m *monitoring) Close() error {
	if m.http == nil {
		return nil
	}
	err := m.http.Close()
	m.serving.Wait()
	if err != nil {
		return fmt.Errorf("stop serving metrics: %w", err)
	}
	return nil
}
