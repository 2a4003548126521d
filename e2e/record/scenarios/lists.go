package scenarios

import (
	"slices"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

func reorderedLists() []recorder.Scenario {
	names := replaced(certificate, "[www.shop.example.com, shop.example.com, api.shop.example.com]", "[shop.example.com, api.shop.example.com]")
	scaler := replaced(autoscalerOf("apps/v1", "Deployment", "storefront"), "  metrics:\n",
		"  metrics:\n  - type: Resource\n    resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}\n")
	swap := func(steps ...any) func(map[string]any) {
		return func(object map[string]any) {
			if list, ok := follow(object, steps).([]any); ok {
				slices.Reverse(list)
			}
		}
	}
	return []recorder.Scenario{
		{
			Name: "list-reordered/names-of-a-certificate", App: "certificate-order",
			Cause: "a controller writes the names of a Certificate back in alphabetical order",
			Files: git(names), CRDs: []string{crdCertificate},
			Inject: rewrite("certificate-policy-controller", onCertificate, swap("spec", "dnsNames")),
		},
		{
			Name: "list-reordered/metrics-of-an-autoscaler", App: "storefront-metrics",
			Cause: "the metrics of a HorizontalPodAutoscaler come back in another order, with cpu first",
			Files: git(scaler), SyncPolicy: serverSideApply,
			Inject: rewrite("autoscaling-operator", onAutoscaler+"storefront", swap("spec", "metrics")),
		},
		{
			Name: "list-reordered/tolerations", App: "agent-tolerations",
			Cause: "an operator sorts the tolerations of a DaemonSet",
			Files: git(replaced(nodeAgent, "      - {operator: Exists, effect: NoSchedule}\n",
				"      - {key: spot, operator: Exists, effect: NoSchedule}\n      - {key: gpu, operator: Exists, effect: NoSchedule}\n")),
			Inject: rewrite("node-operator", onNodeAgent, swap("spec", "template", "spec", "tolerations")),
		},
	}
}

func emptyValues() []recorder.Scenario {
	annotated := replaced(storefront, "  template:\n    metadata:\n", "  template:\n    metadata:\n      annotations:\n")
	return []recorder.Scenario{
		{
			Name: "empty-vs-absent/null-annotations", App: "storefront-null",
			Cause:  "the template's annotations are null in Git, and somebody restarts the Deployment",
			Files:  git(annotated),
			Inject: patch("kubectl-rollout", onStorefront, `{spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: "2026-04-16T14:05:11+02:00"}}}}}`),
		},
		{
			Name: "empty-vs-absent/null-selector", App: "agent-null",
			Cause:  "a chart renders a null map, in which an operator has a key of its own",
			Files:  git(replaced(nodeAgent, "      serviceAccountName", "      nodeSelector:\n      serviceAccountName")),
			Inject: patch("node-operator", onNodeAgent, `{spec: {template: {spec: {nodeSelector: {node.example.com/monitored: "true"}}}}}`),
		},
		{
			Name: "explicit-default-dropped/empty-list-and-map", App: "backup-empty",
			Cause: "Git sets an empty list and an empty map, which the operator writes back without",
			Files: git(backup("  allowed: []\n  nodeSelector: {}\n")), Cluster: backupCRD, Annotations: serverSideDiff,
			Inject: rewrite("backup-operator", onBackup, func(object map[string]any) {
				unset(object, "spec", "allowed")
				unset(object, "spec", "nodeSelector")
			}),
		},
		{
			Name: "empty-vs-absent/empty-budget", App: "budget-empty",
			Cause:  "a chart renders an empty text for the number of a PodDisruptionBudget",
			Files:  git(replaced(storefrontBudget, "minAvailable: 2", "maxUnavailable: 1")),
			Inject: commit(git(replaced(storefrontBudget, "minAvailable: 2", `maxUnavailable: ""`))),
		},
	}
}
