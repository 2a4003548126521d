package render_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// Of YAML that does not parse, file, document and line are named.
func TestYAMLFault(t *testing.T) {
	_, err := renderer.Run(t.Context(), sourceCase{path: "broken"}.request(fixture(t, "broken", nil)))
	var fault *manifest.Error
	if !errors.As(err, &fault) {
		t.Fatalf("got %v", err)
	}
	if fault.Origin.File != "broken/app.yaml" || fault.Origin.Document != 2 || fault.Line != 9 {
		t.Errorf("got %+v: %v", fault, err)
	}
}

// Messages speak of the repository: no path of the private copy, no argument of
// Helm, and no temporary file.
func TestMessages(t *testing.T) {
	cases := map[string]struct {
		test sourceCase
		says string
	}{
		"helm template": {sourceCase{path: "helm", kind: "helm", block: "parameters: [{name: a, value: s3cret}, {name: nested, value: '[s3cret'}]", files: map[string]string{
			"helm/templates/fail.yaml": `{{ fail "no way" }}`,
		}}, "no way"},
		"value file":     {sourceCase{path: "helm", kind: "helm", block: "values: 's3cret: ['"}, "<temporary file>"},
		"missing values": {sourceCase{path: "helm", kind: "helm", block: "valueFiles: [gone.yaml]"}, "helm/gone.yaml"},
		"kustomize":      {sourceCase{path: "k", files: map[string]string{"k/kustomization.yaml": "resources: [gone.yaml]\n"}}, "k/gone.yaml"},
		"remote base":    {sourceCase{path: "k", files: map[string]string{"k/kustomization.yaml": "resources: ['file:///a/b/c?ref=--x']\n"}}, "refused to call git"},
		"jsonnet":        {sourceCase{path: "a", files: map[string]string{"a/a.jsonnet": "error 'no way'"}}, "no way"},
		"json":           {sourceCase{path: "a", files: map[string]string{"a/a.json": `{"kind":"A"} {"kind":"B"}`}}, "a.json"},
		"dependency": {sourceCase{path: "helm", files: map[string]string{
			"helm/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies: [{name: gone, version: 1.0.0, repository: 'file://../gone'}]\n",
		}}, "gone"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			root := fixture(t, c.test.path, c.test.files)
			request, err := render.FromEnvironment(c.test.environment(t), root, c.test.path)
			check(t, err)
			_, err = renderer.Run(t.Context(), request)
			var refusal *render.Refusal
			if !errors.As(err, &refusal) || refusal.Where != c.test.path {
				t.Fatalf("got %v", err)
			}
			message := err.Error()
			if !strings.Contains(message, c.says) {
				t.Errorf("%q is not in: %s", c.says, message)
			}
			for _, leak := range []string{root, os.TempDir(), filepath.Dir(os.Getenv("HOME")), "--set", "s3cret", "rpc error"} {
				if strings.Contains(message, leak) {
					t.Errorf("%q is in: %s", leak, message)
				}
			}
		})
	}
}

// Argo CD's libraries log the arguments of Helm, values included, and through
// loggers of their own as well.
func TestNothingIsLogged(t *testing.T) {
	reader, writer, err := os.Pipe()
	check(t, err)
	before := os.Stderr
	os.Stderr = writer
	logrus.SetOutput(writer)
	logrus.Error("s3cret")
	defer logrus.SetOutput(io.Discard)
	request := sourceCase{path: "helm", kind: "helm", block: "parameters: [{name: a, value: s3cret}]"}
	withValues, err := render.FromEnvironment(request.environment(t), fixture(t, "helm", nil), "helm")
	if err == nil {
		_, err = renderer.Run(t.Context(), withValues)
	}
	os.Stderr = before
	check(t, errors.Join(err, writer.Close()))
	logged, err := io.ReadAll(reader)
	if err != nil || len(logged) > 0 {
		t.Errorf("logged %q, %v", logged, err)
	}
}

// slowTool puts a tool first in PATH that starts a child and waits. Each of the two
// appends its id to the returned file.
func slowTool(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	ids := filepath.Join(folder, "ids")
	script := fmt.Sprintf("#!/bin/sh\necho $$ >> %[1]s\nsh -c 'echo $$ >> %[1]s; exec sleep 300'\n", ids)
	check(t, os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return ids
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 1000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain until %s", what)
}

func idsIn(t *testing.T, file string) []int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var ids []int
	for field := range strings.FieldsSeq(string(text)) {
		id, err := strconv.Atoi(field)
		check(t, err)
		ids = append(ids, id)
	}
	return ids
}

