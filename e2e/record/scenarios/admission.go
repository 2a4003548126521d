package scenarios

import (
	"strings"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const (
	workloadsRule = "{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments, statefulsets, daemonsets]}"
	backupsRule   = "{apiGroups: [storage.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [backups]}"
)

// eachContainer changes every container of a workload.
func eachContainer(change func(map[string]any)) func(map[string]any) {
	return func(object map[string]any) {
		containers, _ := follow(object, []any{"spec", "template", "spec", "containers"}).([]any)
		for _, container := range containers {
			change(container.(map[string]any))
		}
	}
}

// appended adds items to the list at the steps, unless they are there.
func appended(item any, steps ...any) func(map[string]any) {
	return func(object map[string]any) {
		list, _ := follow(object, steps).([]any)
		for _, present := range list {
			if sameItem(present, item) {
				return
			}
		}
		set(object, append(list, item), steps...)
	}
}

// sameItem tells whether an item is there already: by its name where it has one, for the
// API server may have completed it.
func sameItem(a, b any) bool {
	first, _ := a.(map[string]any)
	second, _ := b.(map[string]any)
	if first["name"] != nil || second["name"] != nil {
		return first["name"] == second["name"]
	}
	return describe(a) == describe(b)
}

func overwrites() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "webhook-overwrite/registry-mirror", App: "storefront-mirror",
			Cause: "a webhook replaces the registry of every image at admission",
			Files: git(storefront, storefrontService),
			Before: webhook("registry-mirror", workloadsRule, eachContainer(func(container map[string]any) {
				container["image"] = strings.Replace(container["image"].(string), "registry.example.com/", "mirror.internal.example.com/", 1)
			})),
			Related: []string{recorder.WebhookRef("registry-mirror")},
		},
		{
			Name: "webhook-overwrite/policy-lowers-limits", App: "storefront-capped",
			Cause: "a policy engine's webhook caps the memory and pulls images always",
			Files: git(replaced(storefront, "        ports:", "        imagePullPolicy: IfNotPresent\n        ports:")), SyncPolicy: serverSideApply,
			Before: webhook("workload-policy", workloadsRule, eachContainer(func(container map[string]any) {
				container["imagePullPolicy"] = "Always"
				set(container, "384Mi", "resources", "limits", "memory")
			})),
			Related: []string{recorder.WebhookRef("workload-policy")},
		},
		{
			Name: "webhook-overwrite/custom-resource", App: "backup-forced",
			Cause: "a webhook moves the schedule of every backup into the window of the platform team",
			Files: git(backup("  suspend: false\n")), Cluster: backupCRD,
			Before: webhook("backup-window", backupsRule, func(object map[string]any) {
				set(object, "15 1 * * *", "spec", "schedule")
			}),
			Related: []string{recorder.WebhookRef("backup-window")},
		},
		{
			Name: "webhook-overwrite/replicas-floor", App: "ledger-floor",
			Cause: "a webhook raises the replicas of every workload to at least seven",
			Files: git(ledger), Settings: labelTracking,
			Before: webhook("replica-floor", workloadsRule, func(object map[string]any) {
				set(object, int64(7), "spec", "replicas")
			}),
			Related: []string{recorder.WebhookRef("replica-floor")},
		},
	}
}

func injections() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "webhook-injection/toleration", App: "agent-tolerated",
			Cause: "a webhook appends a toleration to every workload that has some",
			Files: git(nodeAgent),
			Before: webhook("spot-tolerations", workloadsRule, appended(
				map[string]any{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}, "spec", "template", "spec", "tolerations")),
			Related: []string{recorder.WebhookRef("spot-tolerations")},
		},
		{
			Name: "webhook-injection/argument", App: "ledger-argument",
			Cause: "a webhook appends an argument to every container",
			Files: git(ledger), SyncPolicy: serverSideApply,
			Before: webhook("tracing-arguments", workloadsRule, eachContainer(func(container map[string]any) {
				appended("--otel-endpoint=otel.observability:4317", "args")(container)
			})),
			Related: []string{recorder.WebhookRef("tracing-arguments")},
		},
		{
			Name: "webhook-injection/list-of-a-custom-resource", App: "backup-allowed",
			Cause: "a webhook appends an address to the list of every backup",
			Files: git(backup("  allowed: [10.0.0.1]\n")), Cluster: backupCRD,
			Before:  webhook("backup-network", backupsRule, appended("10.9.0.0/16", "spec", "allowed")),
			Related: []string{recorder.WebhookRef("backup-network")},
		},
		{
			Name: "webhook-injection/kind-of-a-reference", App: "route-kind",
			Cause: "a webhook completes the items of a list of a custom resource",
			Files: git(virtualService), CRDs: []string{crdVirtual}, SyncPolicy: serverSideApply,
			Before: webhook("mesh-defaults", "{apiGroups: [networking.istio.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [virtualservices]}", func(object map[string]any) {
				set(object, "15s", "spec", "http", 0, "timeout")
			}),
			Related: []string{recorder.WebhookRef("mesh-defaults")},
		},
	}
}
