package scenarios

import (
	"context"
	"fmt"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// unavailable is the status of the storefront without a Pod that is ready; more
// conditions may follow.
func unavailable(more ...any) action {
	return rewriteStatus(onStorefront, func(object map[string]any) {
		conditions := append([]any{map[string]any{
			"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable",
			"message": "Deployment does not have minimum availability.",
		}}, more...)
		set(object, map[string]any{
			"observedGeneration": follow(object, []any{"metadata", "generation"}),
			"replicas":           int64(3), "updatedReplicas": int64(3), "unavailableReplicas": int64(3), "conditions": conditions,
		}, "status")
	})
}

// replicaSet makes the ReplicaSet of a Deployment, as its controller does.
func replicaSet(ref, name string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		owner, err := s.Get(ctx, ref)
		if err != nil {
			return err
		}
		return s.Create(ctx, kcm, fmt.Sprintf(`
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: %[1]s
  labels: {app.kubernetes.io/name: storefront, pod-template-hash: 6d5f8b7c9}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: %[2]s, uid: %[3]s, controller: true, blockOwnerDeletion: true}]
spec:
  replicas: 3
  selector: {matchLabels: {app.kubernetes.io/name: storefront, pod-template-hash: 6d5f8b7c9}}
  template:
    metadata: {labels: {app.kubernetes.io/name: storefront, pod-template-hash: 6d5f8b7c9}}
    spec: {containers: [{name: web, image: "registry.example.com/shop/storefront:1.14.2"}]}
`, name, owner.GetName(), owner.GetUID()))
	}
}

