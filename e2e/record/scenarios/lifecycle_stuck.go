package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// databases is a CRD of an operator with finalizers.
const databases = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.sql.example.com}
spec:
  group: sql.example.com
  names: {kind: Database, listKind: DatabaseList, plural: databases, singular: database}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {engine: {type: string}, size: {type: string}}}}
`

func deletionsStuck() []recorder.Scenario {
	const photos, database = "v1/PersistentVolumeClaim/photos", "sql.example.com/v1/Database/orders"
	return []recorder.Scenario{
		{
			Name: "deletion-stuck/claim-in-use", App: "photos-deleted",
			Cause:  "somebody deletes a claim that is in Git; the protection of claims in use keeps it",
			Files:  git(settings, replaced(claim, "%s", "")),
			Inject: inOrder(bound(photos), remove(photos)),
		},
		{
			Name: "deletion-stuck/operator-is-gone", App: "orders-database", Cluster: databases,
			Cause: "a custom resource is removed from Git and deleted, and the operator that would take its finalizer off is gone",
			Files: git(settings, "apiVersion: sql.example.com/v1\nkind: Database\nmetadata: {name: orders}\nspec: {engine: postgres, size: 20Gi}\n"),
			Inject: inOrder(patch("sql-operator", database, `{metadata: {finalizers: [sql.example.com/backup]}}`),
				commit(git(settings)), remove(database)),
		},
		{
			Name: "deletion-stuck/namespace-terminating", App: "sandbox-blue", SyncPolicy: serverSideApply,
			Cause: "somebody deletes the namespace, which hangs in Terminating, and Git adds a ConfigMap, which cannot be created",
			Files: git(storefrontService), Related: []string{"v1/Namespace/sandbox-blue"},
			Inject: inOrder(remove("v1/Namespace/sandbox-blue"), commit(git(storefrontService, settings)), sync()),
		},
		{
			Name: "deletion-stuck/load-balancer-kept", App: "trial-edge",
			Cause: "somebody deletes a Service whose load balancer the cloud controller does not give back", Annotations: serverSideDiff,
			Files: git(ingressService, settings),
			Inject: inOrder(patch("cloud-controller-manager", "v1/Service/edge", `{metadata: {finalizers: [service.kubernetes.io/load-balancer-cleanup]}}`),
				remove("v1/Service/edge")),
		},
	}
}

const queues = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: queues.messaging.example.com}
spec:
  group: messaging.example.com
  names: {kind: Queue, listKind: QueueList, plural: queues, singular: queue}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: &schema
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {durable: {type: boolean}}}}
  - name: v1beta1
    served: false
    storage: false
    schema: *schema
`

func removedVersions() []recorder.Scenario {
	const queue = "apiVersion: messaging.example.com/v1beta1\nkind: Queue\nmetadata: {name: mails}\nspec: {durable: true}\n"
	const nightly = `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: 15 3 * * *
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: task, image: "registry.example.com/shop/tasks:1.14.2"}]
`
	return []recorder.Scenario{
		{
			Name: "removed-api-version/custom-resource", App: "mail-queues", Cluster: queues,
			Cause:  "Git holds a custom resource in a version that its CRD does not serve any more, and the sync fails",
			Files:  git(settings),
			Inject: inOrder(commit(git(settings, queue)), sync()),
		},
		{
			Name: "removed-api-version/budget-of-an-old-chart", App: "legacy-web",
			Cause: "an old chart renders a PodDisruptionBudget in policy/v1beta1, and the sync fails", SyncPolicy: serverSideApply,
			Files:  git(settings),
			Inject: inOrder(commit(git(settings, replaced(storefrontBudget, "policy/v1", "policy/v1beta1"))), sync()),
		},
		{
			Name: "removed-api-version/cron-job-that-lives-on", App: "nightly-legacy",
			Cause:  "Git goes back to a CronJob in batch/v1beta1, which lives in batch/v1, and the sync fails",
			Files:  git(settings, nightly),
			Inject: inOrder(commit(git(settings, replaced(nightly, "batch/v1", "batch/v1beta1"))), sync()),
		},
	}
}

func mergeKeys() []recorder.Scenario {
	const edge, ports = "v1/Service/edge", "/spec/ports/0"
	return []recorder.Scenario{
		{
			Name: "merge-key-conflict/port-of-a-service", App: "edge-port",
			Cause:  "somebody changes the number of a named port of a Service, and the sync would have the name twice",
			Files:  git(ingressService, settings),
			Inject: inOrder(patch("kubectl-edit", edge, `[{op: replace, path: /spec/ports/0/port, value: 8443}]`), sync()),
		},
		{
			Name: "merge-key-conflict/container-port", App: "storefront-ports",
			Cause:  "somebody changes the number of a named container port, and the sync would have the name twice",
			Files:  git(storefront),
			Inject: inOrder(patch("kubectl-edit", onStorefront, `[{op: replace, path: `+firstContainer+`/ports/0/containerPort, value: 8081}]`), rolledOut(onStorefront), sync()),
		},
		{
			Name: "merge-key-conflict/node-port", App: "edge-nodeport",
			Cause:  "somebody renumbers a port of a NodePort Service, and the sync would have the node port twice",
			Files:  git(replaced(ingressService, "spec:\n", "spec:\n  type: NodePort\n", "protocol: TCP", "protocol: TCP, nodePort: 30443")),
			Inject: inOrder(patch("node-fetch", edge, `[{op: replace, path: /spec/ports/0/port, value: 444}]`), sync()),
		},
	}
}

func invalidManifests() []recorder.Scenario {
	const blog = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: blog}
spec:
  rules:
  - host: blog.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: {service: {name: blog}, port: {number: 80}}
`
	return []recorder.Scenario{
		{
			Name: "invalid-manifest/recreate-with-rolling-update", App: "storefront-recreate",
			Cause: "Git sets the strategy Recreate and leaves the rolling update's block, and the sync fails",
			Files: git(replaced(storefront, "  replicas: 3\n", "  replicas: 3\n  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}\n")),
			Inject: inOrder(rolledOut(onStorefront), commit(git(replaced(storefront,
				"  replicas: 3\n", "  replicas: 3\n  strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}\n"))), sync()),
		},
		{
			Name: "invalid-manifest/ingress-backend-misplaced", App: "blog",
			Cause:  "Git adds an Ingress whose port stands one level too high, and the sync fails",
			Files:  git(settings),
			Inject: inOrder(commit(git(settings, blog)), sync()),
		},
		{
			Name: "invalid-manifest/text-for-a-number", App: "storefront-text",
			Cause:  "Git adds a Deployment whose replicas are text, and the sync fails",
			Files:  git(settings),
			Inject: inOrder(commit(git(settings, replaced(storefront, "replicas: 3", "replicas: three"))), sync()),
		},
		{
			Name: "invalid-manifest/name-in-capitals", App: "settings-capitals", SyncPolicy: serverSideApply,
			Cause:  "Git adds a ConfigMap with a name that the API server refuses, and the sync fails",
			Files:  git(storefrontService),
			Inject: inOrder(commit(git(storefrontService, replaced(settings, "name: settings", "name: Settings_EU"))), sync()),
		},
	}
}
