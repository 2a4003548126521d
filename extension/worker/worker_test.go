package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/extension/worker"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/confine"
	"github.com/moorpin/moorpin/pkg/drift"
)

func TestMain(m *testing.M) {
	if worker.IsChild() {
		os.Exit(worker.Serve(hostile{}))
	}
	os.Exit(m.Run())
}

// hostile does what the name of the Application says, in a child.
type hostile struct{}

var kept [][]byte

func (hostile) Explain(ctx context.Context, question report.Question) (*report.Explained, error) {
	switch text := string(question.Posted.Document); {
	case strings.Contains(text, "hold-memory"):
		for {
			hold(16 << 20)
			time.Sleep(5 * time.Millisecond) // the parent looks every 15
		}
	case strings.Contains(text, "never-end"):
		select {}
	case strings.Contains(text, "break-down"):
		return nil, errors.New(deep(0))
	case strings.Contains(text, "leave"):
		os.Exit(3)
	case strings.Contains(text, "throw"):
		return fault.Contained(func() (*report.Explained, error) { panic("hunter2") })
	case strings.Contains(text, "keep-memory"):
		hold(memory * 2 / 5)
	}
	return report.Direct{}.Explain(ctx, question)
}

func hold(size int) {
	piece := make([]byte, size)
	for i := 0; i < len(piece); i += 4096 {
		piece[i] = 1
	}
	kept = append(kept, piece)
}

// deep uses up the stack.
func deep(n int) string {
	if n < 0 {
		return ""
	}
	return deep(n+1) + "."
}

