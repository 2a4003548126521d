package scenarios

import (
	"context"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// batchJobs is the CRD of another Job than that of Kubernetes.
const batchJobs = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.batch.volcano.sh}
spec:
  group: batch.volcano.sh
  names: {kind: Job, listKind: JobList, plural: jobs, singular: job, shortNames: [vcjob]}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

const simulation = `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: simulate}
spec: {minAvailable: 4, queue: research, ttlSecondsAfterFinished: 120}
`

const alerts = `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: cellar}
spec:
  groups:
  - name: latency
    rules: [{alert: SlowQueries, expr: cellar_query_seconds > 1, for: 5m}]
`

const oldAlerts = `  - name: disks
    rules: [{alert: DiskFull, expr: cellar_disk_free < 0.1, for: 10m}]
`

func furtherOwnership() []recorder.Scenario {
	const simulated, rules = "batch.volcano.sh/v1alpha1/Job/simulate", "monitoring.coreos.com/v1/PrometheusRule/cellar"
	return []recorder.Scenario{
		{
			Name: "resource-missing/account-and-binding", App: "press-deleted",
			Cause:  "somebody deletes a ServiceAccount and the RoleBinding that names it",
			Files:  git(pressAccount, pressRole, pressBinding),
			Inject: remove(onAccount, onBinding),
		},
		{
			Name: "git-ahead/role-and-binding", App: "press-widened",
			Cause: "a verb and a subject are committed and not synced yet", Annotations: serverSideDiff,
			Files:  git(pressRole, pressBinding),
			Inject: commit(git(replaced(pressRole, "watch]", "watch, update]"), replaced(pressBinding, "$NAMESPACE}]", "$NAMESPACE}, {kind: ServiceAccount, name: editor, namespace: $NAMESPACE}]"))),
		},
		{
			// Argo CD makes a RoleBinding anew when its Role changes and it applies client-side.
			Name: "git-ahead/role-of-a-binding", App: "press-moved",
			Cause: "another Role for a RoleBinding is committed and not synced yet", Files: git(pressRole, pressBinding),
			Inject: commit(git(pressRole, replaced(pressBinding, "kind: Role, name: press", "kind: Role, name: press-editor"))),
		},
		{
			Name: "ttl-deleted/job-of-another-scheduler", App: "simulations", Cluster: batchJobs,
			Cause:  "a batch scheduler's own Job has finished, and its controller deletes it after its time to live",
			Files:  git(settings, simulation),
			Inject: inOrder(status("vc-controller-manager", simulated, `{state: {phase: Completed, lastTransitionTime: "2026-03-02T10:00:00Z"}, succeeded: 4}`), refresh(), remove(simulated)),
		},
		{
			Name: "shared-resource/role-tracked-by-label", App: "press-north", Settings: labelTracking,
			Cause:  "a second Application renders the same Role with fewer verbs and was synced last, and both track by label",
			Files:  rivals(stream(pressRole, settings), replaced(pressRole, "list, watch]", "list]")),
			Inject: rival("press-south", ""), Related: []string{"argoproj.io/v1alpha1/Application/argocd/press-south"},
		},
		{
			Name: "tracking-missing/ingress-made-by-hand", App: "gallery-adopted", Settings: labelTracking,
			Cause: "an Ingress was created with kubectl before the Application was made, which tracks by label",
			Files: git(gallery), Before: create("kubectl-create", gallery), NoSync: true,
		},
		{
			Name: "pending-prune/network-policy-and-binding", App: "fence-dropped",
			Cause: "a NetworkPolicy and a RoleBinding are removed from Git, and auto-sync does not prune",
			Files: git(settings, fence, pressRole, pressBinding), SyncPolicy: automated(map[string]any{"prune": false}),
			Inject: commit(git(settings, pressRole)),
		},
		{
			Name: "hook-leftover/pod-as-a-hook", App: "cellar-checked",
			Cause: "a bare Pod served as PostSync hook, has succeeded and stays",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, `apiVersion: v1
kind: Pod
metadata: {name: check-queries, annotations: {argocd.argoproj.io/hook: PostSync}}
spec: {restartPolicy: Never, containers: [{name: check, image: "registry.example.com/data/check:3", args: [queries]}]}
`)), startSync("waiting for completion of hook /Pod/check-queries"), awaitObject("v1/Pod/check-queries"), status("kubelet", "v1/Pod/check-queries", `{phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted}]}`), awaitEnd()),
		},
		{
			Name: "ssa-coowner-residue/group-of-a-rule", App: "alerts-from-helm",
			Cause: "helm installed a PrometheusRule before Argo CD took it over by server-side apply; Git then drops a group",
			Files: git(alerts + oldAlerts), CRDs: []string{"prometheusrules.monitoring.coreos.com"}, SyncPolicy: serverSideApply,
			Before: create("helm", alerts+oldAlerts),
			Inject: inOrder(commit(git(alerts)), sync()),
		},
	}
}

