package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// autoscaler is an HPA: %kind, %version and %name are its target's.
const autoscaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %name}
spec:
  scaleTargetRef: {apiVersion: %version, kind: %kind, name: %name}
  minReplicas: 2
  maxReplicas: 12
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}
`

func autoscalerOf(version, kind, name string) string {
	return replaced(autoscaler, "%version", version, "%kind", kind, "%name", name)
}

const onAutoscaler = "autoscaling/v2/HorizontalPodAutoscaler/"

// autoscaled does what the autoscaler of kube-controller-manager does: it scales, and
// writes its own status.
func autoscaled(on, name string, replicas int) action {
	const manager = "kube-controller-manager"
	return inOrder(
		scale(manager, on, replicas),
		status(manager, onAutoscaler+name, `{currentReplicas: 3, desiredReplicas: 7, lastScaleTime: "2026-04-16T09:12:44Z", currentMetrics: [], conditions: [{type: AbleToScale, status: "True", reason: SucceededRescale, message: the HPA controller was able to update the target scale, lastTransitionTime: "2026-04-16T09:12:44Z"}]}`),
	)
}

func autoscalers() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "hpa-replicas/autoscaler-in-the-same-application", App: "storefront-hpa",
			Cause:  "the HorizontalPodAutoscaler scales a Deployment up whose replicas stand in Git",
			Files:  git(storefront, storefrontService, autoscalerOf("apps/v1", "Deployment", "storefront")),
			Inject: autoscaled(onStorefront, "storefront", 7),
		},
		{
			Name: "hpa-replicas/autoscaler-of-the-platform-team", App: "storefront-platform",
			Cause: "a HorizontalPodAutoscaler that is not in Git scales a Deployment up",
			Files: git(storefront), SyncPolicy: serverSideApply,
			Cluster: autoscalerOf("apps/v1", "Deployment", "storefront"),
			Inject:  autoscaled(onStorefront, "storefront", 9),
			Related: []string{onAutoscaler + "storefront"},
		},
		{
			Name: "hpa-replicas/scaled-down-at-night", App: "ledger-night",
			Cause: "the HorizontalPodAutoscaler scales a StatefulSet down",
			Files: git(ledger, autoscalerOf("apps/v1", "StatefulSet", "ledger")), Annotations: serverSideDiff,
			Inject: autoscaled(onLedger, "ledger", 2),
		},
		{
			Name: "hpa-replicas/autoscaler-of-a-rollout", App: "rollout-hpa",
			Cause: "the HorizontalPodAutoscaler scales an Argo Rollout",
			Files: git(replaced(rollout, "        istio:\n          virtualService: {name: storefront, routes: [primary]}\n", "        nginx: {stableIngress: storefront}\n"),
				autoscalerOf("argoproj.io/v1alpha1", "Rollout", "storefront")),
			CRDs:   []string{crdRollout},
			Inject: autoscaled(onRollout, "storefront", 6),
		},
	}
}

const scaledObject = `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: %name}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: %kind, name: %name}
  minReplicaCount: 0
  maxReplicaCount: 20
  triggers:
  - type: rabbitmq
    metadata: {queueName: orders, mode: QueueLength, value: "50"}
    authenticationRef: {name: rabbitmq}
`

// kedaAutoscaler is what the operator makes of a ScaledObject.
const kedaAutoscaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: keda-hpa-%name
  labels: {app.kubernetes.io/managed-by: keda-operator, scaledobject.keda.sh/name: %name}
  ownerReferences:
  - {apiVersion: keda.sh/v1alpha1, kind: ScaledObject, name: %name, uid: 8f6f1f0e-8d1f-4b54-9d52-1f2f3c0a7b11, controller: true, blockOwnerDeletion: true}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: %kind, name: %name}
  minReplicas: 1
  maxReplicas: 20
  metrics:
  - type: External
    external:
      metric: {name: s0-rabbitmq-orders, selector: {matchLabels: {scaledobject.keda.sh/name: %name}}}
      target: {type: AverageValue, averageValue: "50"}
`

