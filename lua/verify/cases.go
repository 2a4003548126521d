package verify

import (
	"fmt"
	"maps"
	"strings"

	"github.com/moorpin/moorpin/pkg/health"
)

// Case is an object to try a check on.
type Case struct {
	// Name says in a few words what the object is like; it is fit for a file name.
	Name   string
	Object map[string]any
	// Never is the status that a check must not give; empty where any may be right.
	Never health.Code
	// Example marks the cases that tell people most; they become the kind's test suite.
	Example bool
	// Twice marks the cases to run in Argo CD's VM as well: examples, and each of some
	// of the others.
	Twice bool
}

// Cases makes objects from a check's rules: one that satisfies all of them, and for
// each rule those that it is made for, with all else as it should be; then objects that
// are broken.
func Cases(check health.Check) []Case {
	good := content(check, false)
	cases := []Case{
		{Name: "satisfied", Object: good, Example: true},
		{Name: "satisfied, maps for lists", Object: content(check, true)},
	}
	done := map[string]bool{}
	for i, rule := range check.Rules {
		sort := fmt.Sprint(rule.Signal, rule.Finite, rule.Detail, rule.Numbered, len(rule.Needed))
		for _, change := range changes(rule) {
			if done[sort] && !change.example && !change.usual {
				continue // the same function has had these values at another path
			}
			name := fmt.Sprintf("rule %d %s, %s", i+1, strings.Join(rule.Path, "."), change.name)
			cases = append(cases, Case{
				Name: name, Object: with(good, rule.Path, change.value, false), Never: change.never,
				Example: change.example,
			})
		}
		done[sort] = true
		if rule.Signal == health.Replicas {
			cases = append(cases,
				Case{Name: fmt.Sprintf("rule %d, more wanted", i+1), Object: with(good, rule.Against, int64(9), false), Never: health.Healthy},
				Case{Name: fmt.Sprintf("rule %d, nothing wanted", i+1), Object: with(good, rule.Against, nil, false)})
		}
	}
	cases = append(cases, broken(check, good)...)
	for i := range cases {
		cases[i].Twice = cases[i].Example || i%someOf == 0
	}
	return cases
}

// someOf is how many cases there are for each that is run twice.
const someOf = 10

// change is another value for the place that a rule looks at.
type change struct {
	name    string
	value   any
	never   health.Code
	example bool
	// usual changes are made for every rule.
	usual bool
}

func changes(rule health.Rule) []change {
	made := []change{
		{name: "missing", usual: true},
		{name: "empty object", usual: true, value: map[string]any{}},
		{name: "empty list", usual: true, value: []any{}},
		{name: "a text", usual: true, value: "text"},
		{name: "a number", usual: true, value: 1.5},
		{name: "true", usual: true, value: true},
		{name: "a list of texts", usual: true, value: []any{"a", "b"}},
	}
	switch rule.Signal {
	case health.Generation:
		made = append(made, change{name: "stale", value: stale, never: health.Healthy, example: true},
			change{name: "stale as text", value: "1"}, change{name: "ahead", value: generation + 1})
	case health.Switch:
		made = append(made, change{name: "on", value: true, never: health.Degraded, example: true}, change{name: "off", value: false}, change{name: "on as text", value: "true"})
	case health.Conditions:
		made = append(made, conditionChanges(rule)...)
	case health.Word:
		made = append(made, wordChanges()...)
	case health.Flag:
		made = append(made, change{name: "false", value: false, never: health.Healthy, example: true}, change{name: "false as text", value: "false"})
	case health.Fault:
		made = append(made, change{name: "an error", value: "cannot reach the server", example: true}, change{name: "false", value: false}, change{name: "no text", value: ""})
	case health.Replicas:
		made = append(made, change{name: "too few", value: int64(1), never: health.Healthy, example: true}, change{name: "more than wanted", value: int64(7)}, change{name: "none", value: int64(0)})
	case health.Absent:
	}
	return made
}

