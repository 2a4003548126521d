package render_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// bomb expands to ten to the ninth values.
const bomb = `a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]
h: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g, *g]
i: [*h, *h, *h, *h, *h, *h, *h, *h, *h, *h]
`

func TestRefusals(t *testing.T) {
	const kustomization = "kustomize/plain"
	cases := map[string]struct {
		reason string
		test   sourceCase
		where  string // Where of the refusal
	}{
		"reference":           {"the other source is not sent", sourceCase{path: "helm", kind: "helm", block: "valueFiles: [$values/prod.yaml]"}, "helm.valueFiles"},
		"bare reference":      {"it is the root of this repository otherwise", sourceCase{path: "helm", kind: "helm", block: "valueFiles: [$values]"}, "helm.valueFiles"},
		"braced reference":    {"Argo CD expands both", sourceCase{path: "helm", kind: "helm", block: `valueFiles: ["${values}/a.yaml"]`}, "helm.valueFiles"},
		"reference in a file": {"parameters from files are the same", sourceCase{path: "helm", kind: "helm", block: "fileParameters: [{name: a, path: $other/a.txt}]"}, "helm.fileParameters"},
		"reference by override": {"the merged source counts", sourceCase{path: "helm", files: map[string]string{
			"helm/.argocd-source.yaml": "helm: {valueFiles: [$values/a.yaml]}",
		}}, "helm.valueFiles"},
		"kustomize version":  {"its binary is not in the plugin", sourceCase{path: kustomization, kind: "kustomize", block: "version: v5.0.0"}, "kustomize.version"},
		"image as flag":      {"kustomize would take it for a flag", sourceCase{path: kustomization, kind: "kustomize", block: "images: [--stack-trace]"}, "kustomize.images"},
		"substituted flag":   {"it is a flag only once substituted", sourceCase{path: kustomization, kind: "kustomize", block: "images: [$NOTHING--help]"}, "kustomize.images"},
		"replica as flag":    {"kustomize would take it for a flag", sourceCase{path: kustomization, kind: "kustomize", block: "replicas: [{name: -x, count: 1}]"}, "kustomize.replicas"},
		"label as flag":      {"kustomize would take it for a flag", sourceCase{path: kustomization, kind: "kustomize", block: "commonLabels: {-f: x}"}, "kustomize.commonLabels"},
		"annotation as flag": {"kustomize would take it for a flag", sourceCase{path: kustomization, kind: "kustomize", block: "commonAnnotations: {--force: x}"}, "kustomize.commonAnnotations"},
		"component as flag":  {"kustomize would take it for a flag", sourceCase{path: kustomization, kind: "kustomize", block: "components: [-h]"}, "kustomize.components"},
		"helm home": {"Helm would load plugins from it", sourceCase{path: "k", files: map[string]string{
			"k/kustomization.yaml": "helmGlobals: {configHome: home}\nresources: []\n",
		}}, "k/kustomization.yaml"},
		"two types":         {"the file brings a second one", sourceCase{path: "helm", kind: "helm", block: "releaseName: a", files: map[string]string{"helm/.argocd-source.yaml": "kustomize: {namePrefix: a}"}}, "helm"},
		"broken override":   {"it is the repository's mistake", sourceCase{path: "helm", files: map[string]string{"helm/.argocd-source.yaml": "helm: ["}}, ".argocd-source.yaml"},
		"override of types": {"a list is no source", sourceCase{path: "helm", files: map[string]string{"helm/.argocd-source.yaml": "helm: {parameters: text}"}}, ".argocd-source.yaml"},
		"missing folder":    {"rendering nothing would delete everything", sourceCase{path: "gone"}, "gone"},
		"file as folder":    {"a file is no app", sourceCase{path: "values-root.yaml"}, "values-root.yaml"},
		"traversal":         {"it leaves the private copy", sourceCase{path: "../x"}, "../x"},
		"absolute":          {"it leaves the private copy", sourceCase{path: "/etc"}, "/etc"},
		"name as path":      {"it would name another .argocd-source file", sourceCase{path: "helm", app: "a/b"}, "ARGOCD_APP_NAME"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			top := "helm"
			if strings.HasPrefix(c.test.path, "k") {
				top = "kustomize"
			}
			request, err := render.FromEnvironment(c.test.environment(t), fixture(t, top, c.test.files), c.test.path)
			check(t, err)
			_, err = renderer.Run(t.Context(), request)
			var refusal *render.Refusal
			if !errors.As(err, &refusal) || refusal.Where != c.where {
				t.Errorf("got %v, want a refusal of %s: %s", err, c.where, c.reason)
			}
		})
	}
}

