package classify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

type ignore = v1alpha1.ResourceIgnoreDifferences

// scaled has an autoscaler's replicas and a person's image, and a Service in sync.
const scaled = `
application:
  apiVersion: argoproj.io/v1alpha1
  kind: Application
  metadata: {name: web, namespace: argocd}
  spec: {project: shop, destination: {server: https://kubernetes.default.svc, namespace: shop}}
  status:
    sync: {status: OutOfSync}
    resources:
    - {group: apps, version: v1, kind: Deployment, namespace: shop, name: web, status: OutOfSync}
    - {version: v1, kind: Service, namespace: shop, name: web, status: Synced}
settings: {argocdVersion: v3.1.0, trackingMethod: annotation}
resources:
- target: &git
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: app, image: "web:1", env: [{name: A, value: a}, {name: B, value: b}]}
          - {name: side, image: "side:1"}
  live:
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: shop
      uid: 5f0c
      managedFields:
      - {manager: scaler, operation: Update, apiVersion: apps/v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
    spec:
      replicas: 5
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: app, image: "web:2", env: [{name: A, value: a}, {name: B, value: b}]}
          - {name: side, image: "side:2"}
- target: {apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {selector: {app: web}}}
  live: {apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {selector: {app: web}}}
`

func parsed(t testing.TB, text string) *drift.Snapshot {
	t.Helper()
	snapshot, err := drift.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// outcome is a preview in short.
type outcome struct {
	Hides, Reveals []string
	Remaining      int
	Synced         bool
	Covers         []string
}

func short(p *drift.Preview) outcome {
	o := outcome{Remaining: p.Remaining, Synced: p.Synced}
	for _, f := range p.Hides {
		o.Hides = append(o.Hides, string(f.Pointer)+" "+string(f.Mechanism))
	}
	for _, f := range p.Reveals {
		o.Reveals = append(o.Reveals, string(f.Pointer))
	}
	for _, c := range p.Covers {
		o.Covers = append(o.Covers, c.Resource.Kind+string(c.Pointer))
	}
	return o
}

func TestPreviewRules(t *testing.T) {
	const replicas, app, side = "/spec/replicas", "/spec/template/spec/containers/0", "/spec/template/spec/containers/1"
	rows := map[string]struct {
		reason string
		change func(string) string
		rules  []ignore
		want   outcome
	}{
		"one field": {
			"the images still differ", nil,
			[]ignore{{Group: "apps", Kind: "Deployment", JSONPointers: []string{replicas}}},
			outcome{Hides: []string{replicas + " operator-writeback"}, Remaining: 2, Covers: []string{"Deployment" + replicas}},
		},
		"by its manager": {
			"what the manager owns is covered", nil,
			[]ignore{{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"scaler"}}},
			outcome{Hides: []string{replicas + " operator-writeback"}, Remaining: 2, Covers: []string{"Deployment" + replicas}},
		},
		"everything that differs": {
			"nothing is left, and equal fields are covered too", nil,
			[]ignore{{Group: "apps", Kind: "Deployment", JSONPointers: []string{replicas}, JQPathExpressions: []string{`.spec.template.spec.containers[] | select(.name | test("^(app|side)$"))`}}},
			outcome{
				Hides: []string{replicas + " operator-writeback", app + "/image git-ahead", side + "/image git-ahead"}, Synced: true,
				Covers: []string{
					"Deployment" + replicas, "Deployment" + app + "/env/0/name", "Deployment" + app + "/env/0/value", "Deployment" + app + "/env/1/name", "Deployment" + app + "/env/1/value",
					"Deployment" + app + "/image", "Deployment" + app + "/name", "Deployment" + side + "/image", "Deployment" + side + "/name",
				},
			},
		},
		"the item before": {
			"the second container's difference moves to the first place and stays", nil,
			[]ignore{{Group: "apps", Kind: "Deployment", Name: "web", JQPathExpressions: []string{`.spec.template.spec.containers[] | select(.name == "app") | .image`}}},
			outcome{Hides: []string{app + "/image git-ahead"}, Remaining: 2, Covers: []string{"Deployment" + app + "/image"}},
		},
		"another name": {
			"nothing matches", nil,
			[]ignore{{Group: "apps", Kind: "Deployment", Name: "other", JSONPointers: []string{replicas}}},
			outcome{Remaining: 3},
		},
		"what does not differ": {
			"it may hide a change of the Service later", nil,
			[]ignore{{Kind: "Service", JSONPointers: []string{"/spec"}}},
			outcome{Remaining: 3, Covers: []string{"Service/spec/selector/app"}},
		},
		"all, and one is missing": {
			"a rule does not bring an object back", func(s string) string {
				return s + "- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: gone, namespace: shop}, data: {a: b}}\n"
			},
			[]ignore{{Group: "*", Kind: "Deployment", JSONPointers: []string{"/spec/replicas", "/spec/template/spec/containers"}}},
			outcome{
				Hides:  []string{replicas + " operator-writeback", app + "/image git-ahead", side + "/image git-ahead"},
				Covers: []string{"Deployment" + replicas, "Deployment" + app + "/env/0/name", "Deployment" + app + "/env/0/value", "Deployment" + app + "/env/1/name", "Deployment" + app + "/env/1/value", "Deployment" + app + "/image", "Deployment" + app + "/name", "Deployment" + side + "/image", "Deployment" + side + "/name"},
			},
		},
		"one that the snapshot leaves out": {
			"Argo CD lists another resource as OutOfSync", func(s string) string {
				return strings.Replace(s, "name: web, status: Synced", "name: other, status: OutOfSync", 1)
			},
			[]ignore{{Group: "apps", Kind: "Deployment", JSONPointers: []string{"/spec"}}},
			outcome{},
		},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			text := scaled
			if row.change != nil {
				text = row.change(text)
			}
			snapshot := parsed(t, text)
			before := fmt.Sprint(*snapshot)
			p, err := classify.PreviewRules(t.Context(), snapshot, row.rules, classify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := short(p)
			if p.CoversTotal != len(p.Covers) {
				t.Errorf("covers %d, lists %d", p.CoversTotal, len(p.Covers))
			}
			if name == "one that the snapshot leaves out" {
				if got.Synced || got.Remaining != 0 {
					t.Errorf("%s: %+v", row.reason, got)
				}
				return
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", row.reason, diff)
			}
			if fmt.Sprint(*snapshot) != before {
				t.Error("the snapshot was changed")
			}
		})
	}
}

