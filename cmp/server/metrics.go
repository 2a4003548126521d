package server

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/cmp/child"
)

// maxKinds bounds the values of the label "kind"; kinds beyond it count as
// "other", so that a repository full of invented kinds cannot fill the memory
// of whoever scrapes.
const maxKinds = 300

// The first parts of the metrics' names.
const (
	namespace = "moorpin"
	subsystem = "cmp"
)

// Metrics counts what the server does, on a registry of its own: Argo CD's
// libraries put theirs on the default one.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	phases   *prometheus.HistogramVec
	objects  prometheus.Counter
	pinned   *prometheus.CounterVec
	dropped  *prometheus.CounterVec
	warnings *prometheus.CounterVec
	kinds    kindLabels
}

// NewMetrics makes the counters, all zero.
func NewMetrics() *Metrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counters("requests_total", "Requests answered, by gRPC method and status code.", "rpc", "code"),
		phases: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "phase_seconds",
			Help:    "How long the phases of a render took: wait, receive, render, pin.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 17), // 1 ms to 65 s
		}, []string{"phase"}),
		objects: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "objects_total", Help: "Objects rendered and answered.",
		}),
		pinned:   counters("pinned_fields_total", "Fields pinned, nulls replaced by their default included, by kind.", "kind"),
		dropped:  counters("dropped_fields_total", "Fields dropped, nulls included, by kind.", "kind"),
		warnings: counters("warnings_total", "Objects that passed unchanged though they may have defaults, by kind and reason.", "kind", "reason"),
		kinds:    kindLabels{known: map[schema.GroupKind]string{}},
	}
	m.registry.MustRegister(m.requests, m.phases, m.objects, m.pinned, m.dropped, m.warnings,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Gauge adds a number that is asked for at every scrape.
func (m *Metrics) Gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, read))
}

// Handler serves the metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// count counts the changed fields of a kind.
func (m *Metrics) count(kind string, count child.KindCount) {
	if pinned := count.Pinned + count.NullsReplaced; pinned > 0 {
		m.pinned.WithLabelValues(kind).Add(float64(pinned))
	}
	if dropped := count.Dropped + count.NullsDropped; dropped > 0 {
		m.dropped.WithLabelValues(kind).Add(float64(dropped))
	}
}

func (m *Metrics) observe(p *phases) {
	for i, name := range p.names {
		m.phases.WithLabelValues(name).Observe(p.took[i].Seconds())
	}
}

// kindLabels hands out label values for kinds, at most maxKinds different ones.
type kindLabels struct {
	mu    sync.Mutex
	known map[schema.GroupKind]string
}

func (k *kindLabels) label(kind schema.GroupKind) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if label, ok := k.known[kind]; ok {
		return label
	}
	if len(k.known) >= maxKinds {
		return "other"
	}
	k.known[kind] = kind.String()
	return k.known[kind]
}