func TestAliasBombs(t *testing.T) {
	cases := map[string]sourceCase{
		"manifest":         {path: "a", files: map[string]string{"a/app.yaml": "kind: ConfigMap\n---\n" + bomb}},
		"below":            {path: "a", kind: "directory", block: "recurse: true", files: map[string]string{"a/b/app.yml": bomb}},
		"override":         {path: "a", files: map[string]string{"a/.argocd-source.yaml": bomb}},
		"chart":            {path: "a", files: map[string]string{"a/Chart.yaml": "name: x\nversion: 1.0.0\n" + bomb}},
		"kustomization":    {path: "a", files: map[string]string{"a/kustomization.yml": bomb}},
		"parameter":        {path: "a", kind: "helm", block: bomb, files: map[string]string{"a/x": ""}},
		"app's override":   {path: "a", app: "web", files: map[string]string{"a/.argocd-source-web.yaml": bomb}},
		"link to the file": {path: "a", files: map[string]string{"a/x": "", "b/bomb.yaml": bomb}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			root := fixture(t, test.path, test.files)
			if name == "link to the file" {
				check(t, os.Symlink("../b/bomb.yaml", filepath.Join(root, "a", "app.yaml")))
			}
			request, err := render.FromEnvironment(test.environment(t), root, test.path)
			if err == nil {
				_, err = renderer.Run(t.Context(), request)
			}
			var fault *manifest.Error
			if !errors.As(err, &fault) || fault.Line < 2 {
				t.Errorf("got %v, want the line of the alias", err)
			}
		})
	}
}

// What Argo CD does not read cannot break a render.
func TestFilesThatAreNotRead(t *testing.T) {
	template := "{{- if eq .a \"*\" }}\nx: &y z\n{{- end }}\n"
	cases := map[string]sourceCase{
		"not recursed":   {path: "a", files: map[string]string{"a/app.yaml": configMap("a"), "a/b/bomb.yaml": bomb}},
		"excluded":       {path: "a", kind: "directory", block: "exclude: bomb.yaml", files: map[string]string{"a/app.yaml": configMap("a"), "a/bomb.yaml": bomb}},
		"other name":     {path: "a", files: map[string]string{"a/app.yaml": configMap("a"), "a/bomb.txt": bomb}},
		"no YAML at all": {path: "a", files: map[string]string{"a/app.yaml": configMap("a"), "a/template.yaml": template}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			request, err := render.FromEnvironment(test.environment(t), fixture(t, test.path, test.files), test.path)
			check(t, err)
			objects, err := renderer.Run(t.Context(), request)
			if err != nil || len(objects) != 1 {
				t.Errorf("got %v, %v", names(objects), err)
			}
		})
	}
}

