package scenarios

import (
	"strings"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// volumes are the claims of the ledger.
const volumes = `  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 10Gi}}
`

func pinnedService(address string) string {
	return replaced(ingressService, "spec:\n", "spec:\n  clusterIP: "+address+"\n")
}

func immutableFields() []recorder.Scenario {
	const nameLabel = "labels: {app.kubernetes.io/name: storefront}\n    spec"
	return []recorder.Scenario{
		{
			Name: "immutable-field/selector-of-a-deployment", App: "storefront-tier",
			Cause: "Git adds a label to a Deployment's selector, and the sync fails",
			Files: git(storefront),
			Inject: inOrder(rolledOut(onStorefront), commit(git(replaced(storefront,
				"matchLabels: {", "matchLabels: {tier: web, ", nameLabel, strings.Replace(nameLabel, "{", "{tier: web, ", 1)))), sync()),
		},
		{
			Name: "immutable-field/image-of-a-job", App: "etl-load",
			Cause: "Git moves a plain Job to another image, and the sync fails",
			Files: git(settings, jobOf("name: load", "", "")), SyncPolicy: serverSideApply,
			Inject: inOrder(ended("batch/v1/Job/load"), commit(git(settings, replaced(jobOf("name: load", "", ""), "1.14.2", "1.15.0"))), sync()),
		},
		{
			Name: "immutable-field/storage-of-a-statefulset", App: "ledger-storage",
			Cause:  "Git raises the storage request of a StatefulSet's claim template, and the sync fails",
			Files:  git(ledger + volumes),
			Inject: inOrder(rolledOut(onLedger), commit(git(ledger+replaced(volumes, "10Gi", "50Gi"))), sync()),
		},
		{
			Name: "immutable-field/address-of-a-service", App: "resolver",
			Cause: "Git pins another cluster address for a Service, and the sync fails", SyncPolicy: serverSideApply,
			Files:  git(pinnedService("10.0.0.12"), settings),
			Inject: inOrder(commit(git(pinnedService("10.0.0.13"), settings)), sync()),
		},
		{
			// Argo CD cannot even compare: the API server refuses the dry run of the diff.
			Name: "immutable-field/selector-in-a-server-side-diff", App: "storefront-relabelled",
			Cause: "Git renames the label that a Deployment selects by, and the server-side diff fails", Annotations: serverSideDiff,
			Files:  git(storefront, settings),
			Inject: inOrder(rolledOut(onStorefront), commit(git(replaced(storefront, "app.kubernetes.io/name: storefront", "app: storefront"), settings)), sync()),
		},
	}
}

// longText is more than the annotations of an object may hold together.
func longText(indent string) string {
	line := indent + "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJRTES\n"
	return strings.Repeat(line, 262144/70+2)
}

func tooLong() []recorder.Scenario {
	const roots = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: roots}\ndata:\n  roots.pem: |\n"
	return []recorder.Scenario{
		{
			Name: "annotation-too-long/dashboard", App: "overview-dashboard",
			Cause:  "Git adds a ConfigMap that is too large for the annotation of client-side apply, and the sync fails",
			Files:  git(settings),
			Inject: inOrder(commit(git(settings, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: overview, labels: {grafana_dashboard: \"1\"}}\ndata:\n  overview.json: |\n"+longText("    "))), sync()),
		},
		{
			Name: "annotation-too-long/bundle-grew", App: "company-roots",
			Cause:  "the bundle of certificates in Git grows over what the annotation of client-side apply holds, and the sync fails",
			Files:  git(roots + "    MIID\n"),
			Inject: inOrder(commit(git(roots+longText("    "))), sync()),
		},
		{
			Name: "annotation-too-long/crd", App: "records-operator",
			Cause: "Git adds a CRD whose descriptions are too large for the annotation of client-side apply, and the sync fails",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, replaced(boards, "boards.boards.example.com", "records.dns.example.com", "boards.example.com", "dns.example.com",
				"Board", "Record", "board", "record", "        type: object\n", "        type: object\n        description: |\n"+longText("          ")))), sync()),
		},
	}
}

func missingCRDs() []recorder.Scenario {
	const scrape = "apiVersion: operator.victoriametrics.com/v1beta1\nkind: VMServiceScrape\nmetadata: {name: storefront}\nspec: {endpoints: [{port: http}], selector: {matchLabels: {app.kubernetes.io/name: storefront}}}\n"
	return []recorder.Scenario{
		{
			Name: "missing-crd/scrape-without-its-operator", App: "storefront-scraped",
			Cause:  "Git adds a VMServiceScrape, and the cluster has no operator for it",
			Files:  git(settings, storefrontService),
			Inject: inOrder(commit(git(settings, storefrontService, scrape)), sync()),
		},
		{
			Name: "missing-crd/first-sync-of-a-cluster", App: "issuers", NoSync: true, SyncPolicy: serverSideApply,
			Cause: "an Application of custom resources is synced before their CRDs are installed",
			Files: git(
				"apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata: {name: orders}\nspec: {partitions: 12}\n",
				"apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaUser\nmetadata: {name: orders}\nspec: {authentication: {type: tls}}\n"),
			Inject: sync(),
		},
		{
			Name: "missing-crd/auto-sync-runs-into-it", App: "signals", SyncPolicy: noRetry(map[string]any{"prune": true}),
			Cause: "auto-sync takes a commit with a GrafanaDashboard, and the cluster has no such CRD",
			Files: git(settings),
			Inject: inOrder(commit(git(settings, "apiVersion: grafana.integreatly.org/v1beta1\nkind: GrafanaDashboard\nmetadata: {name: signals}\nspec: {url: \"https://example.com/signals.json\"}\n")),
				condition("SyncError")),
		},
	}
}

