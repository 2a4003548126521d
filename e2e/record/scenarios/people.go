package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// References to the objects of manifests.go.
const (
	onStorefront  = "apps/v1/Deployment/storefront"
	onService     = "v1/Service/storefront"
	onLedger      = "apps/v1/StatefulSet/ledger"
	onNodeAgent   = "apps/v1/DaemonSet/node-agent"
	onSettings    = "v1/ConfigMap/settings"
	onCertificate = "cert-manager.io/v1/Certificate/shop-tls"
	onRoute       = "gateway.networking.k8s.io/v1/HTTPRoute/shop"
	onSecret      = "external-secrets.io/v1/ExternalSecret/payment-keys"
	onRollout     = "argoproj.io/v1alpha1/Rollout/storefront"
	onVirtual     = "networking.istio.io/v1/VirtualService/storefront"
)

// CRDs of package e2e/crds.
const (
	crdCertificate    = "certificates.cert-manager.io"
	crdRoute          = "httproutes.gateway.networking.k8s.io"
	crdExternalSecret = "externalsecrets.external-secrets.io"
	crdRollout        = "rollouts.argoproj.io"
	crdVirtual        = "virtualservices.networking.istio.io"
	crdScaledObject   = "scaledobjects.keda.sh"
)

func manualEdits() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "manual-edit/debug-logging-with-kubectl-edit", App: "storefront-debug",
			Cause:  "somebody raises the log level of a Deployment with kubectl edit",
			Files:  git(storefront, storefrontService),
			Inject: patch("kubectl-edit", onStorefront, `[{op: replace, path: /spec/template/spec/containers/0/env/0/value, value: debug}]`),
		},
		{
			Name: "manual-edit/scaled-by-hand", App: "storefront-peak",
			Cause: "somebody runs kubectl scale on a Deployment that nothing scales by itself",
			Files: git(storefront), SyncPolicy: serverSideApply,
			Inject: scale("kubectl", onStorefront, 6),
		},
		{
			Name: "manual-edit/hotfix-image", App: "ledger-hotfix",
			Cause: "somebody runs kubectl set image on a StatefulSet",
			Files: git(ledger), Annotations: serverSideDiff,
			Inject: patch("kubectl-set", onLedger, `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/billing/ledger:2026.3-hotfix1"}]`),
		},
		{
			Name: "manual-edit/configmap-in-lens", App: "shop-settings",
			Cause:  "somebody flips a feature in a ConfigMap with Lens",
			Files:  git(settings),
			Inject: patch("node-fetch", onSettings, `{data: {features.yaml: "newCheckout: true\ngiftCards: true\n"}}`),
		},
		{
			Name: "manual-edit/service-port-in-the-ui", App: "storefront-port",
			Cause:  "somebody edits the live manifest of a Service in Argo CD's UI",
			Files:  git(storefront, storefrontService),
			Inject: patch("argocd-server", onService, `[{op: replace, path: /spec/ports/0/targetPort, value: 8081}]`),
		},
		{
			Name: "manual-edit/probe-and-arguments", App: "ledger-probe",
			Cause: "somebody relaxes a probe and adds an argument with kubectl edit",
			Files: git(ledger), SyncPolicy: serverSideApply,
			Inject: patch("kubectl-edit", onLedger, `[{op: replace, path: /spec/template/spec/containers/0/readinessProbe/periodSeconds, value: 30}, {op: add, path: /spec/template/spec/containers/0/args/-, value: --trace}]`),
		},
		{
			Name: "manual-edit/certificate-duration", App: "shop-certificate",
			Cause: "somebody moves a Certificate to another issuer with kubectl patch",
			Files: git(certificate), CRDs: []string{crdCertificate},
			Inject: patch("kubectl-patch", onCertificate, `{spec: {issuerRef: {name: letsencrypt-staging}}}`),
		},
		{
			Name: "manual-edit/variable-removed", App: "storefront-variable",
			Cause:  "somebody removes one variable and changes another with kubectl edit",
			Files:  git(storefront),
			Inject: patch("kubectl-edit", onStorefront, `[{op: replace, path: /spec/template/spec/containers/0/env/0/value, value: warn}, {op: remove, path: /spec/template/spec/containers/0/env/1}]`),
		},
	}
}

