package classify

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

func TestGitOnly(t *testing.T) {
	target := func(more string) string {
		return `
resources: [{target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}` + more + `}}]`
	}
	job := func(status string) string {
		return `
application: {status: {sync: {status: OutOfSync}, ` + status + `}}
resources: [{target: {apiVersion: batch/v1, kind: Job, metadata: {name: seed, namespace: web}, spec: {ttlSecondsAfterFinished: 60}}}]`
	}
	failed := func(kind, message string) string {
		return `
application: {status: {sync: {status: OutOfSync}, operationState: {phase: Failed, startedAt: "2026-01-02T09:00:00Z", message: "one or more objects failed to apply", operation: {sync: {}}, syncResult: {revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, resources: [
  {group: example.com, version: v1, kind: ` + kind + `, namespace: web, name: big, status: SyncFailed, message: '` + message + `'}]}}}}
resources: [{target: {apiVersion: example.com/v1, kind: ` + kind + `, metadata: {name: big, namespace: web}}}]`
	}
	situations{
		"missing": {"nothing speaks against creating it", target(""), []string{"resource-missing ConfigMap/settings safe certain"}},
		"hook":    {"hooks are left out of the comparison", target("")[:len(target(""))-2] + ", hook: true}]", []string{"none Application/web nothing-to-do certain"}},
		"with a resourceVersion": {
			"nothing can be created with one", `
resources: [{target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, resourceVersion: "12"}}}]`,
			[]string{"resource-version-in-git ConfigMap/settings will-fail certain"},
		},
		"ran and went": {
			"its TTL took it", job(`operationState: {phase: Succeeded, startedAt: "2026-01-02T09:00:00Z", operation: {sync: {}}, syncResult: {revision: a, resources: [{group: batch, version: v1, kind: Job, namespace: web, name: seed, status: Synced, message: created}]}}`),
			[]string{"ttl-deleted Job/seed overwrites-live certain"},
		},
		"never ran": {"a TTL alone is no evidence", job(`history: []`), []string{"resource-missing Job/seed safe certain"}},
		"kind not served": {
			"the API server says so", failed("Big", `no matches for kind "Big" in version "example.com/v1"`),
			[]string{"missing-crd Big/big will-fail possible"},
		},
		"kind not served, in Argo's words": {
			"the permission check says so", failed("Big", `The Kubernetes API could not find example.com/Big for requested resource web/big. Make sure the "Big" CRD is installed on the destination cluster.`),
			[]string{"missing-crd Big/big will-fail certain"},
		},
		"version not served": {
			"the CRD serves another", failed("Big", `no matches for kind "Big" in version "example.com/v1"`) + `
related: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bigs.example.com}, spec: {group: example.com, names: {kind: Big, plural: bigs}, versions: [{name: v2, served: true}, {name: v1, served: false}]}}]`,
			[]string{"removed-api-version Big/big will-fail certain"},
		},
		"version not served, foreseen": {
			"the CRD tells before any sync", `
resources: [{target: {apiVersion: example.com/v1, kind: Big, metadata: {name: big, namespace: web}}}]
related: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bigs.example.com}, spec: {group: example.com, names: {kind: Big, plural: bigs}, versions: [{name: v2, served: true}]}}]`,
			[]string{"removed-api-version Big/big will-fail likely"},
		},
		"denied": {
			"a policy said no", failed("Big", `admission webhook "policy.example.com" denied the request: field is immutable`),
			[]string{"admission-denied Big/big will-fail certain"},
		},
		"kind forbidden": {
			"the project has no such kind", `
resources: [{target: {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: web}, type: Opaque}}]
related: [{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: default}, spec: {namespaceResourceBlacklist: [{group: "", kind: Secret}]}}]`,
			[]string{"project-not-permitted Secret/s blocked likely"},
		},
		"namespace forbidden": {
			"the project has no such destination", `
resources: [{target: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: kube-system}}}]
related: [{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: default}, spec: {destinations: [{server: '*', namespace: web}]}}]`,
			[]string{"project-not-permitted ConfigMap/c blocked likely"},
		},
		"excluded": {
			"argocd-cm leaves the kind alone", `
resources: [{target: {apiVersion: v1, kind: Endpoints, metadata: {name: e, namespace: web}}}]
settings: {resource.exclusions: "- apiGroups: ['', discovery.k8s.io]\n  kinds: [Endpoints, EndpointSlice]\n"}`,
			[]string{"excluded-resource Endpoints/e noop certain"},
		},
	}.run(t)
}

