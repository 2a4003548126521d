package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/moorpin/moorpin/extension/fleet"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// scanned is a scanner of what list returns.
func scanned(t *testing.T, list func() iter.Seq2[object, error], change func(*fleet.ScannerOptions)) (*fleet.Scanner, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	options := fleet.ScannerOptions{
		List: func(context.Context) iter.Seq2[object, error] { return list() }, Options: fleet.Options{Settings: settings},
		Registry: registry, Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&options)
	}
	scanner, err := fleet.NewScanner(options)
	if err != nil {
		t.Fatal(err)
	}
	return scanner, registry
}

// gathered is the value of every series, by its name and labels.
func gathered(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := make([]string, 0, len(metric.GetLabel()))
			for _, pair := range metric.GetLabel() {
				labels = append(labels, pair.GetValue())
			}
			name := strings.Join(append([]string{family.GetName()}, labels...), " ")
			values[name] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func wantSeries(t *testing.T, registry *prometheus.Registry, want map[string]float64) {
	t.Helper()
	got := gathered(t, registry)
	for name, value := range want {
		if found, there := got[name]; !there || found != value {
			t.Errorf("%s is %v (there: %t), want %v", name, found, there, value)
		}
	}
}

// TestScan follows a fleet through four scans: as it is, without the Applications that
// are gone, and through an error, which leaves what was known.
func TestScan(t *testing.T) {
	size, broken := 60, false
	list := func() iter.Seq2[object, error] {
		if broken {
			return func(yield func(object, error) bool) { yield(nil, errors.New("connection reset")) }
		}
		return made(size, 5)
	}
	explain := func(_ context.Context, ref argocd.Ref) (*fleet.Explained, error) {
		if ref.Name == "app-0010" {
			return nil, errors.New("busy")
		}
		return &fleet.Explained{Report: field(drift.ManualEdit, "a"), Read: everything()}, nil
	}
	scanner, registry := scanned(t, list, func(o *fleet.ScannerOptions) { o.Options.Fields = explain })
	if got := gathered(t, registry); len(got) != 3 {
		t.Errorf("before the first scan there is something to see: %v", got)
	}
	if err := scanner.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := map[string]float64{
		"moorpin_drift_fields argocd/app-0000 manual-edit": 2, "moorpin_drift_findings manual-edit": 10, "moorpin_applications Degraded OutOfSync": 2,
		"moorpin_applications Healthy Synced": 49, "moorpin_drift_unread_resources": 1, "moorpin_applications_behind_drift Degraded": 2, "moorpin_applications_behind_drift Progressing": 0,
		"moorpin_scan_errors_total": 1, "moorpin_scan_seconds": 1,
	}
	wantSeries(t, registry, first)

	size = 1
	if err := scanner.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := map[string]float64{"moorpin_drift_fields argocd/app-0000 manual-edit": 2, "moorpin_drift_findings manual-edit": 1, "moorpin_scan_errors_total": 1, "moorpin_scan_seconds": 2}
	wantSeries(t, registry, second)
	if _, there := gathered(t, registry)["moorpin_drift_fields argocd/app-0020 manual-edit"]; there {
		t.Error("an Application that is gone is still counted")
	}

	broken = true
	if err := scanner.Scan(t.Context()); err == nil {
		t.Error("a list that breaks off is a scan")
	}
	wantSeries(t, registry, map[string]float64{"moorpin_drift_fields argocd/app-0000 manual-edit": 2, "moorpin_scan_errors_total": 2, "moorpin_scan_seconds": 3})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("metrics: %v, %v", problems, err)
	}
}

// TestSeriesAreBounded: what is beyond the bound is summed up, so that nothing is lost
// but the names.
func TestSeriesAreBounded(t *testing.T) {
	scanner, registry := scanned(t, func() iter.Seq2[object, error] { return made(400, 5) }, func(o *fleet.ScannerOptions) {
		o.Series = 10
		o.Options.Fields = func(_ context.Context, ref argocd.Ref) (*fleet.Explained, error) {
			if ref.Name == "app-0100" {
				report := field(drift.HPAReplicas, "a")
				report.Findings = append(report.Findings, field(drift.HPAReplicas, "b").Findings...)
				return &fleet.Explained{Report: report, Read: everything()}, nil
			}
			return &fleet.Explained{Report: field(drift.ManualEdit, "a"), Read: everything()}, nil
		}
	})
	if err := scanner.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	series, sum := 0, 0.0
	for name, value := range gathered(t, registry) {
		if strings.HasPrefix(name, "moorpin_drift_fields ") {
			series++
			sum += value
		}
	}
	// 40 drift, 20 wait to be pruned, 8 cannot be rendered, each with two fields; one has four.
	if series > 10 || series < 8 || sum != 2*68+2 {
		t.Errorf("%d series with %v fields, want at most 10 with %d", series, sum, 2*68+2)
	}
	wantSeries(t, registry, map[string]float64{"moorpin_drift_fields argocd/app-0100 hpa-replicas": 4, "moorpin_drift_fields other manual-edit": 2 * (67 - 7)})
}

// TestForeignWords: who may write a status chooses no label.
func TestForeignWords(t *testing.T) {
	scanner, registry := scanned(t, func() iter.Seq2[object, error] {
		return func(yield func(object, error) bool) {
			for i := range 50 {
				app := application(i, 1)
				app["status"].(object)["health"] = object{"status": fmt.Sprintf("word-%d", i)}
				app["status"].(object)["sync"] = object{"status": fmt.Sprintf("word-%d", i)}
				if !yield(app, nil) {
					return
				}
			}
		}
	}, nil)
	if err := scanner.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSeries(t, registry, map[string]float64{"moorpin_applications other other": 50})
}

func TestRunEndsWithItsContext(t *testing.T) {
	var lists atomic.Int64
	scanner, _ := scanned(t, func() iter.Seq2[object, error] {
		lists.Add(1)
		return made(1, 1)
	}, func(o *fleet.ScannerOptions) { o.Interval = 10 * time.Second })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		scanner.Run(ctx)
	}()
	for deadline := time.Now().Add(10 * time.Second); lists.Load() == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("it runs on")
	}
	if lists.Load() != 1 {
		t.Errorf("%d scans within the first interval, want 1", lists.Load())
	}
}

func TestScannerRefuses(t *testing.T) {
	list := func(context.Context) iter.Seq2[object, error] { return made(1, 1) }
	tests := map[string]struct {
		reason  string
		options fleet.ScannerOptions
	}{
		"no list":     {"there is nothing to scan", fleet.ScannerOptions{Registry: prometheus.NewRegistry()}},
		"no registry": {"nobody would see it", fleet.ScannerOptions{List: list}},
		"too often":   {"Argo CD has other work", fleet.ScannerOptions{List: list, Registry: prometheus.NewRegistry(), Interval: time.Second}},
	}
	for name, test := range tests {
		if _, err := fleet.NewScanner(test.options); err == nil {
			t.Errorf("%s: want a refusal: %s", name, test.reason)
		}
	}
}
