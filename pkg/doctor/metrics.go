package doctor

import (
	"bufio"
	"strconv"
	"strings"
	"time"
)

// Metrics are what the sidecar counts, the labels of a series left aside: series of one
// name are added up.
type Metrics map[string]float64

// Names of the sidecar's metrics.
const (
	metricSynced   = "moorpin_live_crds_synced"
	metricUp       = "moorpin_live_crds_up"
	metricCRDs     = "moorpin_live_crds_definitions"
	metricRefused  = "moorpin_live_crds_refused"
	metricContact  = "moorpin_live_crds_last_contact_timestamp_seconds"
	metricUnpinned = "moorpin_cmp_warnings_total"
	metricObjects  = "moorpin_cmp_objects_total"
	metricConfined = "moorpin_cmp_confined"
)

// readMetrics reads Prometheus' text format, as far as it is needed here: a line that is
// none of it is passed over.
func readMetrics(text string) Metrics {
	found := Metrics{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at < 0 {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(line[:at], "{")
		found[name] += value
	}
	return found
}

// contact is how long ago the API server answered, and whether it ever did.
func (m Metrics) contact(now time.Time) (time.Duration, bool) {
	at := m[metricContact]
	if at <= 0 {
		return 0, false
	}
	return now.Sub(time.UnixMilli(int64(at * 1000))).Round(time.Second), true
}
