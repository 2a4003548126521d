package render_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/cmp/render"
)

const header = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: db, namespace: team}\nspec:\n  destination: {namespace: apps}\n"

func TestFromApplication(t *testing.T) {
	checkout := fixture(t, "helm", nil)
	app, err := render.ParseApplication("app.yaml", []byte(header+`  project: infra
  source:
    repoURL: https://git.example.com/repo
    path: ./helm/
    targetRevision: main
    plugin:
      name: moorpin-v1.2.3
      env: [{name: A, value: b}]
      parameters:
      - {name: helm, string: "releaseName: x"}
      - {name: pin, string: none}
status: {unknown: field}
operation: {unknown: field}
`))
	check(t, err)
	requests, err := render.FromApplication(app, checkout, render.ApplicationOptions{Revision: "abc", KubeVersion: "1.34", APIVersions: []string{"v1"}})
	check(t, err)
	if len(requests) != 1 {
		t.Fatalf("got %d requests", len(requests))
	}
	got := requests[0]
	if got.AppName != "team_db" || got.Namespace != "apps" || got.Project != "infra" || got.Path != "helm" ||
		got.Revision != "abc" || got.KubeVersion != "1.34" || len(got.APIVersions) != 1 || got.Pin != "none" ||
		got.Source.Plugin != nil || got.Source.Helm.ReleaseName != "x" || got.Source.TargetRevision != "main" {
		t.Errorf("got %+v", got)
	}

	home, err := render.FromApplication(app, checkout, render.ApplicationOptions{ControlPlaneNamespace: "team"})
	if err != nil || home[0].AppName != "db" {
		t.Errorf("in Argo CD's own namespace: %+v, %v", home, err)
	}
}

func TestSources(t *testing.T) {
	checkout := fixture(t, "directory", nil)
	parse := func(sources string) string { return header + "  project: default\n  sources:\n" + sources }
	both := parse("  - {repoURL: 'https://g/r', path: directory/plain}\n  - {repoURL: 'https://g/r.git', path: directory/recurse, directory: {recurse: true}}\n")
	apart := parse("  - {repoURL: 'https://g/r', path: directory/plain}\n  - {repoURL: 'https://g/other', path: x}\n")
	cases := map[string]struct {
		reason, text, repoURL string
		paths                 []string
		where                 string
	}{
		"one repository":   {"each source is rendered by itself", both, "", []string{"directory/plain", "directory/recurse"}, ""},
		"two repositories": {"there is one checkout", apart, "", nil, "spec.sources[1].repoURL"},
		"one of two":       {"the user says which one the checkout is", apart, "https://g/r", []string{"directory/plain"}, ""},
		"none of two":      {"nothing would be rendered", apart, "https://g/third", nil, "spec.sources"},
		"ref":              {"references are not sent to plugins", parse("  - {repoURL: 'https://g/r', path: directory/plain}\n  - {repoURL: 'https://g/r', ref: values}\n"), "", nil, "spec.sources[1].ref"},
		"chart":            {"it is in no checkout", header + "  project: default\n  source: {repoURL: 'https://g/r', chart: x}\n", "", nil, "spec.source.chart"},
		"no source":        {"there is nothing to render", header + "  project: default\n", "", nil, "spec.source"},
		"hydrator":         {"it renders something else", header + "  project: default\n  sourceHydrator: {drySource: {repoURL: a, path: b, targetRevision: c}, syncSource: {path: d, targetBranch: e}}\n", "", nil, "spec.sourceHydrator"},
		"other plugin":     {"another plugin renders it", header + "  project: default\n  source: {repoURL: 'https://g/r', path: directory/plain, plugin: {name: vault}}\n", "", nil, "spec.source.plugin.name"},
		"similar plugin":   {"another plugin renders it", header + "  project: default\n  source: {repoURL: 'https://g/r', path: directory/plain, plugin: {name: moorpinned}}\n", "", nil, "spec.source.plugin.name"},
		"plugin and block": {"Argo CD refuses it", header + "  project: default\n  source: {repoURL: 'https://g/r', path: directory/plain, helm: {releaseName: a}, plugin: {name: moorpin}}\n", "", nil, "spec.source"},
		"traversal":        {"it leaves the checkout", header + "  project: default\n  source: {repoURL: 'https://g/r', path: ../x}\n", "", nil, "spec.source.path"},
		"unknown parameter": {
			"as from the environment", header + "  project: default\n  source: {repoURL: 'https://g/r', path: directory/plain, plugin: {parameters: [{name: x, string: 'y'}]}}\n", "", nil,
			"plugin parameter x",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			app, err := render.ParseApplication("app.yaml", []byte(test.text))
			check(t, err)
			requests, err := render.FromApplication(app, checkout, render.ApplicationOptions{RepoURL: test.repoURL})
			var refusal *render.Refusal
			if errors.As(err, &refusal) != (test.where != "") || refusal != nil && refusal.Where != test.where {
				t.Fatalf("got %v, want a refusal of %q: %s", err, test.where, test.reason)
			}
			var paths []string
			for _, request := range requests {
				paths = append(paths, request.Path)
			}
			if strings.Join(paths, " ") != strings.Join(test.paths, " ") {
				t.Errorf("got %v, want %v: %s", paths, test.paths, test.reason)
			}
		})
	}
}

func TestParseApplicationRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":          "",
		"another kind":     configMap("a"),
		"another group":    "apiVersion: app.k8s.io/v1beta1\nkind: Application\nmetadata: {name: a}\n",
		"two":              header + "---\n" + header,
		"unknown field":    header + "  sorce: {}\n",
		"unknown in block": header + "  source: {repoURL: a, directory: {recursive: true}}\n",
		"wrong type":       header + "  project: [a]\n",
		"not YAML":         "kind: [",
	} {
		t.Run(name, func(t *testing.T) {
			app, err := render.ParseApplication("app.yaml", []byte(text))
			if err == nil {
				t.Errorf("got %+v", app)
			} else if !strings.Contains(err.Error(), "app.yaml") {
				t.Errorf("the file is not named: %v", err)
			}
		})
	}
}
