package classify_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/record/cases"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// dryRunApp is the start of a snapshot; the resources follow.
const dryRunApp = `
application: {metadata: {name: web, namespace: argocd}, spec: {project: default}, status: {sync: {status: OutOfSync}}}
resources:
`

// TestDryRunAnswers holds what each answer of the API server changes in a report.
func TestDryRunAnswers(t *testing.T) {
	configMap := func(target, live, answer string) string {
		return dryRunApp + `
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web}, ` + target + `}
  live: ` + live + `
  dryRun: ` + answer
	}
	live := func(more, data string) string {
		return `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, ` + more + `}, data: {` + data + `}}`
	}
	// Nobody can say who wrote b, nor why the API server predicts that it goes.
	predicted := func(answer string) string {
		without, with := live(``, `a: git`), live(``, `a: git, b: live`)
		return `
application: {metadata: {name: web, namespace: argocd, annotations: {argocd.argoproj.io/compare-options: ServerSideDiff=true}}, spec: {project: default}, status: {sync: {status: OutOfSync}}}
resources:
- target: ` + without + `
  live: ` + with + `
  normalizedLive: ` + with + `
  predictedLive: ` + without + `
  dryRun: {result: ` + answer + `}`
	}
	edited := `resourceVersion: "1", managedFields: [{manager: kubectl-edit, operation: Update, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]`
	const applied = `annotations: {"kubectl.kubernetes.io/last-applied-configuration": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"web"},"data":{"a":"git"}}'}`
	const argos = applied + `, managedFields: [{manager: argocd-controller, operation: Update, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]`
	for name, row := range map[string]struct {
		reason, snapshot string
		sync             drift.Sync
		says             string
	}{
		"refused": {
			"no sync gets past the API server", configMap(`data: {a: git}`, live(``, `a: live`), `{error: 'ConfigMap "c" is invalid: data: Forbidden: field is immutable when immutable is set'}`),
			drift.WillFail, `a dry run of the sync is refused (immutable-field): ConfigMap "c" is invalid: data: Forbidden: field is immutable when immutable is set`,
		},
		"missing and refused": {
			"what was safe is not", configMap(`data: {a: git}`, `null`, `{error: 'admission webhook "p.example.com" denied the request: no owner'}`),
			drift.WillFail, `refused (admission-denied): admission webhook "p.example.com" denied the request: no owner`,
		},
		"refused for a new reason": {
			"a refusal needs no name", configMap(`data: {a: git}`, `null`, `{error: something nobody has met}`),
			drift.WillFail, "refused (for a reason that no rule knows): something nobody has met",
		},
		"refused without drift": {
			"a sync applies what is in sync too", configMap(`data: {a: git}`, live(``, `a: git`), `{error: 'admission webhook "p.example.com" denied the request: no owner'}`),
			drift.WillFail, "refused (admission-denied)",
		},
		"refused, with Force": {
			"kubectl deletes what it cannot change", configMap(`data: {a: git}`, strings.Replace(live(``, `a: live`), "{apiVersion", "{immutable: false, apiVersion", 1), `{error: 'ConfigMap "c" is invalid: data: field is immutable'}`),
			drift.WillFail, "immutable-field",
		},
		"refused by accident": {
			"an API server that is busy says nothing of the object", configMap(`data: {a: git}`, `null`, `{error: 'dial tcp 10.0.0.1:443: i/o timeout'}`),
			drift.Safe, "",
		},
		"missing": {"the answer is no refusal", configMap(`data: {a: git}`, `null`, `{result: {apiVersion: v1}}`), drift.Safe, "a dry run of the sync creates it"},
		"unexplained, and nothing changes": {
			"what was feared does not come", predicted(live(`resourceVersion: "2", generation: 2, annotations: {"kubectl.kubernetes.io/last-applied-configuration": "{}"}`, `a: git, b: live`)),
			drift.Noop, "a dry run of the sync changes nothing",
		},
		"safe, and nothing changes": {
			"there is nothing to do", configMap(`data: {a: git}`, live(``, `a: live`), `{result: `+live(``, `a: live`)+`}`),
			drift.Noop, "a dry run of the sync changes nothing",
		},
		"unexplained, and a field changes": {
			"the fear stands", predicted(live(`labels: {a: b}`, `a: git`)),
			drift.OverwritesLive, "a dry run of the sync changes 2 fields of the object",
		},
		"taken for harmless, and the field changes": {
			"no webhook puts it back", configMap(`data: {a: git}`, live(argos, `a: live`), `{result: `+live(argos, `a: git`)+`}`),
			drift.OverwritesLive, "the dry run changes /data/a, which was held to stay as it is",
		},
		"taken for harmless, and it is": {
			"only another field changes", configMap(`data: {a: git}`, live(argos, `a: live`), `{result: `+live(argos+`, labels: {a: b}`, `a: live`)+`}`),
			drift.Noop, "a dry run of the sync changes 1 field of the object",
		},
		"edited by hand, and nothing changes": {
			"the rule knows whose value it is", configMap(`data: {a: git}`, live(edited, `a: live`), `{result: `+live(``, `a: live`)+`}`),
			drift.OverwritesLive, "a dry run of the sync changes nothing",
		},
		"no answer": {"nothing is said", configMap(`data: {a: git}`, `null`, `{}`), drift.Safe, ""},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot, err := drift.Parse([]byte(row.snapshot))
			if err != nil {
				t.Fatal(err)
			}
			report, err := classify.Classify(t.Context(), snapshot, classify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if report.Sync != row.sync {
				t.Errorf("%s: %s, want %s: %s", row.reason, report.Sync, row.sync, report.Verdict)
			}
			if strings.HasPrefix(name, "unexplained") && report.Findings[0].Mechanism != drift.Unexplained {
				t.Errorf("the test needs another object: %s", report.Verdict)
			}
			said := strings.Join(report.Findings[0].Evidence, "\n")
			if !strings.Contains(said, row.says) || row.says == "" && strings.Contains(said, "dry run") {
				t.Errorf("%s: evidence\n%s", row.reason, said)
			}
		})
	}
}

