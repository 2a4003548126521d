package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const bareRoute = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec:
  parentRefs: [{name: public}]
  hostnames: [shop.example.com]
  rules:
  - backendRefs: [{name: storefront, port: 80}]
`

const storage = `  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 20Gi}}
`

func listDefaults() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "crd-list-default/external-secret", App: "payment-keys",
			Cause: "the CRD of ExternalSecret adds its defaults to every item of data",
			Files: git(externalSecret), CRDs: []string{crdExternalSecret}, SyncPolicy: serverSideApply,
		},
		{
			Name: "crd-list-default/http-route", App: "shop-route",
			Cause: "the CRD of HTTPRoute adds group, kind, weight and matches to items of lists",
			Files: git(bareRoute), CRDs: []string{crdRoute}, SyncPolicy: serverSideApply,
		},
		{
			Name: "crd-list-default/collateral-of-an-edit", App: "payment-keys-edit",
			Cause: "somebody edits one item of data; the three-way diff then shows every default of the list",
			Files: git(externalSecret), CRDs: []string{crdExternalSecret},
			Inject: patch("kubectl-edit", onSecret, `[{op: replace, path: /spec/data/0/remoteRef/property, value: public-v2}]`),
		},
		{
			Name: "crd-list-default/collateral-of-a-null", App: "payment-keys-null",
			Cause: "an item of a list has a null in Git, which makes the three-way diff show every default of the list",
			Files: git(replaced(externalSecret, "property: public}", "property: public, version: null}")), CRDs: []string{crdExternalSecret},
		},
		{
			Name: "crd-list-default/resource-option", App: "payment-keys-option",
			Cause: "the CRD adds its defaults to the items of an ExternalSecret that alone asks for server-side apply",
			Files: git(replaced(externalSecret, "  name: payment-keys\nspec", "  name: payment-keys\n  annotations: {argocd.argoproj.io/sync-options: ServerSideApply=true}\nspec")),
			CRDs:  []string{crdExternalSecret},
		},
	}
}

func volumeClaims() []recorder.Scenario {
	// Argo CD predicts a creationTimestamp of null beside what the API server completes.
	two := storage + replaced(storage, "  volumeClaimTemplates:\n", "", "name: data", "name: wal", "20Gi", "5Gi")
	return []recorder.Scenario{
		{
			Name: "sts-volumeclaimtemplate/one-claim", App: "ledger-claim",
			Cause: "the API server completes a volume claim template of a StatefulSet",
			Files: git(ledger + storage), SyncPolicy: serverSideApply,
		},
		{
			Name: "sts-volumeclaimtemplate/two-claims", App: "ledger-claims",
			Cause: "the API server completes both volume claim templates of a StatefulSet",
			Files: git(ledger + two), SyncPolicy: serverSideApply,
		},
		{
			Name: "sts-volumeclaimtemplate/option-of-the-resource", App: "ledger-claim-option",
			Cause: "the API server completes a volume claim template of a StatefulSet that alone asks for server-side apply",
			Files: git(replaced(ledger, "  name: ledger\nspec:", "  name: ledger\n  annotations: {argocd.argoproj.io/sync-options: ServerSideApply=true}\nspec:") + storage),
		},
	}
}

func statusInGit() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "status-in-git/exported-certificate", App: "certificate-exported",
			Cause: "a Certificate was exported to Git with its status, and Argo CD compares status",
			Files: git(certificate + "status:\n  revision: 3\n  notAfter: \"2026-05-01T10:00:00Z\"\n"), CRDs: []string{crdCertificate},
			Settings: compareStatus,
			Inject: status("cert-manager-certificates-issuing", onCertificate,
				`{revision: 5, notAfter: "2026-07-30T10:00:00Z", conditions: [{type: Ready, status: "True", reason: Ready, message: Certificate is up to date, lastTransitionTime: "2026-05-01T10:00:00Z"}]}`),
		},
		{
			Name: "status-in-git/exported-budget", App: "budget-exported",
			Cause: "a PodDisruptionBudget was exported to Git with its status, and Argo CD v2 compares status of all but CRDs",
			Files: git(storefrontBudget + "status: {currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 1, expectedPods: 3}\n"),
			Inject: status("kube-controller-manager", "policy/v1/PodDisruptionBudget/storefront",
				`{currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0, expectedPods: 3, observedGeneration: 1}`),
		},
		{
			Name: "status-in-git/never-reached", App: "route-exported",
			Cause: "a VirtualService was exported to Git with a status that nobody writes, and Argo CD compares status",
			Files: git(virtualService + "status:\n  observedGeneration: \"2\"\n"), CRDs: []string{crdVirtual}, Settings: compareStatus,
		},
	}
}

// oldCRD is a CRD as older generators write it.
const oldCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %plural.tasks.example.com}
spec:
  group: tasks.example.com
  names: {kind: %kind, listKind: %kindList, plural: %plural, singular: %singular}
  scope: Namespaced
  preserveUnknownFields: false
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {steps: {type: array, items: {type: string}}}}}}}
`

// compareStatus makes Argo CD compare the status of everything.
var compareStatus = map[string]string{"resource.compareoptions": "ignoreResourceStatusField: \"off\"\n"}

// ignoreStatus makes Argo CD compare the status of nothing, as v3 does by itself. It then
// no longer leaves preserveUnknownFields of CRDs out.
var ignoreStatus = map[string]string{"resource.compareoptions": "ignoreResourceStatusField: all\n"}

func preserveUnknown() []recorder.Scenario {
	crd := func(kind, singular string) string {
		return replaced(oldCRD, "%kind", kind, "%plural", singular+"s", "%singular", singular)
	}
	return []recorder.Scenario{
		{
			Name: "crd-preserve-unknown-fields/old-chart", App: "tasks-chart",
			Cause: "a chart's CRD says preserveUnknownFields: false, which the API server never returns",
			Files: git(crd("Task", "task")), Settings: ignoreStatus,
		},
		{
			Name: "crd-preserve-unknown-fields/server-side-apply", App: "tasks-apply",
			Cause: "a CRD applied server-side says preserveUnknownFields: false",
			Files: git(crd("Errand", "errand"), settings), SyncPolicy: serverSideApply, Settings: ignoreStatus,
		},
		{
			Name: "crd-preserve-unknown-fields/every-status-compared", App: "tasks-status",
			Cause: "a CRD says preserveUnknownFields: false in an instance that compares every status",
			Files: git(crd("Chore", "chore")), Settings: compareStatus,
		},
	}
}

// labelTracking is the way Argo CD v2 tracks by itself.
var labelTracking = map[string]string{"application.resourceTrackingMethod": "label"}
