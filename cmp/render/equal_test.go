package render_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/app/discovery"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/cmp/render"
)

// sourceCase is an app of the fixture, rendered natively and in each form.
type sourceCase struct {
	reason      string
	path        string
	kind, block string
	files       map[string]string
	app         string
	objects     int
}

var sources = map[string]sourceCase{
	"plain":              {reason: "several documents, JSON, Lists, numbers, aliases, other YAML", path: "directory/plain", objects: 6},
	"empty folder":       {reason: "Argo CD renders nothing, and says nothing", path: "empty", objects: 0},
	"root":               {reason: "the root is an app too", path: ".", files: map[string]string{"root.yaml": configMap("root")}, objects: 2},
	"no recursion":       {reason: "folders below are not read", path: "directory/recurse", objects: 1},
	"recurse":            {reason: "folders below are read", path: "directory/recurse", kind: "directory", block: "recurse: true", objects: 3},
	"include":            {reason: "globs match paths below the app", path: "directory/recurse", kind: "directory", block: `{recurse: true, include: "sub/*.yaml"}`, objects: 2},
	"exclude":            {reason: "exclude wins", path: "directory/recurse", kind: "directory", block: `{recurse: true, include: "*.yaml", exclude: "{sub/skip/*,top.yaml}"}`, objects: 1},
	"broken include":     {reason: "a glob that does not parse matches nothing", path: "directory/recurse", kind: "directory", block: `{recurse: true, include: "[a-"}`, objects: 0},
	"broken exclude":     {reason: "a glob that does not parse matches nothing", path: "directory/recurse", kind: "directory", block: `{recurse: true, exclude: "{a"}`, objects: 3},
	"only include":       {reason: "a block with nothing but include is not empty", path: "directory/recurse", kind: "directory", block: `include: other.yaml`, objects: 0},
	"jsonnet":            {reason: "TLAs, external variables, libraries, imports, substitution", path: "directory/jsonnet", kind: "directory", block: jsonnetBlock, objects: 2},
	"directory of chart": {reason: "an explicit type wins over the files", path: "both", kind: "directory", block: "recurse: true", objects: 1},

	"overlay":         {reason: "bases outside the app's folder", path: "kustomize/overlay", objects: 3},
	"Kustomization":   {reason: "the third name that Kustomize knows", path: "kustomize/plain", objects: 1},
	"both":            {reason: "kustomization.yaml comes behind Chart.yaml", path: "both", objects: 1},
	"last":            {reason: "my-Chart.yaml comes behind kustomization.yaml", path: "last", objects: 1},
	"kustomize block": {reason: "everything that Argo CD sets by kustomize edit", path: "kustomize/overlay", kind: "kustomize", block: kustomizeBlock, objects: 3},

	"chart":              {reason: "hooks, tests and CRDs are rendered", path: "helm", objects: 4},
	"chart of elsewhere": {reason: "the release is named after the Application without its namespace", path: "helm", app: "team_db", objects: 4},
	"helm block":         {reason: "values in all their forms", path: "helm", kind: "helm", block: helmBlock, objects: 3},
	"values as text":     {reason: "values hold YAML in a string", path: "helm", kind: "helm", block: "values: |\n  color: \"no\"\n  list: [y, 3]\n", objects: 4},
	"kubeVersion":        {reason: "the source's own version and API versions win", path: "helm", kind: "helm", block: `{kubeVersion: "1.27", apiVersions: [monitoring.coreos.com/v1/ServiceMonitor]}`, objects: 4},
	"root value file":    {reason: "a leading slash is the repository's root", path: "helm", kind: "helm", block: `{valueFiles: [/values-root.yaml, ../values-root.yaml, missing.yaml], ignoreMissingValueFiles: true}`, objects: 4},
	"substituted file":   {reason: "paths are substituted from the build environment", path: "helm", kind: "helm", block: `valueFiles: ["values-${ARGOCD_APP_NAME}.yaml", "$ARGOCD_APP_NAMESPACE/values.yaml"]`, app: "prod", files: map[string]string{"helm/apps/values.yaml": "color: ns\n"}, objects: 4},

	"empty directory block": {reason: "an empty block vanishes, so that a chart stays one", path: "helm", kind: "directory", block: "{}", objects: 4},
	"false directory block": {reason: "a block of defaults is empty as well", path: "helm", kind: "directory", block: "recurse: false", objects: 4},
	"empty helm block":      {reason: "an empty block vanishes", path: "kustomize/overlay", kind: "helm", block: "{}", objects: 3},
	"null kustomize block":  {reason: "an empty block vanishes", path: "helm", kind: "kustomize", block: "null", objects: 4},

	"override": {reason: "a file in the folder changes the source", path: "directory/recurse", files: map[string]string{
		"directory/recurse/.argocd-source.yaml": "directory: {recurse: true}\npath: elsewhere\n",
	}, objects: 3},
	"override of the app": {reason: "the Application's own file comes last", path: "helm", app: "ns_web", files: map[string]string{
		"helm/.argocd-source.yaml":        "helm: {releaseName: first, values: 'color: one'}\n",
		"helm/.argocd-source-ns_web.yaml": "helm: {releaseName: second, parameters: [{name: color, value: two}]}\n",
		"helm/.argocd-source-web.yaml":    "helm: {releaseName: third}\n",
	}, objects: 4},
	"empty override": {reason: "an empty block of a file is not empty: it sets the type", path: "helm", files: map[string]string{
		"helm/.argocd-source.yaml": "directory: {}\n",
	}, objects: 0},
	"null override": {reason: "a null of a file does not take a block away", path: "both", kind: "helm", block: "releaseName: x", files: map[string]string{
		"both/.argocd-source.yaml": "helm: null\n",
	}, objects: 0},
	"override is a folder": {reason: "Argo CD ignores it", path: "directory/recurse", files: map[string]string{
		"directory/recurse/.argocd-source.yaml/x.yaml": "",
	}, objects: 1},
}

