package classify

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
)

// calm is a situation in which nothing is wrong: one synced ConfigMap. The tests
// change it in one place each.
const calm = `
application:
  apiVersion: argoproj.io/v1alpha1
  kind: Application
  metadata: {name: web, namespace: argocd}
  spec:
    project: default
    destination: {server: "https://kubernetes.default.svc", namespace: web}
    source: {repoURL: "https://git/web", path: .}
    syncPolicy: {}
  status:
    controllerNamespace: argocd
    reconciledAt: "2026-01-02T10:00:00Z"
    health: {status: Healthy}
    sync: {status: Synced, revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}
    resources:
    - {version: v1, kind: ConfigMap, namespace: web, name: settings, status: Synced}
resources:
- kind: ConfigMap
  name: settings
  namespace: web
  target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}, data: {a: "1"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}, data: {a: "1"}}
settings: {argocdVersion: v2.14.21, trackingMethod: annotation, now: "2026-01-02T10:01:00Z"}
`

// read reads YAML into a map.
func read(t *testing.T, document string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(document), &m); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	return m
}

// lay lays one map over another; lists and scalars take the other's place.
func lay(under, over map[string]any) map[string]any {
	for name, value := range over {
		child, isMap := value.(map[string]any)
		below, wasMap := under[name].(map[string]any)
		if isMap && wasMap {
			under[name] = lay(below, child)
		} else {
			under[name] = value
		}
	}
	return under
}

// judge classifies the calm situation with the changes laid over it, and tells the
// findings in short: mechanism, object, effect, confidence.
func judge(t *testing.T, changes string) (findings []string, report *drift.Report) {
	t.Helper()
	document, err := yaml.Marshal(lay(read(t, calm), read(t, changes)))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := drift.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	report, err = Classify(t.Context(), snapshot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	findings = []string{}
	for _, f := range report.Findings {
		findings = append(findings, fmt.Sprintf("%s %s/%s %s %s", f.Mechanism, f.Resource.Kind, f.Resource.Name, f.Sync, f.Confidence))
		if len(f.Evidence) == 0 {
			t.Errorf("%s has no evidence", f.Mechanism)
		}
	}
	slices.Sort(findings)
	return findings, report
}

// situations are changes of the calm situation with what is to be found.
type situations map[string]struct {
	why     string
	changes string
	want    []string
}

func (table situations) run(t *testing.T) {
	t.Helper()
	for name, row := range table {
		t.Run(name, func(t *testing.T) {
			got, report := judge(t, row.changes)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s\n%+v", row.why, diff, report.Findings)
			}
		})
	}
}

func TestComparisonErrors(t *testing.T) {
	situations{
		"calm": {"nothing is wrong", `{}`, []string{"none Application/web nothing-to-do certain"}},
		"target": {
			"without a render all live objects lack a target, and none of them is to be pruned", `
application: {status: {sync: {status: Unknown}, conditions: [{type: ComparisonError, message: "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: app path does not exist"}]}}
resources: [{live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}}}]`,
			[]string{"manifest-generation-error Application/web blocked certain"},
		},
		"live": {
			"without a live state nothing is missing", `
application: {status: {sync: {status: Unknown}, conditions: [{type: ComparisonError, message: "Failed to load live state: failed to get cluster info: connection refused"}]}}
resources: [{target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}}}]`,
			[]string{"controller-stale Application/web blocked certain"},
		},
		"schema": {
			"the diff of one object failed", `
application: {status: {sync: {status: Unknown}, conditions: [{type: ComparisonError, message: "Failed to compare desired state to live state: failed to calculate diff: error calculating structured merge diff: .status.terminatingReplicas: field not declared in schema"}]}}`,
			[]string{"comparison-error-schema Application/web blocked certain"},
		},
		"project": {
			"the project forbids the source", `
application: {status: {sync: {status: Unknown}, conditions: [{type: InvalidSpecError, message: "application repo https://git/web is not permitted in project 'default'"}]}}`,
			[]string{"project-not-permitted Application/web blocked certain"},
		},
		"unknown": {
			"an error that no rule knows still blocks", `
application: {status: {sync: {status: Unknown}, conditions: [{type: ComparisonError, message: "Target revision 12 in Git is not signed, but a signature is required"}]}}`,
			[]string{"unexplained Application/web blocked likely"},
		},
	}.run(t)
}

