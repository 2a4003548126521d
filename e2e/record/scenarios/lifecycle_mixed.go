package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// several are Applications with more than one cause at once.
func several() []recorder.Scenario {
	const variable = firstContainer + "/env/0/value"
	return []recorder.Scenario{
		{
			Name: "multiple/edit-and-release-in-one-deployment", App: "storefront-both",
			Cause:  "somebody scales a Deployment by hand, and a new image is committed and not synced yet",
			Files:  git(storefront, storefrontService),
			Inject: inOrder(scale("kubectl", onStorefront, 5), rolledOut(onStorefront), commit(git(replaced(storefront, "1.14.2", "1.15.0"), storefrontService))),
		},
		{
			Name: "multiple/autoscaler-person-and-addition", App: "storefront-three", SyncPolicy: serverSideApply,
			Cause:   "an autoscaler scales a Deployment, somebody raises its log level, and somebody adds a label to it",
			Files:   git(storefront),
			Cluster: autoscalerOf("apps/v1", "Deployment", "storefront"), Related: []string{onAutoscaler + "storefront"},
			Inject: inOrder(autoscaled(onStorefront, "storefront", 6),
				patch("kubectl-edit", onStorefront, `[{op: replace, path: `+variable+`, value: debug}]`),
				patch("kubectl-label", onStorefront, `{metadata: {labels: {on-call: berta}}}`), rolledOut(onStorefront)),
		},
		{
			Name: "multiple/missing-pruned-and-untracked", App: "settings-mess",
			Cause: "a Service is deleted, a Role is removed from Git, and the tracking annotation is taken off a ConfigMap",
			Files: git(settings, storefrontService, tenantReader),
			Inject: inOrder(remove(onService), commit(git(settings, storefrontService)),
				patch("kubectl-annotate", onSettings, `{metadata: {annotations: {argocd.argoproj.io/tracking-id: null}}}`)),
		},
		{
			Name: "multiple/ignored-and-edited", App: "ledger-mixed", Annotations: serverSideDiff,
			Cause: "somebody scales a StatefulSet whose replicas a rule hides, and sets another image",
			Files: git(ledger), Spec: ignoring(pointers("apps", "StatefulSet", "/spec/replicas")),
			Inject: inOrder(scale("kubectl", onLedger, 2),
				patch("kubectl-set", onLedger, `[{op: replace, path: `+firstContainer+`/image, value: "registry.example.com/billing/ledger:2026.2"}]`), rolledOut(onLedger)),
		},
		{
			Name: "multiple/immutable-beside-an-edit", App: "etl-mixed",
			Cause: "Git moves a plain Job to another image, which cannot be, and somebody edits the ConfigMap beside it",
			Files: git(settings, jobOf("name: load", "", "")),
			Inject: inOrder(ended("batch/v1/Job/load"), commit(git(settings, replaced(jobOf("name: load", "", ""), "1.14.2", "1.15.0"))), sync(),
				patch("kubectl-edit", onSettings, `{data: {region: eu-north-1}}`)),
		},
	}
}

// quiet are Applications without drift.
func quiet() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "none/web-application-at-rest", App: "storefront-rest",
			Cause:  "nothing; the controllers have written their status, and the revision of the rollout",
			Files:  git(storefront, storefrontService, settings),
			Inject: inOrder(patch(kcm, onStorefront, `{metadata: {annotations: {deployment.kubernetes.io/revision: "1"}}}`), rolledOut(onStorefront)),
		},
		{
			Name: "none/certificate-is-issued", App: "certificate-rest", CRDs: []string{crdCertificate}, Annotations: serverSideDiff,
			Cause:  "nothing; the controller has issued a Certificate",
			Files:  git(certificate, agentConfig),
			Inject: status("cert-manager-certificates-readiness", onCertificate, `{revision: 1, notAfter: "2027-02-01T10:00:00Z", conditions: [{type: Ready, status: "True", reason: Ready, message: Certificate is up to date and has not expired, lastTransitionTime: "2026-02-01T10:00:00Z"}]}`),
		},
		{
			Name: "none/hook-cleaned-up", App: "orders-clean", SyncPolicy: serverSideApply,
			Cause: "a PreSync Job has succeeded and was deleted by its own policy",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, hookJob("migrate", "PreSync", "argocd.argoproj.io/hook-delete-policy: HookSucceeded"))),
				startSync(waitingFor("migrate")), ended("batch/v1/Job/migrate"), collected("batch/v1/Job/migrate"), awaitEnd()),
		},
		{
			Name: "none/frozen-without-changes", App: "settings-frozen",
			Cause: "a deny window of the project is open, and there is nothing to sync",
			Files: git(settings, tenantReader), SyncPolicy: automated(map[string]any{"selfHeal": true}),
			Spec: inProject("freeze-rest"), Cluster: projectOf("freeze-rest", ""),
			Inject: patch("kubectl-edit", projectRef("freeze-rest"), `{spec: {syncWindows: [{kind: deny, schedule: "* * * * *", duration: 24h, applications: ["*"]}]}}`),
		},
		{
			Name: "none/failed-once-and-repaired", App: "claims-repaired",
			Cause: "a sync was denied by the policy engine, and the one after it succeeded",
			Files: git(settings),
			Inject: inOrder(webhookAway("policy-engine-rest", "configmaps"), commit(git(replaced(settings, "10m", "25m"))), sync(),
				webhookBack("policy-engine-rest"), sync()),
		},
		{
			Name: "none/kubectl-owner-migrated", App: "settings-migrated", SyncPolicy: serverSideApply,
			Cause: "a ConfigMap was applied with kubectl before a server-side apply took all of it over, and Git then dropped a key",
			Files: git(settings), Before: kubectlApply(settings),
			Inject: inOrder(commit(git(replaced(settings, "  region: eu-central-1\n", ""))), sync()),
		},
		{
			Name: "none/extra-objects-left-alone", App: "settings-extra", SyncPolicy: automated(map[string]any{"prune": true, "selfHeal": true}),
			Cause:  "somebody makes a ConfigMap of their own in the namespace",
			Files:  git(settings, tenantReader),
			Inject: create("kubectl-create", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {todo: none}\n"),
		},
	}
}
