package scenarios

import (
	"context"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

func generationErrors() []recorder.Scenario {
	chart := map[string]string{
		"app/Chart.yaml": chartFile, "app/values.yaml": "cache: {ttl: 10m}\n",
		"app/templates/settings.yaml": replaced(settings, "10m", "{{ .Values.cache.ttl }}"),
	}
	return []recorder.Scenario{
		{
			Name: "manifest-generation-error/value-gone", App: "orders-chart",
			Cause:  "a value that a template needs is taken out of the chart's values",
			Files:  chart,
			Inject: inOrder(commit(map[string]string{"app/values.yaml": "{}\n"}), condition("ComparisonError")),
		},
		{
			Name: "manifest-generation-error/base-moved", App: "pricing",
			Cause: "the base that an overlay builds on is moved",
			Files: map[string]string{
				"base/kustomization.yaml": "resources: [settings.yaml]\n", "base/settings.yaml": settings,
				"app/kustomization.yaml": "resources: [../base]\n",
			},
			SyncPolicy: serverSideApply,
			Inject: inOrder(commit(map[string]string{
				"base/kustomization.yaml": recorder.Removed, "base/settings.yaml": recorder.Removed,
				"bases/shop/kustomization.yaml": "resources: [settings.yaml]\n", "bases/shop/settings.yaml": settings,
			}), condition("ComparisonError")),
		},
		{
			Name: "manifest-generation-error/folder-renamed", App: "reports",
			Cause: "the folder that the Application renders is renamed in Git",
			Files: git(settings, storefrontService),
			Inject: inOrder(commit(map[string]string{
				"app/manifests.yaml": recorder.Removed, "apps/reports/manifests.yaml": stream(settings, storefrontService),
			}), condition("ComparisonError")),
		},
		{
			Name: "manifest-generation-error/broken-indentation", App: "identity",
			Cause: "a commit breaks the indentation of a manifest",
			Files: git(settings), Annotations: serverSideDiff,
			Inject: inOrder(commit(git(replaced(settings, "  region:", "   region:"))), condition("ComparisonError")),
		},
	}
}

// project is an AppProject: %name, and %spec beside what all may do.
const project = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: %name, namespace: argocd}
spec:
  description: %name
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
%spec`

func projectOf(name, spec string) string { return replaced(project, "%name", name, "%spec", spec) }

func inProject(name string) map[string]any { return map[string]any{"project": name} }

func projectRef(name string) string { return "argoproj.io/v1alpha1/AppProject/argocd/" + name }

func projectsNotPermitted() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "project-not-permitted/cluster-role", App: "watcher",
			Cause: "a commit brings a ClusterRole, and the project allows no cluster-scoped kinds",
			Files: git(settings), Spec: inProject("watcher-team"), Cluster: projectOf("watcher-team", ""),
			Inject: inOrder(commit(git(settings, replaced(nodeReader, "node-metrics-reader", "watcher-reader"))), sync()),
		},
		{
			Name: "project-not-permitted/kind-denied", App: "quota-maker",
			Cause: "a commit brings a ResourceQuota, which the project forbids in namespaces", SyncPolicy: serverSideApply,
			Files: git(settings), Spec: inProject("quota-team"),
			Cluster: projectOf("quota-team", "  namespaceResourceBlacklist: [{group: \"\", kind: ResourceQuota}]\n"),
			Inject:  inOrder(commit(git(settings, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: own}\nspec: {hard: {pods: \"40\"}}\n")), sync()),
		},
		{
			Name: "project-not-permitted/destination-narrowed", App: "promo",
			Cause: "the project is narrowed to the staging namespaces, and the Application goes elsewhere",
			Files: git(settings), Spec: inProject("promo-team"), Cluster: projectOf("promo-team", ""),
			Inject: inOrder(patch("kubectl-edit", projectRef("promo-team"), `{spec: {destinations: [{server: "*", namespace: "staging-*"}]}}`), refresh(), waitSeconds(1)),
		},
		{
			Name: "project-not-permitted/repository", App: "cart",
			Cause: "the project comes to allow repositories of another team only",
			Files: git(settings, storefrontService), Spec: inProject("cart-team"), Cluster: projectOf("cart-team", ""),
			Inject: inOrder(patch("kubectl-edit", projectRef("cart-team"), `{spec: {sourceRepos: ["https://git.example.com/checkout/*"]}}`), refresh(), waitSeconds(1)),
		},
		{
			Name: "project-not-permitted/other-namespace", App: "leader",
			Cause: "a commit brings a Role for a namespace that is no destination of the project",
			Files: git(settings), Spec: inProject("leader-team"), Cluster: projectOf("leader-team", ""),
			Inject: inOrder(patch("kubectl-edit", projectRef("leader-team"), `{spec: {destinations: [{server: "*", namespace: leader}]}}`),
				commit(git(settings, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: leader-reader, namespace: kube-system}\nrules: [{apiGroups: [\"\"], resources: [configmaps], verbs: [get]}]\n")), sync()),
		},
	}
}

func syncWindows() []recorder.Scenario {
	const (
		deny  = `{kind: deny, schedule: "* * * * *", duration: 24h, applications: ["*"]}`
		allow = `{kind: allow, schedule: "0 4 29 2 *", duration: 1h, applications: ["*"]}`
	)
	window := func(name, spec string) action {
		return patch("kubectl-edit", projectRef(name), "{spec: {syncWindows: ["+spec+"]}}")
	}
	return []recorder.Scenario{
		{
			Name: "sync-window-blocked/freeze-holds-auto-sync", App: "checkout-frozen",
			Cause: "a deny window of the project is open, and auto-sync does not take a new commit",
			Files: git(settings, storefrontService), SyncPolicy: automated(map[string]any{"selfHeal": true}),
			Spec: inProject("freeze"), Cluster: projectOf("freeze", ""),
			Inject: inOrder(window("freeze", deny), commit(git(replaced(settings, "10m", "1h"), storefrontService)), refresh(), waitSeconds(2)),
		},
		{
			Name: "sync-window-blocked/outside-the-only-window", App: "ledger-limits",
			Cause: "the project allows syncs at another time only, and a commit comes now",
			Files: git(storefrontService, settings), SyncPolicy: with(serverSideApply, automated(map[string]any{"prune": true})),
			Spec: inProject("leap-day"), Cluster: projectOf("leap-day", ""),
			Inject: inOrder(window("leap-day", allow), commit(git(replaced(storefrontService, "targetPort: http", "targetPort: 8081"), settings)), refresh(), waitSeconds(2)),
		},
		{
			Name: "sync-window-blocked/caught-while-running", App: "settlement",
			Cause: "a deny window opens while a sync runs, and the next step of the sync waits for it to close",
			Files: git(settings), Spec: inProject("settling"), Cluster: projectOf("settling", ""),
			Inject: inOrder(commit(git(replaced(settings, "eu-central-1", "eu-west-2"), hookJob("migrate", "PreSync"))),
				startSync(waitingFor("migrate")), window("settling", deny), waitSeconds(1), ended("batch/v1/Job/migrate"),
				awaitMessage("Sync operation blocked by sync window")),
		},
	}
}

// noRetry is an automated sync policy that tries once.
func noRetry(options map[string]any) map[string]any {
	return with(automated(options), map[string]any{"retry": map[string]any{"limit": int64(1), "backoff": map[string]any{"duration": "1s"}}})
}

// absentWebhook is a validating webhook of %name whose backend is not there.
const absentWebhook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %name}
webhooks:
- name: validate.%name.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 3
  clientConfig: {url: "https://127.0.0.1:9/validate"}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NAMESPACE}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [%resources]}]
`