// When the context ends, Run returns at once, the tool and what it started are
// killed, and only then the private copy is released.
func TestContextEnds(t *testing.T) {
	for tool, app := range map[string]string{"helm": "helm", "kustomize": "kustomize/plain"} {
		t.Run(tool, func(t *testing.T) {
			ids := slowTool(t, tool)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var released atomic.Int32
			request := sourceCase{path: app}.request(fixture(t, app, nil))
			request.Release = func() { released.Add(1) }
			failed := make(chan error, 1)
			go func() {
				_, err := renderer.Run(ctx, request)
				failed <- err
			}()
			await(t, "the tool runs", func() bool { return len(idsIn(t, ids)) == 2 })
			if released.Load() != 0 {
				t.Error("released while the tool runs")
			}
			cancel()
			err := <-failed
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), app) {
				t.Errorf("got %v", err)
			}
			await(t, "the copy is released", func() bool { return released.Load() == 1 })
			for _, id := range idsIn(t, ids) {
				await(t, "the process ends", func() bool { return !running(id) })
			}
			if released.Load() != 1 {
				t.Errorf("released %d times", released.Load())
			}
		})
	}
}

// running reports whether a process has neither ended nor become a zombie.
func running(id int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// Charts in one folder render side by side, which shows that Argo CD's renderer was
// told to keep no lock for each folder: it would keep them for ever.
func TestNoLockPerFolder(t *testing.T) {
	ids := slowTool(t, "helm")
	root := fixture(t, "helm", nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	for range 2 {
		go func() {
			_, _ = renderer.Run(ctx, sourceCase{path: "helm"}.request(root))
			ended <- struct{}{}
		}()
	}
	await(t, "both tools run", func() bool { return len(idsIn(t, ids)) == 4 })
	cancel()
	<-ended
	<-ended
}

// Other renders go on when one is killed.
func TestKillIsNarrow(t *testing.T) {
	ids := slowTool(t, "helm")
	neighbour := sourceCase{path: "helm"}.request(fixture(t, "helm", nil))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		_, _ = renderer.Run(ctx, neighbour)
		close(ended)
	}()
	defer func() { <-ended }()
	defer cancel()
	await(t, "the neighbour's tool runs", func() bool { return len(idsIn(t, ids)) == 2 })

	short, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	released := make(chan struct{})
	request := sourceCase{path: "helm"}.request(fixture(t, "helm", nil))
	request.Release = func() { close(released) }
	_, err := renderer.Run(short, request)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	<-released
	for _, id := range idsIn(t, ids)[:2] {
		if !running(id) {
			t.Errorf("the neighbour's process %d was killed", id)
		}
	}
}

func TestReleaseAlways(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	cases := map[string]struct {
		ctx  context.Context
		path string
	}{
		"rendered": {t.Context(), "directory/plain"},
		"refused":  {t.Context(), "gone"},
		"broken":   {t.Context(), "broken"},
		"too late": {cancelled, "directory/plain"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			released := make(chan struct{})
			request := sourceCase{path: test.path}.request(fixture(t, "directory", map[string]string{"broken/app.yaml": "kind: A\n---\nkind: ["}))
			request.Release = func() { close(released) } // a second call panics
			_, err := renderer.Run(test.ctx, request)
			if (err == nil) != (name == "rendered") {
				t.Errorf("got %v", err)
			}
			select {
			case <-released:
			case <-time.After(10 * time.Second):
				t.Error("never released")
			}
		})
	}
}

func TestMissingTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := renderer.CheckTools(); err == nil || !strings.Contains(err.Error(), "helm is needed") || !strings.Contains(err.Error(), "kustomize is needed") {
		t.Errorf("got %v", err)
	}
	for _, app := range []string{"helm", "kustomize/plain"} {
		_, err := renderer.Run(t.Context(), sourceCase{path: app}.request(fixture(t, app, nil)))
		if err == nil || !strings.Contains(err.Error(), "is needed to render") {
			t.Errorf("%s: got %v", app, err)
		}
	}
	if _, err := renderer.Run(t.Context(), sourceCase{path: "directory/plain"}.request(fixture(t, "directory", nil))); err != nil {
		t.Errorf("a directory needs no tool: %v", err)
	}
}

func TestNoReleaseName(t *testing.T) {
	request := sourceCase{path: "helm"}.request(fixture(t, "helm", nil))
	request.AppName = ""
	_, err := renderer.Run(t.Context(), request)
	var refusal *render.Refusal
	if !errors.As(err, &refusal) || refusal.Where != "ARGOCD_APP_NAME" {
		t.Errorf("got %v", err)
	}
}

