package lua_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/lua"
)

const crds = "verify/testdata/crds"

// execute runs a command line and returns its exit code and what it says.
func execute(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := lua.Command()
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs(args)
	command.SetIn(strings.NewReader(""))
	command.SetOut(&stdout)
	command.SetErr(&stderr)
	err := command.ExecuteContext(t.Context())
	if err == nil {
		return 0, stdout.String(), stderr.String()
	}
	coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err)
	if !ok {
		t.Fatalf("%v has no exit code", err)
	}
	return coded.ExitCode(), stdout.String(), stderr.String() + err.Error()
}

// wants runs a command line, and wants its exit code and words of what it says.
func wants(t *testing.T, code int, says string, args ...string) string {
	t.Helper()
	got, out, errs := execute(t, args...)
	if got != code || !strings.Contains(out+errs, says) {
		t.Fatalf("%q: want %d and %q, have %d:\n%s%s", args, code, says, got, out, errs)
	}
	return out
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// contents reads all files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestGenerateVerify: what generate writes is whole, the same each time, and proves
// right; what somebody breaks in it is found.
func TestGenerateVerify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "checks")
	wants(t, 0, "6 checks written", "generate", "--crds", crds, "--out", dir)
	first := contents(t, dir)
	for _, name := range []string{"test.moorpin.dev_Pump.lua", "argocd-cm.patch.yaml", "report.md", "report.html", "suite/test.moorpin.dev/Pump/health.lua", "suite/test.moorpin.dev/Pump/health_test.yaml"} {
		if first[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	if !strings.Contains(first["argocd-cm.patch.yaml"], "resource.customizations.health.test.moorpin.dev_Pump: |") {
		t.Errorf("the patch has no readable key for the Pump:\n%.300s", first["argocd-cm.patch.yaml"])
	}
	wants(t, 0, "6 checks written", "generate", "--crds", crds, "--out", dir)
	for name, text := range contents(t, dir) {
		if first[name] != text {
			t.Errorf("%s differs the second time", name)
		}
	}
	wants(t, 0, "ok test.moorpin.dev_Pump", "verify", dir)
	suite := filepath.Join(dir, "suite/test.moorpin.dev/Pump/health.lua")
	write(t, suite, "return {status = 'Healthy', message = 'fine'}")
	wants(t, 2, "is not the script of its suite", "verify", dir)
	write(t, filepath.Join(dir, "test.moorpin.dev_Pump.lua"), "return {status = 'Healthy', message = 'fine'}")
	wants(t, 2, "FAILED test.moorpin.dev_Pump", "verify", dir)
	wants(t, 2, "nothing is installed", "install", dir)
	if err := os.RemoveAll(filepath.Dir(suite)); err != nil {
		t.Fatal(err)
	}
	wants(t, 2, "has no suite", "verify", dir)
	if err := os.Remove(filepath.Join(dir, "test.moorpin.dev_Pump.lua")); err != nil {
		t.Fatal(err)
	}
	wants(t, 0, "ok test.moorpin.dev_Lamp", "verify", dir)
	if err := os.Remove(filepath.Join(dir, "test.moorpin.dev_Lamp.lua")); err != nil {
		t.Fatal(err)
	}
	wants(t, 2, "test.moorpin.dev_Lamp.lua is missing", "verify", dir)
}

// TestOwnChecks: people's own checks, in the layout of Argo CD's repository. One that
// fails its own case is refused; one that only breaks on broken objects is named.
func TestOwnChecks(t *testing.T) {
	tests := map[string]struct {
		reason string
		script string
		code   int
		says   string
		strict int // the exit code with --strict
	}{
		"right": {"it answers whatever the object looks like", `local ok, phase = pcall(function() return obj.status.phase end)
return {status = ok and phase == "Ready" and "Healthy" or "Progressing", message = "a pump"}`, 0, "ok x.io_Pump, 1 cases", 0},
		"wrong":       {"its own case says otherwise", `return {status = "Degraded", message = "a pump"}`, 2, "FAILED x.io_Pump", 2},
		"fragile":     {"an object without a status breaks it", `if obj.status.phase then return {status = "Healthy", message = "a pump"} end`, 0, "fragile x.io_Pump, 1 cases: case \"testdata/a.yaml emptied\"", 2},
		"string used": {"argocd-cm's scripts have no string library", `return {status = "Healthy", message = string.lower("A PUMP")}`, 2, "FAILED x.io_Pump", 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "x.io/Pump/health.lua"), test.script)
			write(t, filepath.Join(dir, "x.io/Pump/health_test.yaml"), "tests: [{inputPath: testdata/a.yaml, healthStatus: {status: Healthy, message: a pump}}]")
			write(t, filepath.Join(dir, "x.io/Pump/testdata/a.yaml"), "apiVersion: x.io/v1\nkind: Pump\nmetadata: {name: a}\nstatus: {phase: Ready}\n")
			wants(t, test.code, test.says, "verify", dir)
			wants(t, test.strict, test.says, "verify", dir, "--strict")
			if test.strict != 0 {
				wants(t, 2, "nothing is installed", "install", dir)
			}
		})
	}
}