func webhookAway(name, resources string) action {
	unreachable := func(_ context.Context, s *recorder.Stage) error {
		s.Scrub("127.0.0.1:9", "10.0.0.71:443")
		return nil
	}
	return inOrder(unreachable, create("helm", replaced(absentWebhook, "%name", name, "%resources", resources)), waitSeconds(1.5))
}

func webhookBack(name string) action {
	return inOrder(remove("admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration/"+name), waitSeconds(1.5))
}

func gaveUp() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "autosync-gave-up/policy-engine-was-away", App: "inventory",
			Cause: "the policy engine's webhook was away while auto-sync tried a commit; it is gone since, and auto-sync does not try the commit again",
			Files: git(settings), SyncPolicy: noRetry(map[string]any{}),
			Inject: inOrder(webhookAway("policy-engine", "configmaps"), commit(git(replaced(settings, "10m", "25m"))),
				condition("SyncError"), webhookBack("policy-engine"), refresh()),
		},
		{
			Name: "autosync-gave-up/quota-was-full", App: "scratch-claims",
			Cause: "the quota had no room while auto-sync tried; it was raised since, and auto-sync does not try again",
			Files: git(settings), SyncPolicy: with(serverSideApply, noRetry(map[string]any{"prune": true})),
			Cluster: "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: claims}\nspec: {hard: {persistentvolumeclaims: \"0\"}}\n",
			Related: []string{"v1/ResourceQuota/claims"},
			Inject: inOrder(status(kcm, "v1/ResourceQuota/claims", `{hard: {persistentvolumeclaims: "0"}, used: {persistentvolumeclaims: "0"}}`), waitSeconds(1),
				commit(git(settings, replaced(claim, "%s", ""))), condition("SyncError"),
				patch("kubectl-edit", "v1/ResourceQuota/claims", `{spec: {hard: {persistentvolumeclaims: "5"}}}`),
				status(kcm, "v1/ResourceQuota/claims", `{hard: {persistentvolumeclaims: "5"}, used: {persistentvolumeclaims: "0"}}`), refresh()),
		},
		{
			Name: "autosync-gave-up/crd-came-later", App: "dashboards",
			Cause: "the CRD was not there when auto-sync tried; it was installed since, and auto-sync does not try again",
			Files: git(settings), SyncPolicy: noRetry(map[string]any{"selfHeal": false}),
			Inject: inOrder(commit(git(settings, "apiVersion: boards.example.com/v1\nkind: Board\nmetadata: {name: golden-signals}\nspec: {rows: 3}\n")),
				condition("SyncError"), apply("helm", boards), waitSeconds(3), refresh()),
		},
		{
			Name: "autosync-gave-up/still-retrying-a-denied-commit", App: "dispatch",
			Cause: "auto-sync keeps retrying a commit that a policy denies, while Git already has the next one",
			Files: git(settings), SyncPolicy: with(automated(map[string]any{}), map[string]any{
				"retry": map[string]any{"limit": int64(5), "backoff": map[string]any{"duration": "10m"}},
			}),
			Inject: inOrder(policy("%name", "known-regions", "%group", "\"\"", "%resources", "configmaps",
				"%expression", `!has(object.data.region) || object.data.region.startsWith("eu-")`, "%message", "the region is not one of ours"),
				commit(git(replaced(settings, "eu-central-1", "us-east-1"))), refresh(), awaitMessage("one or more objects failed to apply"),
				commit(git(replaced(settings, "eu-central-1", "eu-west-1")))),
		},
	}
}

