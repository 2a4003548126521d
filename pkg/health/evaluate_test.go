package health_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/health"
)

var (
	absent     = health.Rule{Signal: health.Absent, Path: []string{"status"}}
	observed   = health.Rule{Signal: health.Generation, Path: []string{"status", "observedGeneration"}}
	suspend    = health.Rule{Signal: health.Switch, Path: []string{"spec", "suspend"}}
	needsReady = health.Rule{Signal: health.Conditions, Path: []string{"status", "conditions"}, Needed: []string{"Ready", "Synced"}}
	anyOf      = health.Rule{Signal: health.Conditions, Path: []string{"status", "conditions"}}
	phase      = health.Rule{Signal: health.Word, Path: []string{"status", "phase"}}
	runPhase   = health.Rule{Signal: health.Word, Path: []string{"status", "phase"}, Finite: true}
	partStates = health.Rule{Signal: health.Word, Path: []string{"status", "parts", health.EveryItem, "state"}, Detail: true, Numbered: true}
	ready      = health.Rule{Signal: health.Flag, Path: []string{"status", "ready"}}
	fault      = health.Rule{Signal: health.Fault, Path: []string{"status", "error"}}
	replicas   = health.Rule{Signal: health.Replicas, Path: []string{"status", "readyReplicas"}, Against: []string{"spec", "replicas"}}
)

