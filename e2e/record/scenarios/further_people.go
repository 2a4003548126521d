package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const crdMachines = "machinedeployments.cluster.x-k8s.io"

const gateAdmin = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: gate-team, namespace: argocd}
spec:
  description: the gate team
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "gate-*"}]
`

const galleryRightsizer = `apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: storefront}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: storefront}
  updatePolicy: {updateMode: Recreate}
`

func furtherEdits() []recorder.Scenario {
	const (
		pod      = "/spec/template/spec/"
		setBoth  = `[{op: replace, path: /spec/template/spec/initContainers/0/image, value: "registry.example.com/net/sysctl:2.1"}, {op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/net/lamp:6.2-rc1"}]`
		twoNames = `[{op: replace, path: /spec/rules/0/host, value: photos.example.com}, {op: replace, path: /spec/tls/0/hosts/0, value: photos.example.com}]`
		project  = "argoproj.io/v1alpha1/AppProject/argocd/gate-team"
	)
	return []recorder.Scenario{
		{
			Name: "manual-edit/images-in-k9s", App: "lamp-images",
			Cause:  "somebody sets the images of a DaemonSet's container and init container with k9s",
			Files:  git(lamp),
			Inject: patch("k9s", onLamp, setBoth),
		},
		{
			Name: "manual-edit/ingress-on-another-host", App: "gallery-host",
			Cause: "somebody moves an Ingress to another host with kubectl edit",
			Files: git(gallery), SyncPolicy: serverSideApply,
			Inject: patch("kubectl-edit", onGallery, twoNames),
		},
		{
			Name: "manual-edit/peer-let-in", App: "fence-opened",
			Cause:  "somebody lets a further peer through a NetworkPolicy with kubectl patch",
			Files:  git(fence),
			Inject: patch("kubectl-patch", onFence, `[{op: add, path: /spec/ingress/0/from/-, value: {namespaceSelector: {matchLabels: {team: qa}}}}]`),
		},
		{
			Name: "manual-edit/role-of-an-account", App: "press-account",
			Cause: "somebody gives a ServiceAccount another cloud role with kubectl annotate --overwrite",
			Files: git(pressAccount, pressRole), Annotations: serverSideDiff,
			Inject: patch("kubectl-annotate", onAccount, `{metadata: {annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::111122223333:role/press-admin"}}}`),
		},
		{
			// A label selector is one value to a server-side apply, which removes the key.
			Name: "manual-edit/selector-narrowed", App: "fence-narrowed",
			Cause: "somebody adds a key to the selector of a NetworkPolicy with kubectl edit, and the Application applies server-side",
			Files: git(fence), SyncPolicy: serverSideApply,
			Inject: patch("kubectl-edit", onFence, `{spec: {podSelector: {matchLabels: {quarantine: "true"}}}}`),
		},
		{
			Name: "manual-edit/schedule-suspended", App: "digest-suspended",
			Cause: "somebody suspends a CronJob with kubectl patch", Annotations: serverSideDiff,
			Files:  git(digest),
			Inject: patch("kubectl-patch", onDigest, `{spec: {suspend: true}}`),
		},
		{
			Name: "manual-edit/rolled-back", App: "storefront-undone",
			Cause:  "somebody goes back to the previous image with kubectl rollout undo",
			Files:  git(storefront),
			Inject: patch("kubectl-rollout", onStorefront, `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/shop/storefront:1.14.1"}]`),
		},
		{
			Name: "manual-edit/destination-of-a-project", App: "gate-project",
			Cause:  "somebody adds a destination to an AppProject in Argo CD's UI",
			Files:  git(gateAdmin),
			Inject: rewrite("argocd-server", project, appended(map[string]any{"server": "*", "namespace": "sandbox"}, "spec", "destinations")),
		},
		{
			Name: "manual-edit/image-of-a-rollout", App: "rollout-image",
			Cause: "somebody sets the image of a Rollout with the kubectl plugin of Argo Rollouts",
			Files: git(rollout, virtualService, canaryServices), CRDs: []string{crdRollout, crdVirtual},
			Inject: patch("kubectl-argo-rollouts", onRollout, `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/shop/storefront:1.15.1"}]`),
		},
		{
			Name: "manual-edit/requests-beside-a-rightsizer", App: "storefront-rightsized",
			Cause: "somebody raises a request of a Deployment for which a VerticalPodAutoscaler makes recommendations",
			Files: git(storefront, galleryRightsizer), CRDs: []string{"verticalpodautoscalers.autoscaling.k8s.io"},
			Inject: inOrder(
				status("recommender", "autoscaling.k8s.io/v1/VerticalPodAutoscaler/storefront", `{conditions: [{type: RecommendationProvided, status: "True", lastTransitionTime: "2026-04-16T09:12:44Z"}], recommendation: {containerRecommendations: [{containerName: web, target: {cpu: 120m, memory: 400Mi}}]}}`),
				patch("kubectl-edit", onStorefront, `[{op: replace, path: /spec/template/spec/containers/0/resources/requests/memory, value: 384Mi}]`)),
		},
		{
			Name: "manual-edit/limit-of-an-autoscaler", App: "gallery-ceiling",
			Cause:  "somebody raises the limit of a HorizontalPodAutoscaler with curl",
			Files:  git(galleryScaler),
			Inject: patch("curl", onAutoscaler+"gallery", `{spec: {maxReplicas: 25}}`),
		},
	}
}

