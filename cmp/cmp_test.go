package cmp

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestCommands compares exit code, standard output and standard error with
// testdata/golden; -update writes them.
func TestCommands(t *testing.T) {
	pin := func(args ...string) []string { return append([]string{"pin", "--crds", "testdata/crds"}, args...) }
	render := func(args ...string) []string {
		return append([]string{"render", "--crds", "testdata/crds", "--repo", "testdata/repo"}, args...)
	}
	const widget = "testdata/objects/widget.yaml"
	tests := map[string]struct {
		reason string
		args   []string
		stdin  string
		code   int
	}{
		"pin":                {reason: "defaults are added, the rest stays", args: pin(widget)},
		"pin-folder":         {reason: "a folder is read by name", args: pin("--explain", "testdata/objects")},
		"pin-stdin":          {reason: "- is the standard input", args: pin("-"), stdin: `{"apiVersion":"test.moorpin.dev/v1","kind":"Widget","metadata":{"name":"x"},"spec":{}}`},
		"pin-json":           {reason: "one object a line", args: pin("-o", "json", widget)},
		"pin-atomic":         {reason: "only inside the atomic list", args: pin("--pin=atomic", "--explain", widget)},
		"pin-none":           {reason: "nothing is changed", args: pin("--pin=none", "--explain", widget)},
		"pin-explain":        {reason: "one aligned line for each field", args: pin("--explain", widget)},
		"pin-rules":          {reason: "own rules add to the built-in ones", args: pin("--explain", "--rules", "testdata/rules.yaml", "testdata/objects")},
		"pin-check-found":    {reason: "--check tells CI", args: pin("--check", widget), code: 1},
		"pin-check-fine":     {reason: "nothing to pin is fine", args: pin("--check", "testdata/pinned.yaml")},
		"pin-no-crd":         {reason: "a missing schema is a warning", args: []string{"pin", widget}},
		"pin-not-structural": {reason: "a CRD that is not structural hurts no other", args: pin("--crds", "testdata/not-structural.yaml", widget)},
		"pin-broken-yaml":    {reason: "file, document and line are named", args: pin("testdata/broken.yaml"), code: 2},
		"pin-no-file":        {reason: "the user's mistake", args: pin("testdata/none.yaml"), code: 2},
		"pin-no-crds-path":   {reason: "the user's mistake", args: []string{"pin", "--crds", "testdata/none", widget}, code: 2},
		"pin-bad-mode":       {reason: "the user's mistake", args: pin("--pin=most", widget), code: 2},
		"pin-bad-output":     {reason: "the user's mistake", args: pin("-o", "xml", widget), code: 2},
		"pin-bad-rules":      {reason: "row and field are named", args: pin("--rules", "testdata/bad-rules.yaml", widget), code: 2},
		"pin-no-rules":       {reason: "the user's mistake", args: pin("--rules", "testdata/none.yaml", widget), code: 2},
		"pin-no-kubeconfig":  {reason: "the user's mistake", args: pin("--kubeconfig", "testdata/none", widget), code: 2},
		"pin-help":           {reason: "help is complete", args: []string{"pin", "--help"}},

		"render-native":        {reason: "a native Application renders as it stands", args: render("--application", "testdata/app-native.yaml", "--explain")},
		"render-plugin":        {reason: "so does its plugin form, which may choose the mode", args: render("--application", "testdata/app-plugin.yaml", "--explain")},
		"render-check":         {reason: "--check tells CI", args: render("--application", "testdata/app-native.yaml", "--check"), code: 1},
		"render-unserved":      {reason: "what the destination does not serve is left alone", args: render("--application", "testdata/app-native.yaml", "--api-versions", "testdata/api-versions.txt")},
		"render-unknown-field": {reason: "a typing mistake in the Application is found", args: render("--application", "testdata/app-unknown-field.yaml"), code: 2},
		"render-no-app":        {reason: "the user's mistake", args: render("--application", "testdata/none.yaml"), code: 2},
		"render-no-flags":      {reason: "the user's mistake", args: []string{"render"}, code: 2},
		"render-no-repo":       {reason: "the user's mistake", args: []string{"render", "--application", "testdata/app-native.yaml", "--repo", "testdata/none"}, code: 2},
		"render-help":          {reason: "help is complete", args: []string{"render", "--help"}},

		"serve-bad-live":        {reason: "the user's mistake", args: []string{"serve", "--live=maybe"}, code: 2},
		"serve-bad-log-level":   {reason: "the user's mistake", args: []string{"serve", "--log-level=loud"}, code: 2},
		"serve-bad-log-format":  {reason: "the user's mistake", args: []string{"serve", "--log-format=xml"}, code: 2},
		"serve-bad-parallelism": {reason: "the user's mistake", args: []string{"serve", "--parallelism=0"}, code: 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			keepEnvironment(t)
			code, out, errs := execute(t.Context(), test.stdin, test.args...)
			if code != test.code {
				t.Errorf("%s: exit code %d, want %d", test.reason, code, test.code)
			}
			golden(t, name, fmt.Sprintf("exit %d\n--- standard output\n%s--- standard error\n%s", code, out, errs))
		})
	}
}

// keepEnvironment gives the process back, after the test, what the renderer
// changes of it for good.
func keepEnvironment(t testing.TB) {
	t.Helper()
	for _, name := range []string{"TMPDIR", "HOME", "PATH"} {
		t.Setenv(name, os.Getenv(name))
	}
}

// execute runs a sub-command and returns what the process would leave. The
// error is printed as main does.
func execute(ctx context.Context, stdin string, args ...string) (code int, out, errs string) {
	var outBuffer, errBuffer bytes.Buffer
	command := Command()
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs(args)
	command.SetIn(strings.NewReader(stdin))
	command.SetOut(&outBuffer)
	command.SetErr(&errBuffer)
	err := command.ExecuteContext(ctx)
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
	case errors.As(err, &coded):
		code = coded.ExitCode()
		fmt.Fprintln(&errBuffer, err)
	default:
		code = cli.MistakeCode
		fmt.Fprintln(&errBuffer, err)
	}
	return code, outBuffer.String(), errBuffer.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run the test with -update", err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; run the test with -update if that is meant (-want +got):\n%s", file, diff)
	}
}