const renderPriority = `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: render-urgent}
value: 100000
description: frames that somebody waits for
`

func furtherRefusals() []recorder.Scenario {
	first := replaced(gallery, "  annotations: {", "  annotations: {argocd.argoproj.io/sync-wave: \"-1\", ")
	return []recorder.Scenario{
		{
			Name: "immutable-field/parameters-of-a-storage-class", App: "storage-rebuilt",
			Cause: "Git changes a parameter of a StorageClass, and the sync fails", Files: git(replaced(fastStorage, "fast-replicated", "fast-rebuilt")),
			Inject: inOrder(commit(git(replaced(fastStorage, "fast-replicated", "fast-rebuilt", `replicas: "2"`, `replicas: "3"`))), sync()),
		},
		{
			Name: "immutable-field/value-of-a-priority-class", App: "render-priorities",
			Cause: "Git raises the value of a PriorityClass, and the sync fails", SyncPolicy: serverSideApply, Files: git(renderPriority, settings),
			Inject: inOrder(commit(git(replaced(renderPriority, "100000", "500000"), settings)), sync()),
		},
		{
			Name: "invalid-manifest/schedule-in-words", App: "digest-words",
			Cause: "Git gives a CronJob a schedule that is none, and the sync fails", Files: git(digest),
			Inject: inOrder(commit(git(replaced(digest, "5 6 * * 1", "every monday"))), sync()),
		},
		{
			Name: "invalid-manifest/bounds-crossed", App: "gallery-bounds",
			Cause: "Git raises the least replicas of a HorizontalPodAutoscaler over the most, and the sync fails", Files: git(galleryScaler), SyncPolicy: serverSideApply,
			Inject: inOrder(commit(git(replaced(galleryScaler, "minReplicas: 3", "minReplicas: 30"))), sync()),
		},
		{
			Name: "wave-blocked/ingress-without-an-address", App: "gallery-wave",
			Cause: "an Ingress of an early wave gets no address for hours, and the next wave waits",
			Files: git(settings),
			Inject: inOrder(commit(git(replaced(settings, "10m", "12m"), first)),
				startSync("waiting for healthy state of networking.k8s.io/Ingress/gallery"), hoursLater(6)),
		},
		{
			Name: "unhealthy-not-drift/autoscaler-without-metrics", App: "gallery-blind",
			Cause: "a HorizontalPodAutoscaler gets no metrics", Files: git(galleryScaler),
			Inject: inOrder(status(kcm, onAutoscaler+"gallery", `{currentReplicas: 3, desiredReplicas: 0, currentMetrics: [], conditions: [{type: AbleToScale, status: "False", reason: FailedGetScale, message: 'the HPA controller was unable to get the target''s current scale: deployments.apps "gallery" not found', lastTransitionTime: "2026-04-16T09:12:44Z"}]}`), hoursLater(9)),
		},
	}
}

