package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/pkg/schema"
)

// Slot is a confined child that a request has to itself, with a folder in which the
// private copy of its repository lies. Outside tests it is a [child.Slot].
type Slot interface {
	Folder() string
	// Do renders and pins. It returns soon after ctx ends.
	Do(ctx context.Context, task child.Task, schemas schema.Lookup) (*child.Outcome, error)
	// Release gives the child back and removes what lies in its folder. It does not wait
	// for that: what it returns is closed then, or at once where it is little.
	Release() (gone <-chan struct{})
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

// nothing is there to be removed.
var nothing = func() <-chan struct{} {
	gone := make(chan struct{})
	close(gone)
	return gone
}()

// generate is the use case: hear whose request it is, wait for a turn, receive, render
// and pin.
func (s *service) generate(ctx context.Context, from *inbound, run *run) (reply *apiclient.ManifestResponse, err error) {
	run.phases.begin(phaseReceive)
	opened, err := receive.Open(ctx, from, s.options.Limits)
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	run.opened(opened.Metadata)

	run.phases.begin(phaseWait)
	turn, err := s.gate.enter(ctx, opened.Metadata)
	if err != nil {
		return nil, err
	}
	gone := nothing
	defer func() {
		turn.leaveAfter(gone, errors.Is(ctx.Err(), context.DeadlineExceeded) || child.TookTooLong(err))
	}()
	slot, err := s.options.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { gone = slot.Release() }()

	run.phases.begin(phaseReceive)
	tree, err := opened.Unpack(ctx, slot.Folder())
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	run.received(tree)
	path, err := tree.AppPath()
	if err != nil {
		return nil, fmt.Errorf("render: find the app: %w", err)
	}

	run.phases.begin(phaseRender)
	outcome, err := slot.Do(ctx, child.Task{Root: tree.Dir, Path: path, Entries: tree.Entries, Env: tree.Metadata.Env, Mode: s.options.Mode}, s.options.Schemas())
	if err != nil {
		return nil, err //nolint:wrapcheck // the child has named the step
	}
	run.phases.end()
	run.phases.move(phasePin, outcome.Pinning)
	s.finished(run, outcome)
	return &apiclient.ManifestResponse{Manifests: outcome.Texts}, nil
}
