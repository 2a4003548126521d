package extension

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/net/netutil"

	"github.com/moorpin/moorpin/pkg/cli"
)

// Limits of a connection. What a request may take is the API's to say; these end what
// never becomes one.
const (
	headerTimeout = 5 * time.Second
	maxHeader     = 64 << 10
	// idleTimeout outlives the minute after which argocd-server gives up an idle
	// connection: whoever closes second loses no request.
	idleTimeout = 2 * time.Minute
	// metricsTimeout bounds the sending of a question about metrics, and twice it the
	// answer; metricsConnections are how many ask at once.
	metricsTimeout     = 10 * time.Second
	metricsConnections = 32
	// replyMargin is what a reply may take longer than its making.
	replyMargin = 20 * time.Second
)

// listening holds the flags of the two ports.
type listening struct {
	address, metricsAddress string
	connections             int
	delay, grace            time.Duration
}

func (l *listening) flags(flags *pflag.FlagSet) {
	flags.StringVar(&l.address, "listen", ":8080", "`HOST:PORT` of the API")
	flags.StringVar(&l.metricsAddress, "metrics-listen", ":9090", "`HOST:PORT` of /metrics, /healthz and /readyz; empty serves none")
	flags.IntVar(&l.connections, "max-connections", 1024, "how many connections are served at once; more wait")
	flags.DurationVar(&l.delay, "shutdown-delay", 5*time.Second, "how long requests are still taken after SIGTERM, until everybody has learned that this instance is not ready")
	flags.DurationVar(&l.grace, "grace", 20*time.Second, "how long requests that run may go on after that; both together below the pod's terminationGracePeriodSeconds")
}

func (l *listening) validate() error {
	if l.connections < 1 || l.delay < 0 || l.grace < 0 {
		return errors.New("--max-connections must be at least 1; --shutdown-delay and --grace must not be negative")
	}
	return nil
}

// endpoint is a port with what it serves.
type endpoint struct {
	listener net.Listener
	server   *http.Server
}

// ports are the API's, and the one of the metrics or nil. Shutting down is set once
// SIGTERM came.
type ports struct {
	app, metrics *endpoint
	shuttingDown atomic.Bool
	log          *slog.Logger
}

// open listens on both ports, so that a mistake shows before anything is served.
func (l *listening) open(ctx context.Context, log *slog.Logger) (*ports, error) {
	app, err := new(net.ListenConfig).Listen(ctx, "tcp", l.address)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--listen: %w", err))
	}
	p := &ports{app: &endpoint{listener: netutil.LimitListener(app, l.connections)}, log: log}
	if l.metricsAddress == "" {
		return p, nil
	}
	metrics, err := new(net.ListenConfig).Listen(ctx, "tcp", l.metricsAddress)
	if err != nil {
		return nil, cli.Mistake(errors.Join(fmt.Errorf("--metrics-listen: %w", err), app.Close()))
	}
	p.metrics = &endpoint{listener: netutil.LimitListener(metrics, metricsConnections)}
	return p, nil
}

// close gives the ports back that were never served on.
func (p *ports) close() error {
	err := p.app.listener.Close()
	if p.metrics != nil {
		err = errors.Join(err, p.metrics.listener.Close())
	}
	return err
}

// handlers are what the two ports serve, and how long a request of the API may take.
type handlers struct {
	app, metrics http.Handler
	timeout      time.Duration
}

// serve answers requests until ctx ends. Then this instance is not ready any more, goes
// on for the delay, takes no new connection, and gives what runs the grace to end.
func (l *listening) serve(ctx context.Context, p *ports, h handlers) error {
	p.app.server = &http.Server{
		Handler: p.closing(h.app), ReadHeaderTimeout: headerTimeout,
		ReadTimeout: h.timeout + replyMargin/2, WriteTimeout: h.timeout + replyMargin, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 2)
	var running sync.WaitGroup
	defer running.Wait()
	start := func(e *endpoint, what string) {
		p.log.Info("serving", "what", what, "address", e.listener.Addr().String())
		running.Go(func() { failed <- fmt.Errorf("serve the %s: %w", what, e.server.Serve(e.listener)) })
	}
	if p.metrics != nil {
		p.metrics.server = metricsServer(h.metrics, p.log)
		start(p.metrics, "metrics")
		defer func() { _ = p.metrics.server.Close() }() // scrapes can be cut off
	}
	start(p.app, "API")
	select {
	case err := <-failed:
		return errors.Join(err, p.app.server.Close())
	case <-ctx.Done():
	}
	return l.drain(context.WithoutCancel(ctx), p, failed)
}

// metricsServer is for everybody on the network of the cluster, who needs no secret.
func metricsServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: metricsTimeout, WriteTimeout: 2 * metricsTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// drain ends serving without losing a request.
func (l *listening) drain(ctx context.Context, p *ports, failed <-chan error) error {
	p.shuttingDown.Store(true)
	p.log.Info("draining", "delay", l.delay.String(), "grace", l.grace.String())
	select {
	case err := <-failed:
		return errors.Join(err, p.app.server.Close())
	case <-time.After(l.delay):
	}
	select { // of two that are ready, the first select took any
	case err := <-failed:
		return errors.Join(err, p.app.server.Close())
	default:
	}
	patience, cancel := context.WithTimeout(ctx, l.grace)
	defer cancel()
	err := p.app.server.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		p.log.Warn("grace is over; the requests that still run are cut off")
		err = p.app.server.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	p.log.Info("stopped")
	return nil
}

// closing asks callers to come back by a new connection once this instance shuts down:
// a request on a kept one could cross the closing of it, and would be lost.
func (p *ports) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.shuttingDown.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
