package classify_test

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// TestUncomparedIsNotInSync holds that nobody is told that an Application is in sync which
// Argo CD has not compared.
func TestUncomparedIsNotInSync(t *testing.T) {
	const resources = `
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web}, data: {a: "1"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web}, data: {a: "1"}}
`
	rows := map[string]struct {
		reason, status, resources string
		inSync                    bool
		sync                      drift.Sync
	}{
		"Synced":     {"it has compared", "status: {sync: {status: Synced}}", resources, true, drift.NothingToDo},
		"Unknown":    {"it could not compare", "status: {sync: {status: Unknown}}", resources, false, drift.Noop},
		"no status":  {"it has not looked yet", "", resources, false, drift.Noop},
		"no objects": {"nobody has looked", "", "", false, drift.OverwritesLive},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			report := classifyText(t, "application: {metadata: {namespace: argocd, name: shop}, spec: {project: default}, "+row.status+"}\n"+row.resources)
			f := report.Findings[0]
			if row.inSync != strings.Contains(report.Verdict, "In sync") || row.inSync != (f.Mechanism == drift.None) || row.inSync != (f.Confidence == drift.Certain) || report.Sync != row.sync {
				t.Errorf("%s: %s %s %s: %s", row.reason, f.Mechanism, f.Confidence, report.Sync, report.Verdict)
			}
			if !row.inSync && !strings.Contains(report.Verdict, "Argo CD has not compared the Application") {
				t.Errorf("%s: %s", row.reason, report.Verdict)
			}
		})
	}
}
