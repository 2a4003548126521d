package drift_test

import (
	"strings"
	"testing"
)

// TestSecretsInMessages holds that no value of a Secret stands in a report because
// somebody's message quoted it, in whatever form, or because an ignore rule threw it.
func TestSecretsInMessages(t *testing.T) {
	const secrets = `
application:
  metadata: {name: web, namespace: argocd}
  spec: {project: default, ignoreDifferences: [{kind: Secret, jqPathExpressions: [".data | error"]}]}
  status:
    sync: {status: OutOfSync, revision: one}
    operationState:
      phase: Failed
      message: "one or more objects failed to apply: value hunter2-hunter2 is not allowed"
      syncResult: {revision: one, resources: [{kind: Secret, version: v1, name: db, namespace: web, status: SyncFailed, message: "Error from server: map[data:map[p:aHVudGVyMi1odW50ZXIy]], hunter2-hunter2 denied"}]}
resources:
- KIND
  target: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, data: {p: bmV3LW5ldy1uZXc=}}
  live: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, data: {p: aHVudGVyMi1odW50ZXIy}}
`
	for name, ref := range map[string]string{
		"as it is":      "kind: Secret\n  name: db",
		"another group": "kind: Secret\n  group: core\n  name: db",
		"another case":  "kind: secret\n  name: db",
	} {
		t.Run(name, func(t *testing.T) {
			report := classifyText(t, strings.Replace(secrets, "KIND", ref, 1))
			said := string(encoded(t, report))
			for _, value := range []string{"hunter2-hunter2", "aHVudGVyMi1odW50ZXIy", "bmV3LW5ldy1uZXc=", "new-new-new"} {
				if strings.Contains(said, value) {
					t.Errorf("the report has %q:\n%s", value, said)
				}
			}
			if len(report.Findings) == 0 || len(report.Findings[0].Evidence) == 0 {
				t.Errorf("nothing is said: %s", said)
			}
		})
	}
}
