package fleet

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moorpin/moorpin/extension/fault"
)

const (
	defaultInterval = 10 * time.Minute
	leastInterval   = 10 * time.Second
	defaultSeries   = 5000
	// jitter is the part of an interval by which a scan may be early or late, so that
	// several replicas do not ask at once.
	jitter = 0.1
)

// ScannerOptions say what is scanned. Zero values stand for the defaults.
type ScannerOptions struct {
	// List lists the Applications; it must be given.
	List func(context.Context) iter.Seq2[map[string]any, error]
	// Options say how each scan summarises. Its Settings are taken from the function
	// below, where there is one.
	Options Options
	// Settings are asked for at the start of every scan, as the time is one of them.
	Settings SettingsFunc
	// Interval is from the start of one scan to that of the next, give or take a
	// tenth; default 10 minutes, at least 10 seconds.
	Interval time.Duration
	// Series bounds the series of moorpin_drift_fields; default 5000.
	Series int
	// Logger is told of scans that did not succeed; default slog's own.
	Logger *slog.Logger
	// Registry gets the metrics; it must be given.
	Registry prometheus.Registerer
}

// Scanner summarises the fleet again and again, and keeps the last Overview for
// Prometheus.
type Scanner struct {
	options ScannerOptions
	metrics *metrics
}

// NewScanner registers the metrics; nothing is asked before Run.
func NewScanner(options ScannerOptions) (*Scanner, error) {
	if options.List == nil || options.Registry == nil {
		return nil, errors.New("a scanner needs a list of Applications and a registry")
	}
	if options.Interval <= 0 {
		options.Interval = defaultInterval
	}
	if options.Interval < leastInterval {
		return nil, errors.New("the interval of scans is shorter than 10 seconds, which only burdens Argo CD")
	}
	if options.Series <= 0 {
		options.Series = defaultSeries
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	m, err := newMetrics(options.Registry, options.Series)
	if err != nil {
		return nil, err
	}
	return &Scanner{options: options, metrics: m}, nil
}

// Run scans until ctx ends, the first time within a tenth of the interval. A scan that
// does not succeed leaves the numbers of the one before, and is counted.
func (s *Scanner) Run(ctx context.Context) {
	wait := time.Duration(rand.Float64() * jitter * float64(s.options.Interval))
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		begin := time.Now()
		if err := s.Scan(ctx); err != nil && ctx.Err() == nil {
			s.options.Logger.Warn("scan of the fleet", "error", err)
		}
		// A scan that takes longer than the interval is followed by a pause all the same.
		wait = max(spread(s.options.Interval)-time.Since(begin), s.options.Interval/10)
	}
}

// spread is an interval, give or take a tenth.
func spread(interval time.Duration) time.Duration {
	return time.Duration(float64(interval) * (1 - jitter + 2*jitter*rand.Float64()))
}

// Scan summarises once, within three intervals.
func (s *Scanner) Scan(ctx context.Context) error {
	begin := time.Now()
	bounded, cancel := context.WithTimeout(ctx, 3*s.options.Interval)
	defer cancel()
	overview, err := fault.Contained(func() (*Overview, error) { return s.summarise(bounded) })
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) //nolint:wrapcheck // the process ends, which is no error of the scan
	}
	s.metrics.seconds.Observe(time.Since(begin).Seconds())
	if err != nil {
		s.metrics.errors.Inc()
		if broken, ok := errors.AsType[*fault.PanicError](err); ok {
			s.options.Logger.Error("panic", "kind", broken.Kind, "stack", broken.Stack)
		}
		return err
	}
	s.metrics.errors.Add(float64(len(overview.Problems)))
	if n := len(overview.Problems); n > 0 {
		first := overview.Problems[0]
		s.options.Logger.Warn("scan of the fleet: some Applications could not be read", "applications", n, "first", first.Application, "error", first.Error)
	}
	s.metrics.finish.SetToCurrentTime()
	s.metrics.last.Store(overview)
	return nil
}

func (s *Scanner) summarise(ctx context.Context) (*Overview, error) {
	options := s.options.Options
	options.Log = s.options.Logger
	if s.options.Settings != nil {
		settings, err := s.options.Settings(ctx)
		if err != nil {
			return nil, err
		}
		options.Settings = settings
	}
	return Summarise(ctx, s.options.List(ctx), options)
}
