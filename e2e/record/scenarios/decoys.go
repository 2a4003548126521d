package scenarios

import (
	"context"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// decoys look like one mechanism and are another: what stands around is not the cause.
func decoys() []recorder.Scenario {
	other := replaced(storefront, "name: storefront", "name: catalogue")
	digest := func(sum string) string {
		return replaced(storefront, "storefront:1.14.2", "storefront@sha256:"+sum, "  template:\n    metadata:\n",
			"  template:\n    metadata:\n      annotations: {checksum/config: "+sum+"}\n")
	}
	const (
		oldSum = "9f2c4a7be1d03586f7a1c2b3d4e5f60718293a4b5c6d7e8f9011223344556677"
		newSum = "01b7d5e2c4f6a8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7081"
	)
	return []recorder.Scenario{
		{
			Name: "manual-edit/beside-an-autoscaler-of-another", App: "decoy-scaler",
			Cause:  "somebody scales a Deployment; the HorizontalPodAutoscaler beside it is another Deployment's",
			Files:  git(storefront, other, autoscalerOf("apps/v1", "Deployment", "catalogue")),
			Inject: scale("kubectl", onStorefront, 8),
		},
		{
			Name: "manual-edit/with-a-webhook-around", App: "decoy-webhook",
			Cause: "somebody changes an image; a webhook sees every Deployment and only adds a label",
			Files: git(storefront), Settings: labelTracking,
			Before: webhook("decoy-labels", workloadsRule, func(object map[string]any) {
				set(object, "shop", "spec", "template", "metadata", "labels", "example.com/team")
			}),
			Inject:  patch("kubectl-edit", onStorefront, setImage),
			Related: []string{recorder.WebhookRef("decoy-labels")},
		},
		{
			Name: "manual-edit/same-field-changed-in-git", App: "decoy-same",
			Cause: "somebody changes an image, and then Git moves to a third one",
			Files: git(storefront), SyncPolicy: serverSideApply,
			Inject: inOrder(patch("kubectl-set", onStorefront, setImage), commit(git(replaced(storefront, "1.14.2", "1.16.0")))),
		},
		{
			Name: "git-ahead/new-digest-and-checksum", App: "decoy-digest",
			Cause:  "a commit brings a new image digest and a new checksum, which is not synced yet",
			Files:  git(digest(oldSum)),
			Inject: commit(git(digest(newSum))),
		},
		{
			Name: "git-ahead/new-time", App: "decoy-time",
			Cause: "a commit brings a new time of deployment, which is not synced yet",
			Files: git(replaced(settings, "  region", "  deployed: \"2026-01-11T08:00:00Z\"\n  region")), Settings: labelTracking,
			Inject: commit(git(replaced(settings, "  region", "  deployed: \"2026-02-11T08:00:00Z\"\n  region"))),
		},
		{
			Name: "git-ahead/first-sync-of-a-deployment", App: "decoy-first",
			Cause: "a Deployment and its Service are committed beside a ConfigMap and not synced yet",
			Files: git(settings), SyncPolicy: serverSideApply,
			Inject: commit(git(settings, storefront, storefrontService)),
		},
		{
			Name: "foreign-apply/kubectl-server-side", App: "decoy-server-side",
			Cause: "a pipeline runs kubectl apply --server-side with its own copy of the Deployment",
			Files: git(storefront), SyncPolicy: serverSideApply,
			Inject: apply("kubectl", replaced(storefront, "replicas: 3", "replicas: 4", "1.14.2", "1.14.9")),
		},
		{
			Name: "foreign-apply/tracking-label-lost", App: "decoy-label",
			Cause: "somebody runs kubectl apply with another copy of a Service, which drops Argo CD's label",
			Files: git(replaced(storefrontService, "labels: {app.kubernetes.io/name: storefront}", "labels: {app.kubernetes.io/name: storefront, tier: web}")), Settings: labelTracking,
			Inject: kubectlApply(replaced(storefrontService, "port: 80,", "port: 8080,")),
		},
		{
			Name: "hpa-replicas/tracked-by-label", App: "decoy-hpa",
			Cause: "the HorizontalPodAutoscaler scales a Deployment of an instance that tracks by label",
			Files: git(storefront, autoscalerOf("apps/v1", "Deployment", "storefront")), Settings: labelTracking,
			Inject: autoscaled(onStorefront, "storefront", 11),
		},
		{
			Name: "ca-bundle-injection/invalid-placeholder", App: "decoy-placeholder",
			Cause: "Git has a placeholder for the CA bundle that was applied when the API server still took it",
			Files: git(replaced(convertedCRD, "tunnels.net", "bridges.net", "kind: Tunnel,", "kind: Bridge,", "TunnelList", "BridgeList",
				"plural: tunnels, singular: tunnel", "plural: bridges, singular: bridge", `caBundle: ""`, "caBundle: Cg==")),
			Before: func(ctx context.Context, s *recorder.Stage) error {
				return s.AddWebhook(ctx, recorder.Webhook{
					Name: "older-server", ClusterScoped: true,
					Rules: "[{apiGroups: [apiextensions.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [customresourcedefinitions]}]",
					Mutate: func(object map[string]any) {
						if follow(object, []any{"metadata", "name"}) == "bridges.net.example.com" {
							set(object, caBundle("first"), "spec", "conversion", "webhook", "clientConfig", "caBundle")
						}
					},
				})
			},
			Inject: rewrite("cainjector", "apiextensions.k8s.io/v1/CustomResourceDefinition/bridges.net.example.com", func(object map[string]any) {
				set(object, caBundle("bridge"), "spec", "conversion", "webhook", "clientConfig", "caBundle")
			}),
		},
	}
}

// furtherInSyncs are Applications without drift in which much has happened.
func furtherInSyncs() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "none/overwritten-in-a-server-side-diff", App: "calm-mirror",
			Cause: "a webhook rewrites the image of every Deployment, which a server-side diff foresees",
			Files: git(storefront), Annotations: serverSideDiff,
			Before: webhook("calm-mirror", workloadsRule, eachContainer(mirror)), Related: []string{recorder.WebhookRef("calm-mirror")},
		},
		{
			Name: "none/claims-client-side", App: "calm-claims",
			Cause: "the API server completes the volume claim templates of a StatefulSet, which a three-way diff does not show",
			Files: git(ledger + storage),
		},
		{
			Name: "none/ignored-for-the-whole-instance", App: "calm-instance",
			Cause:      "a controller rewrites an annotation that argocd-cm ignores for every Service",
			Files:      git(replaced(storefrontService, "  name: storefront\n  labels", "  name: storefront\n  annotations: {cloud.google.com/neg: '{\"ingress\":true}'}\n  labels")),
			Settings:   map[string]string{"resource.customizations.ignoreDifferences._Service": "jsonPointers:\n- /metadata/annotations/cloud.google.com~1neg\n"},
			SyncPolicy: map[string]any{"syncOptions": []any{"RespectIgnoreDifferences=true"}},
			Inject: rewrite("glbc", onService, func(object map[string]any) {
				set(object, `{"exposed_ports":{"80":{}},"ingress":true}`, "metadata", "annotations", "cloud.google.com/neg")
			}),
		},
		{
			Name: "none/chart-synced", App: "calm-mailer",
			Cause: "a chart with values was synced, and nothing happened since",
			Files: map[string]string{
				"app/Chart.yaml": chartFile, "app/templates/deployment.yaml": mailer,
				"app/values.yaml": "replicas: 1\ntag: 3.0.1\nrelay: smtp.example.com\n",
			},
		},
	}
}