func pool(t *testing.T, workers int) *worker.Pool {
	t.Helper()
	p, status, err := worker.NewPool(worker.Options{Workers: workers, Memory: memory, Mode: confine.Auto})
	if err != nil {
		t.Fatal(err)
	}
	if confine.Supported() > 0 && !status.Confined {
		t.Errorf("the kernel can confine, and the child is not: %s", status.Reason)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// named is a question about an Application of the name.
func named(name string) report.Question {
	document := fmt.Sprintf(`{"application":{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"namespace":"argocd","name":%q},"spec":{"project":"team","destination":{"namespace":"web"}}},
"resources":[{"version":"v1","kind":"ConfigMap","namespace":"web","name":"c",
"target":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"},"data":{"a":"1"},"large":9007199254740993},
"live":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"},"data":{"a":"2"},"large":9007199254740995}}]}`, name)
	return report.Question{Posted: report.Posted{Document: []byte(document)}, Prove: true}
}

// TestHostile: what takes too much or breaks down ends its own child; who asks gets a
// reason, and everyone else an answer.
func TestHostile(t *testing.T) {
	p := pool(t, 2)
	for name, row := range map[string]struct {
		reason string
		is     func(error) bool
	}{
		"hold-memory": {"the bound of the memory is named", func(err error) bool {
			bound, ok := errors.AsType[*report.BoundError](err)
			return ok && strings.Contains(bound.Reason, "memory") && strings.Contains(bound.Reason, fmt.Sprint(memory))
		}},
		"never-end":  {"the time is over", func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		"break-down": {"Go cannot recover from it", func(err error) bool { return errors.Is(err, report.ErrWorker) }},
		"leave":      {"it is gone without a word", func(err error) bool { return errors.Is(err, report.ErrWorker) }},
		"throw": {"the kind is told, and not what was thrown", func(err error) bool {
			broken, ok := errors.AsType[*fault.PanicError](err)
			return ok && broken.Kind == "string" && strings.Contains(broken.Stack, "worker_test.go") && !strings.Contains(broken.Stack, "hunter2")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if raced && name == "hold-memory" {
				t.Skip("the race detector ends a process that gets no more memory in a way of its own")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if name == "never-end" {
				ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
			}
			var honest sync.WaitGroup
			honest.Go(func() {
				for range 5 {
					if _, err := p.Explain(t.Context(), named("honest")); err != nil {
						t.Errorf("beside it: %v", err)
					}
				}
			})
			if _, err := p.Explain(ctx, named(name)); !row.is(err) || errors.Is(err, report.ErrSnapshot) {
				t.Errorf("%s: %v", row.reason, err)
			}
			honest.Wait()
			if _, err := p.Explain(t.Context(), named("honest")); err != nil {
				t.Errorf("after it: %v", err)
			}
		})
	}
}

// TestLeak: a child that keeps memory answers, and is not asked again.
func TestLeak(t *testing.T) {
	if raced {
		t.Skip("the race detector ends a process that gets no more memory in a way of its own")
	}
	p := pool(t, 1)
	for range 5 {
		if _, err := p.Explain(t.Context(), named("keep-memory")); err != nil {
			t.Fatal(err)
		}
		if got := worker.Idle(p); got != 0 {
			t.Errorf("%d children are kept with what they keep", got)
		}
	}
	if _, err := p.Explain(t.Context(), named("honest")); err != nil || worker.Idle(p) != 1 {
		t.Errorf("a child that is well is not kept: %v", err)
	}
}

// TestSameAsDirect: a child's answer is that of this process, byte for byte.
func TestSameAsDirect(t *testing.T) {
	p := pool(t, 1)
	paths, err := filepath.Glob("../../pkg/drift/testdata/cases/*/*.json")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d cases, %v", len(paths), err)
	}
	questions := map[string]report.Question{"numbers": named("honest")}
	samples := 12
	if raced {
		samples = 4 // each takes ten times as long
	}
	for i := 0; i < len(paths); i += len(paths) / samples {
		one, err := cases.Read(t.Context(), paths[i])
		if err != nil {
			t.Fatal(err)
		}
		posted := report.Posted{Document: []byte(encode(t, &one.Snapshot))}
		questions[paths[i]] = report.Question{Posted: posted, Prove: true}
		questions[paths[i]+" rollback"] = report.Question{Posted: posted, Rollback: true}
		questions[paths[i]+" preview"] = report.Question{Posted: posted, Rules: []v1alpha1.ResourceIgnoreDifferences{{Group: "*", Kind: "*", JSONPointers: []string{"/spec"}}}}
		snapshot, err := posted.Read()
		if err != nil {
			t.Fatal(err)
		}
		questions[paths[i]+" collected"] = report.Question{Snapshot: snapshot}
	}
	for name, question := range questions {
		want, err := report.Direct{}.Explain(t.Context(), question)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := p.Explain(t.Context(), question)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(encode(t, want), encode(t, got)); diff != "" {
			t.Errorf("%s: (-here +there)\n%s", name, diff)
		}
	}
}

func encode(t *testing.T, value any) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestMistakes: whose mistake it is can be told from a child's error, too.
func TestMistakes(t *testing.T) {
	p := pool(t, 1)
	foreign := named("honest")
	foreign.Posted.Of = report.Identity{Application: argocd.Ref{Namespace: "argocd", Name: "shop"}, Project: "team"}
	rule := named("honest")
	rule.Rules = []v1alpha1.ResourceIgnoreDifferences{{Kind: "ConfigMap", JSONPointers: []string{"no pointer"}}}
	for name, row := range map[string]struct {
		question report.Question
		is       func(error) bool
	}{
		"no snapshot": {report.Question{Posted: report.Posted{Document: []byte(`{"a":1}`)}}, func(err error) bool {
			return errors.Is(err, report.ErrSnapshot) && strings.Contains(err.Error(), "no application")
		}},
		"another Application": {foreign, func(err error) bool {
			other, ok := errors.AsType[*report.ForeignError](err)
			return ok && other.Field == "metadata.name" && other.Checked == "shop"
		}},
		"a rule": {rule, func(err error) bool {
			wrong, ok := errors.AsType[*drift.RuleError](err)
			return ok && wrong.Part == "rules[0].jsonPointers[0]" && wrong.Reason != ""
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := p.Explain(t.Context(), row.question); !row.is(err) {
				t.Error(err)
			}
			if _, err := (report.Direct{}).Explain(t.Context(), row.question); !row.is(err) {
				t.Errorf("in this process: %v", err)
			}
		})
	}
}

// TestClose: no child outlives the pool, and nobody is kept waiting by one that is gone.
func TestClose(t *testing.T) {
	p, _, err := worker.NewPool(worker.Options{Workers: 2, Memory: memory, Mode: confine.Auto})
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := p.Explain(t.Context(), named("honest"))
		answered <- err
	}()
	for worker.Idle(p) != 0 && len(answered) == 0 { // it may be over before anybody looks
		time.Sleep(time.Millisecond)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("who was being answered: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Explain(ctx, named("honest")); err == nil {
		t.Error("it answers though it was closed")
	}
}

func TestNewPoolRefuses(t *testing.T) {
	for name, options := range map[string]worker.Options{
		"no workers":       {Memory: 1 << 30, Mode: confine.Auto},
		"too small a room": {Workers: 1, Memory: 64 << 20, Mode: confine.Auto},
	} {
		if p, _, err := worker.NewPool(options); err == nil {
			t.Errorf("%s: a pool is made: %v", name, p.Close())
		}
	}
}
