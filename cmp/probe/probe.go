// Package probe asks a plugin server what Argo CD's repo-server asks it first: whether
// it serves, and whether every Application has to be offered to it.
//
// It speaks to the socket only, sends no repository and renders nothing. A socket that
// is not there, that nobody answers on, or that belongs to another user is an error; a
// server that says that it does not serve is an answer.
//
//	found, err := probe.Socket(ctx, "/home/argocd/cmp-server/plugins/moorpin.sock")
package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Found is what a plugin server says of itself.
type Found struct {
	// Serving is false while it drains.
	Serving bool
	// Discovery tells that it asks to be offered Applications that name no plugin.
	Discovery bool
}

// Socket asks the server that listens on the socket.
func Socket(ctx context.Context, path string) (found Found, err error) {
	if err := check(path); err != nil {
		return Found{}, err
	}
	connection, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return Found{}, fmt.Errorf("connect to %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	health, err := grpc_health_v1.NewHealthClient(connection).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	switch {
	case status.Code(err) == codes.Unimplemented: // a plugin server of another make
		found.Serving = true
	case err != nil:
		return Found{}, fmt.Errorf("nobody answers on %s: %s", path, status.Convert(err).Message())
	default:
		found.Serving = health.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING
	}
	plugin, err := apiclient.NewConfigManagementPluginServiceClient(connection).CheckPluginConfiguration(ctx, &emptypb.Empty{})
	if err != nil {
		return found, fmt.Errorf("ask on %s for the plugin's configuration: %s", path, status.Convert(err).Message())
	}
	found.Discovery = plugin.GetIsDiscoveryConfigured()
	return found, nil
}

// check says what gRPC would hide behind "connection refused".
func check(path string) error {
	file, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no socket %s: %w", path, err)
	}
	if err != nil {
		return fmt.Errorf("look at the socket: %w", err)
	}
	if file.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is no socket", path)
	}
	return nil
}