const jsonnetBlock = `
jsonnet:
  libs: [library]
  tlas:
  - {name: name, value: $ARGOCD_APP_NAME}
  - {name: count, value: 1 + 1, code: true}
  extVars:
  - {name: from, value: "${ARGOCD_APP_REVISION_SHORT} of ${ARGOCD_APP_SOURCE_PATH}"}
`

const kustomizeBlock = `
namePrefix: a-
nameSuffix: -z
namespace: elsewhere
images: ["nginx=registry.example.com/nginx:$ARGOCD_APP_REVISION_SHORT_8"]
replicas: [{name: web, count: 5}]
commonLabels: {app: $ARGOCD_APP_NAME}
labelWithoutSelector: true
commonAnnotations: {note: $ARGOCD_APP_NAMESPACE}
commonAnnotationsEnvsubst: true
forceCommonAnnotations: true
components: [../component]
patches:
- target: {kind: Service}
  patch: |-
    - op: add
      path: /spec/type
      value: NodePort
`

const helmBlock = `
releaseName: chosen
skipCrds: true
valueFiles: [values-prod.yaml]
valuesObject:
  nested: {a: "1", c: [1.5, null, 12345678901]}
parameters:
- {name: color, value: "a,b{$ARGOCD_APP_NAME}"}
- {name: number, value: "12"}
- {name: text, value: "12", forceString: true}
- {name: "list[1]", value: changed}
fileParameters:
- {name: extra, path: files/extra.txt}
`

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

// request is what Argo CD knows about the app of a case, without its block.
func (c sourceCase) request(root string) render.Request {
	app := c.app
	if app == "" {
		app = "web"
	}
	return render.Request{
		Root: root, Path: c.path, AppName: app, Namespace: "apps", Project: "default",
		Revision: "0123456789abcdef", KubeVersion: "1.34", APIVersions: []string{"v1", "monitoring.coreos.com/v1"},
		Source: v1alpha1.ApplicationSource{RepoURL: "https://git.example.com/repo", Path: c.path, TargetRevision: "main"},
	}
}

