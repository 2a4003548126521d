package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kube "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/schema"
)

// crd writes a CRD of the given kind whose versions are given in YAML.
func crd(t *testing.T, apiVersion, kind, spec string) map[string]any {
	t.Helper()
	text := fmt.Sprintf("apiVersion: apiextensions.k8s.io/%s\nkind: CustomResourceDefinition\nmetadata: {name: x.example.org}\nspec:\n  group: example.org\n  scope: Cluster\n  names: {kind: %s, plural: x}\n%s", apiVersion, kind, spec)
	objects, err := manifest.Decode("crd.yaml", []byte(text), manifest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return objects[0].Content
}

func TestParseObstacles(t *testing.T) {
	const versions = "  versions:\n  - {name: v1, served: %s, storage: true, schema: {openAPIV3Schema: %s}}\n"
	tests := map[string]struct {
		reason     string
		apiVersion string
		spec       string
		want       schema.Obstacle
		detail     string
	}{
		"fine":          {reason: "a structural schema", apiVersion: "v1", spec: fmt.Sprintf(versions, "true", "{type: object}")},
		"not served":    {reason: "served: false", apiVersion: "v1", spec: fmt.Sprintf(versions, "false", "{type: object}"), want: schema.NotServed},
		"no type":       {reason: "a field without a type is not structural", apiVersion: "v1", spec: fmt.Sprintf(versions, "true", "{type: object, properties: {spec: {properties: {a: {type: string}}}}}"), want: schema.NotStructural, detail: "spec"},
		"logic":         {reason: "a default inside anyOf is not structural", apiVersion: "v1", spec: fmt.Sprintf(versions, "true", "{type: object, properties: {spec: {type: object, anyOf: [{properties: {a: {default: 1}}}]}}}"), want: schema.NotStructural},
		"no schema":     {reason: "a version without a schema", apiVersion: "v1beta1", spec: "  version: v1\n", want: schema.WithoutSchema},
		"v1beta1":       {reason: "the schema for all versions, above them", apiVersion: "v1beta1", spec: "  version: v1\n  preserveUnknownFields: false\n  validation: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string, default: x}}}}}}\n"},
		"keeps unknown": {reason: "a CRD that is not pruned is not defaulted", apiVersion: "v1beta1", spec: "  version: v1\n  preserveUnknownFields: true\n  validation: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			definition, err := schema.Parse(t.Context(), crd(t, test.apiVersion, "X", test.spec), "crd.yaml")
			if err != nil {
				t.Fatal(err)
			}
			version := definition.Version("v1")
			if version.Obstacle != test.want || !strings.Contains(version.Detail, test.detail) {
				t.Errorf("%s: obstacle %q (%s), want %q", test.reason, version.Obstacle, version.Detail, test.want)
			}
			if defaults := version.Root != nil && version.Root.HoldsDefaults; defaults != (name == "v1beta1") {
				t.Errorf("%s: holds defaults: %v", test.reason, defaults)
			}
			if missing := definition.Version("v2"); missing.Obstacle != schema.NotServed || !strings.Contains(missing.Detail, "v1") {
				t.Errorf("a version that is not there: %q (%s)", missing.Obstacle, missing.Detail)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]map[string]any{
		"no CRD":          {"apiVersion": "v1", "kind": "ConfigMap"},
		"other group":     {"apiVersion": "example.org/v1", "kind": "CustomResourceDefinition"},
		"unknown version": {"apiVersion": "apiextensions.k8s.io/v7", "kind": "CustomResourceDefinition"},
		"no versions":     crd(t, "v1", "X", "  versions: []\n"),
		"no storage":      crd(t, "v1", "X", "  versions: [{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]\n"),
		"no kind":         crd(t, "v1", "''", "  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"),
		"wrong type":      crd(t, "v1", "X", "  versions: text\n"),
		"list of schemas": {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": []any{}},
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			definition, err := schema.Parse(t.Context(), content, "crd.yaml")
			if err == nil || !strings.HasPrefix(err.Error(), "crd.yaml: ") || definition != nil {
				t.Errorf("want an error that names the source, got %v, %v", definition, err)
			}
		})
	}
}

func TestLayer(t *testing.T) {
	define := func(kind, source string) *schema.Definition {
		definition, err := schema.Parse(t.Context(), crd(t, "v1", kind, "  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"), source)
		if err != nil {
			t.Fatal(err)
		}
		return definition
	}
	var none *schema.Set
	lookup := schema.Layer(none, nil, schema.NewSet(define("A", "rendered")), schema.NewSet(define("A", "live"), define("B", "live"), define("B", "later")))
	got := map[string]string{}
	for _, kind := range []string{"A", "B", "C"} {
		if definition, found := lookup.Definition(kube.GroupKind{Group: "example.org", Kind: kind}); found {
			got[kind] = definition.Source
		}
	}
	if diff := cmp.Diff(map[string]string{"A": "rendered", "B": "live"}, got); diff != "" {
		t.Errorf("the first layer that knows a kind answers for it:\n%s", diff)
	}
}