func foreignApplies() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "foreign-apply/old-checkout-applied", App: "storefront-applied",
			Cause:  "somebody runs kubectl apply with an older copy of the Deployment's manifest",
			Files:  git(storefront, storefrontService),
			Inject: kubectlApply(replaced(storefront, "replicas: 3", "replicas: 2", "1.14.2", "1.12.0")),
		},
		{
			Name: "foreign-apply/pipeline-applies-a-configmap", App: "settings-pipeline",
			Cause: "a pipeline still runs kubectl apply with its own ConfigMap",
			Files: git(settings), SyncPolicy: serverSideApply,
			Inject: kubectlApply(replaced(settings, "10m", "30s", "eu-central-1", "us-east-1")),
		},
		{
			Name: "foreign-apply/helm-upgrade-by-hand", App: "storefront-helm",
			Cause:  "somebody runs helm upgrade on the release that Argo CD renders",
			Files:  git(storefront, storefrontService),
			Inject: patch("helm", onStorefront, `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/shop/storefront:1.15.0"}, {op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 768Mi}]`),
		},
		{
			Name: "foreign-apply/terraform-owns-the-configmap", App: "settings-terraform",
			Cause: "Terraform writes the same ConfigMap from its own state",
			Files: git(settings), Annotations: serverSideDiff,
			Inject: patch("Terraform", onSettings, `{data: {region: eu-west-3}}`),
		},
		{
			Name: "foreign-apply/flux-applies-too", App: "ledger-flux",
			Cause: "Flux's kustomize-controller applies another version of the StatefulSet",
			Files: git(ledger), SyncPolicy: serverSideApply,
			Inject: apply("kustomize-controller", replaced(ledger, "replicas: 5", "replicas: 3", "2026.3", "2026.2")),
		},
	}
}

func rolloutRestarts() []recorder.Scenario {
	pinned := func(manifest string) string {
		return replaced(manifest, "  template:\n    metadata:\n", "  template:\n    metadata:\n      annotations: {kubectl.kubernetes.io/restartedAt: \"2026-02-03T09:15:00+01:00\"}\n")
	}
	restart := func(on string) action {
		return patch("kubectl-rollout", on, `{spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: "2026-04-16T14:05:11+02:00"}}}}}`)
	}
	return []recorder.Scenario{
		{
			Name: "rollout-restart/restart-time-in-git", App: "storefront-restart",
			Cause:  "somebody runs kubectl rollout restart on a Deployment whose restart time stands in Git",
			Files:  git(pinned(storefront)),
			Inject: restart(onStorefront),
		},
		{
			Name: "rollout-restart/statefulset-restarted", App: "ledger-restart",
			Cause: "somebody runs kubectl rollout restart on a StatefulSet that was exported to Git after a restart",
			Files: git(pinned(ledger)), SyncPolicy: serverSideApply,
			Inject: restart(onLedger),
		},
		{
			Name: "rollout-restart/agents-restarted", App: "node-agent-restart",
			Cause: "somebody runs kubectl rollout restart on a DaemonSet whose restart time stands in Git",
			Files: git(pinned(nodeAgent)), Annotations: serverSideDiff,
			// The dry run of the sync counts the generation of the template up.
			Inject: restart(onNodeAgent),
		},
	}
}

func hiddenAdditions() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "hidden-live-addition/key-in-a-configmap", App: "settings-key",
			Cause:  "somebody adds a key to a ConfigMap with kubectl edit",
			Files:  git(settings),
			Inject: patch("kubectl-edit", onSettings, `{data: {maintenance.banner: "Back at six"}}`),
		},
		{
			Name: "hidden-live-addition/variable-set", App: "storefront-set",
			Cause: "somebody adds a variable with kubectl set env",
			Files: git(storefront), SyncPolicy: serverSideApply,
			Inject: patch("kubectl-set", onStorefront, `[{op: add, path: /spec/template/spec/containers/0/env/-, value: {name: GODEBUG, value: http2debug=1}}]`),
		},
		{
			Name: "hidden-live-addition/label-and-annotation", App: "service-annotated",
			Cause: "somebody adds an annotation and a label to a Service in Lens",
			Files: git(storefrontService), Annotations: serverSideDiff,
			Inject: patch("node-fetch", onService, `{metadata: {labels: {cost-center: "4711"}, annotations: {example.com/contact: "#shop"}}}`),
		},
		{
			Name: "hidden-live-addition/debug-sidecar", App: "ledger-sidecar",
			Cause:  "somebody adds a debugging container with kubectl patch",
			Files:  git(ledger),
			Inject: patch("kubectl-patch", onLedger, `[{op: add, path: /spec/template/spec/containers/-, value: {name: netshoot, image: "registry.example.com/tools/netshoot:0.13", command: [sleep, infinity]}}]`),
		},
		{
			Name: "hidden-live-addition/custom-resource-field", App: "certificate-template",
			Cause: "somebody sets a field of a Certificate that Git leaves open with kubectl edit",
			Files: git(certificate), CRDs: []string{crdCertificate},
			Inject: patch("kubectl-edit", onCertificate, `{spec: {secretTemplate: {labels: {replicate: "true"}}}}`),
		},
	}
}
