package verify_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/moorpin/moorpin/lua/verify"
	"github.com/moorpin/moorpin/pkg/health"
)

func TestRun(t *testing.T) {
	object := map[string]any{"status": map[string]any{"n": int64(3)}}
	tests := map[string]struct {
		reason string
		script string
		open   bool
		want   health.Status
		err    error // errors.Is
		fails  bool
	}{
		"status":          {"the object is obj", `return {status = "Healthy", message = tostring(obj.status.n)}`, false, health.Status{Code: health.Healthy, Message: "3"}, nil, false},
		"nothing":         {"Argo CD waits for ever", `local a = 1`, false, health.Status{}, verify.ErrEmpty, true},
		"empty":           {"Argo CD waits for ever", `return {}`, false, health.Status{}, verify.ErrEmpty, true},
		"message no text": {"it makes the whole status empty", `return {status = "Healthy", message = 3}`, false, health.Status{}, nil, true},
		"odd status":      {"Argo CD knows six", `return {status = "Fine", message = "x"}`, false, health.Status{}, verify.ErrCode, true},
		"Unknown":         {"is one of the six", `return {status = "Unknown", message = "x"}`, false, health.Status{Code: health.Unknown, Message: "x"}, nil, false},
		"error":           {"the sync waits", `return obj.a.b`, false, health.Status{}, nil, true},
		"no table":        {"the sync waits", `return "Healthy"`, false, health.Status{}, nil, true},
		"closed library":  {"argocd-cm's scripts have no string library", `return {status = "Healthy", message = string.upper("x")}`, false, health.Status{}, nil, true},
		"open library":    {"built-in scripts have", `return {status = "Healthy", message = string.upper("x")}`, true, health.Status{Code: health.Healthy, Message: "X"}, nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := verify.Script{Text: test.script, OpenLibs: test.open}.Run(t.Context(), object)
			if got != test.want || (err != nil) != test.fails || test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("%s: %v, %v", test.reason, got, err)
			}
		})
	}
}

func TestProve(t *testing.T) {
	for _, one := range checks(t) {
		t.Run(one.check.Kind, func(t *testing.T) {
			proof, err := verify.Prove(t.Context(), one.check, one.script)
			if err != nil {
				t.Fatal(err)
			}
			if proof.Codes[health.Healthy] == 0 || len(proof.Codes) < 2 || len(proof.Examples) < 3 {
				t.Errorf("the proof shows too little: %v, %d examples", proof.Codes, len(proof.Examples))
			}
		})
	}
}

// TestProveRefuses changes scripts that are right, and wants each change found.
func TestProveRefuses(t *testing.T) {
	one := checks(t)[0]
	tests := map[string]string{
		"always Healthy": `return {status = "Healthy", message = "fine"}`,
		"error":          `error("no")`,
		"no answer":      "-- nothing",
		"no Lua":         "return {",
		"open libraries": `return {status = "Healthy", message = string.upper("x")}`,
		"without end":    "while true do end",
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := verify.Prove(t.Context(), one.check, script)
			if _, ok := errors.AsType[*verify.DisproofError](err); !ok {
				t.Errorf("want a disproof: %v", err)
			}
		})
	}
	if _, err := verify.Prove(t.Context(), one.check, strings.ReplaceAll(one.script, "Degraded", "Progressing")); err == nil {
		t.Error("a script with another status must not be proven")
	}
}

func TestSuite(t *testing.T) {
	const script = `
local status = "Progressing"
if obj.status.phase == "Ready" then status = "Healthy" end
return {status = status, message = "phase"}`
	const guarded = `
local ok, answer = pcall(function()
  if obj.status.phase == "Ready" then return {status = "Healthy", message = "phase"} end
end)
if ok and answer then return answer end
return {status = "Progressing", message = "phase"}`
	tests := map[string]struct {
		reason string
		script string
		tests  string
		reads  bool // whether the suite can be read
		passes bool
	}{
		"right":         {"all cases pass, broken objects too", guarded, "tests: [{inputPath: testdata/a.yaml, healthStatus: {status: Healthy, message: phase}}]", true, true},
		"wrong case":    {"a check that fails its own case is refused", guarded, "tests: [{inputPath: testdata/a.yaml, healthStatus: {status: Degraded, message: phase}}]", true, false},
		"wrong message": {"Argo CD's own tests compare it, too", guarded, "tests: [{inputPath: testdata/a.yaml, healthStatus: {status: Healthy, message: other}}]", true, false},
		"fragile":       {"it breaks on an object without a status", script, "tests: [{inputPath: testdata/a.yaml, healthStatus: {status: Healthy, message: phase}}]", true, false},
		"no cases":      {"nothing would be proven", guarded, "tests: []", false, false},
		"no status":     {"the case says nothing", guarded, "tests: [{inputPath: testdata/a.yaml}]", false, false},
		"no object":     {"the file is missing", guarded, "tests: [{inputPath: testdata/b.yaml, healthStatus: {status: Healthy}}]", false, false},
		"path outside":  {"a suite reads its own files only", guarded, "tests: [{inputPath: ../../../a.yaml, healthStatus: {status: Healthy}}]", false, false},
		"misspelt":      {"a typing error must not switch a case off", guarded, "tests: [{inputpaths: testdata/a.yaml}]", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{
				"x.io/Pump/health.lua":       {Data: []byte(test.script)},
				"x.io/Pump/health_test.yaml": {Data: []byte(test.tests)},
				"x.io/Pump/testdata/a.yaml":  {Data: []byte("apiVersion: x.io/v1\nkind: Pump\nmetadata: {name: a}\nstatus: {phase: Ready}\n")},
			}
			suite, err := verify.ReadSuite(files, "x.io/Pump")
			if (err == nil) != test.reads {
				t.Fatalf("%s: read: %v", test.reason, err)
			}
			if err != nil {
				return
			}
			err = suite.Run(t.Context())
			if (err == nil) != test.passes {
				t.Errorf("%s: run: %v", test.reason, err)
			}
			if disproof, ok := errors.AsType[*verify.DisproofError](err); ok && disproof.Broken != (name == "fragile") {
				t.Errorf("%s: broken is %v: %v", test.reason, disproof.Broken, err)
			}
		})
	}
}

// TestFiles: what Files writes, ReadSuite reads, and it passes.
func TestFiles(t *testing.T) {
	for _, one := range checks(t) {
		proof, err := verify.Prove(t.Context(), one.check, one.script)
		if err != nil {
			t.Fatal(err)
		}
		written, err := verify.Files(one.script, proof)
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		for name, text := range written {
			files["suite/"+name] = &fstest.MapFile{Data: text, Mode: fs.ModePerm}
		}
		suite, err := verify.ReadSuite(files, "suite")
		if err == nil {
			err = suite.Run(t.Context())
		}
		if err != nil || len(suite.Tests) < 3 {
			t.Errorf("%s: %d tests: %v", one.check.Kind, len(suite.Tests), err)
		}
	}
}
