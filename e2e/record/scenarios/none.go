package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const nightlyReport = `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly-report}
spec:
  schedule: 15 3 * * *
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
          - name: report
            image: registry.example.com/billing/report:8.1
            resources: {requests: {cpu: 1000m, memory: 1024Mi}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: report}
spec:
  ingressClassName: public
  rules:
  - host: report.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: report, port: {number: 80}}}}]}
`

func inSyncs() []recorder.Scenario {
	sidecar := func(object map[string]any) {
		appended(map[string]any{"name": "proxy", "image": "registry.example.com/mesh/proxy:1.31"}, "spec", "template", "spec", "containers")(object)
		appended(map[string]any{"name": "proxy-state", "emptyDir": map[string]any{}}, "spec", "template", "spec", "volumes")(object)
		set(object, map[string]any{"mesh.example.com/status": "injected"}, "spec", "template", "metadata", "annotations")
	}
	return []recorder.Scenario{
		{
			Name: "none/just-synced", App: "calm-shop", Cause: "an Application was synced, and nothing happened since",
			Files: git(storefront, storefrontService, settings, storefrontBudget),
		},
		{
			Name: "none/sidecar-injected", App: "calm-sidecar",
			Cause:  "a mesh's webhook adds a container, a volume and an annotation at admission",
			Files:  git(storefront, storefrontService),
			Before: webhook("mesh-sidecar", workloadsRule, sidecar), Related: []string{recorder.WebhookRef("mesh-sidecar")},
		},
		{
			Name: "none/variable-injected", App: "calm-variable",
			Cause: "a webhook adds a variable to every container of an Application that applies server-side",
			Files: git(ledger), SyncPolicy: serverSideApply,
			Before: webhook("otel-variables", workloadsRule, eachContainer(func(container map[string]any) {
				appended(map[string]any{"name": "OTEL_SERVICE_NAME", "value": "ledger"}, "env")(container)
			})),
			Related: []string{recorder.WebhookRef("otel-variables")},
		},
		{
			Name: "none/defaults-of-a-crd", App: "calm-keys",
			Cause: "a CRD adds defaults at map level and inside items of lists, and a three-way diff shows none of them",
			Files: git(externalSecret), CRDs: []string{crdExternalSecret},
		},
		{
			Name: "none/defaults-in-a-server-side-diff", App: "calm-route",
			Cause: "a CRD adds defaults inside items of lists, and a server-side diff shows none of them",
			Files: git(bareRoute, externalSecret), CRDs: []string{crdRoute, crdExternalSecret}, Annotations: serverSideDiff,
		},
		{
			Name: "none/status-of-controllers", App: "calm-status",
			Cause: "controllers write status and conditions",
			Files: git(storefront, certificate), CRDs: []string{crdCertificate},
			Inject: inOrder(
				status("kube-controller-manager", onStorefront, `{replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3, observedGeneration: 1, conditions: [{type: Available, status: "True", reason: MinimumReplicasAvailable}]}`),
				patch("kube-controller-manager", onStorefront, `{metadata: {annotations: {deployment.kubernetes.io/revision: "1"}}}`),
				status("cert-manager-certificates-readiness", onCertificate, `{revision: 1, conditions: [{type: Ready, status: "True", reason: Ready}]}`)),
		},
		{
			Name: "rollout-restart/not-in-git", App: "calm-restart",
			Cause:  "somebody runs kubectl rollout restart; Git does not mention the restart time",
			Files:  git(storefront),
			Inject: patch("kubectl-rollout", onStorefront, `{spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: "2026-04-16T14:05:11+02:00"}}}}}`),
		},
		{
			Name: "none/other-spellings", App: "calm-report",
			Cause: "Git spells quantities in its own way, which Argo CD knows for kinds of Kubernetes",
			Files: git(nightlyReport),
		},
		{
			Name: "none/old-crd", App: "calm-recipes",
			Cause: "a chart's CRD says preserveUnknownFields: false, which this version of Argo CD leaves out of the comparison",
			Files: git(replaced(oldCRD, "%kind", "Recipe", "%plural", "recipes", "%singular", "recipe")),
		},
		{
			Name: "none/empty-values", App: "calm-empty",
			Cause:      "a chart renders empty and null values of a Deployment that is applied server-side",
			Files:      git(replaced(storefront, "    spec:\n      containers:", "    spec:\n      nodeSelector: {}\n      tolerations: []\n      volumes: null\n      containers:")),
			SyncPolicy: serverSideApply,
		},
		{
			Name: "none/selector-of-a-canary", App: "calm-canary",
			Cause: "Argo Rollouts adds its hash to the selector of a Service that is applied client-side",
			Files: git(rollout, virtualService, canaryServices), CRDs: []string{crdRollout, crdVirtual},
			Inject: patch("rollouts-controller", "v1/Service/storefront-stable", `{spec: {selector: {rollouts-pod-template-hash: 6d5f8c7b9}}}`),
		},
		{
			Name: "none/label-tracking", App: "calm-labels",
			Cause: "an Application of an instance that tracks by label was synced",
			Files: git(storefront, settings), Settings: labelTracking, SyncPolicy: serverSideApply,
		},
	}
}

func inSyncByRule() []recorder.Scenario {
	respecting := map[string]any{"syncOptions": []any{"RespectIgnoreDifferences=true"}}
	scaler := autoscalerOf("apps/v1", "Deployment", "storefront")
	ignore := func(rule map[string]any) map[string]any {
		return map[string]any{"ignoreDifferences": []any{rule}}
	}
	return []recorder.Scenario{
		{
			Name: "none/replicas-ignored", App: "ruled-replicas",
			Cause: "the HorizontalPodAutoscaler scales a Deployment whose replicas the Application ignores and respects",
			Files: git(storefront, scaler), SyncPolicy: respecting,
			Spec:   ignore(map[string]any{"group": "apps", "kind": "Deployment", "jsonPointers": []any{"/spec/replicas"}}),
			Inject: autoscaled(onStorefront, "storefront", 7),
		},
		{
			Name: "none/replicas-left-to-the-autoscaler", App: "ruled-absent",
			Cause:  "the HorizontalPodAutoscaler scales a Deployment without replicas in Git",
			Files:  git(replaced(storefront, "  replicas: 3\n", ""), scaler),
			Inject: autoscaled(onStorefront, "storefront", 7),
		},
		{
			Name: "none/manager-ignored", App: "ruled-manager",
			Cause: "the HorizontalPodAutoscaler scales a Deployment, and the Application ignores what kube-controller-manager owns",
			Files: git(storefront, scaler), SyncPolicy: respecting,
			Spec: ignore(map[string]any{
				"group": "apps", "kind": "Deployment", "managedFieldsManagers": []any{"kube-controller-manager"},
			}),
			Inject: autoscaled(onStorefront, "storefront", 5),
		},
		{
			Name: "none/bundle-ignored", App: "ruled-bundle",
			Cause: "cainjector fills a CA bundle that the Application ignores by a jq path and respects",
			Files: git(webhookOf(validating, "ruled-bundle", "cert-manager.io/inject-ca-from: $NAMESPACE/ruled", "")), SyncPolicy: respecting,
			Spec: ignore(map[string]any{
				"group": "admissionregistration.k8s.io", "kind": validating, "jqPathExpressions": []any{".webhooks[].clientConfig.caBundle"},
			}),
			Inject: rewrite("cainjector", "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration/ruled-bundle", func(object map[string]any) {
				set(object, caBundle("ruled"), "webhooks", 0, "clientConfig", "caBundle")
			}),
		},
	}
}
