package child_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/e2e/attack"
	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/pkg/confine"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	crd "github.com/moorpin/moorpin/pkg/schema"
)

func TestMain(m *testing.M) {
	if child.IsChild() {
		os.Exit(child.Serve())
	}
	path, err := controlplane.ToolPath(context.Background(), os.Stderr)
	if err == nil {
		err = os.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the tests of package child:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func newPool(t testing.TB, change func(*child.Options)) *child.Pool {
	t.Helper()
	options := child.Options{
		WorkDir: t.TempDir(), Mode: confine.Auto, Children: 1, Log: slog.New(slog.DiscardHandler),
		Limits: confine.Limits{Memory: 512 << 20, CPU: time.Minute, DiskBytes: 1 << 30, DiskFiles: 100_000, AnswerBytes: 32 << 20},
	}
	if change != nil {
		change(&options)
	}
	pool, err := child.NewPool(options)
	check(t, err)
	t.Cleanup(func() { check(t, pool.Close()) })
	return pool
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// app is a folder of a repository with the variables that Argo CD gives for it.
type app struct {
	files map[string]string
	links map[string]string
	block string // kind and block of the source: "helm: {...}"
}

func (a app) env(t testing.TB) map[string]string {
	t.Helper()
	env := map[string]string{"ARGOCD_APP_NAME": "web", "ARGOCD_APP_NAMESPACE": "shop", "KUBE_VERSION": "1.34"}
	if kind, block, found := strings.Cut(a.block, ": "); found {
		text, err := json.Marshal([]map[string]string{{"name": kind, "string": block}})
		check(t, err)
		env["ARGOCD_APP_PARAMETERS"] = string(text)
	}
	return env
}

func (a app) lay(t testing.TB, root string) {
	t.Helper()
	for name, text := range a.files {
		file := filepath.Join(root, name)
		check(t, os.MkdirAll(filepath.Dir(file), 0o700))
		if aim, isLink := strings.CutPrefix(text, attack.LinkTo); isLink {
			check(t, os.Symlink(aim, file))
			continue
		}
		check(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for name, target := range a.links {
		check(t, os.Symlink(target, filepath.Join(root, name)))
	}
}

// do renders the folder app of the repository.
func (a app) do(ctx context.Context, t testing.TB, pool *child.Pool, schemas crd.Lookup) (*child.Outcome, error) {
	t.Helper()
	slot, err := pool.Take(ctx)
	check(t, err)
	defer slot.Release()
	root := filepath.Join(slot.Folder(), "tree")
	a.lay(t, root)
	return slot.Do(ctx, child.Task{Root: root, Path: "app", Env: a.env(t), Changes: true}, schemas)
}

const widget = "apiVersion: test.moorpin.dev/v1\nkind: Widget\nmetadata: {name: a}\nspec: {parts: [{name: x}]}\n"

func widgets(t testing.TB, size string) *crd.Definition {
	t.Helper()
	var object map[string]any
	text := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.test.moorpin.dev"},
	"spec":{"group":"test.moorpin.dev","scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,"storage":true,
	"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"string","default":"` + size + `"},"count":{"type":"integer","default":3},
	"parts":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"colour":{"type":"string","default":"grey"}}}}}}}}}}]}}`
	check(t, json.Unmarshal([]byte(text), &object))
	definition, err := crd.Parse(t.Context(), object, "test")
	check(t, err)
	return definition
}

var plain = app{files: map[string]string{"app/widget.yaml": widget}}

// A child gives what this process would give, with schemas that it asks for.
func TestOutcome(t *testing.T) {
	pool := newPool(t, nil)
	schemas := crd.NewSet(widgets(t, "medium"))
	root := t.TempDir()
	plain.lay(t, root)
	want, err := child.Perform(t.Context(), child.Task{Root: root, Path: "app", Env: plain.env(t), Changes: true}, render.New(render.Config{}), pin.Options{Schemas: schemas})
	check(t, err)
	for _, round := range []string{"first", "again"} {
		got, err := plain.do(t.Context(), t, pool, schemas)
		check(t, err)
		got.Pinning, want.Pinning = 0, 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", round, diff)
		}
	}
	if len(want.Changes[0]) != 3 {
		t.Errorf("got %v", want.Changes)
	}
}

// A definition that has changed is not taken from before.
func TestSchemaChanges(t *testing.T) {
	pool := newPool(t, nil)
	for _, size := range []string{"medium", "large"} {
		got, err := plain.do(t.Context(), t, pool, crd.NewSet(widgets(t, size)))
		check(t, err)
		if !strings.Contains(got.Texts[0], size) {
			t.Errorf("want %s in %s", size, got.Texts[0])
		}
	}
	got, err := plain.do(t.Context(), t, pool, crd.NewSet())
	check(t, err)
	if strings.Contains(got.Texts[0], "size") || got.Warned != 1 || len(got.Warnings) != 1 || got.Warnings[0].Obstacle != pin.NoSchema {
		t.Errorf("got %+v", got)
	}
}

// Rules of the user travel to the child.
func TestRules(t *testing.T) {
	pool := newPool(t, func(o *child.Options) {
		o.RulesFile, o.Rules = "rules.yaml", []byte("skip: [{group: test.moorpin.dev, kind: Widget, pointers: [/spec/size]}]")
	})
	got, err := plain.do(t.Context(), t, pool, crd.NewSet(widgets(t, "medium")))
	check(t, err)
	if strings.Contains(got.Texts[0], "medium") || !strings.Contains(got.Texts[0], "grey") {
		t.Errorf("got %s", got.Texts[0])
	}
}

// Plain manifests leave the process for the next; programs of the user end it. Nothing of
// a render is there for the next one either way.
func TestReuse(t *testing.T) {
	chart := app{files: map[string]string{
		"app/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n", "app/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	}}
	jsonnet := app{files: map[string]string{"app/a.jsonnet": "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a'}}"}}
	cases := map[string]struct {
		app  app
		same bool
	}{"plain": {plain, true}, "chart": {chart, false}, "jsonnet": {jsonnet, false}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pool := newPool(t, nil)
			slot, err := pool.Take(t.Context())
			check(t, err)
			folder := slot.Folder()
			slot.Release()
			_, err = c.app.do(t.Context(), t, pool, nil)
			check(t, err)
			next, err := pool.Take(t.Context())
			check(t, err)
			defer next.Release()
			if (next.Folder() == folder) != c.same {
				t.Errorf("the same child: %t", next.Folder() == folder)
			}
			if !ready(t, next.Folder()) {
				t.Error("something was left in the folder")
			}
		})
	}
}

// ready tells that a slot holds nothing but its two empty folders.
func ready(t *testing.T, folder string) bool {
	t.Helper()
	var found []string
	check(t, filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		found = append(found, path)
		return err
	}))
	return len(found) == 3
}

// Programs that would end or hold this process end their own, and are the user's mistake.
func TestProgramsRunApart(t *testing.T) {
	tests := map[string]struct{ reason, program, says string }{
		"stack":  {reason: "a stack overflow ends a Go process", program: "local f(x) = if x > 0 then f(1) tailstrict else 0; f(1)", says: "broke down"},
		"deep":   {reason: "the parser overflows too", program: strings.Repeat("(", 1_000_000), says: "does not render"},
		"panic":  {reason: "the library panics", program: "{b: super[self.x]}", says: "broke down"},
		"memory": {reason: "memory is bounded", program: "{kind: 'A', x: [a for a in std.range(1, 100000000)]}", says: "--max-render-memory"},
	}
	pool := newPool(t, func(o *child.Options) {
		if !raced {
			o.Limits.Memory = 160 << 20
		}
	})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if raced && name == "memory" {
				t.Skip("the race detector ends such a process in a way of its own")
			}
			outcome, err := app{files: map[string]string{"app/a.jsonnet": test.program}}.do(t.Context(), t, pool, nil)
			var refusal *render.Refusal
			var broken *render.Breakdown
			if !errors.As(err, &refusal) && !errors.As(err, &broken) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v, %v", test.reason, outcome, err)
			}
			t.Log(err)
		})
	}
	if _, err := plain.do(t.Context(), t, pool, nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Faults of the user come back as what they are.
func TestFaults(t *testing.T) {
	pool := newPool(t, nil)
	_, err := app{files: map[string]string{"app/a.yaml": "kind: A\n---\nkind: ["}}.do(t.Context(), t, pool, nil)
	var unreadable *manifest.Error
	if !errors.As(err, &unreadable) || unreadable.Origin.File != "app/a.yaml" || unreadable.Origin.Document != 2 {
		t.Errorf("got %v", err)
	}
	_, err = app{files: map[string]string{"app/a.yaml": "kind: A"}, block: "helm: valueFiles: [$values/a.yaml]"}.do(t.Context(), t, pool, nil)
	var refusal *render.Refusal
	if !errors.As(err, &refusal) || refusal.Where != "helm.valueFiles" {
		t.Errorf("got %v", err)
	}
	_, err = app{files: map[string]string{
		"app/Chart.yaml":       "apiVersion: v2\nname: a\nversion: 1.0.0\n",
		"app/templates/a.yaml": `{{ fail (print (repeat 6000000 "x") "the end") }}`,
	}}.do(t.Context(), t, pool, nil)
	if !errors.As(err, &refusal) || len(err.Error()) > 1<<20 || !strings.Contains(err.Error(), "the end") {
		t.Errorf("a long complaint of the user's own is told as %.300v", err)
	}
}

// slowTool puts a tool first in PATH that starts a child and waits. Each of the two
// writes its id to a file of its temporary folder.
func slowTool(t *testing.T, name string) {
	t.Helper()
	folder := t.TempDir()
	script := "#!/bin/sh\necho $$ > $TMPDIR/first\nsh -c 'echo $$ > $TMPDIR/second; exec sleep 300'\n"
	check(t, os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// When the context ends, the tool and what it started are killed, and other renders go on.
func TestContextEnds(t *testing.T) {
	chart := app{files: map[string]string{"app/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n"}}
	kustomization := app{files: map[string]string{"app/kustomization.yaml": "resources: []\n"}}
	for tool, app := range map[string]app{"helm": chart, "kustomize": kustomization} {
		t.Run(tool, func(t *testing.T) {
			slowTool(t, tool)
			pool := newPool(t, func(o *child.Options) { o.Children = 2 })
			neighbours, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			folders := make(chan string, 2)
			begin := func(ctx context.Context) error {
				slot, err := pool.Take(ctx)
				if err != nil {
					return err
				}
				defer slot.Release()
				root := filepath.Join(slot.Folder(), "tree")
				app.lay(t, root)
				folders <- slot.Folder()
				_, err = slot.Do(ctx, child.Task{Root: root, Path: "app", Env: app.env(t)}, nil)
				return err
			}
			go func() { ended <- begin(neighbours) }()
			neighbour := processes(t, <-folders)
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() { failed <- begin(ctx) }()
			folder := <-folders
			ours := processes(t, folder)
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			for _, process := range ours {
				await(t, "the process ends", func() bool { return !running(process) })
			}
			await(t, "the folder is gone", func() bool { _, err := os.Stat(folder); return errors.Is(err, os.ErrNotExist) })
			for _, process := range neighbour {
				if !running(process) {
					t.Errorf("the neighbour's process %d was killed", process)
				}
			}
			stop()
			<-ended
		})
	}
}

// processes waits for the two processes of a slow tool.
func processes(t *testing.T, folder string) []int {
	t.Helper()
	var found []int
	for _, name := range []string{"first", "second"} {
		await(t, "the tool runs", func() bool {
			text, err := os.ReadFile(filepath.Join(folder, "tmp", name))
			process, parseErr := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil || parseErr != nil || !strings.HasSuffix(string(text), "\n") {
				return false
			}
			found = append(found, process)
			return true
		})
	}
	return found
}

func running(process int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 2000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain until %s", what)
}

// What a chart has Helm download is bounded as well: here the index of a repository, which
// has no end.
func TestEndlessIndex(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(reply http.ResponseWriter, asked *http.Request) {
		line := []byte("# " + strings.Repeat("x", 1<<16) + "\n")
		for asked.Context().Err() == nil {
			if _, err := reply.Write(line); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	chart := app{files: map[string]string{
		"app/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies: [{name: b, version: 1.0.0, repository: '" + server.URL + "'}]\n",
	}}
	pool := newPool(t, func(o *child.Options) { o.Limits.Memory, o.Limits.DiskBytes = 256<<20, 64<<20 })
	_, err := chart.do(t.Context(), t, pool, nil)
	if err == nil || !strings.Contains(err.Error(), "--max-render-memory") && !strings.Contains(err.Error(), "--max-tree-bytes") {
		t.Errorf("got %v", err)
	}
}

// The environment of a render is a list; a chart that prints it shows what is in it.
func TestEnvironment(t *testing.T) {
	t.Setenv("MOORPIN_TEST_TOKEN", "s3cret")
	folder := t.TempDir()
	script := "#!/bin/sh\necho '{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"'$(env | cut -d= -f1 | sort | tr '\\n' ' ')'\"}}'\n"
	check(t, os.WriteFile(filepath.Join(folder, "kustomize"), []byte(script), 0o700))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	got, err := app{files: map[string]string{"app/kustomization.yaml": "resources: []\n"}}.do(t.Context(), t, newPool(t, nil), nil)
	check(t, err)
	if !strings.Contains(got.Texts[0], "HOME") || strings.Contains(got.Texts[0], "MOORPIN") || strings.Contains(got.Texts[0], "SECRET") {
		t.Errorf("got %s", got.Texts[0])
	}
}

// A pool that cannot confine does not begin where it has to.
func TestRequire(t *testing.T) {
	pool, err := child.NewPool(child.Options{WorkDir: t.TempDir(), Mode: confine.Require, Log: slog.New(slog.DiscardHandler)})
	if confine.Supported() == 0 {
		if err == nil {
			t.Fatal("it began unconfined")
		}
		return
	}
	check(t, err)
	if !pool.Status().Confined {
		t.Errorf("got %+v", pool.Status())
	}
	check(t, pool.Close())
}