// TestDryRunForce holds that a refusal under Force=true is no failure but a deletion.
func TestDryRunForce(t *testing.T) {
	report := classifyText(t, dryRunApp+`
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, annotations: {argocd.argoproj.io/sync-options: "Force=true"}}, data: {a: git}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: web, annotations: {argocd.argoproj.io/sync-options: "Force=true"}}, data: {a: live}}
  dryRun: {error: 'ConfigMap "c" is invalid: data: field is immutable'}`)
	if f := report.Findings[0]; f.Sync != drift.Destructive || len(f.Loss) == 0 {
		t.Errorf("%s, %q", f.Sync, f.Loss)
	}
}

// TestDryRunOfSecret holds that a refusal gives no value of a Secret away.
func TestDryRunOfSecret(t *testing.T) {
	report := classifyText(t, dryRunApp+`
- target: {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: web}, data: {a: aHVzaA==}}
  live: {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: web}, data: {a: aHVzaDI=}}
  dryRun: {error: 'Secret "s" is invalid: data: Invalid value: {"a":"aHVzaA=="}: field is immutable'}`)
	if said := string(encoded(t, report)); report.Sync != drift.WillFail || strings.Contains(said, "aHVza") {
		t.Errorf("%s: %s", report.Sync, said)
	}
}

// TestDryRunNeverSoothes holds, over the corpus, that no answer makes a finding
// less grave but one that nobody could explain or that was safe, and that a refusal is
// never less than a failure.
func TestDryRunNeverSoothes(t *testing.T) {
	all, err := cases.Load(t.Context(), "../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	changed, refused := 0, 0
	// Each case is classified thrice; every fourth, in the order of the mechanisms, will do.
	const every = 4
	for i := 0; i < len(all); i += every {
		c := all[i]
		snapshot := copied(t, c.Snapshot)
		plain := syncs(t, snapshot)
		asked := 0
		for i := range snapshot.Resources {
			if r := &snapshot.Resources[i]; r.Target != nil && r.Live != nil && !r.Hook {
				r.DryRun = &drift.DryRun{Result: r.Live}
				asked++
			}
		}
		if asked == 0 {
			continue
		}
		for id, now := range syncs(t, snapshot) {
			before := plain[id]
			allowed := id.mechanism == drift.Unexplained && before == drift.OverwritesLive || before == drift.Safe
			if now != before && (!allowed || now != drift.Noop) {
				t.Errorf("%s: an answer makes %v %s, which was %s", c.Name, id, now, before)
			}
			if now != before {
				changed++
			}
		}
		for i := range snapshot.Resources {
			if snapshot.Resources[i].DryRun != nil {
				snapshot.Resources[i].DryRun = &drift.DryRun{Error: "something nobody has met"}
			}
		}
		after := syncs(t, snapshot)
		for id, before := range plain {
			if now, found := after[id]; !found || now.Severity() < before.Severity() {
				t.Errorf("%s: a refusal makes %v %s, which was %s", c.Name, id, now, before)
			}
		}
		for _, r := range snapshot.Resources {
			for id, now := range after {
				if r.DryRun != nil && id.ref == refOf(r) && id.mechanism != drift.ExcludedResource {
					refused++
					if now.Severity() < drift.WillFail.Severity() {
						t.Errorf("%s: a refused sync of %v is said to be %s", c.Name, id, now)
					}
				}
			}
		}
	}
	if changed == 0 || refused < len(all)/every/2 {
		t.Errorf("of %d cases %d refusals and %d changes were looked at", len(all), refused, changed)
	}
}

// finding names a finding of a report.
type finding struct {
	ref       drift.ResourceRef
	mechanism drift.Mechanism
	flagged   bool
}

func refOf(r drift.Resource) drift.ResourceRef {
	return drift.ResourceRef{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

func syncs(t *testing.T, snapshot *drift.Snapshot) map[finding]drift.Sync {
	t.Helper()
	report, err := classify.Classify(t.Context(), snapshot, classify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[finding]drift.Sync{}
	for _, f := range report.Findings {
		if f.Mechanism == drift.None {
			continue
		}
		id := finding{refOf(drift.Resource{ResourceRef: f.Resource}), f.Mechanism, f.Flagged}
		if found[id].Severity() < f.Sync.Severity() || found[id] == "" {
			found[id] = f.Sync
		}
	}
	return found
}

func classifyText(t *testing.T, text string) *drift.Report {
	t.Helper()
	snapshot, err := drift.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	report, err := classify.Classify(t.Context(), snapshot, classify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestParseDryRun(t *testing.T) {
	snapshot, err := drift.Parse([]byte(dryRunApp + `
- {dryRun: {result: {spec: {replicas: 9007199254740993}}}}
- {dryRun: null}
- {dryRun: {error: refused}}`))
	if err != nil {
		t.Fatal(err)
	}
	if n, _, err := unstructured.NestedInt64(snapshot.Resources[0].DryRun.Result, "spec", "replicas"); err != nil || n != 9007199254740993 {
		t.Errorf("a whole number became %d, %v", n, err)
	}
	if snapshot.Resources[1].DryRun != nil || snapshot.Resources[2].DryRun.Error != "refused" {
		t.Errorf("have %v", snapshot.Resources)
	}
}
