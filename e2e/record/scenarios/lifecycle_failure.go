package scenarios

import (
	"strings"

	"github.com/moorpin/moorpin/e2e/record/recorder"
	"github.com/moorpin/moorpin/pkg/drift"
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
	fixed := func(on string, fix drift.FixKind, fields ...string) []recorder.Finding {
		return label(flagged(on, drift.ImmutableField, drift.WillFail, fix).at(fields...))
	}
	const template = "/spec/volumeClaimTemplates/0"
	const nameLabel = "labels: {app.kubernetes.io/name: storefront}\n    spec"
	return []recorder.Scenario{
		{
			Name: "immutable-field/selector-of-a-deployment", App: "storefront-tier",
			Cause: "Git adds a label to a Deployment's selector, and the sync fails",
			Files: git(storefront),
			Expect: fixed(onStorefront, drift.FixReplaceForce,
				"/spec/selector/matchLabels/tier", "/spec/template/metadata/labels/tier"),
			Inject: inOrder(rolledOut(onStorefront), commit(git(replaced(storefront,
				"matchLabels: {", "matchLabels: {tier: web, ", nameLabel, strings.Replace(nameLabel, "{", "{tier: web, ", 1)))), sync()),
		},
		{
			Name: "immutable-field/image-of-a-job", App: "etl-load",
			Cause: "Git moves a plain Job to another image, and the sync fails",
			Files: git(settings, jobOf("name: load", "", "")), SyncPolicy: serverSideApply,
			Expect: fixed("batch/v1/Job/load", drift.FixConvertToHook, firstContainer+"/image"),
			Inject: inOrder(ended("batch/v1/Job/load"), commit(git(settings, replaced(jobOf("name: load", "", ""), "1.14.2", "1.15.0"))), sync()),
		},
		{
			Name: "immutable-field/storage-of-a-statefulset", App: "ledger-storage",
			Cause: "Git raises the storage request of a StatefulSet's claim template, and the sync fails",
			Files: git(ledger + volumes),
			Expect: append(fixed(onLedger, drift.FixRecreateOrphan, template+"/spec/resources/requests/storage"),
				flagged(onLedger, drift.STSVolumeclaimtemplate, drift.Noop, drift.FixPinDefaultInGit).
					at(template+"/apiVersion", template+"/kind", template+"/metadata/creationTimestamp")),
			Inject: inOrder(rolledOut(onLedger), commit(git(ledger+replaced(volumes, "10Gi", "50Gi"))), sync()),
		},
		{
			Name: "immutable-field/address-of-a-service", App: "resolver",
			Cause: "Git pins another cluster address for a Service, and the sync fails", SyncPolicy: serverSideApply,
			Files:  git(pinnedService("10.0.0.12"), settings),
			Expect: fixed("v1/Service/edge", drift.FixReplaceForce, "/spec/clusterIP"),
			Inject: inOrder(commit(git(pinnedService("10.0.0.13"), settings)), sync()),
		},
		{
			// Argo CD cannot even compare: the API server refuses the dry run of the diff.
			Name: "immutable-field/selector-in-a-server-side-diff", App: "storefront-relabelled",
			Cause: "Git renames the label that a Deployment selects by, and the server-side diff fails", Annotations: serverSideDiff,
			Files:  git(storefront, settings),
			Expect: label(flagged(onStorefront, drift.ImmutableField, drift.Blocked, drift.FixReplaceForce).at()),
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
	long := func(on string, fields ...string) []recorder.Finding {
		return label(flagged(on, drift.AnnotationTooLong, drift.WillFail, drift.FixServerSideApply).at(fields...))
	}
	const roots = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: roots}\ndata:\n  roots.pem: |\n"
	return []recorder.Scenario{
		{
			Name: "annotation-too-long/dashboard", App: "overview-dashboard",
			Cause:  "Git adds a ConfigMap that is too large for the annotation of client-side apply, and the sync fails",
			Files:  git(settings),
			Expect: long("v1/ConfigMap/overview"),
			Inject: inOrder(commit(git(settings, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: overview, labels: {grafana_dashboard: \"1\"}}\ndata:\n  overview.json: |\n"+longText("    "))), sync()),
		},
		{
			Name: "annotation-too-long/bundle-grew", App: "company-roots",
			Cause:  "the bundle of certificates in Git grows over what the annotation of client-side apply holds, and the sync fails",
			Files:  git(roots + "    MIID\n"),
			Expect: long("v1/ConfigMap/roots", "/data/roots.pem"),
			Inject: inOrder(commit(git(roots+longText("    "))), sync()),
		},
		{
			Name: "annotation-too-long/crd", App: "records-operator",
			Cause:  "Git adds a CRD whose descriptions are too large for the annotation of client-side apply, and the sync fails",
			Files:  git(settings),
			Expect: long("apiextensions.k8s.io/v1/CustomResourceDefinition/records.dns.example.com"),
			Inject: inOrder(commit(git(settings, replaced(boards, "boards.boards.example.com", "records.dns.example.com", "boards.example.com", "dns.example.com",
				"Board", "Record", "board", "record", "        type: object\n", "        type: object\n        description: |\n"+longText("          ")))), sync()),
		},
	}
}

func missingCRDs() []recorder.Scenario {
	unknown := func(on string) recorder.Finding {
		return flagged(on, drift.MissingCRD, drift.WillFail, drift.FixSkipDryRunAndWave).at()
	}
	const scrape = "apiVersion: operator.victoriametrics.com/v1beta1\nkind: VMServiceScrape\nmetadata: {name: storefront}\nspec: {endpoints: [{port: http}], selector: {matchLabels: {app.kubernetes.io/name: storefront}}}\n"
	return []recorder.Scenario{
		{
			Name: "missing-crd/scrape-without-its-operator", App: "storefront-scraped",
			Cause: "Git adds a VMServiceScrape, and the cluster has no operator for it",
			Files: git(settings, storefrontService), Expect: label(unknown("operator.victoriametrics.com/v1beta1/VMServiceScrape/storefront")),
			Inject: inOrder(commit(git(settings, storefrontService, scrape)), sync()),
		},
		{
			Name: "missing-crd/first-sync-of-a-cluster", App: "issuers", NoSync: true, SyncPolicy: serverSideApply,
			Cause: "an Application of custom resources is synced before their CRDs are installed",
			Files: git(
				"apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata: {name: orders}\nspec: {partitions: 12}\n",
				"apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaUser\nmetadata: {name: orders}\nspec: {authentication: {type: tls}}\n"),
			Expect: label(unknown("kafka.strimzi.io/v1beta2/KafkaTopic/orders"), unknown("kafka.strimzi.io/v1beta2/KafkaUser/orders")),
			Inject: sync(),
		},
		{
			Name: "missing-crd/auto-sync-runs-into-it", App: "signals", SyncPolicy: noRetry(map[string]any{"prune": true}),
			Cause: "auto-sync takes a commit with a GrafanaDashboard, and the cluster has no such CRD",
			Files: git(settings), Expect: label(unknown("grafana.integreatly.org/v1beta1/GrafanaDashboard/signals")),
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
	denied := func(on string, fields ...string) []recorder.Finding {
		return label(flagged(on, drift.AdmissionDenied, drift.WillFail, drift.FixFixManifestToPolicy).at(fields...))
	}
	const photos = "v1/PersistentVolumeClaim/photos"
	return []recorder.Scenario{
		{
			Name: "admission-denied/policy-on-replicas", App: "storefront-bulk",
			Cause: "Git asks for more replicas than a ValidatingAdmissionPolicy allows, and the sync fails",
			Files: git(storefront), Expect: denied(onStorefront, "/spec/replicas"),
			Inject: inOrder(rolledOut(onStorefront), policy("%name", "replica-limit", "%group", "apps", "%resources", "deployments",
				"%expression", "object.spec.replicas <= 10", "%message", "no more than ten replicas in this cluster"),
				commit(git(replaced(storefront, "replicas: 3", "replicas: 40"))), sync()),
		},
		{
			Name: "admission-denied/policy-on-service-types", App: "public-denied",
			Cause: "Git adds a Service of type LoadBalancer, which a ValidatingAdmissionPolicy forbids, and the sync fails",
			Files: git(settings), SyncPolicy: serverSideApply, Expect: denied("v1/Service/public"),
			Inject: inOrder(policy("%name", "no-load-balancers", "%group", "\"\"", "%resources", "services",
				"%expression", `object.spec.type != "LoadBalancer"`, "%message", "load balancers are made by the platform team"),
				commit(git(settings, publicService)), sync()),
		},
		{
			Name: "admission-denied/quota-is-full", App: "photos-quota",
			Cause: "Git adds a claim for which the ResourceQuota of the namespace has no room, and the sync fails",
			Files: git(settings), Expect: denied(photos), Related: []string{"v1/ResourceQuota/storage"},
			Cluster: "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: storage}\nspec: {hard: {requests.storage: 10Gi}}\n",
			Inject: inOrder(status(kcm, "v1/ResourceQuota/storage", `{hard: {requests.storage: 10Gi}, used: {requests.storage: "0"}}`), waitSeconds(1),
				commit(git(settings, replaced(claim, "%s", ""))), sync()),
		},
		{
			Name: "admission-denied/limit-range", App: "photos-limit",
			Cause: "Git adds a claim larger than the LimitRange of the namespace allows, and the sync fails",
			Files: git(settings), Expect: denied(photos), Related: []string{"v1/LimitRange/claims"},
			Cluster: "apiVersion: v1\nkind: LimitRange\nmetadata: {name: claims}\nspec: {limits: [{type: PersistentVolumeClaim, max: {storage: 5Gi}}]}\n",
			Inject:  inOrder(waitSeconds(1), commit(git(settings, replaced(claim, "%s", ""))), sync()),
		},
	}
}

func resourceVersions() []recorder.Scenario {
	exported := func(on string, fields ...string) []recorder.Finding {
		return label(flagged(on, drift.ResourceVersionInGit, drift.WillFail, drift.FixDropFieldFromGit).at(fields...))
	}
	const version, uid = "/metadata/resourceVersion", "/metadata/uid"
	const role = "rbac.authorization.k8s.io/v1/Role/tenant-reader"
	server := func(manifest, fields string) string {
		return replaced(manifest, "metadata:\n", "metadata:\n  "+fields+"\n", "metadata: {", "metadata: {"+fields+", ")
	}
	return []recorder.Scenario{
		{
			Name: "resource-version-in-git/exported-configmap", App: "settings-exported",
			Cause: "a ConfigMap is exported with its resourceVersion, changed and committed, and the sync fails",
			Files: git(settings), Expect: exported(onSettings, "/data/cache.ttl", version),
			Inject: inOrder(commit(git(server(replaced(settings, "10m", "30m"), `resourceVersion: "7"`))), sync()),
		},
		{
			Name: "resource-version-in-git/service-dump", App: "service-exported",
			Cause: "a Service is dumped into Git with its resourceVersion, and the sync fails", SyncPolicy: serverSideApply,
			Files: git(storefrontService, settings), Expect: exported(onService, version, "/spec/ports/0/targetPort"),
			Inject: inOrder(commit(git(server(replaced(storefrontService, "targetPort: http", "targetPort: 8080"), `resourceVersion: "12"`), settings)), sync()),
		},
		{
			Name: "resource-version-in-git/role-of-another-cluster", App: "roles-copied",
			Cause: "a Role carries the uid of the cluster that it was copied from, and the sync fails",
			Files: git(tenantReader, settings), Expect: exported(role, uid),
			Inject: inOrder(commit(git(server(tenantReader, "uid: 5f0b1c7e-55d2-4d8e-9b7f-0d6c1b7f3a11"), settings)), sync()),
		},
	}
}
