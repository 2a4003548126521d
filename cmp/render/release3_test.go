package render_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/cmp/render"
)

// TestRelease3 holds what Argo CD v3 does otherwise, which is known by the project that
// it tells to plugins. The end-to-end suite compares it with v3 itself.
func TestRelease3(t *testing.T) {
	files := map[string]string{
		"a/kept.yaml":    configMap("kept"),
		"a/skipped.yaml": "# +argocd:skip-file-rendering\n" + configMap("skipped"),
		"a/b.jsonnet":    "function(name) {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: name}}",
	}
	const block = `{jsonnet: {tlas: [{name: name, value: "of-$ARGOCD_APP_PROJECT_NAME-$ARGOCD_APP_NAME-$$ARGOCD_APP_PROJECT_NAME"}]}}`
	for project, want := range map[string]string{
		"shop": "of-shop-web-$ARGOCD_APP_PROJECT_NAME kept",
		"":     "of--web-$ARGOCD_APP_PROJECT_NAME kept skipped", // Argo CD v2 knows neither
	} {
		text, err := rendered3(t, files, block, project)
		check(t, err)
		if text != want {
			t.Errorf("of the project %q: have %q, want %q", project, text, want)
		}
	}
}

// rendered3 renders the folder a for an Application of a project.
func rendered3(t *testing.T, files map[string]string, block, project string) (string, error) {
	t.Helper()
	env := parametersOf(t, "directory", block)
	maps.Copy(env, map[string]string{"ARGOCD_APP_NAME": "web", "ARGOCD_APP_PROJECT_NAME": project})
	request, err := render.FromEnvironment(env, fixture(t, "a", files), "a")
	check(t, err)
	objects, err := renderer.Run(t.Context(), request)
	var names []string
	for _, object := range objects {
		names = append(names, object.Name())
	}
	return strings.Join(names, " "), err
}