func TestEvaluate(t *testing.T) {
	type rules = []health.Rule
	tests := map[string]struct {
		reason string
		rules  rules
		object string
		want   health.Code
	}{
		"no status":            {"the controller has not come to it", rules{absent, needsReady}, "{}", health.Progressing},
		"empty status":         {"nulls are nothing", rules{absent, phase}, "{status: {phase: null}}", health.Progressing},
		"suspended":            {"a switch goes before everything", rules{suspend, absent, phase}, "{spec: {suspend: true}}", health.Suspended},
		"not suspended":        {"only true counts", rules{suspend, phase}, "{spec: {suspend: 'true'}, status: {phase: Ready}}", health.Healthy},
		"stale":                {"what is reported is of an older generation", rules{observed, phase}, "{metadata: {generation: 2}, status: {observedGeneration: 1, phase: Ready}}", health.Progressing},
		"stale text":           {"some controllers write the number as text", rules{observed, phase}, "{metadata: {generation: 2}, status: {observedGeneration: '1', phase: Ready}}", health.Progressing},
		"hash":                 {"and some write no number", rules{observed, phase}, "{metadata: {generation: 2}, status: {observedGeneration: 1ab, phase: Ready}}", health.Healthy},
		"both True":            {"all that are needed are True", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'True'}]}}", health.Healthy},
		"one False":            {"the reason is a failure", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'False', reason: ReconcileError}]}}", health.Degraded},
		"False for now":        {"the reason is under way", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'False', reason: Creating}]}}", health.Progressing},
		"False without reason": {"without a reason it may still come", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'False'}]}}", health.Progressing},
		"False by message":     {"the message begins with the failure", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'False', reason: Thing, message: 'Failed to do it'}]}}", health.Degraded},
		"False on purpose":     {"paused is neither", rules{needsReady}, "{status: {conditions: [{type: Synced, status: 'False', reason: ReconcilePaused}, {type: Ready, status: 'False', reason: Creating}]}}", health.Suspended},
		"Unknown":              {"Unknown is under way, even with a grave reason", rules{needsReady}, "{status: {conditions: [{type: Ready, status: Unknown, reason: Failed}]}}", health.Progressing},
		"Unknown on purpose":   {"whatever the reason", rules{needsReady}, "{status: {conditions: [{type: Ready, status: Unknown, reason: Paused}]}}", health.Progressing},
		"Ready missing":        {"a Ready column means that Ready is needed", rules{needsReady}, "{status: {conditions: [{type: Synced, status: 'True'}]}}", health.Progressing},
		"stale condition":      {"a condition has a generation too", rules{needsReady}, "{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}}", health.Progressing},
		"complete but failed":  {"Complete does not say how it went", rules{anyOf}, "{status: {conditions: [{type: Complete, status: 'True', reason: JobFailed}]}}", health.Degraded},
		"negative True":        {"a condition that is True when it went wrong", rules{needsReady}, "{status: {conditions: [{type: NotReady, status: 'True'}]}}", health.Degraded},
		"negative False":       {"nothing went wrong, and nothing else is said", rules{anyOf}, "{status: {conditions: [{type: SpecError, status: 'False'}]}}", health.Healthy},
		"lead":                 {"Ready sums the others up", rules{anyOf}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: CronJobAvailable, status: 'False'}]}}", health.Healthy},
		"loud beside Ready":    {"what is commonly bad news is so beside Ready", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'True'}, {type: Stalled, status: 'True'}]}}", health.Degraded},
		"loud but False":       {"unless it is not so", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'True'}, {type: Stalled, status: 'False', reason: Failed}]}}", health.Healthy},
		"quiet beside Ready":   {"what is not common is summed up by Ready", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'True'}, {type: PodsFailed, status: 'True'}]}}", health.Healthy},
		"beside what waits":    {"and tells the gravity where Ready is not True", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'False', reason: Creating}, {type: PodsFailed, status: 'True'}]}}", health.Degraded},
		"bad news for now":     {"the reason of bad news may be under way", rules{anyOf}, "{status: {conditions: [{type: SpecError, status: 'True', reason: Retrying}]}}", health.Progressing},
		"paused type":          {"a condition that tells of a pause", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: Paused, status: 'True'}]}}", health.Suspended},
		"not paused":           {"unless it is False", rules{needsReady}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'True'}, {type: Paused, status: 'False'}]}}", health.Healthy},
		"progress paused":      {"what is under way stands still on purpose", rules{anyOf}, "{status: {conditions: [{type: Available, status: 'True'}, {type: Progressing, status: Unknown, reason: RolloutPaused}]}}", health.Suspended},
		"progress made":        {"what was under way is done", rules{anyOf}, "{status: {conditions: [{type: Progressing, status: 'True', reason: Completed}]}}", health.Healthy},
		"conditions by name":   {"conditions are a list", rules{anyOf}, "{status: {conditions: {a: {type: Ready, status: 'True'}}}}", health.Progressing},
		"odd conditions":       {"what has no type or status is passed over", rules{anyOf}, "{status: {conditions: [1, {type: Ready}, {type: Ready, status: true}, {status: 'True'}, {type: Available, status: 'True'}]}}", health.Healthy},
		"no lead":              {"without a lead all must be True", rules{anyOf}, "{status: {conditions: [{type: Deployed, status: 'True'}, {type: Configured, status: 'False'}]}}", health.Progressing},
		"warning":              {"a warning is no failure", rules{anyOf}, "{status: {conditions: [{type: Ready, status: 'True'}, {type: Warning, status: 'True'}]}}", health.Healthy},
		"under way":            {"beside what is not Ready", rules{anyOf}, "{status: {conditions: [{type: Issuing, status: 'True', reason: DoesNotExist}]}}", health.Progressing},
		"like a Deployment":    {"Progressing stays True for ever", rules{anyOf}, "{status: {conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'True', reason: NewReplicaSetAvailable}]}}", health.Healthy},
		"aborted":              {"Progressing is False because it failed", rules{anyOf}, "{status: {conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'False', reason: RolloutAborted}]}}", health.Degraded},
		"Ansible":              {"Running for the reason Running is work", rules{anyOf}, "{status: {conditions: [{type: Running, status: 'True', reason: Running}]}}", health.Progressing},
		"not to be told":       {"whether this type is to be True is not known, and nothing is wrong", rules{anyOf}, "{status: {conditions: [{type: Deployed, status: 'True'}, {type: Shared, status: 'False'}]}}", health.Healthy},
		"denied type":          {"a type that denies is bad when True", rules{anyOf}, "{status: {conditions: [{type: NoMatchingInstance, status: 'True'}]}}", health.Degraded},
		"up":                   {"a word that means something alone", rules{phase}, "{status: {phase: UP}}", health.Healthy},
		"setting up":           {"and nothing among others", rules{phase}, "{status: {phase: Setting up primary}}", health.Progressing},
		"phase":                {"a word that is known", rules{phase}, "{status: {phase: ClusterRunning}}", health.Healthy},
		"running run":          {"what runs to an end is not done while it runs", rules{runPhase}, "{status: {phase: Running}}", health.Progressing},
		"failed phase":         {"graver than what a condition says", rules{anyOf, phase}, "{status: {phase: Failed, conditions: [{type: Ready, status: 'True'}]}}", health.Degraded},
		"unfamiliar phase":     {"what is not understood is not called healthy", rules{phase}, "{status: {phase: ingress}}", health.Progressing},
		"unknown phase":        {"Argo CD has a code of its own", rules{phase}, "{status: {phase: Unknown}}", health.Unknown},
		"missing phase":        {"and another", rules{phase}, "{status: {phase: NotFound}}", health.Missing},
		"parts well":           {"nothing else says anything", rules{partStates}, "{status: {parts: {a: {state: Accepted}, b: {state: 1}}}}", health.Healthy},
		"one part bad":         {"one suffices", rules{phase, partStates}, "{status: {phase: Running, parts: {a: {state: Accepted}, b: {state: Rejected}}}}", health.Degraded},
		"numbered":             {"a state that is a number", rules{partStates}, "{status: {parts: [{state: 2}]}}", health.Degraded},
		"part unknown":         {"of one part that says nothing of the whole", rules{phase, partStates}, "{status: {phase: Running, parts: {a: {state: Unknown}}}}", health.Healthy},
		"flag":                 {"true is well", rules{ready, fault}, "{status: {ready: true}}", health.Healthy},
		"no flag":              {"a flag that is not there is not true", rules{ready}, "{status: {a: 1}}", health.Progressing},
		"state not known":      {"a state that is the number 0", rules{partStates}, "{status: {parts: [{state: 0}]}}", health.Progressing},
		"warned":               {"a phase that warns", rules{phase}, "{status: {phase: Warning}}", health.Degraded},
		"paused phase":         {"a phase that is not common", rules{phase}, "{status: {phase: ClusterHibernated}}", health.Suspended},
		"phase under way":      {"and one under way, with a message", rules{phase}, "{status: {phase: Frobnicating, message: soon}}", health.Progressing},
		"flag false":           {"not yet", rules{ready}, "{status: {ready: false}}", health.Progressing},
		"fault that is true":   {"an error without a message", rules{fault}, "{status: {error: true}}", health.Degraded},
		"fault as text":        {"an error in words", rules{fault}, "{status: {error: broken}}", health.Degraded},
		"no fault":             {"an error that says nothing is none", rules{fault}, "{status: {error: {}}}", health.Healthy},
		"faultless":            {"nor is one that is not there", rules{fault}, "{status: {a: 1}}", health.Healthy},
		"fault":                {"an error with a message", rules{ready, fault}, "{status: {ready: true, error: {message: broken}}}", health.Degraded},
		"replicas below":       {"a number that is not there is none", rules{replicas}, "{spec: {replicas: 2}, status: {a: 1}}", health.Progressing},
		"replicas there":       {"as many as are wanted", rules{replicas}, "{spec: {replicas: 2}, status: {readyReplicas: 2}}", health.Healthy},
		"silence":              {"no rule has anything to read", rules{anyOf, replicas}, "{status: {a: 1}}", health.Progressing},
		"wrong types":          {"nothing is as it should be", rules{suspend, observed, anyOf, phase, partStates, replicas}, "{metadata: [], spec: text, status: {conditions: 1, phase: {}, parts: [1, {state: []}]}}", health.Progressing},
		"no rules":             {"there is no check", nil, "{}", health.Unknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := parse(t, test.object)
			got := health.Evaluate(health.Check{Rules: test.rules}, object)
			if got.Code != test.want || got.Message == "" {
				t.Errorf("%s: %s (%s), want %s", test.reason, got.Code, got.Message, test.want)
			}
			if diff := cmp.Diff(parse(t, test.object), object); diff != "" {
				t.Errorf("the object was changed:\n%s", diff)
			}
		})
	}
}