func TestOperations(t *testing.T) {
	hook := `
  target: {apiVersion: batch/v1, kind: Job, metadata: {name: migrate, namespace: web, annotations: {argocd.argoproj.io/hook: PreSync}}, spec: {suspend: %t}}
  live: {apiVersion: batch/v1, kind: Job, metadata: {name: migrate, namespace: web, annotations: {argocd.argoproj.io/hook: PreSync}}, spec: {suspend: %t}}`
	jobs := func(suspended bool) string {
		return "\nresources:\n- hook: true" + fmt.Sprintf(hook, suspended, suspended)
	}
	running := func(message string) string {
		return `application: {status: {operationState: {phase: Running, startedAt: "2026-01-02T10:00:00Z", operation: {sync: {}}, message: "` + message + `"}}}`
	}
	later := func(now string) string { return "\nsettings: {now: " + now + "}" }
	situations{
		"young": {
			"a minute is no long time", running("waiting for completion of hook batch/Job/migrate") + jobs(false),
			[]string{"sync-in-progress Application/web wait certain"},
		},
		"suspended hook": {
			"a suspended Job does not end, young or not", running("waiting for completion of hook batch/Job/migrate") + jobs(true),
			[]string{"hook-stuck Job/migrate wait likely"},
		},
		"old hook": {
			"an hour is long", running("waiting for completion of hook batch/Job/migrate and 1 more hooks") + jobs(false) + later(`"2026-01-02T11:00:00Z"`),
			[]string{"hook-stuck Job/migrate wait likely"},
		},
		"hook at an unknown time": {
			"without a time it is only possible", running("waiting for completion of hook batch/Job/migrate") + jobs(false) + later(`""`),
			[]string{"hook-stuck Job/migrate wait possible"},
		},
		"old wave": {
			"an early wave holds up the rest", running("waiting for healthy state of apps/Deployment/db") + later(`"2026-01-02T10:30:00Z"`),
			[]string{"wave-blocked Deployment/db wait likely"},
		},
		"tasks": {
			"the tasks run", running("one or more tasks are running"),
			[]string{"sync-in-progress Application/web wait certain"},
		},
		"requested": {
			"an operation that was asked for a moment ago", `application: {operation: {sync: {}}}`,
			[]string{"sync-in-progress Application/web wait possible"},
		},
		"retries an old revision": {
			"Git has moved on from what the operation tries", `
application: {status: {operationState: {phase: Running, retryCount: 2, startedAt: "2026-01-02T09:00:00Z", message: "one or more objects failed to apply. Retrying attempt #2", operation: {sync: {revision: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb}}}}}`,
			[]string{"autosync-gave-up Application/web wait certain"},
		},
		"window": {
			"the operation itself says so", running("Sync operation blocked by sync window"),
			[]string{"sync-window-blocked Application/web blocked certain"},
		},
	}.run(t)
}

func TestAttempts(t *testing.T) {
	const behind = `
resources:
- kind: ConfigMap
  name: settings
  namespace: web
  target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}, data: {a: "2"}}
`
	situations{
		"gave up": {
			"the failure was the network's, and nothing is tried again", `
application:
  spec: {syncPolicy: {automated: {}}}
  status:
    sync: {status: OutOfSync}
    conditions: [{type: SyncError, message: "Failed last sync attempt to [aaaaaaa]: one or more objects failed to apply, reason: dial tcp: i/o timeout (retried 5 times)."}]
    operationState: {phase: Failed, retryCount: 5, startedAt: "2026-01-02T09:00:00Z", finishedAt: "2026-01-02T09:01:00Z", message: "one or more objects failed to apply, reason: dial tcp: i/o timeout", operation: {sync: {}}, syncResult: {revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, resources: [{kind: ConfigMap, name: settings, namespace: web, version: v1, status: SyncFailed, message: "dial tcp: i/o timeout"}]}}` + behind,
			[]string{"autosync-gave-up Application/web safe certain", "git-ahead ConfigMap/settings safe certain"},
		},
		"failed for a reason": {
			"the reason stands, so giving up is no news", `
application:
  spec: {syncPolicy: {automated: {}}}
  status:
    sync: {status: OutOfSync}
    conditions: [{type: SyncError, message: "Failed sync attempt to aaaaaaa: one or more objects failed to apply"}]
    operationState: {phase: Failed, startedAt: "2026-01-02T09:00:00Z", message: "one or more objects failed to apply", operation: {sync: {}}, syncResult: {revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, resources: [{kind: ConfigMap, name: settings, namespace: web, version: v1, status: SyncFailed, message: 'admission webhook "policy" denied the request: no'}]}}` + behind,
			[]string{"admission-denied ConfigMap/settings will-fail certain"},
		},
		"turned off": {
			"automated.enabled=false is no automated sync", `
application:
  spec: {syncPolicy: {automated: {enabled: false}}}
  status: {sync: {status: OutOfSync}, operationState: {phase: Failed, startedAt: "2026-01-02T09:00:00Z", message: "dial tcp: i/o timeout", operation: {sync: {}}, syncResult: {revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}}` + behind,
			[]string{"git-ahead ConfigMap/settings safe certain"},
		},
		"hooks": {
			"a hook before the resources stops every sync, one after them none", `
application:
  status:
    operationState: {phase: Failed, startedAt: "2026-01-02T09:00:00Z", message: "one or more synchronization tasks completed unsuccessfully", operation: {sync: {}}, syncResult: {revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, resources: [
      {group: batch, kind: Job, name: before, namespace: web, version: v1, hookType: PreSync, hookPhase: Failed, message: "Job has reached the specified backoff limit"},
      {group: batch, kind: Job, name: after, namespace: web, version: v1, hookType: PostSync, hookPhase: Failed, message: "Job was active longer than specified deadline"}]}}`,
			[]string{"hook-failed Job/after noop certain", "hook-failed Job/before will-fail certain"},
		},
		"empty": {
			"everything would be deleted, and one finding says it", `
application:
  spec: {syncPolicy: {automated: {prune: true}}}
  status:
    sync: {status: OutOfSync}
    resources: [{version: v1, kind: ConfigMap, namespace: web, name: settings, status: OutOfSync, requiresPruning: true}]
    conditions: [{type: SyncError, message: "Skipping sync attempt to [aaaaaaa]: auto-sync will wipe out all resources"}]
resources: [{live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}}}]`,
			[]string{"autosync-empty-guard Application/web destructive certain"},
		},
		"heals in vain": {
			"the count is high, and at the moment nothing differs", `
application:
  spec: {syncPolicy: {automated: {selfHeal: true}}}
  status: {operationState: {phase: Succeeded, startedAt: "2026-01-02T09:59:00Z", operation: {sync: {autoHealAttemptsCount: 6}}}}`,
			[]string{"selfheal-fight Application/web fights-controller possible"},
		},
		"healed once": {
			"that is what selfHeal is for", `
application:
  spec: {syncPolicy: {automated: {selfHeal: true}}}
  status: {operationState: {phase: Succeeded, startedAt: "2026-01-02T09:59:00Z", operation: {sync: {autoHealAttemptsCount: 1}}}}`,
			[]string{"none Application/web nothing-to-do certain"},
		},
	}.run(t)
}

