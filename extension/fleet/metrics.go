package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// otherLabel stands for the Applications beyond the bound, and for words that are not
// Argo CD's.
const otherLabel = "other"

// metrics are what Prometheus sees. The numbers of a scan are made from its Overview
// when they are asked for: an Application that is gone is gone from them.
type metrics struct {
	series int
	last   atomic.Pointer[Overview]

	seconds prometheus.Histogram
	errors  prometheus.Counter
	finish  prometheus.Gauge
}

var (
	fieldsDesc       = prometheus.NewDesc("moorpin_drift_fields", "Drifting fields of an Application by mechanism; a finding that is not about a field counts as one.", []string{"application", "mechanism"}, nil)
	findingsDesc     = prometheus.NewDesc("moorpin_drift_findings", "Findings by mechanism, over all Applications.", []string{"mechanism"}, nil)
	applicationsDesc = prometheus.NewDesc("moorpin_applications", "Applications by Argo CD's sync and health status.", []string{"sync", "health"}, nil)
	unreadDesc       = prometheus.NewDesc("moorpin_drift_unread_resources", "Resources that are OutOfSync and of which only the status was read.", nil, nil)
	behindDesc       = prometheus.NewDesc("moorpin_applications_behind_drift", "Applications that are Progressing or Degraded and not Synced.", []string{"health"}, nil)
)

// newMetrics makes and registers them.
func newMetrics(registry prometheus.Registerer, series int) (*metrics, error) {
	m := &metrics{
		series:  series,
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "moorpin_scan_seconds", Help: "How long the scans of the fleet took.", Buckets: []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800}}),
		errors:  prometheus.NewCounter(prometheus.CounterOpts{Name: "moorpin_scan_errors_total", Help: "Scans of the fleet that did not succeed, and Applications that a scan could not read in full."}),
		finish:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "moorpin_scan_success_timestamp_seconds", Help: "When the last scan of the fleet succeeded, in Unix time."}),
	}
	for _, c := range []prometheus.Collector{m, m.seconds, m.errors, m.finish} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{fieldsDesc, findingsDesc, applicationsDesc, unreadDesc, behindDesc} {
		to <- desc
	}
}

// Collect implements prometheus.Collector. Before the first scan there is nothing.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	o := m.last.Load()
	if o == nil {
		return
	}
	for _, s := range bounded(o, m.series) {
		to <- gauge(fieldsDesc, s.value, s.application, s.mechanism)
	}
	for _, found := range o.Mechanisms {
		to <- gauge(findingsDesc, found.Findings, string(found.Mechanism))
	}
	states := map[[2]string]int{}
	for _, s := range o.States {
		states[[2]string{known(s.Sync, syncs), known(s.Health, healths)}] += s.Applications
	}
	for name, n := range states {
		to <- gauge(applicationsDesc, n, name[0], name[1])
	}
	to <- gauge(unreadDesc, o.Unread)
	behind := map[string]int{progressing: 0, degraded: 0}
	for _, b := range o.Behind {
		behind[b.Health]++
	}
	for health, n := range behind {
		to <- gauge(behindDesc, n, health)
	}
}

func gauge(desc *prometheus.Desc, value int, labels ...string) prometheus.Metric {
	metric, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, errors.Join(errors.New("make a metric"), err))
	}
	return metric
}

// Argo CD's words. What else stands in a status was written by somebody else, and
// would be a label value of his choice.
var (
	syncs   = []string{synced, outOfSync, unknown}
	healths = []string{"Healthy", progressing, degraded, "Suspended", "Missing", unknown}
)

func known(word string, words []string) string {
	if slices.Contains(words, word) {
		return word
	}
	return otherLabel
}

// serie is one value of moorpin_drift_fields.
type serie struct {
	application, mechanism string
	value                  int
}

// bounded are the series, the greatest values first; those beyond the bound are
// summed up by mechanism, under "other". The sums are part of the bound, as far as
// it leaves room.
func bounded(o *Overview, most int) []serie {
	var all []serie
	for i := range o.Affected {
		a := &o.Affected[i]
		for _, c := range a.Counts {
			all = append(all, serie{a.Ref().String(), string(c.Mechanism), c.Fields + c.bare})
		}
	}
	if len(all) <= most {
		return all
	}
	slices.SortStableFunc(all, func(a, b serie) int {
		return cmp.Or(b.value-a.value, cmp.Compare(a.application, b.application), cmp.Compare(a.mechanism, b.mechanism))
	})
	keep := max(0, most-len(o.Mechanisms))
	kept := slices.Clone(all[:keep])
	others := map[string]int{}
	for _, s := range all[keep:] {
		others[s.mechanism] += s.value
	}
	for _, m := range o.Mechanisms {
		if n, found := others[string(m.Mechanism)]; found {
			kept = append(kept, serie{otherLabel, string(m.Mechanism), n})
		}
	}
	return kept
}
