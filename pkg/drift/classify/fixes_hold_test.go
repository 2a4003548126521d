package classify_test

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// TestNoSyncIsAdvisedThatCannotStart holds that what keeps the Application, or another
// finding about the same object, from being synced is heeded by the fixes of all findings.
func TestNoSyncIsAdvisedThatCannotStart(t *testing.T) {
	const windows = `
related:
- apiVersion: argoproj.io/v1alpha1
  kind: AppProject
  metadata: {name: team, namespace: argocd}
  spec: {destinations: [{server: "*", namespace: "*"}], sourceRepos: ["*"], syncWindows: [{kind: deny, schedule: "* * * * *", duration: 1h, applications: ["*"], manualSync: MANUAL}]}
`
	rows := map[string]struct {
		reason            string
		app, status, live string
		related           string
		once              string
	}{
		"nothing":   {"a sync is the way", "", "", "", "", ""},
		"window":    {"no sync starts in a deny window", "", "", "", strings.ReplaceAll(windows, "MANUAL", "false"), "the sync windows let a sync start"},
		"by hand":   {"that one lets syncs by hand through", "", "", "", strings.ReplaceAll(windows, "MANUAL", "true"), ""},
		"operation": {"one at a time", "", ", operationState: {phase: Running, message: waiting for healthy state of apps/Deployment/d, startedAt: \"2026-01-01T00:00:30Z\", syncResult: {revision: one}}", "", "", "the operation in flight has ended"},
		"deleted":   {"what is being deleted is not synced", ", deletionTimestamp: \"2026-01-01T00:00:00Z\", finalizers: [resources-finalizer.argocd.argoproj.io]", "", "", "", "the Application is there again"},
		"error":     {"an error of the Application stops every sync", "", ", conditions: [{type: UnknownError, message: strange}]", "", "", "the finding unexplained of Application argocd/shop is settled"},
		"object":    {"the object itself is being deleted", "", "", ", deletionTimestamp: \"2026-01-01T00:00:00Z\", finalizers: [x/y]", "", "ConfigMap web/c is no longer being deleted"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			done := ", operationState: {phase: Succeeded, syncResult: {revision: one}}"
			if strings.Contains(row.status, "operationState") {
				done = ""
			}
			report := classifyText(t, `
application:
  metadata: {namespace: argocd, name: shop`+row.app+`}
  spec: {project: team, destination: {namespace: web, server: "https://kubernetes.default.svc"}}
  status: {sync: {status: OutOfSync, revision: two}, reconciledAt: "2026-01-01T00:00:00Z"`+done+row.status+`}
settings: {now: "2026-01-01T00:01:00Z"}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web}, data: {a: "1"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"},"data":{"a":"2"}}'}`+row.live+`}, data: {a: "2"}}
`+row.related)
			ahead := false
			for _, f := range report.Findings {
				if len(f.Fixes) == 0 {
					continue
				}
				ahead = ahead || f.Mechanism == drift.GitAhead
				fix := f.Fixes[0]
				if advised := strings.HasPrefix(firstCommand(fix.Snippet), "argocd app sync "); advised && row.once != "" {
					t.Errorf("%s: %s: the advice is %q", row.reason, f.Mechanism, fix.Snippet)
				}
				if f.Mechanism == drift.GitAhead && (fix.Kind != drift.FixSync || !strings.Contains(fix.Snippet, row.once) || !strings.Contains(fix.Why, row.once)) {
					t.Errorf("%s: want %q in %q, %q", row.reason, row.once, fix.Snippet, fix.Why)
				}
				if f.Mechanism == drift.GitAhead && row.once == "" && firstCommand(fix.Snippet) == "" {
					t.Errorf("%s: held back: %q", row.reason, fix.Snippet)
				}
			}
			if !ahead {
				t.Errorf("no finding git-ahead: %s", report.Verdict)
			}
		})
	}
}