func TestGrades(t *testing.T) {
	all := wants(t, 0, "checks written", "generate", "--crds", crds, "--out", filepath.Join(t.TempDir(), "all"))
	best := wants(t, 0, "checks written", "generate", "--crds", crds, "--min-grade", "column", "--out", filepath.Join(t.TempDir(), "best"))
	if all == best || strings.HasPrefix(best, "0 checks") {
		t.Errorf("--min-grade must leave out some kinds and keep others: %s%s", all, best)
	}
}

const crdHead = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.io}\nspec: {group: x.io, scope: Namespaced, names: {kind: A, plural: as}, versions: [{name: v1, served: true, storage: true"

// TestBadInput: each is a sentence, and nothing is written for it.
func TestBadInput(t *testing.T) {
	conditions := ", schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {conditions: {type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}}}}}}}}}}]}\n"
	anything := ", schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}\n"
	tests := map[string]struct {
		reason string
		text   string
		code   int
		says   string
	}{
		"no CRD":            {"another kind is passed over", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n", 2, "no CRD was read"},
		"no YAML":           {"a broken file is named", "kind: [\n", 2, "crd.yaml"},
		"no schema":         {"nothing can be derived", crdHead + "}]}\n", 0, "0 checks written"},
		"anything":          {"a schema that allows everything shows nothing", crdHead + anything, 0, "0 checks written, 1 kinds without evidence"},
		"v1beta1":           {"an old form", strings.Replace(crdHead+anything, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1), 0, "0 checks written"},
		"two that disagree": {"nobody knows which of them the cluster has", crdHead + conditions + "---\n" + crdHead + anything, 0, "disagree"},
		"twins":             {"the same twice is no problem", crdHead + conditions + "---\n" + crdHead + conditions, 0, "1 checks written, 0 kinds without evidence, 0 refused"},
		"no kind":           {"it names none", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {}\n", 0, "spec.names.kind"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := write(t, filepath.Join(t.TempDir(), "crd.yaml"), test.text)
			out := filepath.Join(t.TempDir(), "out")
			wants(t, test.code, test.says, "generate", "--crds", file, "--out", out)
			if _, err := os.Stat(out); test.code != 0 && err == nil {
				t.Errorf("%s: %s was written", test.reason, out)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	full := t.TempDir()
	write(t, filepath.Join(full, "precious.txt"), "x")
	tests := map[string]struct {
		args []string
		says string
	}{
		"no folder":        {[]string{"generate", "--crds", crds}, "--out"},
		"another's folder": {[]string{"generate", "--crds", crds, "--out", full}, "precious.txt"},
		"no CRDs":          {[]string{"generate", "--out", filepath.Join(full, "x")}, "--crds"},
		"grade":            {[]string{"generate", "--crds", crds, "--out", "x", "--min-grade", "nothing"}, "--min-grade"},
		"ready false":      {[]string{"generate", "--crds", crds, "--out", "x", "--ready-false", "x"}, "--ready-false"},
		"live":             {[]string{"generate", "--crds", crds, "--out", "x", "--live"}, "--kubeconfig"},
		"missing CRDs":     {[]string{"generate", "--crds", "none", "--out", "x"}, "none"},
		"verify nothing":   {[]string{"verify", t.TempDir()}, "holds no check"},
		"verify nowhere":   {[]string{"verify", "none"}, "none"},
		"install nothing":  {[]string{"install"}, "DIR"},
		"both":             {[]string{"install", "--uninstall", "x"}, "--uninstall"},
		"gaps format":      {[]string{"gaps", "-o", "csv"}, "csv"},
		"gaps of nothing":  {[]string{"gaps"}, "--kubeconfig"},
		"gaps in no CRD":   {[]string{"gaps", "--check", "--crds", t.TempDir()}, "no CRD is there"},
		"no ConfigMap":     {[]string{"gaps", "--argocd-cm", filepath.Join(crds, "flag.yaml")}, "no ConfigMap"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { wants(t, 2, test.says, test.args...) })
	}
}

func TestGaps(t *testing.T) {
	settings := write(t, filepath.Join(t.TempDir(), "cm.yaml"), `apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm}
data:
  resource.customizations.health.test.moorpin.dev_Pump: return nil
  resource.customizations.health.cert-manager.io_Certificate: return nil
`)
	wants(t, 0, "6 of 6 kinds have no health check", "gaps", "--crds", crds)
	wants(t, 1, "5 kinds have no health check", "gaps", "--crds", crds, "--argocd-cm", settings, "--check")
	wants(t, 0, "hides Argo CD's own check", "gaps", "--argocd-cm", settings)
	out := wants(t, 0, "", "gaps", "--crds", crds, "--argocd-cm", settings, "-a", "-o", "json")
	var rows []struct {
		Kind  string `json:"kind"`
		State string `json:"state"`
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 6 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	broken := write(t, filepath.Join(t.TempDir(), "cm.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {resource.customizations.health.a_b_C: x}\n")
	wants(t, 2, "until it is mended", "gaps", "--crds", crds, "--argocd-cm", broken)
}
