package health_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/health"
)

// crd writes a CRD whose one version has the given columns and schema, in YAML flow style.
func crd(t *testing.T, columns, status, spec string) map[string]any {
	t.Helper()
	return parse(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec:
  group: example.org
  scope: Cluster
  names: {kind: Thing, plural: things}
  versions:
  - {name: v1alpha1, served: true, storage: false}
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: `+columns+`
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: `+spec+`}
          status: {type: object, properties: `+status+`}
`)
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

const conditions = "{type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}}}}"

// signs writes the rules that are no gates of every check, shortly.
func signs(check health.Check) []string {
	var result []string
	for _, rule := range check.Rules {
		path := strings.Join(rule.Path, ".")
		if rule.Signal == health.Absent || path == "status.observedGeneration" {
			continue
		}
		line := string(rule.Signal) + " " + path
		if len(rule.Needed) > 0 {
			line += " needs " + strings.Join(rule.Needed, ",")
		}
		if len(rule.Against) > 0 {
			line += " of " + strings.Join(rule.Against, ".")
		}
		if rule.Finite {
			line += " finite"
		}
		if rule.Detail {
			line += " detail"
		}
		result = append(result, line)
	}
	return result
}

func TestDerive(t *testing.T) {
	tests := map[string]struct {
		reason                string
		columns, status, spec string
		grade                 health.Grade
		want                  []string
	}{
		"ready column": {
			reason:  "a column on a condition says that it is needed; Active and what is bad when True are not",
			columns: `[{jsonPath: '.status.conditions[?(@.type=="Synced")].status'}, {jsonPath: ".status.conditions[?(@.type=='Ready')].status"}, {jsonPath: '.status.conditions[?(@.type == "Active")].status'}, {jsonPath: '.status.conditions[?(@.type=="Stalled")].status'}, {jsonPath: '.status.conditions[?(@.type=="Other")].reason'}]`,
			status:  "{conditions: " + conditions + "}", spec: "{}", grade: health.Column,
			want: []string{"conditions status.conditions needs Ready,Synced"},
		},
		"completion column": {
			reason:  "a type that does not say how it went is shown, and read with its reason",
			columns: `[{jsonPath: '.status.conditions[?(@.type=="Complete")].status'}]`,
			status:  "{conditions: " + conditions + "}", spec: "{}", grade: health.Column,
			want: []string{"conditions status.conditions"},
		},
		"conditions": {
			reason: "conditions without a column are a convention", columns: "[]",
			status: "{conditions: " + conditions + "}", spec: "{}", grade: health.Convention,
			want: []string{"conditions status.conditions"},
		},
		"phase column": {
			reason: "a column on a field that is named like a phase, described or not", columns: "[{jsonPath: .status.ThingStatus}, {jsonPath: .status.since, type: date}, {jsonPath: .spec.state}]",
			status: "{other: {type: string}}", spec: "{}", grade: health.Column,
			want: []string{"word status.ThingStatus", "conditions status.conditions"},
		},
		"enum": {
			reason: "listed words are better than a name, and a run ends", columns: "[]",
			status: "{phase: {type: string, enum: [Running, Done]}, completedAt: {type: string}}", spec: "{}", grade: health.Enum,
			want: []string{"word status.phase finite", "conditions status.conditions"},
		},
		"several phases": {
			reason: "beside a phase the others are details", columns: "[]",
			status: "{phase: {type: string}, brokerState: {type: string}, parts: {additionalProperties: {type: object, properties: {state: {type: string}, ready: {type: boolean}}}}}", spec: "{}", grade: health.Convention,
			want: []string{"word status.phase", "word status.brokerState detail", "flag status.parts.*.ready detail", "word status.parts.*.state detail", "conditions status.conditions"},
		},
		"nested conditions": {
			reason: "lists and objects may have conditions of their own", columns: "[]",
			status: "{parents: {type: array, items: {type: object, properties: {conditions: " + conditions + "}}}, deep: {type: object, properties: {conditions: " + conditions + "}}}", spec: "{}", grade: health.Convention,
			want: []string{"conditions status.deep.conditions", "conditions status.parents.*.conditions", "conditions status.conditions"},
		},
		"replicas and pauses": {
			reason: "replicas count against what is wanted; pauses are found in the strategy too", columns: "[]",
			status: "{readyReplicas: {type: integer}}", spec: "{replicas: {type: integer}, suspend: {type: boolean}, updateStrategy: {type: object, properties: {paused: {type: boolean}}}, template: {type: object, properties: {paused: {type: boolean}}}}", grade: health.Convention,
			want: []string{"switch spec.suspend", "switch spec.updateStrategy.paused", "replicas status.readyReplicas of spec.replicas", "conditions status.conditions"},
		},
		"flags and faults": {
			reason: "a ready flag, and an error beside it", columns: "[{jsonPath: .status.readyToUse}]",
			status: "{readyToUse: {type: boolean}, error: {type: object}}", spec: "{}", grade: health.Column,
			want: []string{"flag status.readyToUse", "fault status.error detail", "conditions status.conditions"},
		},
		"counters": {
			reason: "what is ready counts against what is wanted, and what succeeded against the completions", columns: "[]",
			status: "{succeeded: {type: integer}, readyNodes: {type: integer}, desiredNodes: {type: integer}, readyInstances: {type: integer}, ready: {type: integer}, readyText: {type: string}, currentHealthy: {type: integer}, desiredHealthy: {type: integer}}",
			spec:   "{completions: {type: integer}, instances: {type: integer}}", grade: health.Convention,
			want: []string{
				"replicas status.currentHealthy of status.desiredHealthy", "replicas status.succeeded of spec.completions",
				"replicas status.readyInstances of spec.instances", "replicas status.readyNodes of status.desiredNodes", "conditions status.conditions",
			},
		},
		"words that do not tell": {
			reason: "none of the listed words tells of health", columns: "[{jsonPath: .status.state}]",
			status: "{state: {type: string, enum: [open, closed, merged]}, phase: {type: string, enum: [open, Failed]}}", spec: "{}", grade: health.Enum,
			want: []string{"word status.phase", "conditions status.conditions"},
		},
		"open map of states": {
			reason: "an open object that is named like a map of states", columns: "[]",
			status: "{statuses: {type: object, x-kubernetes-preserve-unknown-fields: true}}", spec: "{}", grade: health.Convention,
			want: []string{
				"word status.phase detail", "word status.statuses.*.phase detail", "word status.state detail",
				"word status.statuses.*.state detail", "word status.status detail", "word status.statuses.*.status detail",
				"conditions status.conditions",
			},
		},
		"nothing": {
			reason: "a status without a sign of health", columns: "[]",
			status: "{url: {type: string}}", spec: "{suspend: {type: boolean}}", grade: health.Nothing,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			check, err := health.Derive(crd(t, test.columns, test.status, test.spec), health.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, signs(check)); diff != "" || check.Grade != test.grade {
				t.Errorf("%s: grade %s, want %s; rules (-want +got):\n%s", test.reason, check.Grade, test.grade, diff)
			}
			if len(check.Evidence) == 0 || check.Name() != "example.org_Thing" || check.Version != "v1" || check.Scope != "Cluster" || check.ReadyFalse != health.ByReason {
				t.Errorf("the check of %s %s (%s) has the evidence %q and ReadyFalse %q", check.Name(), check.Version, check.Scope, check.Evidence, check.ReadyFalse)
			}
		})
	}
}

func TestDeriveWithoutSchema(t *testing.T) {
	check, err := health.Derive(parse(t, `
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
spec:
  group: example.org
  version: v1
  names: {kind: Thing}
  additionalPrinterColumns: [{JSONPath: '.status.conditions[?(@.type=="Ready")].status'}]
`), health.Options{ReadyFalse: health.AlwaysDegraded})
	if err != nil {
		t.Fatal(err)
	}
	if check.Grade != health.Column || check.Version != "v1" || check.Scope != "Namespaced" || check.ReadyFalse != health.AlwaysDegraded {
		t.Errorf("v1beta1: %+v", check)
	}
	open, err := health.Derive(parse(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec: {group: example.org, names: {kind: Thing}, versions: [{name: v1, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}
`), health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"conditions status.conditions", "word status.phase", "word status.state", "word status.status"}
	if diff := cmp.Diff(want, signs(open)); diff != "" {
		t.Errorf("what is common is looked for where only the subresource tells of a status (-want +got):\n%s", diff)
	}
	anything, err := health.Derive(parse(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec: {group: example.org, names: {kind: Thing}, versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}
`), health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if anything.Grade != health.Nothing || len(anything.Rules) > 0 || !strings.Contains(strings.Join(anything.Evidence, " "), "allows anything") {
		t.Errorf("a schema that allows anything shows nothing, not %+v", anything)
	}
}

func TestDeriveRefuses(t *testing.T) {
	tests := map[string]string{
		"no CRD":     "{apiVersion: apps/v1, kind: Deployment}",
		"no group":   "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {names: {kind: Thing}}}",
		"no version": "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: example.org, names: {kind: Thing}, versions: [{name: v1}]}}",
		"wrong type": "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: [1]}",
		"empty":      "{}",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			if check, err := health.Derive(parse(t, text), health.Options{}); err == nil || !strings.HasPrefix(err.Error(), "read CRD: ") {
				t.Errorf("want an error that names the step, got %v and %+v", err, check)
			}
		})
	}
}

// TestDeriveIgnoresNames: the schema decides, not what the kind is called.
func TestDeriveIgnoresNames(t *testing.T) {
	object := crd(t, "[]", "{phase: {type: string}, conditions: "+conditions+"}", "{paused: {type: boolean}}")
	before := crd(t, "[]", "{phase: {type: string}, conditions: "+conditions+"}", "{paused: {type: boolean}}")
	first, err := health.Derive(object, health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, object); diff != "" {
		t.Errorf("the CRD was changed:\n%s", diff)
	}
	spec, _ := object["spec"].(map[string]any)
	spec["group"], spec["names"] = "argoproj.io", map[string]any{"kind": "Rollout"}
	second, err := health.Derive(object, health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Rules, second.Rules); diff != "" {
		t.Errorf("another name gives other rules:\n%s", diff)
	}
}

// TestDeriveBounds holds that a CRD of thousands of columns or fields gives a check that
// can still be proven and run.
func TestDeriveBounds(t *testing.T) {
	columns := make([]any, 0, 5000)
	fields := map[string]any{}
	for i := range 5000 {
		columns = append(columns, map[string]any{"name": "c", "type": "string", "jsonPath": fmt.Sprintf(".status.conditions[?(@.type==\"Ready%c%c%c\")].status", 'A'+i%26, 'a'+i/26%26, 'a'+i/676)})
		condition := map[string]any{"type": "object", "properties": map[string]any{"type": map[string]any{"type": "string"}, "status": map[string]any{"type": "string"}}}
		fields[fmt.Sprintf("part%d", i)] = map[string]any{"type": "object", "properties": map[string]any{"conditions": map[string]any{"type": "array", "items": condition}}}
	}
	check, err := health.Derive(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": map[string]any{
		"group": "example.org", "names": map[string]any{"kind": "Wide"}, "scope": "Namespaced",
		"versions": []any{map[string]any{"name": "v1", "storage": true, "additionalPrinterColumns": columns, "schema": map[string]any{"openAPIV3Schema": map[string]any{
			"type": "object", "properties": map[string]any{"status": map[string]any{"type": "object", "properties": fields}},
		}}}},
	}}, health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	needed := 0
	for _, rule := range check.Rules {
		needed = max(needed, len(rule.Needed))
	}
	if len(check.Rules) < 10 || len(check.Rules) > 100 || needed < 2 || needed > 50 {
		t.Errorf("%d rules, %d condition types", len(check.Rules), needed)
	}
}

// TestDerivePruned holds that a status which the API server drops is none to wait for.
func TestDerivePruned(t *testing.T) {
	const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.org
  names: {kind: Password}
  versions:
  - name: v1
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
`
	for name, test := range map[string]struct {
		kept bool
		crd  string
	}{
		"pruned":                    {false, crd},
		"kept at the root":          {true, strings.Replace(crd, "{type: object, properties", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties", 1)},
		"kept by the CRD":           {true, strings.Replace(crd, "  group:", "  preserveUnknownFields: true\n  group:", 1)},
		"kept by the older default": {true, strings.Replace(crd, "k8s.io/v1", "k8s.io/v1beta1", 1)},
	} {
		check, err := health.Derive(parse(t, test.crd), health.Options{})
		if err != nil || (check.Grade != health.Nothing) != test.kept {
			t.Errorf("%s: grade %s, %v: %v", name, check.Grade, check.Evidence, err)
		}
	}
}