// application is the case as an Application, natively or in plugin form.
func (c sourceCase) application(t *testing.T, plugin bool) *v1alpha1.Application {
	t.Helper()
	request := c.request("")
	source := map[string]any{"repoURL": request.Source.RepoURL, "path": c.path, "targetRevision": "main"}
	if plugin {
		source["plugin"] = map[string]any{"name": "moorpin", "parameters": c.parameters()}
	} else if c.kind != "" {
		var block any
		check(t, yaml.Unmarshal([]byte(c.block), &block))
		source[c.kind] = block
	}
	metadata := map[string]any{"name": request.AppName, "namespace": "argocd"}
	switch request.AppName {
	case "team_db":
		metadata = map[string]any{"name": "db", "namespace": "team"}
	case "ns_web":
		metadata = map[string]any{"name": "web", "namespace": "ns"}
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": metadata,
		"spec": map[string]any{"project": "default", "source": source, "destination": map[string]any{"namespace": "apps", "server": "https://x"}},
	})
	check(t, err)
	app, err := render.ParseApplication("app.yaml", text)
	check(t, err)
	return app
}

func (c sourceCase) parameters() []map[string]string {
	if c.kind == "" {
		return nil
	}
	return []map[string]string{{"name": c.kind, "string": c.block}}
}

func (c sourceCase) environment(t *testing.T) map[string]string {
	t.Helper()
	parameters, err := json.Marshal(c.parameters())
	check(t, err)
	request := c.request("")
	return map[string]string{
		"ARGOCD_APP_NAME": request.AppName, "ARGOCD_APP_NAMESPACE": request.Namespace, "ARGOCD_APP_PROJECT_NAME": "default",
		"ARGOCD_APP_REVISION": request.Revision, "ARGOCD_APP_SOURCE_REPO_URL": request.Source.RepoURL,
		"ARGOCD_APP_SOURCE_PATH": c.path, "ARGOCD_APP_SOURCE_TARGET_REVISION": "main",
		"KUBE_VERSION": request.KubeVersion, "KUBE_API_VERSIONS": "v1,monitoring.coreos.com/v1",
		"ARGOCD_APP_PARAMETERS": string(parameters),
	}
}

// What is rendered equals what Argo CD renders natively, object for object, from
// an Application in native form, from one in plugin form, and as a plugin.
func TestEqualToArgoCD(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		test := sources[name]
		t.Run(name, func(t *testing.T) {
			options := render.ApplicationOptions{Revision: "0123456789abcdef", KubeVersion: "1.34", APIVersions: []string{"v1", "monitoring.coreos.com/v1"}}
			nativeForm, err := render.FromApplication(test.application(t, false), fixture(t, test.path, test.files), options)
			check(t, err)
			plain := nativeForm[0]
			plain.Root = fixture(t, test.path, test.files)
			want, err := native(t, plain)
			check(t, err)
			if len(want) != test.objects {
				t.Fatalf("Argo CD renders %d objects, want %d: %s", len(want), test.objects, test.reason)
			}

			asPlugin, err := render.FromEnvironment(test.environment(t), "", test.path)
			check(t, err)
			forms := map[string]render.Request{"native": nativeForm[0], "plugin": asPlugin}
			if len(test.files) == 0 {
				// With a block in a file, Argo CD refuses a plugin in the source.
				pluginForm, err := render.FromApplication(test.application(t, true), fixture(t, test.path, nil), options)
				check(t, err)
				forms["plugin form"] = pluginForm[0]
			}
			for form, request := range forms {
				request.Root = fixture(t, test.path, test.files)
				objects, err := renderer.Run(t.Context(), request)
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if diff := cmp.Diff(want, contents(t, objects)); diff != "" {
					t.Errorf("%s (-Argo CD +Moorpin), %s:\n%s", form, test.reason, diff)
				}
			}
		})
	}
}