func TestJsonnetImports(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.txt")
	check(t, os.WriteFile(outside, []byte("kind: stolen"), 0o600))
	substituted := filepath.Join(filepath.Dir(outside), "01234567")
	check(t, os.WriteFile(substituted, nil, 0o600))
	nameless := namelessFile(t, "kind: stolen")
	up := strings.Repeat("../", 40)
	// low is a folder from which up stays in the repository.
	low := strings.TrimSuffix(strings.Repeat("low/", 41), "/")
	object := func(value string) string {
		return "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}, data: {value: " + value + "}}"
	}
	cases := map[string]struct {
		reason  string
		program string
		block   string
		files   map[string]string
		refused bool
	}{
		"beside":             {"the usual case", object("importstr 'note.txt'"), "", map[string]string{"a/note.txt": "x"}, false},
		"of the repository":  {"it stays inside", object("(import '../lib/x.libsonnet').y"), "", map[string]string{"lib/x.libsonnet": "{y: 'z'}"}, false},
		"of a library":       {"the library comes before the app's folder", object("importstr 'x.txt'"), "jsonnet: {libs: [lib]}", map[string]string{"lib/x.txt": "x"}, false},
		"never evaluated":    {"reading shows imports that are not evaluated", object("if false then importstr '" + outside + "' else 'x'"), "", nil, true},
		"absolute":           {"it is another file of the machine", object("importstr '" + outside + "'"), "", nil, true},
		"traversal":          {"it is another file of the machine", object("importstr '" + up + outside[1:] + "'"), "", nil, true},
		"import":             {"code is read as well", object("import '" + outside + "'"), "", nil, true},
		"importbin":          {"bytes are read as well", object("importbin '" + outside + "'"), "", nil, true},
		"nested":             {"the file of the repository imports the other", object("(import 'hop.libsonnet').x"), "", map[string]string{"a/hop.libsonnet": "{x: importstr '" + outside + "'}"}, true},
		"device":             {"reading it never ends", object("importstr '/dev/zero'"), "", nil, true},
		"argument":           {"code can come from the Application", "function(x) " + object("x"), "jsonnet: {tlas: [{name: x, code: true, value: \"importstr '" + outside + "'\"}]}", nil, true},
		"substituted":        {"the path is whole only once substituted", "function(x) " + object("x"), "jsonnet: {tlas: [{name: x, code: true, value: \"importstr '" + filepath.Dir(outside) + "/${ARGOCD_APP_REVISION_SHORT_8}'\"}]}", nil, true},
		"external variable":  {"code can come from the Application", object("std.extVar('x')"), "jsonnet: {extVars: [{name: x, code: true, value: \"importstr '" + outside + "'\"}]}", nil, true},
		"text argument":      {"text is not evaluated", "function(x) " + object("x"), "jsonnet: {tlas: [{name: x, value: \"importstr '" + outside + "'\"}]}", nil, false},
		"argument of a file": {"code of an argument may import what is the repository's", "function(x) " + object("x"), "jsonnet: {tlas: [{name: x, code: true, value: \"importstr 'note.txt'\"}]}", map[string]string{"a/note.txt": "x"}, false},
		"argument upward":    {"it counts from where the process is", "function(x) " + object("x"), "jsonnet: {tlas: [{name: x, code: true, value: \"importstr '" + up + outside[1:] + "'\"}]}", nil, true},
		"nameless":           {"a link of /proc leads to a file that has no name any more", object("importstr '" + nameless + "'"), "", nil, true},
		"nameless upward":    {"it is the same file", object("importstr '" + up + nameless[1:] + "'"), "", nil, true},
		"not there":          {"whether it is there is nobody's business", object("importstr '" + outside + ".gone'"), "", nil, true},
		"linked library":     {"imports count from where the library leads", object("importstr '../" + up + outside[1:] + "'"), "jsonnet: {libs: [" + low + "/library]}", map[string]string{"x/keep": ""}, true},
		"inner library":      {"they may go upward inside of the repository", object("importstr '../shared/x.txt'"), "jsonnet: {libs: [" + low + "/library]}", map[string]string{"shared/x.txt": "x", "x/keep": ""}, false},
		"link of the folder": {"links of the checkout were checked, others are not trusted", object("importstr 'link'"), "", nil, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			app := sourceCase{path: "a", kind: "directory", block: test.block, files: map[string]string{"a/app.jsonnet": test.program}}
			if strings.Contains(name, " library") {
				app.path, app.files = low+"/a", map[string]string{low + "/a/app.jsonnet": test.program}
			}
			root := fixture(t, app.path, app.files)
			write(t, root, test.files)
			check(t, errors.Join(os.MkdirAll(filepath.Join(root, low), 0o700), os.MkdirAll(filepath.Join(root, "a"), 0o700)))
			check(t, os.Symlink(outside, filepath.Join(root, "a", "link")))
			check(t, os.Symlink(strings.Repeat("../", 41)+"x", filepath.Join(root, low, "library")))
			request, err := render.FromEnvironment(app.environment(t), root, app.path)
			check(t, err)
			objects, err := renderer.Run(t.Context(), request)
			var refusal *render.Refusal
			if test.refused != errors.As(err, &refusal) || !test.refused && len(objects) != 1 {
				t.Errorf("got %v, %v: %s", names(objects), err, test.reason)
			}
			if test.refused && err != nil && !strings.Contains(err.Error(), "is no file of this repository") {
				t.Errorf("refused for another reason: %v", err)
			}
		})
	}
}

