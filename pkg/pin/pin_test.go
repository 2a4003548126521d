package pin_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// widgetCRD has every feature that decides on a pin: %s is put behind the storage version.
const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  %s
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, default: 1}
              color: {type: string, default: red}
              maybe: {type: string, default: x, nullable: true}
              plain: {type: string}
              limits: {type: object, default: {}, properties: {cpu: {type: string, default: 1m}, gpu: {type: string}}}
              parts:
                type: array
                items: {type: object, properties: {name: {type: string}, size: {type: integer, default: 3}}}
              keyed:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer, default: 3}}}
              labels: {type: object, additionalProperties: {type: string, default: none}}
              templates:
                type: array
                items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              template:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
          status: {type: object, default: {phase: New}, properties: {phase: {type: string}}}
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string, default: blue}
              gone: {type: string, default: lost}
              limits: {type: object, properties: {cpu: {type: string}}}
  - name: v1alpha1
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

func widgets(t *testing.T, extra string) *schema.Set {
	t.Helper()
	definition, err := schema.Parse(t.Context(), decodeOne(t, fmt.Sprintf(widgetCRD, extra)).Content, "test")
	if err != nil {
		t.Fatal(err)
	}
	return schema.NewSet(definition)
}

// TestHidden: what stands behind specReplicasPath stays out of defaults that hold it, and
// of maps that it leads through.
func TestHidden(t *testing.T) {
	const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: %[1]t
    subresources: {scale: {specReplicasPath: %[2]s, statusReplicasPath: .status.replicas}}
    schema: {openAPIV3Schema: &schema {type: object, properties: {spec: {type: object, default: {a: 1}, properties: {a: {type: integer}, replicas: {type: integer, default: 1}, web: {type: object, additionalProperties: {type: object, properties: {replicas: {type: integer, default: 1}, b: {type: integer, default: 2}}}}, pair: {type: object, x-kubernetes-map-type: atomic, properties: {c: {type: integer, default: 3}}}}}}}}
  - name: v2
    served: false
    storage: %[3]t
    subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema: {openAPIV3Schema: *schema}
`
	tests := map[string]struct {
		reason, path, object string
		storage              bool
		mode                 pin.Mode
		want                 []string
	}{
		"in a default":  {reason: "the default of spec would bring replicas along", path: ".spec.replicas", object: "{}", storage: true, want: []string{"+ /spec map[a:1]"}},
		"of storage":    {reason: "the storage version's path counts too", path: ".spec.other", object: "{spec: {}}", want: nil},
		"through a map": {reason: "a path through a map hides that field below every name", path: ".spec.web.main.replicas", object: "{spec: {replicas: 1, web: {main: {}, x: {}}}}", storage: true, want: []string{"+ /spec/web/main/b 2", "+ /spec/web/x/b 2"}},
		"atomic map":    {reason: "an atomic map is pinned in atomic mode", path: ".spec.replicas", object: "{spec: {pair: {}, web: {x: {}}}}", storage: true, mode: pin.ModeAtomic, want: []string{"+ /spec/pair/c 3"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			definition, err := schema.Parse(t.Context(), decodeOne(t, fmt.Sprintf(crd, test.storage, test.path, !test.storage)).Content, "test")
			if err != nil {
				t.Fatal(err)
			}
			object := decodeOne(t, test.object[:1]+"apiVersion: example.org/v1, kind: Thing, "+test.object[1:])
			results, err := pin.All(t.Context(), []manifest.Object{object}, pin.Options{Schemas: schema.NewSet(definition), Mode: test.mode})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, explain(results[0].Changes)); diff != "" {
				t.Errorf("%s:\n%s", test.reason, diff)
			}
		})
	}
}

func decodeOne(t *testing.T, text string) manifest.Object {
	t.Helper()
	objects, err := manifest.Decode("test.yaml", []byte(text), manifest.Limits{})
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	return objects[0]
}

// explain spells changes as "+ /pointer value", "- /pointer value", "! /pointer value" for
// a null that was replaced and "0 /pointer" for one that was dropped.
func explain(changes []pin.Change) []string {
	signs := map[pin.Action]string{pin.Pinned: "+", pin.Dropped: "-", pin.NullReplaced: "!", pin.NullDropped: "0"}
	var lines []string
	for _, change := range changes {
		line := signs[change.Action] + " " + string(change.Pointer)
		if change.Action != pin.NullDropped {
			line += " " + fmt.Sprint(change.Value)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAll(t *testing.T) {
	const head = "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a}\n"
	tests := map[string]struct {
		reason  string
		object  string
		options pin.Options
		want    []string
	}{
		"absent":          {reason: "defaults of absent fields; never what stands behind the scale subresource, never status", object: head + "spec: {}", want: []string{"+ /spec/color red", "+ /spec/limits map[cpu:1m]", "+ /spec/maybe x"}},
		"no spec":         {reason: "spec has no default: nothing below it", object: head},
		"given":           {reason: "what Git sets stays", object: head + "spec: {color: '', maybe: z, limits: {gpu: '1'}, replicas: 4}", want: []string{"+ /spec/limits/cpu 1m"}},
		"nulls":           {reason: "replaced by the default, kept where nullable, dropped otherwise", object: head + "spec: {color: null, maybe: null, plain: null, limits: null, replicas: null, unknown: null}", want: []string{"! /spec/color red", "! /spec/limits map[cpu:1m]", "0 /spec/plain", "0 /spec/replicas"}},
		"null in a map":   {reason: "a map value takes its own default", object: head + "spec: {color: c, maybe: m, limits: {cpu: c}, labels: {a: null, b/c: x}}", want: []string{"! /spec/labels/a none"}},
		"items":           {reason: "items of lists, by index", object: head + "spec: {color: c, maybe: m, limits: {cpu: c}, parts: [{name: a}, {size: 1}], keyed: [{name: k}]}", want: []string{"+ /spec/keyed/0/size 3", "+ /spec/parts/0/size 3"}},
		"wrong types":     {reason: "a value of a wrong type is left to the API server", object: head + "spec: {color: {a: b}, maybe: m, limits: [], parts: {x: y}, labels: text}"},
		"embedded":        {reason: "nulls of an embedded resource's metadata vanish", object: head + "spec: {color: c, maybe: m, limits: {cpu: c}, template: {apiVersion: v1, kind: Pod, metadata: {name: p, creationTimestamp: null}, spec: {x: null}}}", want: []string{"0 /spec/template/metadata/creationTimestamp"}},
		"embedded null":   {reason: "metadata that is null becomes empty, labels that are null the empty text", object: head + "spec: {color: c, maybe: m, limits: {cpu: c}, template: {metadata: null}, parts: [{size: 1}], templates: [{metadata: {labels: {a: null}}}]}", want: []string{"! /spec/template/metadata map[]", "! /spec/templates/0/metadata/labels/a "}},
		"other version":   {reason: "the storage version's default where the request's has none, the request's first, and none that either lacks", object: strings.Replace(head, "/v1", "/v1beta1", 1) + "spec: {gone: kept}", want: []string{"+ /spec/color blue", "+ /spec/limits map[cpu:1m]"}},
		"request alone":   {reason: "what the storage version lacks the server removes: a null goes, a value is the user's", object: strings.Replace(head, "/v1", "/v1beta1", 1) + "spec: {gone: null, color: c, limits: {cpu: c}}", want: []string{"0 /spec/gone"}},
		"atomic":          {reason: "only inside atomic lists that Git sets", object: head + "spec: {parts: [{name: a}], keyed: [{name: k}], plain: null}", options: pin.Options{Mode: pin.ModeAtomic}, want: []string{"+ /spec/parts/0/size 3", "0 /spec/plain"}},
		"none":            {reason: "nothing", object: head + "spec: {plain: null}", options: pin.Options{Mode: pin.ModeNone}},
		"own mode":        {reason: "the annotation goes before the option", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a, annotations: {moorpin.dev/pin: none}}\nspec: {}"},
		"own mode atomic": {reason: "in both directions", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a, annotations: {moorpin.dev/pin: all}}\nspec: {limits: {}, maybe: m}", options: pin.Options{Mode: pin.ModeAtomic}, want: []string{"+ /spec/color red", "+ /spec/limits/cpu 1m"}},
		"none wins":       {reason: "an annotation cannot switch on what the option switches off", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a, annotations: {moorpin.dev/pin: all}}\nspec: {}", options: pin.Options{Mode: pin.ModeNone}},
		"skip":            {reason: "pointers, inside of defaults and with a wildcard too", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a, annotations: {moorpin.dev/skip: '/spec/color, /spec/limits/cpu /spec/parts/*/size'}}\nspec: {parts: [{}], plain: null}", want: []string{"+ /spec/limits map[]", "+ /spec/maybe x", "0 /spec/plain"}},
		"skip null":       {reason: "a skipped null stays", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a, annotations: {moorpin.dev/skip: /spec}}\nspec: {plain: null, color: null}"},
		"served":          {reason: "the destination lists the kind", object: head + "spec: {maybe: m, limits: {cpu: c}}", options: pin.Options{Served: []string{"v1", "example.org/v1", "example.org/v1/Widget"}}, want: []string{"+ /spec/color red"}},
		"built in":        {reason: "kinds of Kubernetes itself need no CRD", object: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: null}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.options.Schemas = widgets(t, "")
			results, err := pin.All(t.Context(), []manifest.Object{decodeOne(t, test.object)}, test.options)
			if err != nil {
				t.Fatal(err)
			}
			if len(results[0].Warnings) > 0 {
				t.Errorf("warnings: %v", results[0].Warnings)
			}
			if diff := cmp.Diff(test.want, explain(results[0].Changes)); diff != "" {
				t.Errorf("%s:\n%s", test.reason, diff)
			}
		})
	}
}

func TestAllPassesUnchanged(t *testing.T) {
	const webhook = "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://example.org'}}}"
	tests := map[string]struct {
		reason   string
		crd      string
		object   string
		options  pin.Options
		obstacle schema.Obstacle
	}{
		"no CRD":      {reason: "nobody knows the kind", object: "apiVersion: other.org/v1\nkind: Thing\nspec: {}", obstacle: pin.NoSchema},
		"no version":  {reason: "the CRD lacks the version", object: "apiVersion: example.org/v9\nkind: Widget\nspec: {}", obstacle: schema.NotServed},
		"not served":  {reason: "the CRD does not serve the version", object: "apiVersion: example.org/v1alpha1\nkind: Widget\nspec: {}", obstacle: schema.NotServed},
		"webhook":     {reason: "a webhook converts to the storage version", crd: webhook, object: "apiVersion: example.org/v1beta1\nkind: Widget\nspec: {}", obstacle: schema.ConvertedByWebhook},
		"destination": {reason: "the destination lists another version", object: "apiVersion: example.org/v1\nkind: Widget\nspec: {}", options: pin.Options{Served: []string{"example.org/v1beta1"}}, obstacle: pin.NotServedByDestination},
		"kind":        {reason: "the destination lists other kinds of the version", object: "apiVersion: example.org/v1\nkind: Widget\nspec: {}", options: pin.Options{Served: []string{"example.org/v1", "example.org/v1/Other"}}, obstacle: pin.NotServedByDestination},
		"bad mode":    {reason: "an annotation that does not parse", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {annotations: {moorpin.dev/pin: some}}\nspec: {}", obstacle: pin.InvalidAnnotation},
		"unknown":     {reason: "an annotation that is misspelt", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {annotations: {moorpin.dev/skipp: /spec}}\nspec: {}", obstacle: pin.InvalidAnnotation},
		"many skips":  {reason: "an annotation that names too many pointers", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {annotations: {moorpin.dev/skip: '" + strings.Repeat("/a ", 300) + "'}}\nspec: {}", obstacle: pin.InvalidAnnotation},
		"long skip":   {reason: "an annotation that is too long", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {annotations: {moorpin.dev/skip: '" + strings.Repeat("/*", 9000) + "'}}\nspec: {}", obstacle: pin.InvalidAnnotation},
		"bad skip":    {reason: "an annotation that does not parse", object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {annotations: {moorpin.dev/skip: spec.color}}\nspec: {}", obstacle: pin.InvalidAnnotation},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.options.Schemas = widgets(t, test.crd)
			object := decodeOne(t, test.object)
			results, err := pin.All(t.Context(), []manifest.Object{object}, test.options)
			if err != nil {
				t.Fatal(err)
			}
			result := results[0]
			if len(result.Changes) > 0 || !cmp.Equal(result.Object.Content, object.Content) {
				t.Errorf("%s: changed: %v", test.reason, explain(result.Changes))
			}
			if len(result.Warnings) != 1 || result.Warnings[0].Obstacle != test.obstacle {
				t.Errorf("%s: want one warning %q, got %v", test.reason, test.obstacle, result.Warnings)
			}
		})
	}
	// The storage version itself is not converted.
	results, err := pin.All(t.Context(), []manifest.Object{decodeOne(t, "apiVersion: example.org/v1\nkind: Widget\nspec: {}")}, pin.Options{Schemas: widgets(t, webhook)})
	if err != nil || len(results[0].Changes) == 0 {
		t.Errorf("the storage version of a CRD with a webhook: %v, %v", results, err)
	}
	if _, err := pin.All(t.Context(), nil, pin.Options{Mode: "some"}); err == nil {
		t.Error("an unknown mode must be refused")
	}
}

func TestRenderedCRDGoesFirst(t *testing.T) {
	rendered := decodeOne(t, fmt.Sprintf(strings.ReplaceAll(widgetCRD, "default: red", "default: green"), ""))
	object := decodeOne(t, "apiVersion: example.org/v1\nkind: Widget\nspec: {maybe: m, limits: {cpu: c}}")
	options := pin.Options{Schemas: widgets(t, ""), Served: []string{"example.org/v1beta1"}}
	results, err := pin.All(t.Context(), []manifest.Object{object, rendered}, options)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"+ /spec/color green"}, explain(results[0].Changes)); diff != "" {
		t.Errorf("the CRD of the same render is the one in force after the sync:\n%s", diff)
	}
	delete(rendered.Content["spec"].(map[string]any), "versions")
	results, err = pin.All(t.Context(), []manifest.Object{object, rendered}, pin.Options{Schemas: widgets(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"+ /spec/color red"}, explain(results[0].Changes)); diff != "" {
		t.Errorf("a broken CRD is not used:\n%s", diff)
	}
	if len(results[1].Warnings) != 1 || results[1].Warnings[0].Obstacle != pin.InvalidCRD {
		t.Errorf("a broken CRD must be warned of, got %v", results[1].Warnings)
	}
}

func TestDrop(t *testing.T) {
	application := decodeOne(t, `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: child}