// TestPreviewOfWhatArgoCDCompared has documents of Argo CD that its packages here do
// not come to: the rules are run on those.
func TestPreviewOfWhatArgoCDCompared(t *testing.T) {
	snapshot := parsed(t, scaled)
	r := &snapshot.Resources[1]
	r.NormalizedLive = map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": map[string]any{"a": "live", "b": "live"}}
	r.PredictedLive = map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": map[string]any{"a": "git", "b": "git"}}
	p, err := classify.PreviewRules(t.Context(), snapshot, []ignore{{Kind: "Service", JSONPointers: []string{"/spec/a"}}}, classify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Hides) != 1 || p.Hides[0].Pointer != "/spec/a" || p.Remaining != 4 {
		t.Errorf("have %+v", p)
	}
}

func TestPreviewBoundsWhatItLists(t *testing.T) {
	snapshot := parsed(t, scaled)
	many := map[string]any{}
	for i := range 1000 {
		many[fmt.Sprintf("key-%03d", i)] = "value"
	}
	for _, side := range []map[string]any{snapshot.Resources[1].Target, snapshot.Resources[1].Live} {
		side["spec"] = many
	}
	p, err := classify.PreviewRules(t.Context(), snapshot, []ignore{{Kind: "Service", JSONPointers: []string{"/spec"}}}, classify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.CoversTotal != 1000 || len(p.Covers) != 200 || p.Covers[0].Pointer != "/spec/key-000" {
		t.Errorf("covers %d, lists %d, the first is %v", p.CoversTotal, len(p.Covers), p.Covers[0])
	}
}

func TestPreviewRefusesRules(t *testing.T) {
	of := func(paths ...string) []ignore {
		return []ignore{{Kind: "Service", JSONPointers: []string{"/spec"}}, {Group: "apps", Kind: "Deployment", JQPathExpressions: paths}}
	}
	rows := map[string]struct {
		reason string
		rules  []ignore
		part   string
	}{
		"none":               {"there is nothing to try", nil, "rules"},
		"too many":           {"each is tried", make([]ignore, 101), "rules"},
		"no kind":            {"Argo CD matches nothing", []ignore{{JSONPointers: []string{"/a"}}}, "rules[0].kind"},
		"no field":           {"it hides nothing", []ignore{{Kind: "Service"}}, "rules[0]"},
		"no pointer":         {"a pointer begins with a slash", []ignore{{Kind: "Service", JSONPointers: []string{"/a", "spec.a"}}}, "rules[0].jsonPointers[1]"},
		"the whole document": {"Argo CD cannot remove it", []ignore{{Kind: "Service", JSONPointers: []string{""}}}, "rules[0].jsonPointers[0]"},
		"a wild pattern":     {"matching takes long", []ignore{{Kind: "a*a*a*a*a*b", JSONPointers: []string{"/a"}}}, "rules[0]"},
		"too many entries":   {"each is tried on each resource", []ignore{{Kind: "*", JSONPointers: make1001()}}, "rules"},
		"no manager":         {"nobody is called so", []ignore{{Kind: "Service", ManagedFieldsManagers: []string{"a", ""}}}, "rules[0].managedFieldsManagers[1]"},
		"not jq":             {"it cannot be parsed", of(".spec", ".spec["), "rules[1].jqPathExpressions[1]"},
		"no such function":   {"it cannot be compiled", of("foo(.)"), "rules[1].jqPathExpressions[0]"},
		"injected":           {"it ends the deletion and goes on", of(".a) | .b = (1"), "rules[1].jqPathExpressions[0]"},
		"slow":               {"it takes a cartesian product", of(`.. as $a | .. as $b | .. as $c | .. as $d | .. as $e | .. as $f | .. as $g | select($a == "never")`), "rules[1].jqPathExpressions[0]"},
	}
	for _, hostile := range hostileJQ {
		rows["hostile "+hostile] = struct {
			reason string
			rules  []ignore
			part   string
		}{"it takes memory faster than a deadline stops it", of(hostile), "rules[1].jqPathExpressions[0]"}
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			_, err := classify.PreviewRules(t.Context(), parsed(t, scaled), row.rules, classify.Options{})
			refused, ok := errors.AsType[*drift.RuleError](err)
			if !ok || refused.Part != row.part || refused.Reason == "" {
				t.Errorf("%s: have %v, want the part %s", row.reason, err, row.part)
			}
		})
	}
}