// namelessFile is where /proc has a file that was removed while it is open.
func namelessFile(t *testing.T, text string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "nameless"))
	check(t, err)
	t.Cleanup(func() { check(t, file.Close()) })
	_, err = file.WriteString(text)
	check(t, errors.Join(err, os.Remove(file.Name())))
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd())
}

// A ref that begins with a dash must not become a flag of git; without the guard
// it runs the command that it names.
func TestGitGuard(t *testing.T) {
	t.Setenv("GIT_ALLOW_PROTOCOL", "file")
	marker := filepath.Join(t.TempDir(), "marker")
	base := "file:///a/b/c?ref=--upload-pack=" + url.QueryEscape("touch "+marker)
	files := map[string]string{"k/kustomization.yaml": "resources:\n- '" + base + "'\n"}

	unguarded := exec.CommandContext(t.Context(), "kustomize", "build", "k")
	unguarded.Dir = fixture(t, "k", files)
	unguarded.Env = append(os.Environ(), "MOORPIN_GIT=1")
	if _, err := unguarded.CombinedOutput(); err == nil {
		t.Fatal("the remote base exists")
	}
	if err := os.Remove(marker); err != nil {
		t.Fatalf("git did not run the command without the guard, so this test shows nothing: %v", err)
	}

	request := sourceCase{path: "k"}.request(fixture(t, "k", files))
	_, err := renderer.Run(t.Context(), request)
	if err == nil || !strings.Contains(err.Error(), "may not begin with a dash") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(marker); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the command ran: %v", err)
	}
}

// The guard lets Kustomize fetch remote bases.
func TestGitGuardLetsThrough(t *testing.T) {
	t.Setenv("GIT_ALLOW_PROTOCOL", "file") // which stands for a remote one here
	remote := t.TempDir()
	write(t, remote, map[string]string{"base/kustomization.yaml": "resources: [a.yaml]\n", "base/a.yaml": configMap("remote")})
	for _, arguments := range [][]string{
		{"init", "--initial-branch=main"},
		{"add", "."},
		{"-c", "user.name=x", "-c", "user.email=x", "commit", "--message", "x"},
	} {
		git := exec.CommandContext(t.Context(), "git", arguments...)
		git.Dir = remote
		git.Env = append(os.Environ(), "MOORPIN_GIT=1")
		if output, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, output)
		}
	}
	files := map[string]string{"k/kustomization.yaml": "resources:\n- 'file://" + remote + "//base?ref=main'\n"}
	objects, err := renderer.Run(t.Context(), sourceCase{path: "k"}.request(fixture(t, "k", files)))
	if err != nil || len(objects) != 1 {
		t.Errorf("got %v, %v", names(objects), err)
	}
}

// A tool that broke down is quoted without what each of its threads was doing.
func TestStackOfTool(t *testing.T) {
	got := render.WithoutStacks("`helm template` failed, exit status 2: runtime: out of memory\nfatal error: cannot allocate\n\nruntime stack:\nruntime.throw\n\ngoroutine 1 [running]:\nmain.main()")
	if want := "`helm template` failed, exit status 2: runtime: out of memory\nfatal error: cannot allocate"; got != want {
		t.Errorf("got %q", got)
	}
}