spec:
  project: ""
  source: {repoURL: x, path: "", directory: {recurse: false}, kustomize: {images: [], namePrefix: a-}}
  destination: {server: s, namespace: ""}
  syncPolicy: {automated: {prune: false, selfHeal: true}, syncOptions: []}
  ignoreDifferences:
  - {group: "", kind: Secret, jsonPointers: []}
  - {group: apps, kind: Deployment, jsonPointers: [/a]}
  info: []
`)
	want := []string{
		"- /spec/destination/namespace ", "- /spec/ignoreDifferences/0/group ", "- /spec/ignoreDifferences/0/jsonPointers []",
		"- /spec/info []", "- /spec/source/directory map[recurse:false]", "- /spec/source/kustomize/images []", "- /spec/source/path ",
		"- /spec/syncPolicy/automated/prune false", "- /spec/syncPolicy/syncOptions []",
	}
	results, err := pin.All(t.Context(), []manifest.Object{application}, pin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, explain(results[0].Changes)); diff != "" {
		t.Errorf("what Argo CD's typed client leaves out:\n%s", diff)
	}
	extended, err := pin.ParseRules("rules.yaml", []byte(`
drop:
- {group: argoproj.io, kind: Application, pointers: [/spec/syncPolicy/automated/selfHeal], value: true, by: a test}
skip:
- {group: argoproj.io, kind: Application, pointers: [/spec/source, /spec/ignoreDifferences/*/group]}
`))
	if err != nil {
		t.Fatal(err)
	}
	want = []string{
		"- /spec/destination/namespace ", "- /spec/ignoreDifferences/0/jsonPointers []", "- /spec/info []",
		"- /spec/syncPolicy/automated/prune false", "- /spec/syncPolicy/automated/selfHeal true", "- /spec/syncPolicy/syncOptions []",
	}
	results, err = pin.All(t.Context(), []manifest.Object{application}, pin.Options{Rules: pin.DefaultRules().With(extended)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, explain(results[0].Changes)); diff != "" {
		t.Errorf("a user's rules add to the built-in table:\n%s", diff)
	}
}

func TestParseRulesRefuses(t *testing.T) {
	tests := map[string]string{
		"no YAML":       "drop: [",
		"unknown field": "drops: []",
		"no kind":       "drop: [{pointers: [/spec/a], value: 1, by: x}]",
		"no pointers":   "drop: [{kind: A, value: 1, by: x}]",
		"no rule":       "{}",
		"no value":      "drop: [{kind: A, pointers: [/spec/a], by: x}]",
		"a version":     "drop: [{group: a.b/v1, kind: A, pointers: [/spec/a], value: 1, by: x}]",
		"no by":         "drop: [{kind: A, pointers: [/spec/a], value: 1}]",
		"bad pointer":   "drop: [{kind: A, pointers: [spec/a], value: 1, by: x}]",
		"whole spec":    "drop: [{kind: A, pointers: [/spec], value: {}, by: x}]",
		"the name":      "drop: [{kind: A, pointers: [/metadata/name], value: a, by: x}]",
		"any name":      "drop: [{kind: A, pointers: ['/*/name'], value: a, by: x}]",
		"documents":     "skip: [{kind: A, pointers: [/spec/a]}]\n---\nskip: [{kind: B, pointers: [/spec/a]}]",
		"skip nothing":  "skip: [{kind: A}]",
		"skip all":      "skip: [{kind: A, pointers: ['']}]",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := pin.ParseRules("rules.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "rules.yaml: ") {
				t.Errorf("want an error that names the file, got %v", err)
			}
		})
	}
}

