package server

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
)

// Renderer turns one source of one Application into objects, and calls
// request.Release once nothing uses the private copy any more. Outside tests
// it is a [render.Renderer].
type Renderer interface {
	Run(ctx context.Context, request render.Request) ([]manifest.Object, error)
}

// service answers the four methods of Argo CD's plugin protocol.
type service struct {
	options Options
	gate    *gate
}

// CheckPluginConfiguration says whether repo-server has to ask MatchRepository.
func (s *service) CheckPluginConfiguration(context.Context, *emptypb.Empty) (*apiclient.CheckPluginConfigurationResponse, error) {
	return &apiclient.CheckPluginConfigurationResponse{IsDiscoveryConfigured: s.options.Discovery}, nil
}

// MatchRepository answers yes to every repository when discovery is on: what
// Argo CD can render without a plugin, Moorpin renders the same way.
func (s *service) MatchRepository(stream apiclient.ConfigManagementPluginService_MatchRepositoryServer) error {
	return s.drained(stream, "MatchRepository", func() error {
		return stream.SendAndClose(&apiclient.RepositoryResponse{
			IsSupported: s.options.Discovery, IsDiscoveryEnabled: s.options.Discovery,
		})
	})
}

// GetParametersAnnouncement says which parameters the plugin takes; they do
// not depend on the repository.
func (s *service) GetParametersAnnouncement(stream apiclient.ConfigManagementPluginService_GetParametersAnnouncementServer) error {
	return s.drained(stream, "GetParametersAnnouncement", func() error {
		return stream.SendAndClose(&apiclient.ParametersAnnouncementResponse{ParameterAnnouncements: announcements()})
	})
}

// GenerateManifest receives a repository, renders the app in it, pins what it
// rendered, and answers with one JSON text an object.
func (s *service) GenerateManifest(stream apiclient.ConfigManagementPluginService_GenerateManifestServer) error {
	ctx, cancel := earlier(stream.Context())
	defer cancel()
	from, run := &inbound{stream: stream}, begin("GenerateManifest")
	reply, err := s.generate(ctx, from, run)
	err = s.finish(ctx, run, err)
	if err != nil {
		from.drain(stream.Context())
		return err
	}
	return stream.SendAndClose(reply) //nolint:wrapcheck // the transport's own status
}

// contextStream is the part of a request's stream that drained needs.
type contextStream interface {
	receive.Stream
	Context() context.Context
}

// drained reads the whole stream before it answers, because repo-server takes
// an answer that comes earlier for a no, and unpacks nothing of it.
func (s *service) drained(stream contextStream, rpc string, answer func() error) error {
	ctx := stream.Context()
	run := begin(rpc)
	run.phases.begin(phaseReceive)
	metadata, err := receive.Drain(ctx, stream, s.options.Limits)
	run.env = metadata.Env
	if err != nil {
		return s.finish(ctx, run, fmt.Errorf("receive: %w", err))
	}
	return s.finish(ctx, run, answer())
}

// generate is the use case: wait for a turn, receive, render, pin.
func (s *service) generate(ctx context.Context, from *inbound, run *run) (*apiclient.ManifestResponse, error) {
	run.phases.begin(phaseWait)
	err := s.turn(ctx)
	if err != nil {
		return nil, err
	}
	// The turn ends when both the answer and the renderer have: helm may go on
	// for a while after a deadline.
	done := last(2, s.gate.leave)
	defer done()
	received := false
	defer func() {
		if !received {
			done()
		}
	}()

	run.phases.begin(phaseReceive)
	tree, err := receive.Unpack(ctx, from, s.options.TreeDir, s.options.Limits)
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	received = true
	run.received(tree)

	run.phases.begin(phaseRender)
	objects, request, err := s.render(ctx, tree, done)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}

	run.phases.begin(phasePin)
	results, err := s.pin(ctx, objects, request)
	if err != nil {
		return nil, fmt.Errorf("pin: %w", err)
	}
	s.pinned(run, results)
	return reply(results)
}

// turn waits for a turn, which gate.leave gives back.
func (s *service) turn(ctx context.Context) error {
	ctx, cancel := patience(ctx)
	defer cancel()
	return s.gate.enter(ctx)
}

// render renders the tree's app. The tree is removed and done called when the
// renderer is through with it, which may be later than the return.
func (s *service) render(ctx context.Context, tree *receive.Tree, done func()) ([]manifest.Object, render.Request, error) {
	release := func() {
		defer done()
		err := tree.Remove()
		if err != nil {
			s.options.Log.Error("a private copy stays on disk until the next start", "error", err)
		}
	}
	taken := false
	defer func() {
		if !taken {
			release()
		}
	}()
	path, err := tree.AppPath()
	if err != nil {
		return nil, render.Request{}, fmt.Errorf("find the app: %w", err)
	}
	request, err := render.FromEnvironment(tree.Metadata.Env, tree.Dir, path)
	if err != nil {
		return nil, request, fmt.Errorf("read the environment: %w", err)
	}
	request.Release, taken = release, true
	objects, err := s.options.Renderer.Run(ctx, request)
	return objects, request, err //nolint:wrapcheck // generate names the step
}

// pin pins the objects as the request says, or else as the server was told.
func (s *service) pin(ctx context.Context, objects []manifest.Object, request render.Request) ([]pin.Result, error) {
	mode := s.options.Mode
	if request.Pin != "" {
		mode = pin.Mode(request.Pin)
	}
	results, err := pin.All(ctx, objects, pin.Options{
		Mode: mode, Schemas: s.options.Schemas(), Rules: s.options.Rules, Served: request.APIVersions,
	})
	return results, err //nolint:wrapcheck // generate names the step
}

// reply encodes the objects, in the renderer's order. Repo-server splits each
// text into objects again, so that one text an object is what it parses
// fastest.
func reply(results []pin.Result) (*apiclient.ManifestResponse, error) {
	objects := make([]manifest.Object, len(results))
	for i, result := range results {
		objects[i] = result.Object
	}
	texts, err := manifest.EncodeTexts(objects)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	return &apiclient.ManifestResponse{Manifests: texts}, nil
}

// last returns a function that calls f at its nth call.
func last(n int32, f func()) func() {
	var calls atomic.Int32
	return func() {
		if calls.Add(1) == n {
			f()
		}
	}
}
