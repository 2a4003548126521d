package report_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/weight"
)

// classifier is a [report.Classifier] that counts, and breaks at one Application.
type classifier struct {
	asked  atomic.Int64
	breaks string
	fails  error
}

func (c *classifier) Explain(_ context.Context, question report.Question) (*report.Explained, error) {
	c.asked.Add(1)
	if question.Snapshot != nil && c.breaks != "" && tree(question.Snapshot.Application, "metadata")["name"] == c.breaks {
		panic("hunter2")
	}
	if c.fails != nil {
		return nil, c.fails
	}
	return &report.Explained{Report: &drift.Report{Application: "argocd/shop", Sync: drift.NothingToDo}, Rollback: []byte("---\n"), Preview: &drift.Preview{}}, nil
}

// heavy is a document of few bytes that takes many times as much.
func heavy(objects int) string {
	return `{"application":{"metadata":{"name":"shop"},"status":{"a":[{"a":1}` + strings.Repeat(`,{"a":1}`, objects) + `]}}}`
}

// TestHeavySnapshots: one that would take more than the bound is refused before anybody
// reads it, in words that name the bound.
func TestHeavySnapshots(t *testing.T) {
	reader := &classifier{}
	s := report.NewService(report.ServiceOptions{Classifier: reader, SnapshotMemory: 16 << 20})
	posted := report.Posted{Document: []byte(heavy(50_000))} // 400 KB
	for name, ask := range map[string]func(report.Posted) error{
		"classify": func(p report.Posted) error { _, err := s.Classify(t.Context(), p); return err },
		"rollback": func(p report.Posted) error { _, err := s.Rollback(t.Context(), report.Question{Posted: p}); return err },
		"try":      func(p report.Posted) error { _, err := s.Try(t.Context(), p, nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			reader.asked.Store(0)
			err := ask(posted)
			large, ok := errors.AsType[*weight.TooLargeError](err)
			if !ok || large.Limit != 16<<20 || !strings.Contains(err.Error(), "16 MiB") {
				t.Errorf("have %v", err)
			}
			if reader.asked.Load() != 0 {
				t.Error("it was read all the same")
			}
			if err := ask(report.Posted{Document: []byte(heavy(1000))}); err != nil || reader.asked.Load() != 1 {
				t.Errorf("a small one: %v", err)
			}
		})
	}
}

// TestHeavyApplications: Git alone decides how much Argo CD answers about an Application.
// What is too much is refused while it comes, and takes nothing from the others.
func TestHeavyApplications(t *testing.T) {
	target := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"},"data":` + heavy(100_000) + `}`
	from := &plane{fake: shop(t)}
	from.fake.answers["/api/v1/applications/heavy"] = from.fake.answers[appPath]
	from.fake.answers["/api/v1/applications/heavy/managed-resources"] = object{"items": []any{object{"kind": "ConfigMap", "namespace": "web", "name": "c", "targetState": target}}}
	heavyRef := argocd.Ref{Name: "heavy"}
	for name, row := range map[string]struct {
		reason  string
		options report.ServiceOptions
		is      func(error) bool
	}{
		"more than one may": {"the bound of one is named", report.ServiceOptions{SnapshotMemory: 48 << 20}, func(err error) bool {
			_, ok := errors.AsType[*weight.TooLargeError](err)
			return ok && strings.Contains(err.Error(), "16 MiB")
		}},
		"more than there is": {"it may go later", report.ServiceOptions{CollectMemory: 8 << 20}, func(err error) bool { _, ok := errors.AsType[*weight.FullError](err); return ok }},
	} {
		t.Run(name, func(t *testing.T) {
			row.options.Client, row.options.Classifier, row.options.Timeout = from.client(t), &classifier{}, time.Minute
			s := report.NewService(row.options)
			for range 3 {
				if _, err := s.Report(t.Context(), heavyRef); !row.is(err) || errors.Is(err, report.ErrSnapshot) {
					t.Errorf("%s: %v", row.reason, err)
				}
				if _, err := s.Survey(t.Context(), heavyRef); !row.is(err) {
					t.Errorf("%s, for who looks at all: %v", row.reason, err)
				}
			}
			if _, err := s.Report(t.Context(), shopRef); err != nil {
				t.Errorf("another Application: %v", err)
			}
			if taken := report.Taken(s); taken != 0 {
				t.Errorf("%d bytes are never given back", taken)
			}
		})
	}
}

// TestPanicIsOurs: what panics at one Application is no mistake of who asks, and the
// others are answered.
func TestPanicIsOurs(t *testing.T) {
	from := &plane{fake: shop(t)}
	from.fake.answers["/api/v1/applications/odd"] = object{"metadata": object{"name": "odd", "namespace": "argocd"}, "spec": object{}}
	from.fake.answers["/api/v1/applications/odd/managed-resources"] = object{}
	s := report.NewService(report.ServiceOptions{Client: from.client(t), Classifier: &classifier{breaks: "odd"}, Timeout: time.Minute})
	odd := argocd.Ref{Name: "odd"}
	for range 3 {
		_, reported := s.Report(t.Context(), odd)
		_, surveyed := s.Survey(t.Context(), odd)
		for _, err := range []error{reported, surveyed} {
			broken, ok := errors.AsType[*fault.PanicError](err)
			if !ok || errors.Is(err, report.ErrSnapshot) || strings.Contains(err.Error()+broken.Stack, "hunter2") || !strings.Contains(broken.Stack, "admission_test.go") {
				t.Errorf("have %v", err)
			}
		}
	}
	if _, err := s.Report(t.Context(), shopRef); err != nil {
		t.Errorf("another Application: %v", err)
	}
}
