package render_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func TestMissingTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := render.CheckTools(); err == nil || !strings.Contains(err.Error(), "helm is needed") || !strings.Contains(err.Error(), "kustomize is needed") {
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
	if nativeErr == nil || err == nil || !strings.Contains(err.Error(), "--max-directory-bytes") {
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
