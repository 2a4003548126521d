package verify

import (
	"fmt"

	"github.com/moorpin/moorpin/pkg/health"
)

// Arbitrary makes an object around a check's rules out of choices: draw(n) returns a
// number from 0 to n-1. The same draws make the same object, so a fuzzer can steer it.
func Arbitrary(check health.Check, draw func(n int) int) map[string]any {
	a := arbitrary{check: check, draw: draw}
	object := base(check)
	if draw(4) > 0 {
		object = content(check, draw(2) == 0)
	}
	for range 1 + draw(4) {
		if len(check.Rules) == 0 {
			break
		}
		rule := check.Rules[draw(len(check.Rules))]
		path := rule.Path
		if len(rule.Against) > 0 && draw(3) == 0 {
			path = rule.Against
		}
		if len(path) > 0 && draw(10) == 0 {
			path = path[:draw(len(path))+1]
		}
		object = with(object, path, a.value(rule), draw(2) == 0)
	}
	if draw(8) == 0 {
		object = with(object, []string{"metadata", "generation"}, a.scalar(), false)
	}
	return object
}

type arbitrary struct {
	check health.Check
	draw  func(n int) int
}

func pick[T any](a arbitrary, from []T) T { return from[a.draw(len(from))] }

// value is mostly of the sort that the rule looks for.
func (a arbitrary) value(rule health.Rule) any {
	if a.draw(6) == 0 {
		return a.anything(2)
	}
	switch rule.Signal {
	case health.Generation, health.Replicas:
		return pick(a, []any{int64(0), int64(1), int64(2), int64(3), int64(4), 2.5, "2", nil})
	case health.Switch, health.Flag:
		return pick(a, []any{true, false, "true", "false", "True", "", nil})
	case health.Conditions:
		return a.conditions(rule)
	case health.Word:
		return pick(a, words)
	case health.Fault:
		return pick(a, []any{true, false, "", "an error", nil, int64(1)})
	case health.Absent:
		return pick(a, []any{nil, map[string]any{}, map[string]any{"a": "b"}, []any{}, "x"})
	}
	return a.anything(2)
}

func (a arbitrary) conditions(rule health.Rule) []any {
	made := []any{}
	if a.draw(24) == 0 {
		// More names than a script takes apart.
		for i := range a.draw(200) {
			made = append(made, condition(fmt.Sprintf("%sNumber%d", a.member("type", rule), i), pick(a, []string{"True", "False"}), fmt.Sprintf("Reason%d", i)))
		}
	}
	for range a.draw(6) {
		if a.draw(12) == 0 {
			made = append(made, a.anything(1))
			continue
		}
		item := map[string]any{}
		for _, field := range []string{"type", "status", "reason", "message", "observedGeneration", "severity"} {
			if value := a.member(field, rule); value != nil {
				item[field] = value
			}
		}
		made = append(made, item)
	}
	return made
}

// member is the value of a condition's field; nil leaves it out.
func (a arbitrary) member(field string, rule health.Rule) any {
	if a.draw(20) == 0 {
		return a.anything(1)
	}
	switch field {
	case "type":
		return pick(a, append(append(types(rule), negatives...), "Available", "Synced", "Healthy", "Complete", "Accepted"))
	case "status":
		return pick(a, []any{"True", "True", "False", "False", "Unknown", "true", "", true})
	case "reason":
		return pick(a, append(append([]string{}, reasons...), words...))
	case "message":
		return pick(a, []any{nil, "", "a message", "two\nlines", "quote \" and \\"})
	case "observedGeneration":
		return pick(a, []any{nil, nil, stale, generation, "1"})
	}
	return pick(a, []any{nil, nil, "Error", "Warning", "Info"})
}

func (a arbitrary) scalar() any {
	return pick(a, []any{nil, "", "text", "True", int64(0), int64(-1), 1e300, true, false})
}

// anything is any JSON value of small depth.
func (a arbitrary) anything(depth int) any {
	if depth == 0 || a.draw(2) == 0 {
		return a.scalar()
	}
	if a.draw(2) == 0 {
		items := []any{}
		for range a.draw(3) {
			items = append(items, a.anything(depth-1))
		}
		return items
	}
	fields := map[string]any{}
	for range a.draw(3) {
		fields[pick(a, []string{"a", "status", "type", "state", "conditions", "message"})] = a.anything(depth - 1)
	}
	return fields
}
