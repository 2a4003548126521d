package report

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/weight"
)

// What a [Service] answers instead of a report.
var (
	// ErrNoToken is the answer to a question that needs Argo CD, where there is no client.
	ErrNoToken = errors.New("this backend has no token of Argo CD: send a snapshot, or start it with --server and a token")
	// ErrBusy is the answer when as many wait as may wait.
	ErrBusy = errors.New("too many reports are being made: ask again in some seconds")
	// ErrWorker is in the error about a process that broke down while it explained.
	ErrWorker = errors.New("the worker that explains broke down")
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
	// DefaultSnapshotMemory is also what a worker may take by default.
	DefaultSnapshotMemory = 512 << 20
	DefaultCollectMemory  = 384 << 20
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
	// copies is how often a snapshot is in memory while it is read and explained: as it
	// came, as it was read, and what is made of it.
	copies = 3
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
	// Timeout bounds one collection, and one classification. Half of it is what the work of
	// a project that has all the turns may take while another project waits.
	Timeout time.Duration
	// Classifier explains; default [Direct].
	Classifier Classifier
	// SnapshotMemory bounds what reading and explaining one snapshot takes in memory,
	// CollectMemory what all that is being collected takes together, in bytes, by an
	// estimate made before. A collected snapshot may take a third of the former.
	SnapshotMemory, CollectMemory int64
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
	// again are the snapshots that are collected once more, as they were not kept.
	again *flights[*drift.Snapshot]
	// memory is what collecting takes.
	memory *weight.Budget
	world  *world
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
	if options.Classifier == nil {
		options.Classifier = Direct{}
	}
	if options.SnapshotMemory <= 0 {
		options.SnapshotMemory = DefaultSnapshotMemory
	}
	if options.CollectMemory <= 0 {
		options.CollectMemory = DefaultCollectMemory
	}
	return &Service{
		options: options, memory: weight.NewBudget(options.CollectMemory), classifying: newGate(options.Workers, options.Queue, options.Timeout/2), collecting: newGate(2*options.Workers, options.Queue, 0),
		answers:   newCache[*known](options.CacheBytes - options.CacheBytes/snapshotShare),
		snapshots: newCache[*drift.Snapshot](options.CacheBytes / snapshotShare),
		reports:   newFlights[*known](), again: newFlights[*drift.Snapshot](), world: &world{client: options.Client},
	}
}

// Classify explains a snapshot that somebody sent.
func (s *Service) Classify(ctx context.Context, posted Posted) (*Answer, error) {
	explained, err := s.ask(ctx, "classify", Question{Posted: posted, Prove: true})
	if err != nil {
		return nil, err
	}
	return answer(explained, Answer{}, "")
}

// Try says what further ignore rules would do to a snapshot that somebody sent. The
// error is a [drift.RuleError] where a rule cannot be used.
func (s *Service) Try(ctx context.Context, posted Posted, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error) {
	return s.preview(ctx, Question{Posted: posted}, rules)
}

// Rollback writes what brings back what a plan made of the question's snapshot deletes,
// sent or collected.
func (s *Service) Rollback(ctx context.Context, about Question) ([]byte, error) {
	explained, err := s.ask(ctx, "classify", Question{Posted: about.Posted, Snapshot: about.Snapshot, Rollback: true})
	if err != nil {
		return nil, err
	}
	return explained.Rollback, nil
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
	return s.again.do(ctx, ref.String(), func(ctx context.Context) (*drift.Snapshot, error) {
		allowed := s.allow(ref)
		defer allowed.Release()
		return detached(ctx, s, s.collecting.of(askerOf(ref)), func(ctx context.Context) (*drift.Snapshot, error) {
			snapshot, _, err := s.collect(ctx, ref, allowed)
			return snapshot, err
		})
	})
}

func snapshotKey(ref argocd.Ref, of *known) string { return ref.String() + " " + of.answer.Version }

// Preview says what further ignore rules would do to a collected snapshot. The error is a
// [drift.RuleError] where a rule cannot be used.
func (s *Service) Preview(ctx context.Context, snapshot *drift.Snapshot, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error) {
	return s.preview(ctx, Question{Snapshot: snapshot}, rules)
}

// allow is what collecting the Application may take in memory.
func (s *Service) allow(ref argocd.Ref) *weight.Allowance {
	return s.memory.Allow("what Argo CD tells of the Application "+ref.String(), s.options.SnapshotMemory/copies)
}

func (s *Service) preview(ctx context.Context, question Question, rules []v1alpha1.ResourceIgnoreDifferences) (*drift.Preview, error) {
	question.Rules = append([]v1alpha1.ResourceIgnoreDifferences{}, rules...)
	explained, err := s.ask(ctx, "preview", question)
	if err != nil {
		return nil, err
	}
	return explained.Preview, nil
}

// ask has the classifier answer a question in a turn, unless it would take too much.
func (s *Service) ask(ctx context.Context, step string, question Question) (*Explained, error) {
	if err := s.weigh(question); err != nil {
		return nil, err
	}
	return detached(ctx, s, s.classifying.of(question.askerOf()), func(ctx context.Context) (*Explained, error) {
		defer s.observed(step)()
		return s.options.Classifier.Explain(ctx, question)
	})
}

// weigh refuses a snapshot that was sent and is too large to be read at all. One that was
// collected was weighed while it came.
func (s *Service) weigh(question Question) error {
	most := s.options.SnapshotMemory
	if heavy := copies * weight.JSON(question.Posted.Document); heavy > most {
		return &weight.TooLargeError{What: "the snapshot", Weight: heavy, Limit: most}
	}
	return nil
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
