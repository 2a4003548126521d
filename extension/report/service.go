package report

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// What a [Service] answers instead of a report.
var (
	// ErrNoToken is the answer to a question that needs Argo CD, where there is no client.
	ErrNoToken = errors.New("this backend has no token of Argo CD: send a snapshot, or start it with --server and a token")
	// ErrBusy is the answer when as many wait as may wait.
	ErrBusy = errors.New("too many reports are being made: ask again in some seconds")
	// ErrSnapshot is in the error about a snapshot that says nothing readable; it is
	// the mistake of who sent it.
	ErrSnapshot = errors.New("the snapshot cannot be read")
)

// Defaults of [ServiceOptions].
const (
	DefaultFresh      = 5 * time.Second
	DefaultCacheBytes = 256 << 20
	DefaultQueue      = 64
	DefaultTimeout    = 8 * time.Second
)

const (
	// maxAge is how long a report is given again, even where nothing changed: rules
	// about time see another time.
	maxAge = 5 * time.Minute
	// maxAgeOfCluster is the same where a cluster is asked too: nothing tells of changes
	// of its Pods, autoscalers and Events but reading them.
	maxAgeOfCluster = time.Minute
	// settled is how long Argo CD's version and settings are taken for unchanged.
	settled = 30 * time.Second
	// snapshotShare is the part of the cache's bytes that snapshots may take.
	snapshotShare = 4
)

// ServiceOptions say what a Service may do. Zero values stand for the defaults.
type ServiceOptions struct {
	// Client asks Argo CD; nil where there is no token.
	Client *argocd.Client
	// Collect says how snapshots are collected. Its clock is the service's too.
	Collect Options
	// Fresh is how long an answer is given again without asking anybody.
	Fresh time.Duration
	// CacheBytes bounds the answers and snapshots that are kept, by an estimate.
	CacheBytes int64
	// Workers is how many classifications run at once; default GOMAXPROCS. Twice as
	// many collections may.
	Workers int
	// Queue is how many more may wait.
	Queue int
	// Timeout bounds one collection, and one classification.
	Timeout time.Duration
	// Observe is told how long the steps took: collect, revalidate, classify, preview,
	// and cached for an answer that was there; may be nil.
	Observe func(step string, took time.Duration)
}

// Service makes reports and keeps them. It is safe for concurrent use.
type Service struct {
	options ServiceOptions
	// classifying and collecting bound the work at hand.
	classifying, collecting *gate
	answers                 *cache[*known]
	snapshots               *cache[*drift.Snapshot]
	reports                 *flights[*known]
	world                   *world
}

// known is an answer that was given, and what it rests on.
type known struct {
	answer *Answer
	// versions tell the compared objects from later ones.
	versions string
	// checked is when the versions were those of Argo CD, made when the report was.
	checked, made time.Time
}

// NewService makes a service; it asks nobody yet.
func NewService(options ServiceOptions) *Service {
	if options.Collect.Now == nil {
		options.Collect.Now = time.Now
	}
	if options.Fresh <= 0 {
		options.Fresh = DefaultFresh
	}
	if options.CacheBytes <= 0 {
		options.CacheBytes = DefaultCacheBytes
	}
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	if options.Queue <= 0 {
		options.Queue = DefaultQueue
	}
	if options.Timeout <= 0 {
		options.Timeout = DefaultTimeout
	}
	return &Service{
		options: options, classifying: newGate(options.Workers, options.Queue), collecting: newGate(2*options.Workers, options.Queue),
		answers:   newCache[*known](options.CacheBytes - options.CacheBytes/snapshotShare),
		snapshots: newCache[*drift.Snapshot](options.CacheBytes / snapshotShare),
		reports:   newFlights[*known](), world: &world{client: options.Client},
	}
}

// Classify explains a snapshot that somebody sent. It masks Secrets before anything
// else, in a copy: the snapshot stays as it is.
func (s *Service) Classify(ctx context.Context, snapshot *drift.Snapshot) (*Answer, error) {
	return detached(ctx, s, s.classifying, func(ctx context.Context) (*Answer, error) {
		own := copied(snapshot)
		mask(own)
		return s.explain(ctx, own, Answer{}, "")
	})
}

