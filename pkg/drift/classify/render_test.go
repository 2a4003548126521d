package classify

import (
	"fmt"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// Another render of the same revision is random only where the values look so.
func TestOtherRender(t *testing.T) {
	rendered := func(git, live, conditions string) string {
		return fmt.Sprintf(`
application:
  status:
    sync: {status: OutOfSync}
    conditions: [%s]
    operationState: {phase: Succeeded, startedAt: "2026-01-02T09:00:00Z", operation: {sync: {}}, syncResult: {revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}, data: %s}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"web"},"data":%s}'}, managedFields: [{manager: argocd-controller, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: %s}`, conditions, git, live, live)
	}
	const twice = `{type: RepeatedResourceWarning, message: "Resource /ConfigMap/web/settings appeared 2 times among application resources."}`
	const random, other, repeated = "random-render ConfigMap/settings destructive certain", "unexplained ConfigMap/settings overwrites-live possible", "repeated-resource ConfigMap/settings overwrites-live likely"
	situations{
		"opaque":            {"both values look random", rendered(`{"a":"Zx8kQ2mP9vL4wT7y"}`, `{"a":"Bn3jR6hD1sF5cX0u"}`, ""), []string{random}},
		"opaque in a text":  {"all but one word of the text is the same", rendered(`{"a":"password = Zx8kQ2mP9vL4\nhost = db"}`, `{"a":"password = Bn3jR6hD1sF5\nhost = db"}`, ""), []string{"random-render ConfigMap/settings destructive possible"}},
		"words":             {"two words are not drawn", rendered(`{"a":"production"}`, `{"a":"staging"}`, ""), []string{other}},
		"a key that is new": {"a part that comes is not drawn", rendered(`{"a":"1","b":"Zx8kQ2mP9vL4wT7y"}`, `{"a":"1"}`, ""), []string{other}},
		"two manifests":     {"Argo CD warns that the source renders the object twice", rendered(`{"a":"production"}`, `{"a":"staging"}`, twice), []string{repeated}},
	}.run(t)
}

func TestRandomParts(t *testing.T) {
	for name, row := range map[string]struct {
		a, b string
		want bool
	}{
		"a suffix that was drawn": {"web-x7k2p", "web-q9z4m", true},
		"two versions":            {"v1.2.3", "v1.2.4", false},
		"two words":               {"prod", "test", false},
		"two numbers":             {"30123", "31877", false},
		"one part more":           {"web-x7k2p", "web-x7k2p-a", false},
		"the same":                {"web-x7k2p", "web-x7k2p", false},
	} {
		if got := value.RandomParts(row.a, row.b); got != row.want {
			t.Errorf("%s: %t, want %t", name, got, row.want)
		}
	}
}

// An object that is live in a version, or that holds a field, outranks a CRD that the
// snapshot holds and that lacks the one or the other.
func TestLiveOutranksCRD(t *testing.T) {
	widget := func(version, target, live string, crdVersion string) string {
		return fmt.Sprintf(`
application: {status: {sync: {status: OutOfSync}, history: [{id: 1, revision: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, deployedAt: "2026-01-01T00:00:00Z"}]}}
resources:
- target: {apiVersion: example.com/%s, kind: Widget, metadata: {name: w, namespace: web}, spec: %s}
  live: {apiVersion: example.com/%s, kind: Widget, metadata: {name: w, namespace: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"example.com/%s","kind":"Widget","metadata":{"name":"w","namespace":"web"},"spec":{"size":1}}'}, managedFields: [{manager: argocd-controller, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {}}}]}, spec: %s}
related:
- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: %s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]}}`, version, target, version, version, live, crdVersion)
	}
	situations{
		"live in that version": {
			"the CRD of the snapshot serves another one alone", widget("v1", "{size: 2}", "{size: 1}", "v2"),
			[]string{"git-ahead Widget/w safe certain"},
		},
		"the field is live": {
			"the CRD of the snapshot has no color", widget("v1", "{size: 1, color: {red: 1, blue: 2}}", "{size: 1, color: {red: 1}}", "v1"),
			[]string{"git-ahead Widget/w safe certain"},
		},
		"the field is nowhere": {
			"the CRD says why", widget("v1", "{size: 1, color: {blue: 2}}", "{size: 1}", "v1"),
			[]string{"unknown-field-pruned Widget/w noop certain"},
		},
	}.run(t)
}
