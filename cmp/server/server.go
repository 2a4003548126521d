// Package server is Argo CD's config management plugin protocol, served
// natively: one long-lived gRPC server on a unix socket, where the stock
// sidecar starts a command for every request.
//
// A request is one straight line: wait for a turn and a confined child, receive the
// tarball, have the child render it with Argo CD's own renderer and pin the result,
// answer. Of what is in a repository, this process only unpacks the files. The server
// answers a little before the caller's deadline, with the time that each step
// took; it reads a refused request to its end, because repo-server loses the
// message of an error that comes while it still sends; it bounds how many
// requests work at once and how many wait; and it finishes what it began
// before it stops. It refuses a socket that another server answers on.
//
// Answers and log lines hold no value of a rendered manifest, and of the environment
// only the Application's name and revision. What a parser or a program of the
// repository complains about may quote the line at fault, as in Argo CD itself.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path"
	"runtime/debug"
	"time"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v2/common"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// Options is what a server needs. Take, Schemas, Log and Metrics are required.
type Options struct {
	// Take gives a request its child; the server asks for no more than Parallelism at once.
	Take func(ctx context.Context) (Slot, error)
	// Schemas gives the schemas that are in force; it is called once a request.
	Schemas func() schema.Lookup
	// Mode is what is pinned when a request does not say so itself.
	Mode pin.Mode
	// Discovery offers the plugin to Applications that name none.
	Discovery bool
	Limits    receive.Limits
	// Parallelism bounds the requests that work at once, Queue those that wait.
	Parallelism, Queue int
	Log                *slog.Logger
	Metrics            *Metrics
	// PingInterval is how often a client may ping at most; zero means as often
	// as Argo CD allows its own clients, every ten seconds unless
	// ARGOCD_GRPC_KEEP_ALIVE_MIN says otherwise.
	PingInterval time.Duration
}

// Server is the plugin server.
type Server struct {
	grpc    *grpc.Server
	health  *health.Server
	log     *slog.Logger
	metrics *Metrics
}

// New makes a server that does not listen yet.
func New(options Options) *Server {
	if options.PingInterval == 0 {
		options.PingInterval = common.GetGRPCKeepAliveEnforcementMinimum()
	}
	s := &Server{health: health.NewServer(), log: options.Log, metrics: options.Metrics}
	s.grpc = grpc.NewServer(
		grpc.MaxRecvMsgSize(apiclient.MaxGRPCMessageSize), // ARGOCD_GRPC_MAX_SIZE_MB, default 100
		grpc.MaxSendMsgSize(apiclient.MaxGRPCMessageSize),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: options.PingInterval}),
		grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
	)
	work := &service{options: options, gate: newGate(options.Parallelism, options.Queue)}
	apiclient.RegisterConfigManagementPluginServiceServer(s.grpc, work)
	grpc_health_v1.RegisterHealthServer(s.grpc, s.health)
	options.Metrics.Gauge("cmp_working", "Renders that work now.", func() float64 {
		working, _ := work.gate.load()
		return float64(working)
	})
	options.Metrics.Gauge("cmp_waiting", "Renders that wait for their turn.", func() float64 {
		_, waiting := work.gate.load()
		return float64(waiting)
	})
	return s
}

// Serve answers requests until ctx ends. Then the health service turns to
// NOT_SERVING, the socket is removed so that nobody new comes, and requests
// that run have grace to end before they are cut off.
func (s *Server) Serve(ctx context.Context, socket *Socket, grace time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- s.grpc.Serve(socket) }()
	s.log.Info("serving", "socket", socket.path)
	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("serve on %s: %w", socket.path, err), socket.Remove())
	case <-ctx.Done():
	}
	s.log.Info("draining", "grace", grace.String())
	s.health.Shutdown()
	err := socket.Remove()
	cut := time.AfterFunc(grace, func() {
		s.log.Warn("grace is over; the requests that still run are cut off")
		s.grpc.Stop()
	})
	defer cut.Stop()
	s.grpc.GracefulStop()
	served := <-failed
	if errors.Is(served, net.ErrClosed) || errors.Is(served, grpc.ErrServerStopped) {
		served = nil
	}
	s.log.Info("stopped")
	return errors.Join(err, served)
}

func (s *Server) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
	defer func() { err = s.settle(info.FullMethod, recover(), err) }()
	return handler(ctx, request)
}

func (s *Server) stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer func() { err = s.settle(info.FullMethod, recover(), err) }()
	return handler(service, stream)
}

var errPanicked = errors.New("the plugin panicked while it answered; its log has the place: report it")

// settle turns a panic into an error, says where it happened, and counts the
// answer.
func (s *Server) settle(method string, panicked any, err error) error {
	method = path.Base(method)
	if panicked != nil {
		s.log.Error("a request panicked", "rpc", method, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
		err = refusal(codes.Internal, errPanicked)
	}
	s.metrics.requests.WithLabelValues(method, status.Code(err).String()).Inc()
	return err
}
