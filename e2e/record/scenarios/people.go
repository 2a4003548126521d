package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/pkg/drift"
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

func edited(on string, fields ...string) recorder.Finding {
	return flagged(on, drift.ManualEdit, drift.OverwritesLive, drift.FixDecideCommitOrSync).at(fields...)
}

func manualEdits() []recorder.Scenario {
	const container = "/spec/template/spec/containers/0"
	return []recorder.Scenario{
		{
			Name: "manual-edit/debug-logging-with-kubectl-edit", App: "storefront-debug",
			Cause:  "somebody raises the log level of a Deployment with kubectl edit",
			Files:  git(storefront, storefrontService),
			Expect: label(edited(onStorefront, container+"/env/0/value")),
			Inject: patch("kubectl-edit", onStorefront, `[{op: replace, path: /spec/template/spec/containers/0/env/0/value, value: debug}]`),
		},
		{
			Name: "manual-edit/scaled-by-hand", App: "storefront-peak",
			Cause: "somebody runs kubectl scale on a Deployment that nothing scales by itself",
			Files: git(storefront), SyncPolicy: serverSideApply,
			Expect: label(edited(onStorefront, "/spec/replicas")),
			Inject: scale("kubectl", onStorefront, 6),
		},
		{
			Name: "manual-edit/hotfix-image", App: "ledger-hotfix",
			Cause: "somebody runs kubectl set image on a StatefulSet",
			Files: git(ledger), Annotations: serverSideDiff,
			Expect: label(edited(onLedger, container+"/image")),
			Inject: patch("kubectl-set", onLedger, `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/billing/ledger:2026.3-hotfix1"}]`),
		},
		{
			Name: "manual-edit/configmap-in-lens", App: "shop-settings",
			Cause:  "somebody flips a feature in a ConfigMap with Lens",
			Files:  git(settings),
			Expect: label(edited(onSettings, "/data/features.yaml")),
			Inject: patch("node-fetch", onSettings, `{data: {features.yaml: "newCheckout: true\ngiftCards: true\n"}}`),
		},
		{
			Name: "manual-edit/service-port-in-the-ui", App: "storefront-port",
			Cause:  "somebody edits the live manifest of a Service in Argo CD's UI",
			Files:  git(storefront, storefrontService),
			Expect: label(edited(onService, "/spec/ports/0/targetPort")),
			Inject: patch("argocd-server", onService, `[{op: replace, path: /spec/ports/0/targetPort, value: 8081}]`),
		},
		{
			Name: "manual-edit/probe-and-arguments", App: "ledger-probe",
			Cause: "somebody relaxes a probe and adds an argument with kubectl edit",
			Files: git(ledger), SyncPolicy: serverSideApply,
			Expect: label(edited(onLedger, container+"/args/2", container+"/readinessProbe/periodSeconds")),
			Inject: patch("kubectl-edit", onLedger, `[{op: replace, path: /spec/template/spec/containers/0/readinessProbe/periodSeconds, value: 30}, {op: add, path: /spec/template/spec/containers/0/args/-, value: --trace}]`),
		},
		{
			Name: "manual-edit/certificate-duration", App: "shop-certificate",
			Cause: "somebody moves a Certificate to another issuer with kubectl patch",
			Files: git(certificate), CRDs: []string{crdCertificate},
			Expect: label(edited(onCertificate, "/spec/issuerRef/name")),
			Inject: patch("kubectl-patch", onCertificate, `{spec: {issuerRef: {name: letsencrypt-staging}}}`),
		},
		{
			Name: "manual-edit/variable-removed", App: "storefront-variable",
			Cause:  "somebody removes one variable and changes another with kubectl edit",
			Files:  git(storefront),
			Expect: label(edited(onStorefront, container+"/env/0/value", container+"/env/1")),
			Inject: patch("kubectl-edit", onStorefront, `[{op: replace, path: /spec/template/spec/containers/0/env/0/value, value: warn}, {op: remove, path: /spec/template/spec/containers/0/env/1}]`),
		},
	}
}

const trackingField = "/metadata/annotations/argocd.argoproj.io~1tracking-id"