const denyPolicy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %name}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [%group], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [%resources]}]
  validations: [{expression: '%expression', message: %message}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %name}
spec:
  policyName: %name
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NAMESPACE}}}
`

func policy(pairs ...string) action {
	return inOrder(apply("helm", replaced(denyPolicy, pairs...)), waitSeconds(3))
}

func admissionDenied() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "admission-denied/policy-on-replicas", App: "storefront-bulk",
			Cause: "Git asks for more replicas than a ValidatingAdmissionPolicy allows, and the sync fails",
			Files: git(storefront),
			Inject: inOrder(rolledOut(onStorefront), policy("%name", "replica-limit", "%group", "apps", "%resources", "deployments",
				"%expression", "object.spec.replicas <= 10", "%message", "no more than ten replicas in this cluster"),
				commit(git(replaced(storefront, "replicas: 3", "replicas: 40"))), sync()),
		},
		{
			Name: "admission-denied/policy-on-service-types", App: "public-denied",
			Cause: "Git adds a Service of type LoadBalancer, which a ValidatingAdmissionPolicy forbids, and the sync fails",
			Files: git(settings), SyncPolicy: serverSideApply,
			Inject: inOrder(policy("%name", "no-load-balancers", "%group", "\"\"", "%resources", "services",
				"%expression", `object.spec.type != "LoadBalancer"`, "%message", "load balancers are made by the platform team"),
				commit(git(settings, publicService)), sync()),
		},
		{
			Name: "admission-denied/quota-is-full", App: "photos-quota",
			Cause: "Git adds a claim for which the ResourceQuota of the namespace has no room, and the sync fails",
			Files: git(settings), Related: []string{"v1/ResourceQuota/storage"},
			Cluster: "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: storage}\nspec: {hard: {requests.storage: 10Gi}}\n",
			Inject: inOrder(status(kcm, "v1/ResourceQuota/storage", `{hard: {requests.storage: 10Gi}, used: {requests.storage: "0"}}`), waitSeconds(1),
				commit(git(settings, replaced(claim, "%s", ""))), sync()),
		},
		{
			Name: "admission-denied/limit-range", App: "photos-limit",
			Cause: "Git adds a claim larger than the LimitRange of the namespace allows, and the sync fails",
			Files: git(settings), Related: []string{"v1/LimitRange/claims"},
			Cluster: "apiVersion: v1\nkind: LimitRange\nmetadata: {name: claims}\nspec: {limits: [{type: PersistentVolumeClaim, max: {storage: 5Gi}}]}\n",
			Inject:  inOrder(waitSeconds(1), commit(git(settings, replaced(claim, "%s", ""))), sync()),
		},
	}
}

func resourceVersions() []recorder.Scenario {
	server := func(manifest, fields string) string {
		return replaced(manifest, "metadata:\n", "metadata:\n  "+fields+"\n", "metadata: {", "metadata: {"+fields+", ")
	}
	return []recorder.Scenario{
		{
			Name: "resource-version-in-git/exported-configmap", App: "settings-exported",
			Cause:  "a ConfigMap is exported with its resourceVersion, changed and committed, and the sync fails",
			Files:  git(settings),
			Inject: inOrder(commit(git(server(replaced(settings, "10m", "30m"), `resourceVersion: "7"`))), sync()),
		},
		{
			Name: "resource-version-in-git/service-dump", App: "service-exported",
			Cause: "a Service is dumped into Git with its resourceVersion, and the sync fails", SyncPolicy: serverSideApply,
			Files:  git(storefrontService, settings),
			Inject: inOrder(commit(git(server(replaced(storefrontService, "targetPort: http", "targetPort: 8080"), `resourceVersion: "12"`), settings)), sync()),
		},
		{
			Name: "resource-version-in-git/role-of-another-cluster", App: "roles-copied",
			Cause:  "a Role carries the uid of the cluster that it was copied from, and the sync fails",
			Files:  git(tenantReader, settings),
			Inject: inOrder(commit(git(server(tenantReader, "uid: 5f0b1c7e-55d2-4d8e-9b7f-0d6c1b7f3a11"), settings)), sync()),
		},
	}
}