// TestEvaluateBudget: names beyond the budget say nothing, and those that are needed
// count wherever they stand.
func TestEvaluateBudget(t *testing.T) {
	var list []any
	for i := range 200 {
		list = append(list, map[string]any{"type": fmt.Sprintf("Part%c%cReady", 'A'+i/26, 'A'+i%26), "status": "True"})
	}
	check := health.Check{Rules: []health.Rule{anyOf}}
	object := func(last ...any) map[string]any {
		return map[string]any{"status": map[string]any{"conditions": append(slices.Clone(list), last...)}}
	}
	if got := health.Evaluate(check, object(map[string]any{"type": "DiskFailed", "status": "True"})); got.Code != health.Healthy {
		t.Errorf("a name beyond the budget says %s", got.Code)
	}
	if got := health.Evaluate(check, object(map[string]any{"type": "Ready", "status": "False", "reason": "Failed"})); got.Code == health.Healthy {
		t.Errorf("Ready is False after many others, and the answer is %+v", got)
	}
}

func TestReadyFalse(t *testing.T) {
	tests := map[health.ReadyFalse]map[string]health.Code{
		health.ByReason:          {"Failed": health.Degraded, "Creating": health.Progressing, "Paused": health.Suspended},
		health.AlwaysDegraded:    {"Failed": health.Degraded, "Creating": health.Degraded, "Paused": health.Suspended},
		health.AlwaysProgressing: {"Failed": health.Progressing, "Creating": health.Progressing, "Paused": health.Suspended},
	}
	for choice, reasons := range tests {
		for reason, want := range reasons {
			check := health.Check{ReadyFalse: choice, Rules: []health.Rule{needsReady}}
			object := parse(t, "{status: {conditions: [{type: Ready, status: 'False', reason: "+reason+"}]}}")
			if got := health.Evaluate(check, object); got.Code != want {
				t.Errorf("%s: Ready is False for %s: %s, want %s", choice, reason, got.Code, want)
			}
		}
	}
}