func foreignApplies() []recorder.Scenario {
	applied := func(on string, fields ...string) recorder.Finding {
		return flagged(on, drift.ForeignApply, drift.OverwritesLive, drift.FixRemoveSecondWriter).at(fields...)
	}
	return []recorder.Scenario{
		{
			Name: "foreign-apply/old-checkout-applied", App: "storefront-applied",
			Cause:  "somebody runs kubectl apply with an older copy of the Deployment's manifest",
			Files:  git(storefront, storefrontService),
			Expect: label(applied(onStorefront, trackingField, "/spec/replicas", "/spec/template/spec/containers/0/image")),
			Inject: kubectlApply(replaced(storefront, "replicas: 3", "replicas: 2", "1.14.2", "1.12.0")),
		},
		{
			Name: "foreign-apply/pipeline-applies-a-configmap", App: "settings-pipeline",
			Cause: "a pipeline still runs kubectl apply with its own ConfigMap",
			Files: git(settings), SyncPolicy: serverSideApply,
			Expect: label(applied(onSettings, "/data/cache.ttl", "/data/region")),
			Inject: kubectlApply(replaced(settings, "10m", "30s", "eu-central-1", "us-east-1")),
		},
		{
			Name: "foreign-apply/helm-upgrade-by-hand", App: "storefront-helm",
			Cause: "somebody runs helm upgrade on the release that Argo CD renders",
			Files: git(storefront, storefrontService),
			Expect: label(
				applied(onStorefront, "/spec/template/spec/containers/0/image", "/spec/template/spec/containers/0/resources/limits/memory"),
			),
			Inject: patch("helm", onStorefront, `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/shop/storefront:1.15.0"}, {op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 768Mi}]`),
		},
		{
			Name: "foreign-apply/terraform-owns-the-configmap", App: "settings-terraform",
			Cause: "Terraform writes the same ConfigMap from its own state",
			Files: git(settings), Annotations: serverSideDiff,
			Expect: label(applied(onSettings, "/data/region")),
			Inject: patch("Terraform", onSettings, `{data: {region: eu-west-3}}`),
		},
		{
			Name: "foreign-apply/flux-applies-too", App: "ledger-flux",
			Cause: "Flux's kustomize-controller applies another version of the StatefulSet",
			Files: git(ledger), SyncPolicy: serverSideApply,
			Expect: label(applied(onLedger, "/spec/replicas", "/spec/template/spec/containers/0/image")),
			Inject: apply("kustomize-controller", replaced(ledger, "replicas: 5", "replicas: 3", "2026.3", "2026.2")),
		},
	}
}

func rolloutRestarts() []recorder.Scenario {
	const field = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt"
	restarted := func(on string) []recorder.Finding {
		return label(flagged(on, drift.RolloutRestart, drift.OverwritesLive, drift.FixDropFieldFromGit).at(field))
	}
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
			Expect: restarted(onStorefront), Inject: restart(onStorefront),
		},
		{
			Name: "rollout-restart/statefulset-restarted", App: "ledger-restart",
			Cause: "somebody runs kubectl rollout restart on a StatefulSet that was exported to Git after a restart",
			Files: git(pinned(ledger)), SyncPolicy: serverSideApply,
			Expect: restarted(onLedger), Inject: restart(onLedger),
		},
		{
			Name: "rollout-restart/agents-restarted", App: "node-agent-restart",
			Cause: "somebody runs kubectl rollout restart on a DaemonSet whose restart time stands in Git",
			Files: git(pinned(nodeAgent)), Annotations: serverSideDiff,
			// The dry run of the sync counts the generation of the template up.
			Expect: label(flagged(onNodeAgent, drift.RolloutRestart, drift.OverwritesLive, drift.FixDropFieldFromGit).
				at("/metadata/annotations/deprecated.daemonset.template.generation", field)),
			Inject: restart(onNodeAgent),
		},
	}
}

func hiddenAdditions() []recorder.Scenario {
	added := func(on string, fields ...string) recorder.Finding {
		return hidden(on, drift.HiddenLiveAddition, drift.Noop, drift.FixAddToGitOrRemoveLive).at(fields...)
	}
	return []recorder.Scenario{
		{
			Name: "hidden-live-addition/key-in-a-configmap", App: "settings-key",
			Cause:  "somebody adds a key to a ConfigMap with kubectl edit",
			Files:  git(settings),
			Expect: label(added(onSettings, "/data/maintenance.banner")),
			Inject: patch("kubectl-edit", onSettings, `{data: {maintenance.banner: "Back at six"}}`),
		},
		{
			Name: "hidden-live-addition/variable-set", App: "storefront-set",
			Cause: "somebody adds a variable with kubectl set env",
			Files: git(storefront), SyncPolicy: serverSideApply,
			Expect: label(added(onStorefront, "/spec/template/spec/containers/0/env/2")),
			Inject: patch("kubectl-set", onStorefront, `[{op: add, path: /spec/template/spec/containers/0/env/-, value: {name: GODEBUG, value: http2debug=1}}]`),
		},
		{
			Name: "hidden-live-addition/label-and-annotation", App: "service-annotated",
			Cause: "somebody adds an annotation and a label to a Service in Lens",
			Files: git(storefrontService), Annotations: serverSideDiff,
			Expect: label(added(onService, "/metadata/annotations/example.com~1contact", "/metadata/labels/cost-center")),
			Inject: patch("node-fetch", onService, `{metadata: {labels: {cost-center: "4711"}, annotations: {example.com/contact: "#shop"}}}`),
		},
		{
			Name: "hidden-live-addition/debug-sidecar", App: "ledger-sidecar",
			Cause:  "somebody adds a debugging container with kubectl patch",
			Files:  git(ledger),
			Expect: label(added(onLedger, "/spec/template/spec/containers/1")),
			Inject: patch("kubectl-patch", onLedger, `[{op: add, path: /spec/template/spec/containers/-, value: {name: netshoot, image: "registry.example.com/tools/netshoot:0.13", command: [sleep, infinity]}}]`),
		},
		{
			Name: "hidden-live-addition/custom-resource-field", App: "certificate-template",
			Cause: "somebody sets a field of a Certificate that Git leaves open with kubectl edit",
			Files: git(certificate), CRDs: []string{crdCertificate},
			Expect: label(added(onCertificate, "/spec/secretTemplate")),
			Inject: patch("kubectl-edit", onCertificate, `{spec: {secretTemplate: {labels: {replicate: "true"}}}}`),
		},
	}
}