func make1001() []string {
	pointers := make([]string, 1001)
	for i := range pointers {
		pointers[i] = fmt.Sprintf("/data/%d", i)
	}
	return pointers
}

// hostileJQ takes time or memory that no deadline gives back.
var hostileJQ = []string{
	`select([range(1e12)] | length > 0)`,
	`select(("x" * 1e9) | length > 0)`,
	`select(null | .[536870911] = 1 | length > 0)`,
	`select([limit(1e9; repeat("x"))] | length > 0)`,
	`select(reduce range(1e9) as $i (0; . + $i) > 0)`,
	`select(def f: f; f)`,
	`select("x" | . + . | . + . | . + . | . + . | . + . | length > 0)`,
	`select("x" | "\(.)\(.)\(.)" | "\(.)\(.)\(.)" | "\(.)\(.)\(.)" | length > 0)`,
	`select([.,.,.,.,.] | [.,.,.,.,.] | tostring | length > 0)`,
	`select(setpath([1e8]; 1) | length > 0)`,
	`select(.kind | test("((a{60}){60}){60}"))`,
	`select(.kind | test(.metadata.name))`,
	`select(@json "\(.)" | length > 0)`,
	`select(label $f | foreach (1,2) as $x (0; .) | . > 0)`,
	`select([splits("a"; "g")] | length > 0)`,
	`select(input | length > 0)`,
	strings.Repeat("(", 5000) + "." + strings.Repeat(")", 5000),
}

