package scenarios

import (
	"slices"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const fastStorage = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast-replicated}
provisioner: csi.storage.example.com
allowVolumeExpansion: false
reclaimPolicy: Delete
volumeBindingMode: WaitForFirstConsumer
parameters: {replicas: "2"}
`

const containerSizes = `apiVersion: v1
kind: LimitRange
metadata: {name: sizes}
spec:
  limits:
  - type: Container
    default: {cpu: 500m, memory: 512Mi}
    defaultRequest: {cpu: 100m, memory: 128Mi}
`

const workers = `apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: workers}
spec:
  clusterName: shop
  replicas: 3
  selector: {matchLabels: {pool: workers}}
  template:
    metadata: {labels: {pool: workers}}
    spec:
      clusterName: shop
      version: v1.34.2
      bootstrap: {dataSecretName: workers-bootstrap}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: workers}
`

func furtherControllers() []recorder.Scenario {
	balanced := replaced(rollout, "        istio:\n          virtualService: {name: storefront, routes: [primary]}\n",
		"        alb: {ingress: gallery, servicePort: 80, rootService: gallery}\n")
	const action = "alb.ingress.kubernetes.io/actions.gallery"
	forward := func(stable, canary string) string {
		return `{"type":"forward","forwardConfig":{"targetGroups":[{"serviceName":"storefront-stable","servicePort":"80","weight":` + stable +
			`},{"serviceName":"storefront-canary","servicePort":"80","weight":` + canary + `}]}}`
	}
	ingress := replaced(gallery, "{nginx.ingress.kubernetes.io/proxy-body-size: 20m}", "{"+action+": '"+forward("100", "0")+"'}")
	const storage, budget, machines = "storage.k8s.io/v1/StorageClass/fast-replicated", "policy/v1/PodDisruptionBudget/storefront", "cluster.x-k8s.io/v1beta2/MachineDeployment/workers"
	return []recorder.Scenario{
		{
			Name: "progressive-delivery/annotation-of-an-ingress", App: "canary-balancer",
			Cause: "Argo Rollouts shifts traffic in the annotation of an Ingress that a cloud load balancer reads",
			Files: git(balanced, ingress, canaryServices), CRDs: []string{crdRollout},
			Inject: patch("rollouts-controller", onGallery, `{metadata: {annotations: {`+action+`: '`+forward("80", "20")+`'}}}`),
		},
		{
			Name: "operator-writeback/image-of-a-bot", App: "cellar-bot",
			Cause: "a bot that watches a registry writes the newest image into a StatefulSet",
			Files: git(cellar),
			Inject: rewrite("keel", onCellar, func(object map[string]any) {
				set(object, "registry.example.com/data/cellar:11.4.1", "spec", "template", "spec", "containers", 0, "image")
			}),
		},
		{
			Name: "operator-writeback/budget-of-an-operator", App: "budget-managed",
			Cause: "an operator with the manager name of its framework lowers a PodDisruptionBudget",
			Files: git(storefrontBudget), SyncPolicy: serverSideApply,
			Inject: rewrite("manager", budget, func(object map[string]any) { set(object, int64(1), "spec", "minAvailable") }),
		},
		{
			Name: "operator-writeback/storage-class", App: "storage-classes",
			Cause: "a storage operator allows the expansion of a StorageClass", Annotations: serverSideDiff,
			Files:  git(fastStorage),
			Inject: rewrite("storage-operator", storage, func(object map[string]any) { set(object, true, "allowVolumeExpansion") }),
		},
		{
			Name: "operator-writeback/defaults-of-a-tenant", App: "sizes-of-a-tenant",
			Cause: "a tenancy operator writes its own defaults into a LimitRange",
			Files: git(containerSizes), SyncPolicy: serverSideApply,
			Inject: rewrite("capsule", "v1/LimitRange/sizes", func(object map[string]any) {
				set(object, "250m", "spec", "limits", 0, "default", "cpu")
			}),
		},
		{
			// No HorizontalPodAutoscaler is there: this is another controller's field.
			Name: "operator-writeback/machines-scaled", App: "machines-scaled",
			Cause: "cluster-autoscaler scales a MachineDeployment through the scale subresource",
			Files: git(workers), CRDs: []string{crdMachines},
			Inject: scale("cluster-autoscaler", machines, 5),
		},
		{
			Name: "list-reordered/values-of-a-requirement", App: "pool-order",
			Cause: "the controller writes the values of a NodePool's requirement back in alphabetical order", Annotations: serverSideDiff,
			Files: git(replaced(nodePool, "%name", "pool-order")), CRDs: []string{crdPool},
			Inject: rewrite("karpenter", "karpenter.sh/v1/NodePool/pool-order", func(object map[string]any) {
				slices.Reverse(follow(object, []any{"spec", "template", "spec", "requirements", 0, "values"}).([]any))
			}),
		},
		{
			Name: "quantity-format/limits-of-a-node-pool", App: "pool-limits",
			Cause: "the controller writes the limits of a NodePool back in canonical quantities", SyncPolicy: serverSideApply,
			Files: git(replaced(nodePool, "%name", "pool-limits", `cpu: "200", memory: 800Gi`, "cpu: 200000m, memory: 1024Gi")), CRDs: []string{crdPool},
			Inject: rewrite("karpenter", "karpenter.sh/v1/NodePool/pool-limits", func(object map[string]any) {
				set(object, "200", "spec", "limits", "cpu")
				set(object, "1Ti", "spec", "limits", "memory")
			}),
		},
	}
}

// vault is a webhook configuration with two webhooks: %name.
const vault = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: %name}
webhooks:
- name: pods.%name.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  timeoutSeconds: 10
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NAMESPACE}}
  clientConfig: {caBundle: "", service: {name: injector, namespace: $NAMESPACE, path: /pods}}
  rules: [{apiGroups: [vault.example.com], apiVersions: [v1], operations: [CREATE], resources: [leases]}]
- name: secrets.%name.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  timeoutSeconds: 10
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NAMESPACE}}
  clientConfig: {caBundle: "", service: {name: injector, namespace: $NAMESPACE, path: /secrets}}
  rules: [{apiGroups: [vault.example.com], apiVersions: [v1], operations: [CREATE], resources: [tokens]}]
`