const boards = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boards.boards.example.com}
spec:
  group: boards.example.com
  names: {kind: Board, listKind: BoardList, plural: boards, singular: board}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {rows: {type: integer}}}}
`

func emptyGuards() []recorder.Scenario {
	prune := automated(map[string]any{"prune": true})
	const raised = "SyncError"
	return []recorder.Scenario{
		{
			Name: "autosync-empty-guard/all-behind-a-flag", App: "session-cache",
			Cause: "the chart's values switch everything off, and auto-sync with prune refuses to delete all",
			Files: map[string]string{
				"app/Chart.yaml": chartFile, "app/values.yaml": "enabled: true\n",
				"app/templates/settings.yaml": "{{- if .Values.enabled }}\n" + settings + "{{- end }}\n",
			},
			SyncPolicy: prune,
			Inject:     inOrder(commit(map[string]string{"app/values.yaml": "enabled: false\n"}), condition(raised)),
		},
		{
			Name: "autosync-empty-guard/manifests-moved", App: "flags",
			Cause: "the manifests are moved to another folder, and auto-sync with prune refuses to delete all",
			Files: git(settings, storefrontService), SyncPolicy: with(prune, serverSideApply),
			Inject: inOrder(commit(map[string]string{
				"app/manifests.yaml": recorder.Removed, "app/README.md": "Moved to apps/flags.\n", "apps/flags/manifests.yaml": settings,
			}), condition(raised)),
		},
		{
			Name: "autosync-empty-guard/kustomize-without-resources", App: "themes",
			Cause:      "a merge empties the list of resources of a kustomization, and auto-sync with prune refuses to delete all",
			Files:      map[string]string{"app/kustomization.yaml": "resources: [settings.yaml]\n", "app/settings.yaml": settings},
			SyncPolicy: automated(map[string]any{"prune": true, "selfHeal": true}),
			Inject:     inOrder(commit(map[string]string{"app/kustomization.yaml": "namePrefix: shop-\nresources: []\n"}), condition(raised)),
		},
	}
}
