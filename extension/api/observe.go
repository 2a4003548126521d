package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/felixge/httpsnoop"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moorpin/moorpin/extension/fault"
)

// noRoute is the route of a request that none fits.
const noRoute = "other"

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refused  *prometheus.CounterVec
	inFlight prometheus.Gauge
}

// buckets are those of what may take up to the time limit.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 9}

func newMetrics(registry *prometheus.Registry) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "moorpin_extension_requests_total", Help: "Requests answered, by route and status."}, []string{"route", "code"}),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "moorpin_extension_request_seconds", Help: "How long requests took, by route.", Buckets: buckets}, []string{"route"}),
		refused:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "moorpin_extension_refused_total", Help: "Requests without a successful answer, by reason."}, []string{"reason"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "moorpin_extension_requests_in_flight", Help: "Requests being answered now."}),
	}
	return m, register(registry, m.requests, m.seconds, m.refused, m.inFlight)
}

func register(registry *prometheus.Registry, collectors ...prometheus.Collector) error {
	for _, c := range collectors {
		if err := registry.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

// StepObserver makes the function that [report.ServiceOptions] calls Observe: it
// exports how long the steps of a report took, and by its count of the step "cached"
// how many were answered from the cache.
func StepObserver(registry *prometheus.Registry) (func(step string, took time.Duration), error) {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "moorpin_extension_step_seconds",
		Help:    "How long the steps of a report took: collect, revalidate, classify, preview; cached is an answer that was there.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10), // 0.1 ms to 26 s
	}, []string{"step"})
	if err := register(registry, seconds); err != nil {
		return nil, err
	}
	return func(step string, took time.Duration) { seconds.WithLabelValues(step).Observe(took.Seconds()) }, nil
}

// record is what one request leaves in the log.
type record struct {
	route, user, application, reason string
	cause                            error
}

type recordKey struct{}

// recordOf is the request's record; one that nobody reads where there is none.
func recordOf(ctx context.Context) *record {
	if found, ok := ctx.Value(recordKey{}).(*record); ok {
		return found
	}
	return &record{}
}

// observed counts and logs every request: one line, without bodies and secrets.
func (a *api) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := &record{route: noRoute}
		ctx := context.WithValue(r.Context(), recordKey{}, kept)
		seen := httpsnoop.Metrics{Code: http.StatusOK}
		a.metrics.inFlight.Inc()
		defer func() {
			a.metrics.inFlight.Dec()
			a.metrics.requests.WithLabelValues(kept.route, strconv.Itoa(seen.Code)).Inc()
			a.metrics.seconds.WithLabelValues(kept.route).Observe(seen.Duration.Seconds())
			a.log(ctx, r.Method, kept, &seen)
		}()
		seen.CaptureMetrics(w, func(w http.ResponseWriter) { next.ServeHTTP(w, r.WithContext(ctx)) })
	})
}

func (a *api) log(ctx context.Context, method string, kept *record, seen *httpsnoop.Metrics) {
	level := slog.LevelInfo
	switch {
	case seen.Code >= http.StatusInternalServerError:
		level = slog.LevelError
	case seen.Code >= http.StatusBadRequest:
		level = slog.LevelWarn
	}
	fields := []slog.Attr{
		slog.String("method", printable(method)), slog.String("route", kept.route), slog.Int("status", seen.Code), slog.Duration("took", seen.Duration),
		slog.String("user", printable(kept.user)), slog.String("application", kept.application), slog.Int64("bytes", seen.Written),
	}
	if kept.reason != "" {
		fields = append(fields, slog.String("reason", kept.reason))
	}
	if kept.cause != nil {
		fields = append(fields, slog.String("error", printable(kept.cause.Error())))
		if broken, ok := errors.AsType[*fault.PanicError](kept.cause); ok {
			fields = append(fields, slog.String("stack", broken.Stack))
		}
	}
	a.options.Logger.LogAttrs(ctx, level, "request", fields...)
}

// rescued answers a request whose handling panicked, without saying how.
func (a *api) rescued(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { //nolint:contextcheck // fail reads the request's own
			fault := recover()
			if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(fault) // net/http's own way to break off a reply
			}
			if fault == nil {
				return
			}
			// Only the kind of the fault is noted: its words may quote a body.
			a.options.Logger.ErrorContext(r.Context(), "panic", slog.String("kind", fmt.Sprintf("%T", fault)), slog.String("stack", string(debug.Stack())))
			a.fail(w, r, refuse(http.StatusInternalServerError, "panic", "the backend could not answer", "its log says more; please report it"))
		}()
		next.ServeHTTP(w, r)
	})
}
