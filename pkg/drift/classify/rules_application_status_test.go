package classify

import "testing"

func TestStatus(t *testing.T) {
	situations{
		"stale": {
			"the status is older than the repair", `
application: {status: {sync: {status: OutOfSync}, resources: [{version: v1, kind: ConfigMap, namespace: web, name: settings, status: OutOfSync}]}}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}, data: {a: "1"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, managedFields: [{manager: kubectl-edit, operation: Update, time: "2026-01-02T10:00:30Z"}]}, data: {a: "1"}}`,
			[]string{"stale-comparison Application/web noop likely"},
		},
		"stale and prunes": {
			"a sync from the same cache would delete everything", `
application: {spec: {syncPolicy: {automated: {prune: true}}}, status: {sync: {status: OutOfSync}, resources: [{version: v1, kind: ConfigMap, namespace: web, name: settings, status: OutOfSync, requiresPruning: true}]}}`,
			[]string{"stale-comparison Application/web destructive likely"},
		},
		"flags what is not shown": {
			"the snapshot lacks the resource that is flagged", `
application: {status: {sync: {status: OutOfSync}, resources: [{version: v1, kind: Secret, namespace: web, name: other, status: OutOfSync}]}}`,
			[]string{"unexplained Application/web overwrites-live possible"},
		},
		"stale controller": {
			"nobody takes up the refresh", `
application: {metadata: {annotations: {argocd.argoproj.io/refresh: normal}}, status: {reconciledAt: "2026-01-01T10:00:00Z"}}`,
			[]string{"controller-stale Application/web blocked certain"},
		},
		"refresh just asked for": {
			"a minute is no long time", `
application: {metadata: {annotations: {argocd.argoproj.io/refresh: normal}}}`,
			[]string{"none Application/web nothing-to-do certain"},
		},
		"no periodic refresh": {
			"an old status is as it should be", `
application: {status: {reconciledAt: "2025-12-01T10:00:00Z"}}
settings: {timeout.reconciliation: 0s}`,
			[]string{"none Application/web nothing-to-do certain"},
		},
		"unhealthy": {
			"nothing differs", `
application: {status: {health: {status: Degraded}, resources: [{version: v1, kind: ConfigMap, namespace: web, name: settings, status: Synced, health: {status: Degraded, message: broken}}]}}`,
			[]string{"unhealthy-not-drift ConfigMap/settings noop certain"},
		},
		"waits for a secret": {
			"the Pod says what is missing", `
application: {status: {health: {status: Progressing}}}
resources:
- {kind: Deployment, group: apps, name: api, namespace: web, target: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: {template: {}}}, live: {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: web}, spec: {template: {}}}}
related:
- {apiVersion: v1, kind: Pod, metadata: {name: api-5d8-x1, namespace: web}, status: {containerStatuses: [{name: api, state: {waiting: {reason: CreateContainerConfigError, message: 'secret "db" not found'}}}]}}`,
			[]string{"missing-dependency Deployment/api noop likely"},
		},
		"namespace metadata": {
			"it changed since the last sync", `
application: {spec: {syncPolicy: {managedNamespaceMetadata: {labels: {a: "2"}}, syncOptions: [CreateNamespace=true]}}, status: {sync: {status: OutOfSync}, operationState: {phase: Succeeded, startedAt: "2026-01-02T09:00:00Z", operation: {}, syncResult: {revision: a, managedNamespaceMetadata: {labels: {a: "1"}}}}}}`,
			[]string{"managed-namespace-metadata Application/web safe certain"},
		},
		"rendered namespace": {
			"the manifest wins over the metadata", `
application: {spec: {syncPolicy: {managedNamespaceMetadata: {labels: {a: "2"}}}}}
resources: [{target: {apiVersion: v1, kind: Namespace, metadata: {name: web}}, live: {apiVersion: v1, kind: Namespace, metadata: {name: web}}}]`,
			[]string{"managed-namespace-metadata Namespace/web noop certain"},
		},
		"repeated": {
			"the same object twice", `
application: {status: {conditions: [{type: RepeatedResourceWarning, message: "Resource /ConfigMap/web/settings appeared 2 times among application resources."}]}}`,
			[]string{"repeated-resource ConfigMap/settings noop certain"},
		},
		"excluded": {
			"the kind is left alone", `
application: {status: {conditions: [{type: ExcludedResourceWarning, message: "Resource /Endpoints backend is excluded in the settings"}]}}`,
			[]string{"excluded-resource Endpoints/backend noop certain"},
		},
		"deleting": {
			"the object waits for its finalizer, and so does the Application", `
application: {metadata: {deletionTimestamp: "2026-01-02T09:00:00Z", finalizers: [resources-finalizer.argocd.argoproj.io]}, status: {health: {status: Progressing}}}
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, deletionTimestamp: "2026-01-02T09:00:00Z", finalizers: [example.com/hold]}}`,
			[]string{"deletion-stuck ConfigMap/settings wait likely"},
		},
	}.run(t)
}
