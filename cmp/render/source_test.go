package render_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/cmp/render"
)

func parametersOf(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	var parameters []map[string]string
	for i := 0; i < len(pairs); i += 2 {
		parameters = append(parameters, map[string]string{"name": pairs[i], "string": pairs[i+1]})
	}
	text, err := json.Marshal(parameters)
	check(t, err)
	return map[string]string{"ARGOCD_APP_PARAMETERS": string(text)}
}

func TestFromEnvironment(t *testing.T) {
	env := parametersOf(t, "kustomize", `{"namePrefix": "a-"}`, "pin", "atomic")
	maps.Copy(env, map[string]string{
		"ARGOCD_APP_NAME": "team_db", "ARGOCD_APP_NAMESPACE": "apps", "ARGOCD_APP_PROJECT_NAME": "infra",
		"ARGOCD_APP_REVISION": "abc", "ARGOCD_APP_SOURCE_REPO_URL": "https://r", "ARGOCD_APP_SOURCE_PATH": "p",
		"ARGOCD_APP_SOURCE_TARGET_REVISION": "main", "KUBE_VERSION": "v1.30.1k3s1", "KUBE_API_VERSIONS": "v1,apps/v1,,apps/v1/Deployment",
		"ARGOCD_ENV_HELM": "ignored", "PARAM_HELM": "ignored",
	})
	got, err := render.FromEnvironment(env, "/root", "sent/path")
	check(t, err)
	want := render.Request{
		Root: "/root", Path: "sent/path", AppName: "team_db", Namespace: "apps", Project: "infra", Revision: "abc",
		Source: v1alpha1.ApplicationSource{
			RepoURL: "https://r", Path: "p", TargetRevision: "main",
			Kustomize: &v1alpha1.ApplicationSourceKustomize{NamePrefix: "a-"},
		},
		KubeVersion: "v1.30.1k3s1", APIVersions: []string{"v1", "apps/v1", "apps/v1/Deployment"}, Pin: "atomic",
	}
	if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Release" }, cmp.Ignore())); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestNoParameters(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing at all":  {},
		"no parameters":   {"ARGOCD_APP_PARAMETERS": "null"},
		"empty variable":  {"ARGOCD_APP_PARAMETERS": ""},
		"empty list":      {"ARGOCD_APP_PARAMETERS": "[]"},
		"empty block":     parametersOf(t, "helm", ""),
		"comment only":    parametersOf(t, "directory", "# nothing\n"),
		"null":            parametersOf(t, "kustomize", "null"),
		"block of zeros":  parametersOf(t, "helm", "skipCrds: false\nvalueFiles: []\n"),
		"separator first": parametersOf(t, "helm", "---\n{}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			request, err := render.FromEnvironment(env, "", ".")
			explicit, typeErr := request.Source.ExplicitType()
			if err != nil || typeErr != nil || explicit != nil || request.Pin != "" || len(request.APIVersions) != 0 {
				t.Errorf("got %+v, %v", request, err)
			}
		})
	}
}

