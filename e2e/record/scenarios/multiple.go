package scenarios

import (
	"context"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

func mirror(container map[string]any) {
	container["image"] = strings.Replace(container["image"].(string), "registry.example.com/", "mirror.internal.example.com/", 1)
}

const (
	image     = "/spec/template/spec/containers/0/image"
	logLevel  = "/spec/template/spec/containers/0/env/0/value"
	setImage  = `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/shop/storefront:1.14.3"}]`
	setLevel  = `[{op: replace, path: /spec/template/spec/containers/0/env/0/value, value: trace}]`
	addSecret = `[{op: add, path: /spec/template/spec/containers/0/env/-, value: {name: GODEBUG, value: gctrace=1}}]`
)

func mixedWorkloads() []recorder.Scenario {
	scaler := autoscalerOf("apps/v1", "Deployment", "storefront")
	return []recorder.Scenario{
		{
			Name: "multiple/scaled-and-hotfixed", App: "mixed-hotfix",
			Cause:  "the HorizontalPodAutoscaler scales a Deployment, and somebody sets another image",
			Files:  git(storefront, scaler),
			Inject: inOrder(autoscaled(onStorefront, "storefront", 7), patch("kubectl-set", onStorefront, setImage)),
		},
		{
			Name: "multiple/scaled-and-mirrored", App: "mixed-mirror",
			Cause: "the HorizontalPodAutoscaler scales a Deployment whose image a webhook rewrites",
			Files: git(storefront, scaler), SyncPolicy: serverSideApply,
			Before:  webhook("mixed-mirror", workloadsRule, eachContainer(mirror)),
			Inject:  autoscaled(onStorefront, "storefront", 5),
			Related: []string{recorder.WebhookRef("mixed-mirror")},
		},
		{
			Name: "multiple/committed-and-mirrored", App: "mixed-commit",
			Cause:   "a new log level is committed and not synced yet, on a Deployment whose image a webhook rewrites",
			Files:   git(storefront),
			Before:  webhook("mixed-commit", workloadsRule, eachContainer(mirror)),
			Inject:  commit(git(replaced(storefront, "value: info", "value: warn"))),
			Related: []string{recorder.WebhookRef("mixed-commit")},
		},
		{
			Name: "multiple/edited-and-extended", App: "mixed-extended",
			Cause:  "somebody changes one variable of a Deployment and adds another",
			Files:  git(storefront),
			Inject: inOrder(patch("kubectl-edit", onStorefront, setLevel), patch("kubectl-edit", onStorefront, addSecret)),
		},
		{
			Name: "multiple/edited-while-git-moved", App: "mixed-moved",
			Cause: "somebody changes a variable while a new image is committed and not synced yet",
			Files: git(storefront, storefrontService), SyncPolicy: serverSideApply,
			Inject: inOrder(patch("kubectl-edit", onStorefront, setLevel), commit(git(replaced(storefront, "1.14.2", "1.15.0"), storefrontService))),
		},
		{
			Name: "multiple/claims-and-replicas", App: "mixed-claims",
			Cause: "the HorizontalPodAutoscaler scales a StatefulSet whose volume claim template the API server completes",
			Files: git(ledger+storage, autoscalerOf("apps/v1", "StatefulSet", "ledger")), SyncPolicy: serverSideApply,
			Inject: autoscaled(onLedger, "ledger", 8),
		},
		{
			Name: "multiple/claims-edit-and-webhook", App: "mixed-ledger",
			Cause: "somebody relaxes a probe of a StatefulSet whose volume claim template the API server completes and whose image a webhook rewrites",
			Files: git(ledger + storage), SyncPolicy: serverSideApply,
			Before:  webhook("mixed-ledger", workloadsRule, eachContainer(mirror)),
			Inject:  patch("kubectl-edit", onLedger, `[{op: replace, path: /spec/template/spec/containers/0/readinessProbe/periodSeconds, value: 20}]`),
			Related: []string{recorder.WebhookRef("mixed-ledger")},
		},
		{
			Name: "multiple/restarted-and-edited", App: "mixed-restart",
			Cause:       "somebody restarts a Deployment whose restart time stands in Git, and raises its log level",
			Files:       git(replaced(storefront, "  template:\n    metadata:\n", "  template:\n    metadata:\n      annotations: {kubectl.kubernetes.io/restartedAt: \"2026-01-20T11:00:00Z\"}\n")),
			Annotations: serverSideDiff,
			Inject: inOrder(patch("kubectl-edit", onStorefront, setLevel),
				patch("kubectl-rollout", onStorefront, `{spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: "2026-04-02T08:00:01Z"}}}}}`)),
		},
		{
			Name: "multiple/unknown-field-and-quantities", App: "mixed-poisoned",
			Cause: "a misspelt field in Git makes Argo CD compare quantities of a Deployment by their spelling",
			Files: git(replaced(storefront, "        ports:", "        imagePullPolicey: Always\n        ports:", "{cpu: 250m, memory: 256Mi}", "{cpu: 1000m, memory: 1024Mi}", "{memory: 512Mi}", "{memory: 2Gi}")),
		},
		{
			Name: "multiple/alias-and-injected-toleration", App: "mixed-alias",
			Cause: "Git gives a service account two names, and a webhook appends a toleration",
			Files: git(replaced(nodeAgent, "      serviceAccountName: node-agent\n", "      serviceAccountName: node-agent\n      serviceAccount: agent\n")),
			Before: webhook("mixed-alias", workloadsRule, appended(
				map[string]any{"key": "arm", "operator": "Exists", "effect": "NoSchedule"}, "spec", "template", "spec", "tolerations")),
			Related: []string{recorder.WebhookRef("mixed-alias")},
		},
		{
			Name: "multiple/keys-of-a-configmap", App: "mixed-settings",
			Cause: "a commit changes one key of a ConfigMap, somebody another, and a third is added by hand",
			Files: git(settings), Settings: labelTracking,
			Inject: inOrder(patch("kubectl-edit", onSettings, `{data: {region: us-west-2, banner: hello}}`), commit(git(replaced(settings, "10m", "20m")))),
		},
		{
			Name: "multiple/service-during-a-canary", App: "mixed-service",
			Cause: "Argo Rollouts sets the hash in a Service's selector, and somebody changes a port and a label",
			Files: git(rollout, virtualService, canaryServices), CRDs: []string{crdRollout, crdVirtual}, SyncPolicy: serverSideApply,
			Inject: inOrder(
				patch("rollouts-controller", "v1/Service/storefront-canary", `{spec: {selector: {rollouts-pod-template-hash: 7f44c9dd6}}}`),
				patch("kubectl-patch", "v1/Service/storefront-canary", `[{op: replace, path: /spec/ports/0/targetPort, value: 8081}]`),
				patch("kubectl-label", "v1/Service/storefront-canary", `{metadata: {labels: {debug: "true"}}}`)),
		},
	}
}

func mixedCustom() []recorder.Scenario {
	files := childFiles("mailer-mixed")
	files["app/child.yaml"] = replaced(replaced(child, "automated: {selfHeal: true}", "automated: {prune: false, selfHeal: true}"), "%name", "mailer-mixed")
	const onChild = "argoproj.io/v1alpha1/Application/argocd/mailer-mixed"
	const validator = "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration/mixed-validator"
	return []recorder.Scenario{
		{
			Name: "multiple/defaults-and-an-edit", App: "mixed-keys",
			Cause: "the CRD adds defaults to the items of an ExternalSecret whose refresh interval somebody changes",
			Files: git(externalSecret), CRDs: []string{crdExternalSecret}, SyncPolicy: serverSideApply,
			Inject: patch("kubectl-edit", onSecret, `{spec: {refreshInterval: 5m}}`),
		},
		{
			Name: "multiple/defaults-and-a-commit", App: "mixed-appended",
			Cause: "an item is appended to an ExternalSecret in Git; the three-way diff also shows the defaults of the other items",
			Files: git(externalSecret), CRDs: []string{crdExternalSecret},
			Inject: commit(git(externalSecret + "  - secretKey: WEBHOOK_KEY\n    remoteRef: {key: payments/gateway, property: webhook}\n")),
		},
		{
			Name: "multiple/route-weights-and-defaults", App: "mixed-route",
			Cause: "Argo Rollouts shifts the weights of an HTTPRoute whose backends the CRD completes",
			Files: git(replaced(route, `group: "", kind: Service, `, ""), rolloutOfRoute(), canaryServices),
			CRDs:  []string{crdRoute, crdRollout}, SyncPolicy: serverSideApply,
			Inject: rewrite("rollouts-controller", onRoute, func(object map[string]any) {
				set(object, int64(90), "spec", "rules", 0, "backendRefs", 0, "weight")
				set(object, int64(10), "spec", "rules", 0, "backendRefs", 1, "weight")
			}),
		},
		{
			Name: "multiple/certificate-written-back", App: "mixed-certificate",
			Cause: "a controller writes a Certificate back with its names sorted, its duration spelt out and without a false",
			Files: git(replaced(certificate, "[www.shop.example.com, shop.example.com, api.shop.example.com]", "[shop.example.com, api.shop.example.com]") + "  duration: 2160h\n  isCA: false\n"),
			CRDs:  []string{crdCertificate},
			Inject: rewrite("certificate-policy-controller", onCertificate, func(object map[string]any) {
				slices.Reverse(follow(object, []any{"spec", "dnsNames"}).([]any))
				set(object, "2160h0m0s", "spec", "duration")
				unset(object, "spec", "isCA")
			}),
		},
		{
			Name: "multiple/exported-misspelt-and-edited", App: "mixed-exported",
			Cause:  "an exported Certificate with a misspelt field is committed, and somebody moves it to another issuer",
			Files:  git(replaced(certificate, "  name: shop-tls\nspec:", "  name: shop-tls\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"apiVersion\":\"cert-manager.io/v1\",\"kind\":\"Certificate\",\"metadata\":{\"name\":\"shop-tls\"},\"spec\":{}}\nspec:") + "  renewBeforePercent: 30\n"),
			CRDs:   []string{crdCertificate},
			Inject: patch("kubectl-edit", onCertificate, `{spec: {issuerRef: {name: internal}}}`),
		},
		{
			Name: "multiple/bundle-and-failure-policy", App: "mixed-validator",
			Cause: "cainjector fills the CA bundle of a webhook whose failure policy its operator sets",
			Files: git(webhookOf(validating, "mixed-validator", "cert-manager.io/inject-ca-from: $NAMESPACE/mixed", "")),
			Inject: inOrder(
				rewrite("cainjector", validator, func(object map[string]any) {
					set(object, caBundle("mixed"), "webhooks", 0, "clientConfig", "caBundle")
				}),
				rewrite("policy-operator", validator, func(object map[string]any) { set(object, "Fail", "webhooks", 0, "failurePolicy") })),
		},
		{
			Name: "multiple/backup-written-back-and-edited", App: "mixed-backup",
			Cause: "the operator canonicalises a backup and drops a false, and somebody moves its schedule",
			Files: git(backup("  retention: 72h\n  verify: false\n  resources: {cpu: 1000m, memory: 512Mi}\n")), Cluster: backupCRD, SyncPolicy: serverSideApply,
			Inject: inOrder(
				rewrite("backup-operator", onBackup, func(object map[string]any) {
					set(object, "72h0m0s", "spec", "retention")
					set(object, "1", "spec", "resources", "cpu")
					unset(object, "spec", "verify")
				}),
				patch("kubectl-edit", onBackup, `{spec: {schedule: "0 5 * * *"}}`)),
		},
		{
			Name: "multiple/child-application", App: "mixed-root",
			Cause: "Argo CD drops a false from a child Application, and somebody changes its parameters in the UI",
			Files: files,
			Inject: inOrder(
				func(ctx context.Context, s *recorder.Stage) error { return childWritten(ctx, s, "mailer-mixed") },
				rewrite("argocd-server", onChild, func(object map[string]any) {
					set(object, "4", "spec", "source", "helm", "parameters", 1, "value")
				})),
		},
	}
}

// rolloutOfRoute is a Rollout that shifts the weights of the HTTPRoute.
func rolloutOfRoute() string {
	return replaced(rollout, "        istio:\n          virtualService: {name: storefront, routes: [primary]}\n",
		"        plugins:\n          argoproj-labs/gatewayAPI: {httpRoute: shop, namespace: $NAMESPACE}\n")
}

func mixedRenders() []recorder.Scenario {
	annotations := `checksum/secret: {{ include (print $.Template.BasePath "/secret.yaml") . | sha256sum }}, renderedAt: {{ now | date "2006-01-02T15:04:05Z07:00" | quote }}`
	return []recorder.Scenario{
		{
			Name: "multiple/checksum-time-and-replicas", App: "mixed-chart",
			Cause: "a chart renders a random Secret, its checksum and the time, and the HorizontalPodAutoscaler scales",
			Files: chart(map[string]string{
				"secret.yaml": randomSecret, "broker.yaml": brokerOf("Deployment", annotations, ""), "hpa.yaml": autoscalerOf("apps/v1", "Deployment", "broker"),
			}),
			Inject: autoscaled(onBroker, "broker", 6),
		},
		{
			Name: "multiple/random-and-added-key", App: "mixed-random",
			Cause:  "a chart makes a new password at every render, and somebody adds a key to the Secret",
			Files:  chart(map[string]string{"secret.yaml": randomSecret}),
			Inject: patch("kubectl-edit", onBrokerKey, `{data: {admin: c2VjcmV0}}`),
		},
		{
			Name: "multiple/stamped-and-edited", App: "mixed-stamped",
			Cause: "a chart stamps the pods with the time of the render, and somebody changes a variable",
			Files: chart(map[string]string{"broker.yaml": brokerOf("StatefulSet", `rolledAt: {{ now | unixEpoch | quote }}`, "")}), SyncPolicy: serverSideApply,
			Inject: patch("kubectl-edit", onBrokerSet, `[{op: replace, path: /spec/template/spec/containers/0/env/0/value, value: single}]`),
		},
		{
			Name: "multiple/status-and-an-edit", App: "mixed-status",
			Cause:    "a budget was exported with its status, which Argo CD compares, and somebody lowers it",
			Files:    git(storefrontBudget + "status: {currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 1, expectedPods: 3}\n"),
			Settings: compareStatus,
			Inject: inOrder(patch("kubectl-edit", "policy/v1/PodDisruptionBudget/storefront", `{spec: {minAvailable: 1}}`),
				status("kube-controller-manager", "policy/v1/PodDisruptionBudget/storefront", `{currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0, expectedPods: 3, observedGeneration: 1}`)),
		},
	}
}