func TestWindows(t *testing.T) {
	drifting := func(windows, policy, now string) string {
		return `
application: {spec: {syncPolicy: ` + policy + `}, status: {sync: {status: OutOfSync}}}
resources: [{target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}}}]
related: [{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: default}, spec: {destinations: [{server: '*', namespace: '*'}], syncWindows: ` + windows + `}}]
settings: {now: ` + now + `}`
	}
	const missing, auto = "resource-missing ConfigMap/settings safe certain", "{automated: {}}"
	deny := func(schedule string) string {
		return `[{kind: deny, schedule: "` + schedule + `", duration: 2h, applications: ['*']}]`
	}
	situations{
		"open deny": {
			"it opened an hour ago for two", drifting(deny("0 9 * * *"), auto, `"2026-01-02T10:00:00Z"`),
			[]string{missing, "sync-window-blocked Application/web blocked certain"},
		},
		"closed deny":     {"it closed an hour ago", drifting(deny("0 7 * * *"), auto, `"2026-01-02T10:00:00Z"`), []string{missing}},
		"deny of another": {"it is for other Applications", drifting(`[{kind: deny, schedule: "0 9 * * *", duration: 2h, applications: [api]}]`, auto, `"2026-01-02T10:00:00Z"`), []string{missing}},
		"closed allow": {
			"the only allow window is not open", drifting(`[{kind: allow, schedule: "0 20 * * *", duration: 1h, applications: ['*']}]`, auto, `"2026-01-02T10:00:00Z"`),
			[]string{missing, "sync-window-blocked Application/web blocked certain"},
		},
		"open allow beside a closed one": {
			"one open window is enough", drifting(`[{kind: allow, schedule: "0 20 * * *", duration: 1h, applications: ['*']}, {kind: allow, schedule: "0 9 * * *", duration: 4h, applications: ['*']}]`, auto, `"2026-01-02T10:00:00Z"`),
			[]string{missing},
		},
		"by hand": {
			"the window lets a sync by hand through, and there is no other", drifting(`[{kind: deny, schedule: "0 9 * * *", duration: 2h, applications: ['*'], manualSync: true}]`, "{}", `"2026-01-02T10:00:00Z"`),
			[]string{missing},
		},
		"time zone": {
			"nine in Tokyo is midnight UTC", drifting(`[{kind: deny, schedule: "0 9 * * *", duration: 2h, applications: ['*'], timeZone: Asia/Tokyo}]`, auto, `"2026-01-02T01:00:00Z"`),
			[]string{missing, "sync-window-blocked Application/web blocked certain"},
		},
		"no time": {
			"without a time it may be open", drifting(deny("0 9 * * *"), auto, `""`),
			[]string{missing, "sync-window-blocked Application/web blocked possible"},
		},
		"nonsense": {
			"a window that cannot be read blocks with Argo CD", drifting(`[{kind: deny, schedule: "soon", duration: x, applications: ['*']}]`, auto, `"2026-01-02T10:00:00Z"`),
			[]string{missing, "sync-window-blocked Application/web blocked possible"},
		},
		"a zone and nothing behind it": {
			"the library panics, and Argo CD refuses the project", drifting(deny("TZ=UTC"), auto, `"2026-01-02T10:00:00Z"`),
			[]string{missing, "sync-window-blocked Application/web blocked possible"},
		},
	}.run(t)
}