// Origins name the app's folder and number the objects.
func TestOrigins(t *testing.T) {
	objects, err := renderer.Run(t.Context(), sourceCase{path: "kustomize/overlay"}.request(fixture(t, "kustomize", nil)))
	check(t, err)
	for i, object := range objects {
		if object.Origin.File != "kustomize/overlay" || object.Origin.Document != i+1 {
			t.Errorf("object %d comes from %s", i, object.Origin)
		}
	}
}

// A folder that passes repo-server's limit is refused as there.
func TestDirectoryBytes(t *testing.T) {
	big := configMap("a") + "data: {a: " + strings.Repeat("x", 10_000_000) + "}\n"
	request := sourceCase{path: "a"}.request(fixture(t, "a", map[string]string{"a/a.yaml": big}))
	want, nativeErr := native(t, request)
	_, err := renderer.Run(t.Context(), request)
	if nativeErr == nil || err == nil {
		t.Errorf("got %v; Argo CD gives %d objects, %v", err, len(want), nativeErr)
	}
}

// BenchmarkRun renders the folder that the project promises to be quick with, next
// to Argo CD's renderer called directly.
func BenchmarkRun(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("app/%d.yaml", i)] = fmt.Sprintf(`apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: secret-%[1]d, namespace: team}
spec:
  refreshInterval: 1h
  secretStoreRef: {kind: ClusterSecretStore, name: vault}
  target: {name: secret-%[1]d}
  data:
  - secretKey: password
    remoteRef: {key: team/%[1]d, property: password}
`, i)
	}
	request := sourceCase{path: "app"}.request(fixture(b, "app", files))
	b.Run("moorpin", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := renderer.Run(b.Context(), request)
			check(b, err)
		}
	})
	b.Run("argocd", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := native(b, request)
			check(b, err)
		}
	})
}

// Programs that would end or hold this process end their own, and are the user's mistake.
func TestProgramsRunApart(t *testing.T) {
	tests := map[string]struct{ reason, program, says string }{
		"stack":      {reason: "a stack overflow ends a Go process", program: "local f(x) = if x > 0 then f(1) tailstrict else 0; f(1)", says: "broke down"},
		"deep":       {reason: "the parser overflows too", program: strings.Repeat("(", 1_000_000), says: "broke down"},
		"panic":      {reason: "the library panics", program: "{b: super[self.x]}", says: "broke down"},
		"memory":     {reason: "memory is bounded", program: "{kind: 'A', x: [a for a in std.range(1, 100000000)]}", says: "bytes of memory"},
		"outside":    {reason: "imports stay inside", program: "{x: importstr '/etc/hostname'}", says: "no file of this repository"},
		"in asserts": {reason: "also where the library's walk does not look", program: "{assert false : importstr '/etc/hostname'}", says: "no file of this repository"},
		"in locals":  {reason: "and in local objects", program: "local a = {assert std.length(importstr '/etc/hostname') > 0}; a + {kind: 'A'}", says: "no file of this repository"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := sourceCase{path: "a"}.request(fixture(t, "a", map[string]string{"a/a.jsonnet": test.program}))
			objects, err := renderer.Run(t.Context(), request)
			var refusal *render.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %d objects, %v", test.reason, len(objects), err)
			}
			t.Log(err)
		})
	}
}

// A program that does not end gives everything back when its time is over.
func TestSlowProgramEnds(t *testing.T) {
	program := "{x: std.length([1 for a in std.range(1, 3000) for b in std.range(1, 3000) for c in std.range(1, 3000) if a * b * c < 0])}"
	request := sourceCase{path: "a"}.request(fixture(t, "a", map[string]string{"a/a.jsonnet": program}))
	released := make(chan struct{})
	request.Release = func() { close(released) }
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := renderer.Run(ctx, request); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("want the deadline, got %v", err)
	}
	select {
	case <-released:
	case <-time.After(5 * time.Second):
		t.Error("the private copy is still held")
	}
}

// What Helm prints is bounded as what is in files.
func TestHelmBomb(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	template := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: &a " + text + "\n"
	for i := range 150 {
		template += fmt.Sprintf("  b%d: *a\n", i)
	}
	request := sourceCase{path: "h"}.request(fixture(t, "h", map[string]string{
		"h/Chart.yaml": "apiVersion: v2\nname: h\nversion: 1.0.0\n", "h/templates/a.yaml": template,
	}))
	objects, err := renderer.Run(t.Context(), request)
	if _, found := errors.AsType[*render.Refusal](err); !found {
		t.Errorf("%d objects, %v", len(objects), err)
	}
	t.Log(err)
}