// FuzzEvaluate holds the laws that no object may break: the status is valid, a stale
// generation is not Healthy, and neither is an object whose Ready is not True.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`,
		`{"metadata":{"generation":2},"status":{"observedGeneration":1,"parts":{"a":{"state":1}}}}`,
		`{"spec":{"replicas":1,"suspend":true},"status":{"readyReplicas":"1","error":{"message":"x"},"ready":false}}`,
		`{"status":{"conditions":{"a":{"type":"NotReady","status":"Unknown","reason":"HTTPErrors"}}}}`,
	} {
		f.Add(seed)
	}
	check := health.Check{Rules: []health.Rule{suspend, absent, observed, anyOf, phase, partStates, ready, fault, replicas}}
	valid := []health.Code{health.Healthy, health.Progressing, health.Degraded, health.Suspended, health.Missing, health.Unknown}
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			return
		}
		got := health.Evaluate(check, object)
		if !slices.Contains(valid, got.Code) || got.Message == "" {
			t.Errorf("the status is not valid: %+v", got)
		}
		status, ok := object["status"].(map[string]any)
		if !ok {
			return
		}
		status["conditions"] = []any{map[string]any{"type": "Ready", "status": "False"}}
		if got := health.Evaluate(check, object); got.Code == health.Healthy {
			t.Errorf("Ready is False, and the status is %+v", got)
		}
		status["conditions"] = []any{map[string]any{"type": "Ready", "status": "True"}}
		status["observedGeneration"], object["metadata"] = 1, map[string]any{"generation": 2}
		if got := health.Evaluate(check, object); got.Code == health.Healthy {
			t.Errorf("the generation is stale, and the status is %+v", got)
		}
	})
}