func kedaScalers() []recorder.Scenario {
	of := func(manifest, kind, name string) string { return replaced(manifest, "%kind", kind, "%name", name) }
	return []recorder.Scenario{
		{
			Name: "keda-replicas/scaled-to-zero", App: "storefront-idle",
			Cause:   "KEDA scales a Deployment without work to zero",
			Files:   git(storefront, of(scaledObject, "Deployment", "storefront")),
			CRDs:    []string{crdScaledObject},
			Cluster: of(kedaAutoscaler, "Deployment", "storefront"),
			Inject:  scale("keda", onStorefront, 0),
			Related: []string{onAutoscaler + "keda-hpa-storefront"},
		},
		{
			Name: "keda-replicas/scaled-out-by-its-autoscaler", App: "ledger-queue",
			Cause:   "the autoscaler that KEDA made for a ScaledObject scales a StatefulSet up",
			Files:   git(ledger, of(scaledObject, "StatefulSet", "ledger")),
			CRDs:    []string{crdScaledObject},
			Cluster: of(kedaAutoscaler, "StatefulSet", "ledger"), SyncPolicy: serverSideApply,
			Inject:  autoscaled(onLedger, "keda-hpa-ledger", 14),
			Related: []string{onAutoscaler + "keda-hpa-ledger"},
		},
		{
			Name: "keda-replicas/scaled-object-of-another-team", App: "storefront-queue",
			Cause: "KEDA wakes a Deployment up; its ScaledObject is not in Git",
			Files: git(replaced(storefront, "replicas: 3", "replicas: 0")),
			CRDs:  []string{crdScaledObject}, Annotations: serverSideDiff,
			Cluster: stream(of(scaledObject, "Deployment", "storefront"), of(kedaAutoscaler, "Deployment", "storefront")),
			Inject:  scale("keda-operator", onStorefront, 1),
			Related: []string{"keda.sh/v1alpha1/ScaledObject/storefront", onAutoscaler + "keda-hpa-storefront"},
		},
	}
}

func progressiveDelivery() []recorder.Scenario {
	const manager = "rollouts-controller"
	weights := func(object map[string]any) {
		set(object, int64(80), "spec", "http", 0, "route", 0, "weight")
		set(object, int64(20), "spec", "http", 0, "route", 1, "weight")
	}
	gatewayRollout := replaced(rollout, "        istio:\n          virtualService: {name: storefront, routes: [primary]}\n",
		"        plugins:\n          argoproj-labs/gatewayAPI: {httpRoute: shop, namespace: $NAMESPACE}\n")
	blueGreen := replaced(rollout, "    canary:\n      stableService: storefront-stable\n      canaryService: storefront-canary\n      trafficRouting:\n        istio:\n          virtualService: {name: storefront, routes: [primary]}\n      steps:\n      - setWeight: 20\n      - pause: {}\n",
		"    blueGreen: {activeService: storefront-stable, previewService: storefront-canary, autoPromotionEnabled: false}\n")
	hash := func(on, value string) action {
		return patch(manager, on, `{metadata: {annotations: {argo-rollouts.argoproj.io/managed-by-rollouts: storefront}}, spec: {selector: {rollouts-pod-template-hash: "`+value+`"}}}`)
	}
	hashes := inOrder(hash("v1/Service/storefront-stable", "6d5f8c7b9"), hash("v1/Service/storefront-canary", "7f44c9dd6"))
	return []recorder.Scenario{
		{
			Name: "progressive-delivery/weights-of-a-virtual-service", App: "canary-istio",
			Cause:  "Argo Rollouts shifts a fifth of the traffic in a VirtualService",
			Files:  git(rollout, virtualService, canaryServices),
			CRDs:   []string{crdRollout, crdVirtual},
			Inject: rewrite(manager, onVirtual, weights),
		},
		{
			Name: "progressive-delivery/weights-of-a-route", App: "canary-gateway",
			Cause: "Argo Rollouts' Gateway API plugin shifts traffic in an HTTPRoute",
			Files: git(gatewayRollout, route, canaryServices),
			CRDs:  []string{crdRollout, crdRoute}, SyncPolicy: serverSideApply,
			Inject: rewrite(manager, onRoute, func(object map[string]any) {
				set(object, int64(60), "spec", "rules", 0, "backendRefs", 0, "weight")
				set(object, int64(40), "spec", "rules", 0, "backendRefs", 1, "weight")
			}),
		},
		{
			Name: "progressive-delivery/selector-of-blue-and-green", App: "bluegreen-apply",
			Cause: "Argo Rollouts points the Services of a blue-green Rollout at its ReplicaSets",
			Files: git(blueGreen, canaryServices), CRDs: []string{crdRollout},
			SyncPolicy: serverSideApply, Inject: hashes,
		},
		{
			Name: "progressive-delivery/selector-in-a-server-side-diff", App: "bluegreen-diff",
			Cause: "Argo Rollouts points the Services of a canary at its ReplicaSets",
			Files: git(rollout, virtualService, canaryServices), CRDs: []string{crdRollout, crdVirtual},
			// A client-side apply, which the sync is, leaves the key alone.
			Annotations: serverSideDiff, Inject: hashes,
		},
	}
}