func TestParameterRefusals(t *testing.T) {
	cases := map[string]struct {
		reason string
		env    map[string]string
		where  string
		says   string
	}{
		"unknown field":      {"the API server would drop it unseen", parametersOf(t, "directory", "recursive: true"), "plugin parameter directory", "recursive"},
		"unknown inside":     {"deep ones too", parametersOf(t, "directory", "jsonnet: {tlas: [{name: a, vaule: b}]}"), "plugin parameter directory", "vaule"},
		"other case":         {"the API server is strict about case", parametersOf(t, "helm", "ReleaseName: x"), "plugin parameter helm", "ReleaseName"},
		"wrong block":        {"a field of another block", parametersOf(t, "kustomize", "releaseName: x"), "plugin parameter kustomize", "releaseName"},
		"block in block":     {"the block's own name does not belong in it", parametersOf(t, "helm", "helm: {releaseName: x}"), "plugin parameter helm", `"helm"`},
		"wrong type":         {"the API server refuses it", parametersOf(t, "helm", "parameters: [{name: a, value: 5}]"), "plugin parameter helm", "value"},
		"text":               {"a block is a map", parametersOf(t, "helm", "just text"), "plugin parameter helm", "string"},
		"no YAML":            {"it does not parse", parametersOf(t, "helm", "a: ["), "plugin parameter helm", "YAML"},
		"key twice":          {"which one holds?", parametersOf(t, "helm", "releaseName: a\nreleaseName: b\n"), "plugin parameter helm", "releaseName"},
		"two documents":      {"the second would be dropped unseen", parametersOf(t, "helm", "releaseName: a\n---\nskipCrds: true\n"), "plugin parameter helm", "more than one"},
		"two blocks":         {"Argo CD refuses two types", parametersOf(t, "helm", "releaseName: a", "kustomize", "namePrefix: b"), "plugin parameter kustomize", "helm"},
		"two empty blocks":   {"even empty ones contradict", parametersOf(t, "helm", "{}", "kustomize", "{}"), "plugin parameter kustomize", "helm"},
		"block twice":        {"which one holds?", parametersOf(t, "helm", "releaseName: a", "helm", "skipCrds: true"), "plugin parameter helm", "once"},
		"unknown parameter":  {"a typing error would change what is rendered", parametersOf(t, "Helm", "x"), "plugin parameter Helm", "helm, kustomize and directory"},
		"unknown pin":        {"a typing error would change what is pinned", parametersOf(t, "pin", "some"), "plugin parameter pin", "atomic"},
		"pin twice":          {"which one holds?", parametersOf(t, "pin", "all", "pin", "none"), "plugin parameter pin", "once"},
		"map":                {"blocks travel as text", map[string]string{"ARGOCD_APP_PARAMETERS": `[{"name":"helm","map":{"releaseName":"a"}}]`}, "plugin parameter helm", "string"},
		"array":              {"blocks travel as text", map[string]string{"ARGOCD_APP_PARAMETERS": `[{"name":"helm","array":["a"]}]`}, "plugin parameter helm", "string"},
		"no JSON":            {"Argo CD did not send it", map[string]string{"ARGOCD_APP_PARAMETERS": `[{`}, "ARGOCD_APP_PARAMETERS", "JSON"},
		"map of parameters":  {"Argo CD did not send it", map[string]string{"ARGOCD_APP_PARAMETERS": `{"helm":"x"}`}, "ARGOCD_APP_PARAMETERS", "JSON"},
		"kustomize replicas": {"counts are numbers", parametersOf(t, "kustomize", "replicas: [{name: a, count: [1]}]"), "plugin parameter kustomize", "count"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := render.FromEnvironment(test.env, "", ".")
			var refusal *render.Refusal
			if !errors.As(err, &refusal) || refusal.Where != test.where || !strings.Contains(refusal.Reason, test.says) {
				t.Errorf("got %v, want %s ... %s: %s", err, test.where, test.says, test.reason)
			}
		})
	}
}

// Whatever a parameter holds: no panic, and what is taken is a block of one type.
func FuzzFromEnvironment(f *testing.F) {
	for _, seed := range [][2]string{
		{"helm", helmBlock},
		{"kustomize", kustomizeBlock},
		{"directory", jsonnetBlock},
		{"pin", "all"},
		{"helm", bomb},
		{"helm", "values: |\n  ---\n  a: b\n"},
		{"directory", "{"},
		{"", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, block string) {
		request, err := render.FromEnvironment(parametersOf(t, name, block), "", ".")
		if err != nil {
			return
		}
		if _, err := request.Source.ExplicitType(); err != nil {
			t.Error(err)
		}
		again, err := json.Marshal(request.Source)
		check(t, err)
		if strings.Contains(string(again), `"plugin"`) {
			t.Errorf("a plugin came back: %s", again)
		}
	})
}