// bothBundles fills the bundles of both webhooks.
func bothBundles(manager, name string) action {
	return rewrite(manager, "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration/"+name, func(object map[string]any) {
		bundle := caBundle(name)
		set(object, bundle, "webhooks", 0, "clientConfig", "caBundle")
		set(object, bundle, "webhooks", 1, "clientConfig", "caBundle")
	})
}

func furtherMixed() []recorder.Scenario {
	const registration = "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration/"
	balanced := replaced(storefrontService, "spec:\n", "spec:\n  type: NodePort\n  externalTrafficPolicy: Cluster\n  sessionAffinity: None\n")
	return []recorder.Scenario{
		{
			Name: "multiple/quota-raised-in-a-browser", App: "quota-raised",
			Cause:  "somebody raises a ResourceQuota in a web console and adds a further limit",
			Files:  git(teamQuota),
			Inject: patch("Mozilla", "v1/ResourceQuota/team", `{spec: {hard: {pods: "60", requests.nvidia.com/gpu: "2"}}}`),
		},
		{
			Name: "multiple/two-bundles-and-a-timeout", App: "vault-bundles",
			Cause: "an injector fills the CA bundles of its two webhooks, and somebody lowers the timeout of one",
			Files: git(replaced(vault, "%name", "vault-bundles", `caBundle: ""`, "caBundle: "+caBundle("before"))), SyncPolicy: serverSideApply,
			Inject: inOrder(bothBundles("vault-k8s", "vault-bundles"), patch("kubectl-edit", registration+"vault-bundles", `[{op: replace, path: /webhooks/0/timeoutSeconds, value: 3}]`)),
		},
		{
			Name: "multiple/claims-and-an-autoscaler", App: "cellar-scaled",
			Cause: "the API server completes the claims of a StatefulSet that the HorizontalPodAutoscaler scales",
			Files: git(cellar+storage, autoscalerOf("apps/v1", "StatefulSet", "cellar")), SyncPolicy: serverSideApply,
			Inject: autoscaled(onCellar, "cellar", 4),
		},
		{
			// What the API server fills in beside the affinity goes with it when that is set back.
			Name: "multiple/traffic-policy-and-affinity", App: "service-affinity",
			Cause: "a webhook changes the traffic policy of a Service, and somebody sets its session affinity",
			Files: git(balanced),
			Before: webhook("traffic-policy", "{apiGroups: [\"\"], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [services]}", func(object map[string]any) {
				set(object, "Local", "spec", "externalTrafficPolicy")
			}),
			Inject:  patch("kubectl-patch", onService, `{spec: {sessionAffinity: ClientIP}}`),
			Related: []string{recorder.WebhookRef("traffic-policy")},
		},
		{
			Name: "multiple/aggregated-and-labelled-anew", App: "gallery-curator",
			Cause: "kube-controller-manager aggregates the rules of a ClusterRole, and somebody changes one of its labels",
			Files: git(replaced(aggregatedRole, "metadata: {name: %name}", "metadata: {name: gallery-curator, labels: {audience: staff}}", "%name", "gallery-curator", "%rules", "[]")),
			Inject: inOrder(
				apply("clusterrole-aggregation-controller", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: gallery-curator}\nrules: [{apiGroups: [gallery.example.com], resources: [pictures], verbs: [get, list]}]\n"),
				patch("kubectl-label", "rbac.authorization.k8s.io/v1/ClusterRole/gallery-curator", `{metadata: {labels: {audience: everybody}}}`)),
		},
	}
}