// The plugin block of .argocd-source files brought the app here; the rest of the
// source is as if it were not there.
func TestPluginInOverride(t *testing.T) {
	override := "plugin:\n  name: moorpin\n  parameters:\n  - {name: directory, string: 'recurse: true'}\n"
	files := map[string]string{"directory/recurse/.argocd-source.yaml": override}
	test := sourceCase{path: "directory/recurse", kind: "directory", block: "recurse: true"}
	asPlugin, err := render.FromEnvironment(test.environment(t), fixture(t, "directory", files), test.path)
	check(t, err)

	plain := sourceCase{path: "directory/recurse"}
	fromFiles, err := render.FromApplication(plain.application(t, false), fixture(t, "directory", files), render.ApplicationOptions{})
	check(t, err)
	fromFiles[0].Root = fixture(t, "directory", files)

	for form, request := range map[string]render.Request{"plugin": asPlugin, "application": fromFiles[0]} {
		objects, err := renderer.Run(t.Context(), request)
		if err != nil || len(objects) != 3 {
			t.Errorf("%s: %v, %v", form, names(objects), err)
		}
	}
}

// Stripping must not write through a link into a file that others read.
func TestStripOfLink(t *testing.T) {
	root := fixture(t, "directory", map[string]string{"shared.yaml": "plugin: {name: moorpin}\n"})
	link := filepath.Join(root, "directory/recurse/.argocd-source.yaml")
	check(t, os.Symlink("../../shared.yaml", link))
	request := sourceCase{path: "directory/recurse"}.request(root)
	_, err := renderer.Run(t.Context(), request)
	check(t, err)
	text, err := os.ReadFile(filepath.Join(root, "shared.yaml"))
	if err != nil || string(text) != "plugin: {name: moorpin}\n" {
		t.Errorf("the link's target now holds %q, %v", text, err)
	}
}

// Detection agrees with Argo CD's own on folders of all sorts.
func TestDetectAsArgoCD(t *testing.T) {
	folders := map[string][]string{
		"nothing":             {},
		"manifests":           {"app.yaml"},
		"chart":               {"Chart.yaml"},
		"small letters":       {"chart.yaml"},
		"suffix":              {"OldChart.yaml"},
		"other ending":        {"Chart.yml"},
		"kustomization":       {"kustomization.yaml"},
		"kustomization.yml":   {"kustomization.yml"},
		"Kustomization":       {"Kustomization"},
		"Kustomization.yaml":  {"Kustomization.yaml"},
		"both":                {"Chart.yaml", "kustomization.yaml"},
		"both, old name":      {"Chart.yaml", "Kustomization"},
		"both, chart last":    {"kustomization.yaml", "my-Chart.yaml"},
		"all":                 {"AChart.yaml", "Chart.yaml", "Kustomization", "kustomization.yml", "lChart.yaml"},
		"below":               {"sub/Chart.yaml", "sub/kustomization.yaml"},
		"folder named so":     {"Chart.yaml/x", "kustomization.yaml/y"},
		"kustomization below": {"Chart.yaml", "sub/kustomization.yaml"},
	}
	for name, files := range folders {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			content := map[string]string{}
			for _, file := range files {
				content["app/"+file] = ""
			}
			write(t, root, content)
			check(t, os.MkdirAll(filepath.Join(root, "app"), 0o700))
			check(t, os.Symlink("app", filepath.Join(root, "link")))
			check(t, os.Symlink("kustomization.yaml", filepath.Join(root, "dangling")))
			for _, folder := range []string{"app", "link"} {
				path := filepath.Join(root, folder)
				want, err := discovery.AppType(t.Context(), path, root, nil, nil, nil)
				check(t, err)
				got, err := render.Detect(path)
				if err != nil || string(got) != want {
					t.Errorf("%s: got %s, %v; Argo CD says %s", folder, got, err, want)
				}
			}
		})
	}
}

// A file may be a link, whatever it leads to.
func TestDetectLinks(t *testing.T) {
	root := t.TempDir()
	check(t, os.Symlink("nowhere", filepath.Join(root, "kustomization.yaml")))
	want, err := discovery.AppType(t.Context(), root, root, nil, nil, nil)
	check(t, err)
	got, err := render.Detect(root)
	if err != nil || string(got) != want || want != "Kustomize" {
		t.Errorf("got %s, %v; Argo CD says %s", got, err, want)
	}
}