// TestDropPaths: rows with and without wildcards add up, in both orders and in both files.
func TestDropPaths(t *testing.T) {
	const wild, named, item = "{kind: A, pointers: ['/spec/*/yy'], value: 1, by: t}", "{kind: A, pointers: [/spec/a/z], value: 2, by: t}", "{kind: A, pointers: [/spec/l/1/yy], value: 3, by: t}"
	object := decodeOne(t, "kind: A\nspec: {a: {yy: 1, z: 2}, b: {yy: 1, z: 2}, l: [{yy: 3}, {yy: 3}]}")
	want := []string{"- /spec/a/yy 1", "- /spec/a/z 2", "- /spec/b/yy 1", "- /spec/l/1/yy 3"}
	parse := func(rows ...string) *pin.Rules {
		rules, err := pin.ParseRules("rules.yaml", []byte("drop: ["+strings.Join(rows, ", ")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	for name, rules := range map[string]*pin.Rules{
		"any first": parse(wild, named, item), "any last": parse(item, named, wild), "two files": parse(named, item).With(parse(wild)),
	} {
		results, err := pin.All(t.Context(), []manifest.Object{object}, pin.Options{Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, explain(results[0].Changes)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestResultsShareNothing: what one result holds, another must not feel.
func TestResultsShareNothing(t *testing.T) {
	object := decodeOne(t, "apiVersion: example.org/v1\nkind: Widget\nspec: {color: c, maybe: m, limits: null}")
	results, err := pin.All(t.Context(), []manifest.Object{object, object}, pin.Options{Schemas: widgets(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	limits := func(i int) map[string]any {
		value, _ := fieldpath.Pointer("/spec/limits").Value(results[i].Object.Content)
		return value.(map[string]any)
	}
	limits(0)["cpu"] = "changed"
	if limits(1)["cpu"] != "1m" || !cmp.Equal(results[0].Changes[0].Value, map[string]any{"cpu": "1m"}) {
		t.Errorf("a change of one result shows in %v and %v", limits(1), results[0].Changes[0].Value)
	}
}

// TestDropKeepsMeaning: an empty list that forbids everything is not dropped, for its
// absence would permit everything.
func TestDropKeepsMeaning(t *testing.T) {
	project := decodeOne(t, "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nspec: {namespaceResourceWhitelist: [], clusterResourceWhitelist: [], description: ''}")
	results, err := pin.All(t.Context(), []manifest.Object{project}, pin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"- /spec/clusterResourceWhitelist []", "- /spec/description "}, explain(results[0].Changes)); diff != "" {
		t.Error(diff)
	}
}

// TestDefaultRules fails when the built-in table does not parse: then nothing would be dropped.
func TestDefaultRules(t *testing.T) {
	text, err := os.ReadFile("drops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pin.ParseRules("drops.yaml", text); err != nil {
		t.Fatal(err)
	}
}