// TestPlainJQIsRun holds that the limits leave alone what people write.
func TestPlainJQIsRun(t *testing.T) {
	for _, path := range []string{
		`.spec.template.spec.containers[] | select(.name == "app" or .name == "side") | .env[]?`,
		`.spec.template.spec.containers[].env[] | select(.name | test("^(A|B)[0-9]{0,3}$"))`,
		`.metadata.annotations | to_entries[] | select(.key | startswith("x/")) | .value`,
		`.spec.rules[]?, .spec.tls[]?, .spec.a, .spec.b, .spec.c, .spec.d, .spec.e, .spec.f, .spec.g, .spec.h, .spec.i, .spec.j`,
		`.spec.template.spec.containers[] | select(IN(.name; "a", "b", "c", "d", "e")).image`,
		`..|.image?`, `.metadata.labels["app.kubernetes.io/version"]`, `.spec.replicas // empty`,
		`if .spec.paused then .spec.replicas else empty end`, `.spec.containers[-1:]`, `.webhooks[]?.clientConfig.caBundle`,
		`select(.metadata.name as $n | $n == "web") | .spec`, `paths(type == "number") as $p | getpath($p)`,
	} {
		if _, err := classify.PreviewRules(t.Context(), parsed(t, scaled), []ignore{{Group: "apps", Kind: "Deployment", JQPathExpressions: []string{path}}}, classify.Options{}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestGuard holds that a snapshot's own rules cannot take the process down, and that
// the report says which were left out.
func TestGuard(t *testing.T) {
	for _, place := range []string{"application", "argocd-cm"} {
		t.Run(place, func(t *testing.T) {
			snapshot := parsed(t, scaled)
			paths := []any{".spec.replicas"}
			for _, hostile := range hostileJQ {
				paths = append(paths, hostile)
			}
			if place == "application" {
				snapshot.Application["spec"].(map[string]any)["ignoreDifferences"] = []any{
					map[string]any{"group": "apps", "kind": "Deployment", "jqPathExpressions": paths},
					map[string]any{"kind": "a*a*a*a*a*b", "jsonPointers": []any{"/spec"}},
				}
			} else {
				quoted := strings.Builder{}
				for _, path := range paths {
					fmt.Fprintf(&quoted, "- %q\n", path)
				}
				snapshot.Settings["resource.customizations.ignoreDifferences.apps_Deployment"] = "jqPathExpressions:\n" + quoted.String()
				snapshot.Settings["resource.customizations.ignoreDifferences.a*a*a*a*a*b"] = "jsonPointers: [/a]"
			}
			report, err := classify.Classify(t.Context(), snapshot, classify.Options{Prove: true, Guard: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Unheeded) != len(hostileJQ)+1 {
				t.Errorf("want %d left out, have %q", len(hostileJQ)+1, report.Unheeded)
			}
			for _, f := range report.Findings {
				for _, field := range f.Fields {
					if f.Flagged && field.Pointer == "/spec/replicas" {
						t.Error("the harmless rule was not heeded")
					}
				}
			}
		})
	}
}

func TestTheContextEndsTheWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := classify.Classify(ctx, parsed(t, scaled), classify.Options{Prove: true, Guard: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("classify: %v", err)
	}
	if _, err := classify.PreviewRules(ctx, parsed(t, scaled), []ignore{{Kind: "Deployment", Group: "apps", JQPathExpressions: []string{".spec"}}}, classify.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("preview: %v", err)
	}
}