func TestLiveOnly(t *testing.T) {
	live := func(metadata, rest string) string {
		return `
application: {status: {sync: {status: OutOfSync}, resources: [{version: v1, kind: ConfigMap, namespace: web, name: settings, status: OutOfSync, requiresPruning: true}]}}
resources: [{target: null, live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, ` + metadata + `}` + rest + `}}]`
	}
	const applied = `managedFields: [{manager: argocd-controller, operation: Update, time: "2026-01-01T00:00:00Z"}]`
	const id = `annotations: {argocd.argoproj.io/tracking-id: "web:/ConfigMap:web/settings"}`
	situations{
		"left Git":           {"Argo CD applied it and no longer renders it", live(id+", "+applied, ""), []string{"pending-prune ConfigMap/settings noop certain"}},
		"protected":          {"it says so itself", live(`annotations: {argocd.argoproj.io/sync-options: "Prune=false"}, `+applied, ""), []string{"prune-protected ConfigMap/settings noop certain"}},
		"to be confirmed":    {"it says so itself", live(`annotations: {argocd.argoproj.io/sync-options: "Prune=confirm"}, `+applied, ""), []string{"prune-protected ConfigMap/settings wait certain"}},
		"copied id":          {"the id is another object's, which Argo CD sees", live(`annotations: {argocd.argoproj.io/tracking-id: "web:apps/Deployment:web/api"}`, ""), []string{"tracking-label-copied ConfigMap/settings noop certain"}},
		"held by finalizers": {"it is being deleted already", live(`deletionTimestamp: "2026-01-02T09:00:00Z", finalizers: [example.com/hold], `+applied, ""), []string{"deletion-stuck ConfigMap/settings wait likely"}},
		"finished hook":      {"a hook is listed as to be pruned", live(`annotations: {argocd.argoproj.io/hook: PostSync}`, ""), []string{"hook-leftover ConfigMap/settings noop certain"}},
		"finished run":       {"its name was generated", live(`generateName: set, `+applied, `, status: {conditions: [{type: Complete, status: "True"}]}`), []string{"hook-leftover ConfigMap/settings noop likely"}},
		"unfinished run":     {"a generated name alone is none", live(`generateName: set, `+applied, ""), []string{"pending-prune ConfigMap/settings noop certain"}},
		"copied label": {"an operator made it and Argo CD never applied it", live(`labels: {app.kubernetes.io/instance: web}, managedFields: [{manager: clustersecret-operator, operation: Update, time: "2026-01-01T00:00:00Z"}]`, "") + `
settings: {trackingMethod: label}`, []string{"tracking-label-copied ConfigMap/settings noop likely"}},
	}.run(t)
}

// What Argo CD lists and the snapshot lacks is not passed over.
func TestRequiresPruningUnseen(t *testing.T) {
	const listed = `
application: {status: {sync: {status: OutOfSync}, resources: [{group: batch, version: v1, kind: Job, namespace: web, name: seed, requiresPruning: true, hook: %s}]}}`
	situations{
		"hook":     {"hooks are left out of snapshots", strings.Replace(listed, "%s", "true", 1), []string{"hook-leftover Job/seed noop likely"}},
		"resource": {"the reporter left it out", strings.Replace(listed, "%s", "false", 1), []string{"pending-prune Job/seed noop likely"}},
	}.run(t)
}

// The Application's own policy decides what a sync does to what Git no longer has.
func TestPruneEffect(t *testing.T) {
	for name, row := range map[string]struct {
		policy string
		want   drift.Sync
	}{
		"no policy":     {"{}", drift.Noop},
		"automated":     {"{automated: {}}", drift.Noop},
		"prunes":        {"{automated: {prune: true, allowEmpty: true}}", drift.Destructive},
		"turned off":    {"{automated: {prune: true, enabled: false}}", drift.Noop},
		"of any shape":  {"{automated: {prune: [yes]}}", drift.Noop},
		"automated nil": {"{automated: null}", drift.Noop},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := &drift.Snapshot{Application: read(t, "{metadata: {name: web}, spec: {syncPolicy: "+row.policy+"}}")}
			s := &state.Application{Snapshot: snapshot}
			if effect, _ := s.PruneEffect(); effect != row.want {
				t.Errorf("effect %s, want %s", effect, row.want)
			}
		})
	}
}
