package classify

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// A fix that drops a field says what the sync of it does before somebody writes the field
// again.
func TestBetween(t *testing.T) {
	webhook := func(applied, options string) string {
		return `
application: {spec: {syncPolicy: {syncOptions: [` + options + `]}}, status: {sync: {status: OutOfSync}}}
resources:
- target: {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hooks}, webhooks: [{name: a.example.com, clientConfig: {caBundle: "Cg=="}}]}
  live: {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hooks` + applied + `, managedFields: [{manager: cainjector, operation: Update, apiVersion: admissionregistration.k8s.io/v1, time: "2026-01-02T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:webhooks": {'k:{"name":"a.example.com"}': {"f:clientConfig": {"f:caBundle": {}}}}}}]}, webhooks: [{name: a.example.com, clientConfig: {caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==}}]}`
	}
	const lastApplied = `, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"hooks"},"webhooks":[{"name":"a.example.com","clientConfig":{"caBundle":"Cg=="}}]}'}`
	for name, row := range map[string]struct {
		changes string
		want    bool
	}{
		"applied by the client":    {webhook(lastApplied, ""), true},
		"applied by the server":    {webhook(lastApplied, "ServerSideApply=true"), false},
		"never applied by Argo CD": {webhook("", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := judge(t, row.changes)
			i := findingOf(report, drift.CABundleInjection)
			if i < 0 {
				t.Fatalf("no finding: %+v", report.Findings)
			}
			if first := report.Findings[i].Fixes[0]; first.Kind != drift.FixDropFieldFromGit || strings.Contains(first.Why, "In between:") != row.want {
				t.Errorf("%s: %s", first.Kind, first.Why)
			}
		})
	}
}
