package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/reposerver/apiclient"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// rendered is a source of the fixture of cmp/render.
type rendered struct {
	reason, path string
	kind, block  string
	files        map[string]string
	// refused names what Argo CD v3 knows and Moorpin refuses, as docs/compatibility.md says.
	refused string
}

var renderings = map[string]rendered{
	"plain":             {reason: "several documents, JSON, Lists, numbers, aliases", path: "directory/plain"},
	"recurse":           {reason: "folders below are read", path: "directory/recurse", kind: "directory", block: "recurse: true"},
	"include":           {reason: "globs match paths below the app", path: "directory/recurse", kind: "directory", block: `{recurse: true, include: "sub/*.yaml"}`},
	"jsonnet":           {reason: "TLAs, external variables, libraries, imports, substitution", path: "directory/jsonnet", kind: "directory", block: renderedJsonnet},
	"overlay":           {reason: "bases outside the app's folder, generators", path: "kustomize/overlay"},
	"kustomize block":   {reason: "everything that Argo CD sets by kustomize edit", path: "kustomize/overlay", kind: "kustomize", block: renderedKustomize},
	"chart":             {reason: "hooks, tests and CRDs, the cluster's versions", path: "helm"},
	"helm block":        {reason: "values in all their forms", path: "helm", kind: "helm", block: renderedHelm},
	"null value":        {reason: "what a null does is the helm program's business", path: "helm", kind: "helm", block: "values: |\n  nested: null\n  list: null\n"},
	"own kubeVersion":   {reason: "the source's own versions win", path: "helm", kind: "helm", block: `{kubeVersion: "1.27", apiVersions: [monitoring.coreos.com/v1/ServiceMonitor]}`},
	"vendor's version":  {reason: "what stands behind the patch", path: "helm", kind: "helm", block: `{kubeVersion: "v1.30.1+k3s1"}`, refused: "invalid kube version"},
	"project":           {reason: "a variable of the build environment", path: "helm", kind: "helm", block: "parameters: [{name: color, value: $ARGOCD_APP_PROJECT_NAME}]"},
	"skipped file":      {reason: "a file that asks not to be rendered", path: "directory/recurse", files: map[string]string{"directory/recurse/skipped.yaml": "# +argocd:skip-file-rendering\n" + configMapNamed("skipped")}},
	"label templates":   {reason: "a field of v3", path: "kustomize/overlay", kind: "kustomize", block: "{commonLabels: {a: b}, labelWithoutSelector: true, labelIncludeTemplates: true}", refused: "labelIncludeTemplates"},
	"missing component": {reason: "a field of v3", path: "kustomize/overlay", kind: "kustomize", block: "{components: [../none], ignoreMissingComponents: true}", refused: "ignoreMissingComponents"},
}

const (
	renderedJsonnet = `
jsonnet:
  libs: [library]
  tlas: [{name: name, value: $ARGOCD_APP_NAME}, {name: count, value: 1 + 1, code: true}]
  extVars: [{name: from, value: "${ARGOCD_APP_REVISION_SHORT} of ${ARGOCD_APP_SOURCE_PATH}"}]
`
	renderedKustomize = `
namePrefix: a-
nameSuffix: -z
namespace: elsewhere
images: ["nginx=registry.example.com/nginx:$ARGOCD_APP_REVISION_SHORT_8"]
replicas: [{name: web, count: 5}]
commonLabels: {app: $ARGOCD_APP_NAME}
labelWithoutSelector: true
commonAnnotations: {note: $ARGOCD_APP_NAMESPACE}
commonAnnotationsEnvsubst: true
components: [../component]
`
	renderedHelm = `
releaseName: chosen
skipCrds: true
valueFiles: [values-prod.yaml]
valuesObject: {nested: {a: "1", c: [1.5, null, 12345678901]}}
parameters:
- {name: color, value: "a,b{$ARGOCD_APP_NAME}"}
- {name: text, value: "12", forceString: true}
- {name: "list[1]", value: changed}
fileParameters: [{name: extra, path: files/extra.txt}]
`
)

