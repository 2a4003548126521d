package generate_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/lua/generate"
	"github.com/moorpin/moorpin/pkg/health"
)

// every has a rule of every signal.
var every = health.Check{
	Group: "example.org", Version: "v1", Kind: "Thing", Grade: health.Enum, ReadyFalse: health.ByReason, Evidence: []string{"because"},
	Rules: []health.Rule{
		{Signal: health.Switch, Path: []string{"spec", "suspend"}},
		{Signal: health.Absent, Path: []string{"status"}},
		{Signal: health.Generation, Path: []string{"status", "observedGeneration"}},
		{Signal: health.Conditions, Path: []string{"status", "conditions"}, Needed: []string{"Ready"}},
		{Signal: health.Word, Path: []string{"status", "parts", "*", "state"}, Finite: true, Detail: true, Numbered: true},
		{Signal: health.Flag, Path: []string{"status", "ready"}},
		{Signal: health.Fault, Path: []string{"status", "error"}, Detail: true},
		{Signal: health.Replicas, Path: []string{"status", "replicas"}, Against: []string{"spec", "replicas"}},
	},
}

func TestScript(t *testing.T) {
	script, err := generate.Script(every)
	if err != nil {
		t.Fatal(err)
	}
	for reason, part := range map[string]string{
		"the header names the kind":       "-- Health of Thing (example.org/v1)",
		"and the evidence":                "--   because",
		"failures inside are caught":      "pcall(check)",
		"conditions are asked by name":    `conditions(get(status, "conditions"), "Ready", {"Ready"})`,
		"a path goes through every item":  `{"status","parts","*","state"}`,
		"the choice of the user is there": `elseif class == 4 and (c.status == "False"`,
	} {
		if !strings.Contains(script, part) {
			t.Errorf("%s: %q is not in the script", reason, part)
		}
	}
	again, err := generate.Script(every)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(script, again); diff != "" {
		t.Errorf("the same check gives other bytes:\n%s", diff)
	}
}

// TestScriptLibraries: what the sandbox for argocd-cm lacks is not used.
func TestScriptLibraries(t *testing.T) {
	script, err := generate.Script(every)
	if err != nil {
		t.Fatal(err)
	}
	closed := regexp.MustCompile(`\b(string|math|io|debug|coroutine|os|require)\b *[.(]|\w:\w+\(`)
	if found := closed.FindString(script); found != "" {
		t.Errorf("the script uses %q", found)
	}
}

// TestScriptLength: a script that only reads a flag carries no words, and all scripts
// leave room for others in the 1 MiB of argocd-cm.
func TestScriptLength(t *testing.T) {
	script, err := generate.Script(every)
	if err != nil {
		t.Fatal(err)
	}
	if len(script) > 14_000 {
		t.Errorf("the longest script has %d bytes", len(script))
	}
	small := every
	small.Rules = []health.Rule{{Signal: health.Flag, Path: []string{"status", "ready"}}}
	short, err := generate.Script(small)
	if err != nil {
		t.Fatal(err)
	}
	if len(short) > 2_000 {
		t.Errorf("the script of a flag has %d bytes", len(short))
	}
}

// TestScriptUncommon: the text that is compiled when it is wanted is one: nothing in it
// ends it early, and no word of the vocabulary is one of Lua's own.
func TestScriptUncommon(t *testing.T) {
	script, err := generate.Script(every)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(script, "[==[") != 1 || strings.Count(script, "]==]") != 1 {
		t.Error("the text begins or ends more than once")
	}
	own := regexp.MustCompile(`[",](and|break|do|else|elseif|end|false|for|function|if|in|local|nil|not|or|repeat|return|then|true|until|while)=\d`)
	if found := own.FindString(script); found != "" {
		t.Errorf("Lua reads %q otherwise", found)
	}
}

// TestScriptWhole shows what is written. Its files are what a reviewer reads first.
func TestScriptWhole(t *testing.T) {
	checks := map[string]health.Check{
		"conditions.lua": {
			Group: "example.org", Version: "v1", Kind: "Database", Grade: health.Column, ReadyFalse: health.ByReason,
			Evidence: []string{"printer columns show the conditions Ready"},
			Rules: []health.Rule{
				{Signal: health.Switch, Path: []string{"spec", "suspend"}},
				{Signal: health.Absent, Path: []string{"status"}},
				{Signal: health.Generation, Path: []string{"status", "observedGeneration"}},
				{Signal: health.Conditions, Path: []string{"status", "conditions"}, Needed: []string{"Ready"}},
			},
		},
		"flag.lua": {
			Group: "example.org", Version: "v1", Kind: "Snapshot", Grade: health.Convention, ReadyFalse: health.ByReason,
			Evidence: []string{"status.readyToUse is true when all is well"},
			Rules: []health.Rule{
				{Signal: health.Absent, Path: []string{"status"}},
				{Signal: health.Flag, Path: []string{"status", "readyToUse"}},
			},
		},
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			script, err := generate.Script(check)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), script); diff != "" {
				t.Errorf("the script is another; look at it, then run with -update (-want +got):\n%s", diff)
			}
		})
	}
}

var update = flag.Bool("update", false, "write the scripts under testdata")

// TestScriptQuotes: what a CRD says cannot become code.
func TestScriptQuotes(t *testing.T) {
	hostile := every
	hostile.Kind, hostile.Group = "Thing\nreturn {}", "a]]\r\nos.exit()"
	hostile.Evidence = []string{"]]\nreturn {}"}
	hostile.Rules = []health.Rule{{Signal: health.Conditions, Path: []string{"status", "a\"] = 1\n\x00"}, Needed: []string{"\\\"}, x"}}}
	script, err := generate.Script(hostile)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`conditions(get(status, "a\"\093 = 1\010\000"), "\\\"}, x", {"Ready","\\\"}, x"})`, "-- Health of Thing?return {} (a]]??os.exit()/v1)"} {
		if !strings.Contains(script, part) {
			t.Errorf("%s is not in the script", part)
		}
	}
}

func TestScriptRefuses(t *testing.T) {
	tests := map[string][]health.Rule{
		"no rules":       nil,
		"no path":        {{Signal: health.Word}},
		"unknown signal": {{Signal: "smell", Path: []string{"status"}}},
		"every number":   {{Signal: health.Replicas, Path: []string{"status", "*", "replicas"}, Against: []string{"spec", "replicas"}}},
	}
	for name, rules := range tests {
		t.Run(name, func(t *testing.T) {
			check := every
			check.Rules = rules
			script, err := generate.Script(check)
			if err == nil || script != "" || !strings.Contains(err.Error(), "example.org_Thing") {
				t.Errorf("want an error that names the check, got %v", err)
			}
		})
	}
}