// Report explains an Application. All who ask meanwhile share one collection; within
// Fresh nobody is asked again, and after it the report is kept as long as Argo CD
// tells the same versions of the compared objects.
func (s *Service) Report(ctx context.Context, ref argocd.Ref) (*Answer, error) {
	found, err := s.report(ctx, ref)
	if err != nil {
		return nil, err
	}
	return found.answer, nil
}

// Snapshot is the collected one that Report explains. It is shared: do not change it.
func (s *Service) Snapshot(ctx context.Context, ref argocd.Ref) (*drift.Snapshot, error) {
	found, err := s.report(ctx, ref)
	if err != nil {
		return nil, err
	}
	if snapshot, ok := s.snapshots.get(snapshotKey(ref, found)); ok {
		return snapshot, nil
	}
	// It was too large to keep, or had to make room.
	return detached(ctx, s, s.collecting, func(ctx context.Context) (*drift.Snapshot, error) {
		snapshot, _, err := s.collect(ctx, ref)
		return snapshot, err
	})
}

func snapshotKey(ref argocd.Ref, of *known) string { return ref.String() + " " + of.answer.Version }

// Preview says what further ignore rules would do. The error is a [drift.RuleError]
// where a rule cannot be used.
func (s *Service) Preview(ctx context.Context, snapshot *drift.Snapshot, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error) {
	return detached(ctx, s, s.classifying, func(ctx context.Context) (*drift.Preview, error) {
		defer s.observed("preview")()
		preview, err := classify.PreviewRules(ctx, snapshot, rules, classify.Options{Guard: true})
		if err != nil {
			return nil, unreadable(ctx, err)
		}
		return preview, nil
	})
}

// report is the answer with what it rests on.
func (s *Service) report(ctx context.Context, ref argocd.Ref) (*known, error) {
	if s.options.Client == nil {
		return nil, ErrNoToken
	}
	if found, ok := s.answers.get(ref.String()); ok && s.since(found.checked) < s.options.Fresh {
		s.observe("cached", 0)
		return found, nil
	}
	return s.reports.do(ctx, ref.String(), func(ctx context.Context) (*known, error) { return s.renew(ctx, ref) })
}

// unreadable says whose mistake an error of package drift is.
func unreadable(ctx context.Context, err error) error {
	_, ofRule := errors.AsType[*drift.RuleError](err)
	if ofRule || ctx.Err() != nil {
		return err
	}
	if ours, broken := errors.AsType[*drift.PanicError](err); broken {
		return &PanicError{Kind: ours.Thrown, Stack: string(ours.Stack)}
	}
	return fmt.Errorf("%w: %w", ErrSnapshot, err)
}

// detached does work in a turn of its own, so that who asks need not wait for its
// end. The turn is over when the work is, whoever waits.
func detached[V any](ctx context.Context, s *Service, turns *gate, work func(context.Context) (V, error)) (V, error) {
	var none V
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	if err := turns.enter(ctx); err != nil {
		cancel()
		return none, err
	}
	type outcome struct {
		value V
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		defer cancel()
		defer turns.leave()
		value, err := protected(ctx, work)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return none, fmt.Errorf("make the report: %w", ctx.Err())
	}
}

func (s *Service) maxAge() time.Duration {
	if s.options.Collect.Cluster != nil {
		return maxAgeOfCluster
	}
	return maxAge
}

func (s *Service) since(then time.Time) time.Duration { return s.options.Collect.Now().Sub(then) }

func (s *Service) observe(step string, took time.Duration) {
	if s.options.Observe != nil {
		s.options.Observe(step, took)
	}
}

// observed measures a step until the returned function is called.
func (s *Service) observed(step string) func() {
	began := time.Now()
	return func() { s.observe(step, time.Since(began)) }
}
