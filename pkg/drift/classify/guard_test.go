package classify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/jq"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/object"
)

// TestAPanicIsAnError holds that a rule which panics ends its report, not the process,
// and that the error does not quote it.
func TestAPanicIsAnError(t *testing.T) {
	s, _ := arrange(t, parseYAML(t, workload))
	func() {
		defer s.Recover()
		panic("cannot read a-secret-value")
	}()
	func() {
		defer s.Recover()
		panic(errors.New("a second one"))
	}()
	err := s.Ended()
	if err == nil || !strings.Contains(err.Error(), "string") || strings.Contains(err.Error(), "secret") {
		t.Errorf("have %v, want the type of the first panic alone", err)
	}
	if broken, ok := errors.AsType[*drift.PanicError](err); !ok || !strings.Contains(string(broken.Stack), "TestAPanicIsAnError") {
		t.Errorf("have %v, want where it panicked", err)
	}
}

// TestAPanicOfAnApplicationRuleIsAnError holds that the rules about the Application,
// which run in the caller's goroutine, are caught too.
func TestAPanicOfAnApplicationRuleIsAnError(t *testing.T) {
	before := applicationRules
	t.Cleanup(func() { applicationRules = before })
	applicationRules = []rule.Application{{Mechanism: drift.None, Match: func(*state.Application) []rule.Answer { panic("cannot read a-secret-value") }}}
	calls := map[string]func() error{
		"Classify": func() error {
			_, err := Classify(t.Context(), parseYAML(t, workload), Options{})
			return err
		},
		"PreviewRules": func() error {
			_, err := PreviewRules(t.Context(), parseYAML(t, workload), []v1alpha1.ResourceIgnoreDifferences{{Kind: "Deployment", Group: "apps", JSONPointers: []string{"/spec"}}}, Options{})
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			broken, ok := errors.AsType[*drift.PanicError](call())
			if !ok || broken.Thrown != "string" || strings.Contains(broken.Error(), "secret") {
				t.Errorf("have %v, want a panic of a string, not quoted", broken)
			}
		})
	}
}

func TestSizeOf(t *testing.T) {
	deep := any("x")
	for range 1000 {
		deep = []any{deep}
	}
	rows := map[string]struct {
		reason string
		value  any
		limit  int
		within bool
	}{
		"small":      {"a text and its name", object.Object{"a": "b"}, 100, true},
		"long text":  {"its bytes count", object.Object{"a": strings.Repeat("x", 101)}, 100, false},
		"long name":  {"so do those of names", object.Object{strings.Repeat("x", 101): nil}, 100, false},
		"many items": {"each takes something", make([]any, 100), 100, false},
		"deep":       {"so does each level", deep, 100, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if got := value.SizeLeft(row.value, row.limit) >= 0; got != row.within {
				t.Errorf("within: %v, want %v: %s", got, row.within, row.reason)
			}
		})
	}
}

// TestLargeObjectsSeeNoJQ holds that no path runs on what no API server stores.
func TestLargeObjectsSeeNoJQ(t *testing.T) {
	code, err := jq.Compile("del(.data)")
	if err != nil {
		t.Fatal(err)
	}
	if why := jq.Check("del(.data)").TryOnce(t.Context(), code, object.Object{"data": strings.Repeat("x", jq.GuardedObject)}); why == "" {
		t.Error("it ran")
	}
	if why := jq.Check("del(.data)").TryOnce(t.Context(), code, object.Object{"data": "x"}); why != "" {
		t.Error(why)
	}
}

// TestManyRulesEndInTime holds that the deadline is looked at often enough where each
// resource takes long.
func TestManyRulesEndInTime(t *testing.T) {
	snapshot := parseYAML(t, workload)
	for i := range 200 {
		r := snapshot.Resources[0]
		r.Name = fmt.Sprint("web-", i)
		snapshot.Resources = append(snapshot.Resources, r)
	}
	many := make([]any, jq.GuardedRules)
	for i := range many {
		many[i] = fmt.Sprint("/spec/template/none-", i)
	}
	snapshot.Application["spec"].(map[string]any)["ignoreDifferences"] = []any{map[string]any{"kind": "*", "group": "*", "jsonPointers": many}}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := Classify(ctx, snapshot, Options{Guard: true, Prove: true})
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
		t.Errorf("took %v: %v", took, err)
	}
}

// TestSearchesEndSoon holds the whole of it against many numbers.
func TestSearchesEndSoon(t *testing.T) {
	snapshot := parseYAML(t, workload)
	many := make([]any, 60_000)
	for i := range many {
		many[i] = int64(i)
	}
	for _, side := range []map[string]any{snapshot.Resources[0].Target, snapshot.Resources[0].Live} {
		side["spec"].(map[string]any)["numbers"] = many
	}
	var paths []any
	for _, path := range []string{"select(.spec.numbers | contains(map(-1)))", "select(.spec.numbers | inside(.))", "select((.spec.numbers - (.spec.numbers | map(-.))) == [])"} {
		paths = append(paths, path)
	}
	snapshot.Application["spec"].(map[string]any)["ignoreDifferences"] = []any{map[string]any{"kind": "*", "group": "*", "jqPathExpressions": paths}}
	began := time.Now()
	report, err := Classify(t.Context(), snapshot, Options{Guard: true})
	if err != nil || len(report.Unheeded) != len(paths) || time.Since(began) > 5*time.Second {
		t.Errorf("took %v: %v %q", time.Since(began), err, report.Unheeded)
	}
}

func TestRulesAreBounded(t *testing.T) {
	snapshot := parseYAML(t, workload)
	many := make([]any, jq.GuardedRules+1)
	for i := range many {
		many[i] = "/spec/none"
	}
	snapshot.Application["spec"].(map[string]any)["ignoreDifferences"] = []any{
		map[string]any{"kind": "Deployment", "group": "apps", "jsonPointers": many},
		map[string]any{"kind": "Deployment", "group": "apps", "jsonPointers": []any{"/spec"}},
	}
	report, err := Classify(t.Context(), snapshot, Options{Guard: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Unheeded) != 2 {
		t.Errorf("have %q", report.Unheeded)
	}
}
