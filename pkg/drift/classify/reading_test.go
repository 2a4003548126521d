package classify

import (
	"regexp"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// The first sentence is for people: it has titles and no ids, and claims no comparison
// that there was not.
func TestFirstSentence(t *testing.T) {
	const edited = `
application: {status: {sync: {status: OutOfSync}}}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}, data: {a: "2"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, managedFields: [{manager: kubectl-edit, operation: Update, time: "2026-01-02T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: "1"}}`
	const uncompared = `
application: {status: {sync: {status: Unknown}, conditions: [{type: ComparisonError, message: "Failed to load target state: app path does not exist"}]}}`
	for name, row := range map[string]struct{ changes, begins string }{
		"one edit":          {edited, "1 difference in 1 resource: Changed by hand. "},
		"nothing to render": {uncompared, "Nothing could be compared; 1 problem: Cannot be rendered. "},
	} {
		if _, report := judge(t, row.changes); !strings.HasPrefix(report.Verdict, row.begins) || regexp.MustCompile(`[a-z]-[a-z]+-[a-z]`).MatchString(report.Verdict) {
			t.Errorf("%s: %s", name, report.Verdict)
		}
	}
}

// What a text claims holds: that Argo CD writes a value back, and that losses are named.
func TestClaims(t *testing.T) {
	const added = `
application: {spec: {syncPolicy: {automated: {selfHeal: true}}}, status: {sync: {status: Synced}}}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, labels: {a: b}}, data: {a: "1"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, labels: {a: b}, managedFields: [{manager: kubectl-edit, operation: Update, time: "2026-01-02T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: "2"}}
`
	ignored := strings.Replace(added, "spec: {", "spec: {ignoreDifferences: [{kind: ConfigMap, jsonPointers: [/data/a]}], ", 1)
	_, report := judge(t, ignored)
	i := findingOf(report, drift.IgnoreWithoutRespect)
	if i < 0 {
		t.Fatalf("no finding: %+v", report.Findings)
	}
	for _, fix := range report.Findings[i].Fixes {
		if strings.Contains(fix.Why, "writes Git's value back by itself") {
			t.Errorf("of a Synced Application: %s", fix.Why)
		}
	}
	lossless := strings.Replace(added, "live: {apiVersion: v1,", "dryRun: {result: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, labels: {a: b}}, data: {a: \"2\"}}}\n  live: {apiVersion: v1,", 1)
	_, report = judge(t, strings.Replace(strings.Replace(lossless, "kubectl-edit", "argocd-controller", 1), "status: Synced", "status: OutOfSync", 1))
	for _, f := range report.Findings {
		for _, fix := range f.Fixes {
			if len(f.Loss) == 0 && strings.Contains(fix.Why, "named above") {
				t.Errorf("%s names no loss: %s", f.Mechanism, fix.Why)
			}
		}
	}
}

// A certificate is no sentence.
func TestCertificateShortened(t *testing.T) {
	bundle := strings.Repeat("LS0tLS1CRUdJTiBD", 20)
	_, report := judge(t, `
application: {status: {sync: {status: OutOfSync}}}
resources:
- target: {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hooks}, webhooks: [{name: a.example.com, clientConfig: {caBundle: "Cg=="}}]}
  live: {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hooks, managedFields: [{manager: cainjector, operation: Update, time: "2026-01-02T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:webhooks": {'k:{"name":"a.example.com"}': {"f:clientConfig": {"f:caBundle": {}}}}}}]}, webhooks: [{name: a.example.com, clientConfig: {caBundle: `+bundle+`}}]}`)
	for _, f := range report.Findings {
		for _, said := range append(f.Loss, f.Evidence...) {
			if strings.Contains(said, bundle[:64]) {
				t.Errorf("base64 in a sentence: %s", said)
			}
		}
	}
}

func TestWindowArticle(t *testing.T) {
	_, report := judge(t, `
application: {spec: {syncPolicy: {automated: {}}}, status: {sync: {status: OutOfSync}}}
resources: [{target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}}}]
related: [{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: default}, spec: {destinations: [{server: '*', namespace: '*'}], syncWindows: [{kind: allow, schedule: "0 20 * * *", duration: 1h, applications: ['*'], manualSync: true}]}}]`)
	i := findingOf(report, drift.SyncWindowBlocked)
	if i < 0 {
		t.Fatalf("no finding: %+v", report.Findings)
	}
	f := report.Findings[i]
	if said := strings.Join(f.Evidence, " "); !strings.Contains(said, "an allow window") {
		t.Error(said)
	}
	if f.Effect() == drift.Blocked.Effect() {
		t.Errorf("a sync by hand goes through: %s", f.Effect())
	}
}
