package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/extension/fleet"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// TestScanSurvives: what breaks at one Application is a problem of that one; the others
// are told of, the log says where, and nobody is told what.
func TestScanSurvives(t *testing.T) {
	honest := func(ctx context.Context, snapshot *drift.Snapshot) (*drift.Report, error) {
		return &drift.Report{Sync: drift.NothingToDo}, nil
	}
	for name, change := range map[string]func(*fleet.Options){
		"the status": func(o *fleet.Options) {
			o.Classify = func(ctx context.Context, snapshot *drift.Snapshot) (*drift.Report, error) {
				if snapshot.Application["metadata"].(object)["name"] == "app-1" {
					panic("hunter2")
				}
				return honest(ctx, snapshot)
			}
		},
		"the fields": func(o *fleet.Options) {
			o.Classify, o.All = honest, true
			o.Fields = func(_ context.Context, ref argocd.Ref) (*fleet.Explained, error) {
				if ref.Name == "app-1" {
					panic("hunter2")
				}
				return &fleet.Explained{Report: &drift.Report{Sync: drift.NothingToDo}}, nil
			}
		},
		"the restarts": func(o *fleet.Options) {
			o.Classify = honest
			o.Restarts = func(_ context.Context, pods fleet.Pods) (int, bool, error) {
				if pods.Application.Name == "app-1" {
					panic("hunter2")
				}
				return 1, true, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			options := fleet.Options{Settings: settings, Log: slog.New(slog.NewTextHandler(&said, nil))}
			change(&options)
			overview, err := fleet.Summarise(t.Context(), three(), options)
			if err != nil {
				t.Fatal(err)
			}
			if overview.Applications != 3 || len(overview.Problems) != 1 || overview.Problems[0].Application != "argocd/app-1" {
				t.Errorf("%d Applications, problems %+v", overview.Applications, overview.Problems)
			}
			if text := said.String(); !strings.Contains(text, "panic_test.go") || strings.Contains(text+overview.Problems[0].Error, "hunter2") {
				t.Errorf("the log says\n%s\nthe problem %s", text, overview.Problems[0].Error)
			}
		})
	}
}

// TestScanSurvivesTheList: a list that breaks is an error of the scan, which goes on.
func TestScanSurvivesTheList(t *testing.T) {
	scanner, registry := scanned(t, func() iter.Seq2[object, error] {
		return func(func(object, error) bool) { panic("hunter2") }
	}, nil)
	if err := scanner.Scan(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("have %v", err)
	}
	wantSeries(t, registry, map[string]float64{"moorpin_scan_errors_total": 1})
}

// TestProblemsNameAStepOnce: an error that names its step is not told by it twice.
func TestProblemsNameAStepOnce(t *testing.T) {
	broken := errors.New("classify: the settings cannot be read")
	overview, err := fleet.Summarise(t.Context(), three(), fleet.Options{Settings: settings, Classify: func(context.Context, *drift.Snapshot) (*drift.Report, error) {
		return nil, broken
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := overview.Problems[0].Error; got != broken.Error() {
		t.Errorf("the problem is %q, want %q", got, broken)
	}
}

// three are Applications that are ill behind their drift.
func three() iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		for _, name := range []string{"app-0", "app-1", "app-2"} {
			app := object{
				"metadata": object{"namespace": "argocd", "name": name}, "spec": object{"project": "default"},
				"status": object{"sync": object{"status": "OutOfSync"}, "health": object{"status": "Degraded"}},
			}
			if !yield(app, nil) {
				return
			}
		}
	}
}
