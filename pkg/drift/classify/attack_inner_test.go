package classify

import (
	"context"
	"errors"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/object"
)

func TestRulesEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	snapshot := &drift.Snapshot{Application: map[string]any{"metadata": map[string]any{"name": "a"}}}
	s, err := arranged(ctx, snapshot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	asked := 0
	rules := []rule.Application{{Mechanism: drift.None, Match: func(*state.Application) []rule.Answer { asked++; return nil }}}
	if ask(s, rules); asked != 0 {
		t.Error("a rule about the Application was asked after the end of the context")
	}
	r := &state.Resource{Application: s, Differences: []*diff.Difference{{Pointer: "/data/a", Steps: []string{"data", "a"}}}}
	looks := rule.Field{Mechanism: drift.ManualEdit, Match: func(*state.Resource, *diff.Difference) (rule.Answer, bool) { asked++; return rule.Answer{}, false }}
	askField(&looks, r, r.Differences)
	if asked != 0 {
		t.Error("a difference was looked at after the end of the context")
	}
	if _, err := diff.Between(ctx, diff.NewAllowance(), object.Object{"a": "1"}, object.Object{"a": "2"}); !errors.Is(err, context.Canceled) {
		t.Errorf("differences: %v, want the end of the context", err)
	}
}
