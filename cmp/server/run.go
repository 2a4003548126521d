package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// The variables of the caller that the log names a request by.
const (
	envName     = "ARGOCD_APP_NAME"
	envRevision = "ARGOCD_APP_REVISION"
)

// maxWarnings bounds the log lines about objects of one request.
const maxWarnings = 20

// run is what a request's one log line says about it.
type run struct {
	rpc    string
	start  time.Time
	phases phases
	// env is the caller's; the log names the application and the revision of it.
	env    map[string]string
	path   string
	files  int
	bytes  int64
	counts counts
}

// counts is what pinning did.
type counts struct {
	objects, pinned, dropped, nulls, warned int
}

// LogValue groups the counts in a log line.
func (c *counts) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("objects", c.objects), slog.Int("pinned", c.pinned), slog.Int("dropped", c.dropped),
		slog.Int("nulls", c.nulls), slog.Int("warned", c.warned))
}

func begin(rpc string) *run {
	return &run{rpc: rpc, start: time.Now()}
}

func (r *run) opened(metadata receive.Metadata) {
	r.env, r.path = metadata.Env, metadata.AppRelPath
}

func (r *run) received(tree *receive.Tree) {
	r.files, r.bytes = tree.Files, tree.Bytes
}

// finished counts what pinning did, and says once for each kind and reason what passed
// unchanged: that cannot travel in the answer.
func (s *service) finished(run *run, outcome *child.Outcome) {
	metrics := s.options.Metrics
	for _, count := range outcome.Kinds {
		metrics.count(metrics.kinds.label(count.GroupKind), count)
		run.counts.pinned += count.Pinned
		run.counts.dropped += count.Dropped
		run.counts.nulls += count.NullsReplaced + count.NullsDropped
	}
	for i, warning := range outcome.Warnings {
		metrics.warnings.WithLabelValues(metrics.kinds.label(warning.Kind.GroupKind()), obstacleLabel(warning.Obstacle)).Add(float64(warning.Objects))
		if i < maxWarnings {
			s.options.Log.Warn(warning.Text, "application", run.env[envName], "revision", run.env[envRevision])
		}
	}
	run.counts.warned, run.counts.objects = outcome.Warned, len(outcome.Texts)
	metrics.objects.Add(float64(len(outcome.Texts)))
}

// obstacleLabel is an obstacle as a label: what is none counts as "other".
func obstacleLabel(obstacle schema.Obstacle) string {
	switch obstacle {
	case schema.NotServed, schema.ConvertedByWebhook, schema.NotStructural, schema.WithoutSchema, schema.TooLarge,
		pin.NoSchema, pin.NotServedByDestination, pin.InvalidAnnotation, pin.InvalidCRD, pin.OverBudget:
		return string(obstacle)
	}
	return "other"
}

// finish ends the run: it turns the error into the caller's status, observes
// the phases and writes the log line.
func (s *service) finish(ctx context.Context, run *run, err error) error {
	run.phases.end()
	s.options.Metrics.observe(&run.phases)
	if broken, found := errors.AsType[*render.Breakdown](err); found {
		s.options.Log.Error("the renderer panicked", "stack", string(broken.Stack))
	}
	err = shortened(explain(ctx, run, err))
	level, message := slog.LevelInfo, "answered"
	if err != nil {
		level, message = slog.LevelWarn, "refused"
		if status.Code(err) == codes.Internal {
			level, message = slog.LevelError, "failed"
		}
	}
	attributes := []slog.Attr{
		slog.String("rpc", run.rpc),
		slog.String("application", run.env[envName]),
		slog.String("revision", run.env[envRevision]),
		slog.String("path", run.path),
		slog.Int("files", run.files),
		slog.Int64("bytes", run.bytes),
		slog.Any("counts", &run.counts),
		slog.Any("phases", &run.phases),
		slog.Float64("tookMs", float64(time.Since(run.start).Microseconds())/1000),
	}
	if err != nil {
		attributes = append(attributes, slog.String("code", status.Code(err).String()), slog.String("error", status.Convert(err).Message()))
	}
	s.options.Log.LogAttrs(ctx, level, message, attributes...)
	return err
}

// maxAnswer bounds the message of an error that is answered: Argo CD keeps it in the
// Application's conditions, and shows it.
const maxAnswer = 8 << 10

// shortened bounds the message of a status.
func shortened(err error) error {
	said := status.Convert(err)
	if len(said.Message()) <= maxAnswer {
		return err
	}
	return status.Error(said.Code(), cli.Cut(said.Message(), maxAnswer)) //nolint:wrapcheck // this is what a handler returns
}

// advice on what to do when there is not enough time.
const moreTime = "raise controller.repo.server.timeout.seconds and server.repo.server.timeout.seconds in argocd-cmd-params-cm, or make the render cheaper"

// explain turns the error of a step into a status: the code says whose mistake
// it is, the message what to do.
func explain(ctx context.Context, run *run, err error) error {
	var refused *receive.Error
	var mistaken *render.Refusal
	var unreadable *manifest.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errQueueFull), errors.Is(err, errNoTurn), errors.Is(err, errGaveWay), errors.Is(err, errHeavy):
		return status.Errorf(codes.ResourceExhausted, "%v (%s): try again later, or raise --parallelism or --queue of the plugin", err, &run.phases)
	case errors.As(err, &refused) && refused.Kind == receive.OverLimit:
		return refusal(codes.ResourceExhausted, err)
	case errors.As(err, &refused), errors.As(err, &mistaken), errors.As(err, &unreadable):
		return refusal(codes.InvalidArgument, err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return status.Errorf(codes.DeadlineExceeded, "the time ran out (%s): %s: %v", &run.phases, moreTime, err)
	case errors.Is(ctx.Err(), context.Canceled):
		return status.Errorf(codes.Canceled, "the caller gave up (%s): %v", &run.phases, err)
	}
	return refusal(codes.Internal, err)
}

// refusal is a status with the whole message of an error.
func refusal(code codes.Code, err error) error {
	return status.Error(code, err.Error()) //nolint:wrapcheck // this is what a handler returns
}