func configMapNamed(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

// TestRendering: the manifests that Moorpin makes without pinning are those that the
// running Argo CD makes, object for object, also where a release renders otherwise than
// the one whose packages Moorpin links. What it cannot do it refuses.
func TestRendering(t *testing.T) {
	startSidecar(t)
	closer, client, err := apiclient.NewRepoServerClientset(plane.RepoServerAddress(), 60, apiclient.TLSConfiguration{}).NewRepoServerClient()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closer.Close() })
	for name, test := range renderings {
		t.Run(name, func(t *testing.T) {
			files := renderedFixture(t)
			maps.Copy(files, test.files)
			request := test.request(t, newRepository(t, files).URL())
			want, err := manifestsOf(t, client, request)
			if err != nil || len(want) == 0 {
				t.Fatalf("%s: Argo CD renders %d objects: %v", test.reason, len(want), err)
			}
			request.ApplicationSource = test.unpinned(request.ApplicationSource)
			have, err := manifestsOf(t, client, request)
			test.judge(t, cmp.Diff(want, have), err)
		})
	}
}

// judge fails unless Moorpin renders the same, or refuses what it is said to refuse.
func (r rendered) judge(t *testing.T, diff string, err error) {
	t.Helper()
	switch {
	case r.refused != "":
		if err == nil || !strings.Contains(err.Error(), r.refused) {
			t.Errorf("%s: want a refusal that says %s, have %v", r.reason, r.refused, err)
		}
	case err != nil || diff != "":
		t.Errorf("%s: %v (-Argo CD +Moorpin)\n%s", r.reason, err, diff)
	}
}

// request asks for the native rendering. What Moorpin refuses is left out: the packages
// with which the tests ask do not know it either.
func (r rendered) request(t *testing.T, repoURL string) *apiclient.ManifestRequest {
	t.Helper()
	request := manifestRequest(repoURL, way{})
	request.ApplicationSource = &v1alpha1.ApplicationSource{RepoURL: repoURL, Path: r.path, TargetRevision: "main"}
	request.AppName, request.ProjectName = "web", "shop"
	if r.kind == "" || r.refused != "" {
		return request
	}
	block, err := yaml.YAMLToJSON([]byte(r.block))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(fmt.Appendf(nil, "{%q: %s}", r.kind, block), request.ApplicationSource); err != nil {
		t.Fatal(err)
	}
	return request
}

// unpinned is the source through Moorpin, told to pin nothing.
func (r rendered) unpinned(natively *v1alpha1.ApplicationSource) *v1alpha1.ApplicationSource {
	none := "none"
	plugin := &v1alpha1.ApplicationSourcePlugin{Name: "moorpin", Parameters: v1alpha1.ApplicationSourcePluginParameters{{Name: "pin", String_: &none}}}
	if r.kind != "" {
		plugin.Parameters = append(plugin.Parameters, v1alpha1.ApplicationSourcePluginParameter{Name: r.kind, String_: &r.block})
	}
	return &v1alpha1.ApplicationSource{RepoURL: natively.RepoURL, Path: natively.Path, TargetRevision: natively.TargetRevision, Plugin: plugin}
}

// manifestsOf asks repo-server, and returns the objects by kind and name.
func manifestsOf(t *testing.T, client apiclient.RepoServerServiceClient, request *apiclient.ManifestRequest) (map[string]any, error) {
	t.Helper()
	answer, err := client.GenerateManifest(t.Context(), request)
	if err != nil {
		return nil, err
	}
	objects := map[string]any{}
	for _, text := range answer.Manifests {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		objects[object.GetKind()+" "+object.GetName()] = object.Object
	}
	if len(objects) != len(answer.Manifests) {
		t.Errorf("%d of %d manifests have names of their own", len(objects), len(answer.Manifests))
	}
	return objects, nil
}

// renderedFixture is the repository on which package cmp/render is tested.
func renderedFixture(t *testing.T) map[string]string {
	t.Helper()
	const root = "../cmp/render/testdata/repository"
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in %s: %v", len(files), root, err)
	}
	return files
}
