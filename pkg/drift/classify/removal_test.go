package classify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// heldSecret is a Secret of which Git renders the type alone, and that a manager filled.
func heldSecret(manager, fields, version string) string {
	return fmt.Sprintf(`
resources:
- target: {apiVersion: v1, kind: Secret, metadata: {name: argocd-secret, namespace: web}, type: Opaque%s}
  live: {apiVersion: v1, kind: Secret, metadata: {name: argocd-secret, namespace: web, %s managedFields: [{manager: argocd-controller, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:type": {}}}, {manager: %s, operation: Update, time: "2026-01-01T01:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {".": {}, "f:server.secretkey": {}}}}], annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"argocd-secret","namespace":"web"},"type":"Opaque"}'}}, type: Opaque, data: {server.secretkey: MDEyMzQ1Njc4OTAxMjM0NTY3ODk=%s}}`, fields, version, manager, map[bool]string{true: ", a: MQ=="}[fields != ""])
}

// Argo CD's API server keeps its own keys in a Secret, and is no person there.
func TestServerKeepsItsKeys(t *testing.T) {
	if _, report := judge(t, heldSecret("argocd-server", "", "")); findingOf(report, drift.HiddenLiveAddition) >= 0 {
		t.Errorf("Argo CD's own key is taken for an addition by hand: %+v", report.Findings)
	}
}

// No patch takes all of a Secret's values away, and what a text says that a patch tests,
// it tests.
func TestRemovalTested(t *testing.T) {
	for name, row := range map[string]struct{ fields, version, want, not string }{
		"all values":          {"", `resourceVersion: "7",`, "kubectl edit", "--patch="},
		"one key":             {", data: {a: MQ==}", `resourceVersion: "7",`, `"path":"/metadata/resourceVersion","value":"7"`, `"path":"/data"}`},
		"one key, never seen": {", data: {a: MQ==}", "", "kubectl edit", "--patch="},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := judge(t, heldSecret("kubectl-edit", row.fields, row.version))
			i := findingOf(report, drift.HiddenLiveAddition)
			if i < 0 {
				t.Fatalf("no finding: %+v", report.Findings)
			}
			fix := report.Findings[i].Fixes[1]
			if !strings.Contains(fix.Snippet, row.want) || strings.Contains(fix.Snippet, row.not) {
				t.Errorf("the command is %s", fix.Snippet)
			}
			if strings.Contains(fix.Why, "values are still those seen here") {
				t.Errorf("the text claims a test that is not there: %s", fix.Why)
			}
		})
	}
}