func furtherRules() []recorder.Scenario {
	const proxy = "projectcontour.io/v1/HTTPProxy/gallery"
	contoured := "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: gallery}\nspec:\n  ingressClassName: edge-a\n  virtualhost: {fqdn: gallery.example.com}\n  routes: [{services: [{name: gallery, port: 80}]}]\n"
	bothImages := `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.example.com/data/cellar:11.5"}, {op: replace, path: /spec/template/spec/containers/1/image, value: "registry.example.com/data/exporter:0.18"}]`
	respect := withOptions("RespectIgnoreDifferences=true")
	return []recorder.Scenario{
		{
			Name: "ignore-without-respect/all-annotations", App: "gallery-annotated",
			Cause: "somebody changes an annotation of an Ingress, all of whose annotations a rule hides",
			Files: git(gallery), Spec: ignoring(pointers("networking.k8s.io", "Ingress", "/metadata/annotations")),
			Inject: patch("kubectl-annotate", onGallery, `{metadata: {annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 200m}}}`),
		},
		{
			Name: "ignore-without-respect/manager-of-a-tuner", App: "gallery-tuned",
			Cause: "a traffic controller moves a custom resource to another class, and a rule hides what it owns",
			Files: git(contoured), CRDs: []string{"httpproxies.projectcontour.io"}, SyncPolicy: serverSideApply,
			Spec: ignoring(map[string]any{
				"group": "projectcontour.io", "kind": "HTTPProxy", "managedFieldsManagers": []any{"traffic-tuner"},
			}),
			Inject: patch("traffic-tuner", proxy, `{spec: {ingressClassName: edge-b}}`),
		},
		{
			Name: "multiple/half-of-the-images-ignored", App: "cellar-half",
			Cause: "somebody sets the images of both containers of a StatefulSet, and a rule hides that of the first",
			Files: git(cellar), Spec: ignoring(queries("apps", "StatefulSet", `.spec.template.spec.containers[] | select(.name == "store").image`)),
			Inject: patch("kubectl-set", onCellar, bothImages),
		},
		{
			Name: "ca-bundle-injection/second-webhook-not-ignored", App: "vault-half",
			Cause: "an injector fills the CA bundles of two webhooks, and a respected rule covers the first alone", SyncPolicy: respect,
			Files:  git(replaced(vault, "%name", "vault-half")),
			Spec:   ignoring(pointers("admissionregistration.k8s.io", mutating, "/webhooks/0/clientConfig/caBundle")),
			Inject: bothBundles("vault-k8s", "vault-half"),
		},
		{
			Name: "respect-ignore-blocks-change/all-endpoints-by-jq", App: "monitor-blocked",
			Cause: "Git changes the interval of a ServiceMonitor whose endpoints a respected jq rule covers", SyncPolicy: respect,
			Files: git(cellarMonitor), CRDs: []string{crdMonitor}, Spec: ignoring(queries("monitoring.coreos.com", "ServiceMonitor", ".spec.endpoints")),
			Inject: inOrder(commit(git(replaced(cellarMonitor, "30s", "15s"))), sync()),
		},
		{
			Name: "ignore-rule-dead/group-of-the-past", App: "gallery-past",
			Cause: "somebody edits the host of an Ingress; the rule that was meant for it names the group that Ingresses had long ago",
			Files: git(gallery), Spec: ignoring(pointers("extensions", "Ingress", "/spec/rules/0/host")),
			Inject: patch("kubectl-edit", onGallery, `[{op: replace, path: /spec/rules/0/host, value: photos.example.com}]`),
		},
	}
}

const balancedService = `apiVersion: v1
kind: Service
metadata: {name: edge}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  selector: {app: edge}
  ports: [{name: https, port: 443, targetPort: 8443}, {name: quic, port: 443, targetPort: 8443, protocol: UDP}]
`