func furtherAdditions() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "hidden-live-addition/key-of-a-selector", App: "fence-keyed",
			Cause:  "somebody adds a key to the selector of a NetworkPolicy with kubectl edit, and a three-way diff does not show it",
			Files:  git(fence),
			Inject: patch("kubectl-edit", onFence, `{spec: {podSelector: {matchLabels: {quarantine: "true"}}}}`),
		},
		{
			Name: "hidden-live-addition/rollout-paused", App: "storefront-paused",
			Cause: "somebody holds a Deployment with kubectl rollout pause",
			Files: git(storefront), SyncPolicy: serverSideApply,
			Inject: patch("kubectl-rollout", onStorefront, `{spec: {paused: true}}`),
		},
		{
			Name: "hidden-live-addition/volume-and-mount", App: "lamp-volume",
			Cause:  "somebody mounts a further volume into a DaemonSet with kubectl edit",
			Files:  git(lamp),
			Inject: patch("kubectl-edit", onLamp, `[{op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: dumps, mountPath: /dumps}}, {op: add, path: /spec/template/spec/volumes/-, value: {name: dumps, emptyDir: {}}}]`),
		},
		{
			Name: "hidden-live-addition/port-of-a-service", App: "storefront-metrics-port",
			Cause:  "somebody adds a port to a Service with kubectl edit",
			Files:  git(storefrontService),
			Inject: patch("kubectl-edit", onService, `[{op: add, path: /spec/ports/-, value: {name: metrics, port: 9090, targetPort: 9090, protocol: TCP}}]`),
		},
	}
}

func furtherApplies() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "foreign-apply/pulumi-stack", App: "gallery-pulumi",
			Cause: "a Pulumi stack of the infrastructure team applies its own copy of an Ingress",
			Files: git(gallery), SyncPolicy: serverSideApply,
			Inject: apply("pulumi-kubernetes-3f2a91bc", replaced(gallery, "20m", "8m", "ingressClassName: public", "ingressClassName: internal")),
		},
		{
			Name: "foreign-apply/flux-helm-release", App: "gallery-flux",
			Cause:  "Flux's helm-controller upgrades a release that has the same HorizontalPodAutoscaler",
			Files:  git(galleryScaler),
			Inject: patch("helm-controller", onAutoscaler+"gallery", `[{op: replace, path: /spec/minReplicas, value: 2}, {op: replace, path: /spec/metrics/0/resource/target/averageUtilization, value: 80}]`),
		},
		{
			Name: "foreign-apply/old-policy-applied", App: "fence-applied",
			Cause:  "somebody runs kubectl apply with an older copy of a NetworkPolicy",
			Files:  git(fence),
			Inject: kubectlApply(replaced(fence, "10.20.0.0/16", "10.0.0.0/8")),
		},
	}
}