// words are phases and states of every sort, and some that are no words.
var words = []string{
	"Ready", "Running", "Active", "Bound", "Succeeded", "Completed", "Available", "Healthy", "Provisioned", "Installed",
	"Pending", "Creating", "Updating", "Provisioning", "Waiting", "InProgress", "Deleting", "Terminating", "Initializing",
	"Failed", "Error", "CrashLoopBackOff", "Degraded", "Invalid", "NotFound", "ImagePullBackOff", "Unhealthy", "NotReady",
	"Paused", "Suspended", "Hibernated", "Stopped", "Unknown", "Whatever", "running", "FAILED", "ready ", "not-ready", "OK", "",
}

func wordChanges() []change {
	made := make([]change, 0, len(words))
	for _, word := range words {
		made = append(made, change{name: "word " + word, value: word, example: word == "Failed" || word == "Pending"})
	}
	return made
}

// reasons of conditions, of every sort.
var reasons = []string{"", "ReconcileFailed", "NotFound", "Updating", "WaitingForOther", "Suspended", "Whatever"}

// negatives are condition types of which True is no good news.
var negatives = []string{"Failed", "Stalled", "Degraded", "NotReady", "Invalid", "Paused", "Reconciling", "Progressing", "Error"}

func conditionChanges(rule health.Rule) []change {
	needed := types(rule)
	var made []change
	for i, kind := range needed {
		rest := append(allTrue(needed[:i]), allTrue(needed[i+1:])...)
		alter := func(item map[string]any) []any { return append([]any{item}, rest...) }
		for _, reason := range reasons {
			never := health.Healthy
			if rule.Detail || len(rule.Needed) == 0 {
				never = "" // what is chosen among several may say otherwise
			}
			made = append(made, change{
				name: kind + " False " + reason, value: alter(condition(kind, "False", reason)), never: never,
				example: reason == "ReconcileFailed" || reason == "Updating",
			})
		}
		old := condition(kind, "True", "")
		old["observedGeneration"] = stale
		odd := condition(kind, "True", "")
		odd["message"], odd["reason"], odd["observedGeneration"] = 7.0, []any{"x"}, "x"
		made = append(made,
			change{name: kind + " Unknown", value: alter(condition(kind, "Unknown", "")), example: true},
			change{name: kind + " missing", value: rest},
			change{name: kind + " stale", value: alter(old)}, change{name: kind + " of wrong types", value: alter(odd)},
			change{name: kind + " twice", value: alter(condition(kind, "True", ""))[:1]},
			change{name: kind + " boolean", value: alter(map[string]any{"type": kind, "status": true})},
			change{name: kind + " without status", value: alter(map[string]any{"type": kind})})
	}
	for _, kind := range negatives {
		made = append(made,
			change{name: "also " + kind, value: append(allTrue(needed), condition(kind, "True", "SomethingHappened"))},
			change{name: "not " + kind, value: append(allTrue(needed), condition(kind, "False", ""))},
			change{name: "only " + kind, value: []any{condition(kind, "True", "")}})
	}
	return append(made, change{name: "many", value: manyConditions(needed)})
}

// manyConditions is more than any controller writes: the VM gives a script a second.
func manyConditions(needed []string) []any {
	const many = 2000
	made := make([]any, 0, many+len(needed))
	for i := range many {
		made = append(made, condition(fmt.Sprintf("Type%dReady", i), "True", "Reason"))
	}
	return append(made, allTrue(needed)...)
}

// broken are objects that no API server would store, or hardly any.
func broken(check health.Check, good map[string]any) []Case {
	cases := []Case{
		{Name: "no status", Object: base(check), Example: true},
		{Name: "empty object", Object: map[string]any{}},
	}
	values := map[string]any{"a text": "text", "a number": 1.0, "a list": []any{"x"}, "an empty list": []any{}, "an empty object": map[string]any{}, "null": nil, "true": true}
	for _, field := range []string{"status", "spec", "metadata"} {
		for _, name := range []string{"a text", "a number", "a list", "an empty list", "an empty object", "null", "true"} {
			object := maps.Clone(good)
			object[field] = values[name]
			cases = append(cases, Case{Name: field + " is " + name, Object: object})
		}
	}
	deleted := with(good, []string{"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z", false)
	return append(cases, Case{Name: "being deleted", Object: deleted})
}