func furtherQuiet() []recorder.Scenario {
	heal := automated(map[string]any{"selfHeal": true})
	respect := withOptions("RespectIgnoreDifferences=true")
	nothing := replaced(fence, "  ingress:\n  - from: [{podSelector: {matchLabels: {app: checkout}}}]\n    ports: [{port: 9000, protocol: TCP}]\n  egress:\n  - to: [{ipBlock: {cidr: 10.20.0.0/16}}]\n", "  ingress: []\n  egress: []\n")
	token := "apiVersion: v1\nkind: Secret\nmetadata: {name: press-token, annotations: {kubernetes.io/service-account.name: press}}\ntype: kubernetes.io/service-account-token\n"
	healed := func(ctx context.Context, s *recorder.Stage) error {
		for {
			object, err := s.Get(ctx, onFence)
			if err != nil {
				return err
			}
			if follow(object.Object, []any{"spec", "egress", 0, "to", 0, "ipBlock", "cidr"}) == "10.20.0.0/16" {
				break
			}
			if err := waitSeconds(0.2)(ctx, s); err != nil {
				return err
			}
		}
		_, err := s.WaitFor(ctx, func(status controlplane.Status) bool {
			return status.Operation.Phase == "Succeeded" && status.Sync == "Synced"
		})
		return err
	}
	return []recorder.Scenario{
		{
			Name: "none/claim-bound", App: "calm-claim", Cause: "the volume controller binds a claim to a volume",
			Files: git(replaced(claim, "%s", "")),
			Inject: inOrder(patch(kcm, "v1/PersistentVolumeClaim/photos", `{metadata: {annotations: {pv.kubernetes.io/bind-completed: "yes", volume.kubernetes.io/selected-node: worker-1}}, spec: {volumeName: pvc-7c1d}}`),
				bound("v1/PersistentVolumeClaim/photos")),
		},
		{
			Name: "none/balancer-at-work", App: "calm-balancer", Cause: "the API server allocates addresses and node ports for a Service, and the cloud controller gives it a load balancer",
			Files: git(balancedService), SyncPolicy: serverSideApply,
			Inject: inOrder(patch("cloud-controller-manager", "v1/Service/edge", `{metadata: {finalizers: [service.kubernetes.io/load-balancer-cleanup], annotations: {cloud.example.com/balancer-id: lb-4711}}}`),
				status("cloud-controller-manager", "v1/Service/edge", `{loadBalancer: {ingress: [{ip: 192.0.2.44}]}}`)),
		},
		{
			Name: "none/same-manifest-applied", App: "calm-applied", Cause: "somebody runs kubectl apply with the very manifest of Git on an Application that applies server-side",
			Files: git(pressRole, settings), SyncPolicy: serverSideApply,
			Inject: kubectlApply(pressRole),
		},
		{
			Name: "none/healed", App: "calm-healed", Cause: "somebody edits a NetworkPolicy, and self-heal puts it right",
			Files: git(fence), SyncPolicy: heal,
			Inject: inOrder(patch("kubectl-edit", onFence, `[{op: replace, path: /spec/egress/0/to/0/ipBlock/cidr, value: 10.99.0.0/16}]`), healed),
		},
		{
			Name: "none/nothing-allowed", App: "calm-fence", Cause: "a NetworkPolicy allows nothing by empty lists, which the API server leaves out",
			Files: git(nothing, pressAccount+"secrets: []\nimagePullSecrets: []\n"),
		},
		{
			Name: "none/gateway-with-defaults", App: "calm-gateway", Cause: "the CRD of Gateway completes the listeners, which a three-way diff does not show",
			Files: git(publicGateway), CRDs: []string{crdGateway},
			Inject: status("gateway-controller", onGateway, `{conditions: [{type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-04-16T09:12:44Z"}, {type: Programmed, status: "True", reason: Programmed, message: "", lastTransitionTime: "2026-04-16T09:12:44Z"}]}`),
		},
		{
			Name: "none/sidecar-of-a-cron-job", App: "calm-digest", Cause: "a mesh's webhook adds a container and a volume to the template of a CronJob",
			Files: git(digest), SyncPolicy: serverSideApply,
			Before: webhook("mesh-cron", "{apiGroups: [batch], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [cronjobs]}", func(object map[string]any) {
				appended(map[string]any{"name": "proxy", "image": "registry.example.com/mesh/proxy:1.31"}, "spec", "jobTemplate", "spec", "template", "spec", "containers")(object)
				appended(map[string]any{"name": "proxy-state", "emptyDir": map[string]any{}}, "spec", "jobTemplate", "spec", "template", "spec", "volumes")(object)
			}),
			Related: []string{recorder.WebhookRef("mesh-cron")},
		},
		{
			Name: "none/replicas-by-jq-respected", App: "calm-cellar", Cause: "somebody scales a StatefulSet whose replicas a respected jq rule covers",
			Files: git(cellar), SyncPolicy: respect, Spec: ignoring(queries("apps", "StatefulSet", ".spec.replicas")),
			Inject: scale("kubectl", onCellar, 5),
		},
		{
			Name: "none/token-filled", App: "calm-token", Cause: "kube-controller-manager fills the token of a ServiceAccount into a Secret without data",
			Files: git(pressAccount, token),
			Inject: rewrite(kcm, "v1/Secret/press-token", func(object map[string]any) {
				set(object, map[string]any{"namespace": "Y2FsbS10b2tlbg==", "token": "bm90IGEgdG9rZW4="}, "data")
			}),
		},
	}
}
