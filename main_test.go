package main

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunExitCodes(t *testing.T) {
	tests := map[string]struct {
		reason string
		args   []string
		code   int
		says   string
	}{
		"help":            {"nothing to do is no mistake", nil, 0, ""},
		"version":         {"works without Git", []string{"version"}, 0, ""},
		"unknown command": {"cobra's refusals are the user's mistakes", []string{"sail"}, 2, "moorpin --help"},
		"unknown flag":    {"cobra's refusals are the user's mistakes", []string{"cmp", "pin", "--sail"}, 2, "moorpin cmp pin --help"},
		"no argument":     {"cobra's refusals are the user's mistakes", []string{"cmp", "pin"}, 2, "moorpin cmp pin --help"},
		"bad value":       {"a command's refusals are the user's mistakes", []string{"version", "-o", "xml"}, 2, "xml"},
		"no such file":    {"a command's own exit code counts", []string{"cmp", "pin", "none.yaml"}, 2, "none.yaml"},
		"check":           {"something was found", []string{"cmp", "pin", "--check", "--crds", "cmp/testdata/crds", "cmp/testdata/objects/widget.yaml"}, 1, "--check"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(test.args, strings.NewReader(""), &out, &errs)
			if code != test.code || !strings.Contains(errs.String(), test.says) {
				t.Errorf("%s: want exit code %d and %q, have %d:\n%s", test.reason, test.code, test.says, code, errs.String())
			}
		})
	}
}

func TestReadVersion(t *testing.T) {
	got := readVersion(&debug.BuildInfo{
		GoVersion: "go1.26.0",
		Main:      debug.Module{Version: "v1.2.3"},
		Deps:      []*debug.Module{{Path: "example.com/other", Version: "v9.0.0"}, {Path: argoCD, Version: "v2.14.21"}},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
		},
	})
	want := version{Version: "v1.2.3", Revision: "abc", Time: "2026-01-02T03:04:05Z", Modified: true, Go: "go1.26.0", ArgoCD: "v2.14.21"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text := "moorpin v1.2.3\ncommit  abc, with changes\ntime    2026-01-02T03:04:05Z\ngo      go1.26.0\nargo-cd v2.14.21\n"
	if diff := cmp.Diff(text, got.text()); diff != "" {
		t.Errorf("as text: -want +got:\n%s", diff)
	}
	var out bytes.Buffer
	err := printVersion(&out, "json", got)
	if err != nil {
		t.Fatal(err)
	}
	var back version
	err = json.Unmarshal(out.Bytes(), &back)
	if diff := cmp.Diff(want, back); err != nil || diff != "" {
		t.Errorf("as JSON: %v, -want +got:\n%s", err, diff)
	}
}
