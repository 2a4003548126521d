package classify

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
)

// failedSync is an automated sync of the compared revision that ended with a message and
// without results, over a ConfigMap and a Deployment that Git changed.
func failedSync(message, rest string) string {
	return `
application:
  spec: {syncPolicy: {automated: {}}}
  status:
    sync: {status: OutOfSync}
    history: [{id: 1, revision: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, deployedAt: "2026-01-01T00:00:00Z"}]
    operationState: {phase: Failed, retryCount: 5, startedAt: "2026-01-02T09:00:00Z", finishedAt: "2026-01-02T09:01:00Z", message: '` + message + `', operation: {sync: {revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}, data: {a: "2"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}, data: {a: "1"}}
- target: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: {paused: false, replicas: 3}}
` + rest
}

const (
	refusedWrite = `one or more objects failed to apply, reason: error when patching "/dev/shm/1": `
	noRightSaid  = `one or more objects failed to apply, reason: error when creating "/dev/shm/1": deployments.apps is forbidden: User "system:serviceaccount:argocd:argocd-application-controller" cannot create resource "deployments" in API group "apps" in the namespace "web"`
)

// What the last sync said in words that are known fails again, whether or not the words
// name an object.
func TestKnownFailureUnnamed(t *testing.T) {
	situations{
		"one object of the kind": {
			"of the two only the Deployment can be meant", failedSync(refusedWrite+`admission webhook "validate.policy.example.com" denied the request: resource Deployment/web/api was blocked`, ""),
			[]string{"admission-denied Deployment/api will-fail likely", "git-ahead ConfigMap/settings safe certain"},
		},
		"any object": {
			"the words fit both", failedSync(refusedWrite+`admission webhook "validate.policy.example.com" denied the request: the owner is missing`, ""),
			[]string{"admission-denied Application/web will-fail likely", "git-ahead ConfigMap/settings safe certain", "git-ahead Deployment/api safe certain"},
		},
		"a type that is wrong": {
			"the kind stands in the words", failedSync(refusedWrite+`Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`, ""),
			[]string{"git-ahead ConfigMap/settings safe certain", "invalid-manifest Deployment/api will-fail likely"},
		},
		"all that differs has another cause": {
			"the write fails all the same", strings.Replace(failedSync(refusedWrite+`ConfigMap "settings" is invalid: data[b]: Invalid value: "": it is refused`, ""), `data: {a: "2"}}`, `data: {a: "1"}, status: {x: y}}`, 1),
			[]string{"git-ahead Deployment/api safe certain", "invalid-manifest ConfigMap/settings will-fail certain", "status-in-git ConfigMap/settings noop certain"},
		},
		"the network": {
			"it passes by itself", failedSync(`one or more objects failed to apply, reason: dial tcp: i/o timeout`, ""),
			[]string{"autosync-gave-up Application/web safe likely", "git-ahead ConfigMap/settings safe certain", "git-ahead Deployment/api safe certain"},
		},
	}.run(t)
}

// A right that is missing is no fault of the manifest, and one that is there by now is
// missing no more.
func TestMissingRight(t *testing.T) {
	_, report := judge(t, failedSync(noRightSaid, ""))
	i := findingOf(report, drift.AdmissionDenied)
	if i < 0 {
		t.Fatalf("no finding about the refusal: %+v", report.Findings)
	}
	f := report.Findings[i]
	if f.Sync != drift.WillFail || f.Fixes[0].Kind != drift.FixProvideDependency || f.Fixes[0].Where != drift.InCluster || !strings.Contains(f.Fixes[0].Snippet, "kind: RoleBinding") || !strings.Contains(f.Summary, "may not create it") {
		t.Errorf("%s %s: %+v", f.Sync, f.Summary, f.Fixes[0])
	}
	const binding = `
related:
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: deployer}, rules: [{apiGroups: [apps], resources: [deployments], verbs: ["*"]}]}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: deployer, namespace: `
	const rest = `}, roleRef: {kind: ClusterRole, name: deployer}, subjects: [{kind: ServiceAccount, namespace: argocd, name: argocd-application-controller}]}`
	missing := []string{"admission-denied Deployment/api will-fail likely", "git-ahead ConfigMap/settings safe certain"}
	situations{
		"granted by now": {
			"the binding was made after the sync failed", failedSync(noRightSaid, binding+"web"+rest),
			[]string{"autosync-gave-up Application/web safe likely", "git-ahead ConfigMap/settings safe certain", "git-ahead Deployment/api safe certain"},
		},
		"granted elsewhere": {"the binding is another namespace's", failedSync(noRightSaid, binding+"api"+rest), missing},
		"granted to another": {
			"the binding is another account's", failedSync(noRightSaid, strings.Replace(binding+"web"+rest, "argocd-application-controller", "argocd-server", 1)), missing,
		},
	}.run(t)
}

// A hook that has failed is asked for itself, where the result of the sync lacks it or
// still calls it running.
func TestFailedHookLive(t *testing.T) {
	hook := func(kind, ended string) string {
		return `
- hook: true
  target: {apiVersion: batch/v1, kind: Job, metadata: {name: migrate, namespace: web, annotations: {argocd.argoproj.io/hook: ` + kind + `}}}
  live: {apiVersion: batch/v1, kind: Job, metadata: {name: migrate, namespace: web, creationTimestamp: "` + ended + `", annotations: {argocd.argoproj.io/hook: ` + kind + `}}, status: {conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit, lastTransitionTime: "` + ended + `"}]}}`
	}
	const said = "one or more synchronization tasks completed unsuccessfully"
	ahead := []string{"git-ahead ConfigMap/settings safe certain", "git-ahead Deployment/api safe certain"}
	situations{
		"before the resources": {"the result has no word of it", failedSync(said, hook("PreSync", "2026-01-02T09:00:30Z")), append(ahead, "hook-failed Job/migrate will-fail certain")},
		"after the resources":  {"they are applied by then", failedSync(said, hook("PostSync", "2026-01-02T09:00:30Z")), append(ahead, "hook-failed Job/migrate noop certain")},
		"of an earlier sync": {
			"it failed before this operation began", failedSync("one or more objects failed to apply, reason: dial tcp: i/o timeout", hook("PreSync", "2026-01-01T09:00:30Z")),
			append([]string{"autosync-gave-up Application/web safe likely"}, ahead...),
		},
		"still waited for": {
			"the controller has not seen its end", strings.Replace(failedSync("waiting for completion of hook batch/Job/migrate", hook("PreSync", "2026-01-02T09:00:30Z")), "phase: Failed, retryCount: 5,", "phase: Running,", 1),
			append(ahead, "hook-failed Job/migrate will-fail certain"),
		},
	}.run(t)
}

func findingOf(report *drift.Report, mechanism drift.Mechanism) int {
	for i := range report.Findings {
		if report.Findings[i].Mechanism == mechanism {
			return i
		}
	}
	return -1
}