// podOwned makes a Pod of the owner with the spec, as its controller does.
func podOwned(owner, name, spec string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		object, err := s.Get(ctx, owner)
		if err != nil {
			return err
		}
		return s.Create(ctx, kcm, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: %[1]s
  labels: {app.kubernetes.io/name: storefront}
  ownerReferences: [{apiVersion: apps/v1, kind: %[2]s, name: %[3]s, uid: %[4]s, controller: true, blockOwnerDeletion: true}]
spec: {%[5]s}
`, name, object.GetKind(), object.GetName(), object.GetUID(), spec))
	}
}

const (
	onReplicaSet = "apps/v1/ReplicaSet/storefront-6d5f8b7c9"
	onPod        = "v1/Pod/storefront-6d5f8b7c9-8zj4k"
	onLedgerPod  = "v1/Pod/ledger-0"
	webContainer = `name: web, image: "registry.example.com/shop/storefront:1.14.2"`
	fromSecret   = "{name: DATABASE_PASSWORD, valueFrom: {secretKeyRef: {name: wallet-database, key: password}}}"
	filesVolume  = "volumes: [{name: files, persistentVolumeClaim: {claimName: files}}]"
	fromConfig   = "envFrom: [{configMapRef: {name: ledger-cluster}}]"
)

// storefrontPod makes the ReplicaSet of the storefront and one Pod with the spec.
func storefrontPod(spec string) action {
	return inOrder(replicaSet(onStorefront, "storefront-6d5f8b7c9"), podOwned(onReplicaSet, "storefront-6d5f8b7c9-8zj4k", spec))
}

// notConfigured is a Pod whose container waits for what it takes variables from.
func notConfigured(ref, container, message string) action {
	return status("kubelet", ref, replaced(stuck, "%name", container, "%reason", "CreateContainerConfigError", "%message", `'`+message+`'`))
}

// noPods is a Deployment whose ReplicaSet may not make Pods.
func noPods(message string) action {
	condition := map[string]any{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
	return inOrder(
		replicaSet(onStorefront, "storefront-6d5f8b7c9"),
		rewriteStatus(onReplicaSet, func(object map[string]any) {
			object["status"] = map[string]any{"observedGeneration": int64(1), "replicas": int64(0), "conditions": []any{condition}}
		}),
		unavailable(condition),
		rewriteStatus(onStorefront, func(object map[string]any) {
			unset(object, "status", "replicas")
			unset(object, "status", "updatedReplicas")
		}),
	)
}

func missingDependencies() []recorder.Scenario {
	const variable, containers = "        - {name: LOG_LEVEL, value: info}\n", "      containers:\n"
	return []recorder.Scenario{
		{
			Name: "missing-dependency/password-secret-absent", App: "wallet",
			Cause:   "the Secret that a Deployment takes its password from does not exist, and its Pods do not start",
			Files:   git(replaced(storefront, variable, variable+"        - "+fromSecret+"\n")),
			Related: []string{onReplicaSet, onPod},
			Inject: inOrder(storefrontPod("containers: [{"+webContainer+", env: ["+fromSecret+"]}]"),
				notConfigured(onPod, "web", `secret "wallet-database" not found`), unavailable()),
		},
		{
			Name: "missing-dependency/configmap-renamed", App: "ledger-cluster-config", SyncPolicy: serverSideApply,
			Cause:   "the ConfigMap that a StatefulSet takes its variables from was renamed, and its Pod does not start",
			Files:   git(replaced(ledger, "        args:", "        "+fromConfig+"\n        args:")),
			Related: []string{onLedgerPod},
			Inject: inOrder(podOwned(onLedger, "ledger-0", `containers: [{name: ledger, image: "registry.example.com/billing/ledger:2026.3", `+fromConfig+`}]`),
				notConfigured(onLedgerPod, "ledger", `configmap "ledger-cluster" not found`),
				rewriteStatus(onLedger, func(object map[string]any) {
					generation := follow(object, []any{"metadata", "generation"})
					object["status"] = map[string]any{"replicas": int64(1), "updatedReplicas": int64(1), "observedGeneration": generation}
				})),
		},
		{
			Name: "missing-dependency/account-nobody-makes", App: "audit-sink",
			Cause:   "a Deployment names a ServiceAccount that no manifest makes, and its ReplicaSet cannot make Pods",
			Files:   git(replaced(storefront, containers, "      serviceAccountName: audit-sink\n"+containers)),
			Related: []string{onReplicaSet},
			Inject:  noPods(`pods "storefront-6d5f8b7c9-" is forbidden: error looking up service account audit-sink/audit-sink: serviceaccount "audit-sink" not found`),
		},
		{
			Name: "missing-dependency/volume-claim-absent", App: "files", Annotations: serverSideDiff,
			Cause:   "the claim that a Deployment mounts does not exist, and its Pod cannot be scheduled",
			Files:   git(replaced(storefront, containers, "      "+filesVolume+"\n"+containers)),
			Related: []string{onReplicaSet, onPod},
			Inject: inOrder(storefrontPod("containers: [{"+webContainer+"}], "+filesVolume),
				status("kube-scheduler", onPod, `{phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: '0/3 nodes are available: persistentvolumeclaim "files" not found. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.'}]}`),
				unavailable()),
		},
	}
}

func unhealthy() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "unhealthy-not-drift/rollout-gives-up", App: "quotes",
			Cause: "the Pods of a Deployment never become ready, and it gives up progressing",
			Files: git(storefront, storefrontService),
			Inject: unavailable(map[string]any{
				"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
				"message": `ReplicaSet "storefront-6d5f8b7c9" has timed out progressing.`,
			}),
		},
		{
			Name: "unhealthy-not-drift/service-without-balancer", App: "public-pending",
			Cause: "a Service waits for hours for a load balancer that the cluster does not have",
			Files: git(publicService, settings), SyncPolicy: serverSideApply,
			Inject: hoursLater(5),
		},
		{
			Name: "unhealthy-not-drift/secret-store-refuses", App: "payment-secrets", CRDs: []string{crdExternalSecret}, Annotations: serverSideDiff,
			Cause:  "the secret store refuses the credentials, and an ExternalSecret is not ready",
			Files:  git(externalSecret, settings),
			Inject: status("external-secrets", onSecret, `{refreshTime: null, conditions: [{type: Ready, status: "False", reason: SecretSyncedError, message: could not get secret data from provider, lastTransitionTime: "2026-02-01T10:00:00Z"}]}`),
		},
	}
}
