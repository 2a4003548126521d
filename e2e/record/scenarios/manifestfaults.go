package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

func unknownFields() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "unknown-field-pruned/misspelt-pull-policy", App: "storefront-typo",
			Cause: "a field of a container is misspelt in Git",
			Files: git(replaced(storefront, "        ports:", "        imagePullPolicey: Always\n        ports:")),
		},
		{
			Name: "unknown-field-pruned/field-of-a-custom-resource", App: "certificate-typo",
			Cause: "a field of a Certificate is misspelt in Git",
			Files: git(certificate + "  renewBeforePercent: 30\n"), CRDs: []string{crdCertificate},
		},
		{
			Name: "unknown-field-pruned/wrong-place", App: "storefront-misplaced",
			Cause: "a field of the pod stands in the spec of the Deployment in Git",
			Files: git(replaced(storefront, "  replicas: 3\n", "  replicas: 3\n  restartPolicy: Always\n"), storefrontService),
		},
		{
			Name: "unknown-field-pruned/newer-api", App: "service-newer",
			Cause: "a field of a newer Kubernetes is set in Git",
			Files: git(replaced(storefrontService, "spec:\n", "spec:\n  topologyPolicy: {mode: SameZone}\n")),
		},
	}
}

func aliases() []recorder.Scenario {
	named := func(fields string) string {
		return replaced(storefront, "    spec:\n      containers:", "    spec:\n"+fields+"      containers:")
	}
	both := "      serviceAccountName: storefront\n      serviceAccount: %old\n"
	return []recorder.Scenario{
		{
			Name: "deprecated-alias/two-names", App: "storefront-account",
			Cause: "Git gives the service account under its new and its deprecated name, with different values",
			Files: git(named(replaced(both, "%old", "shop"))),
		},
		{
			Name: "deprecated-alias/account-removed", App: "storefront-no-account",
			Cause:  "the service account is removed in Git; the deprecated alias in the live object keeps it",
			Files:  git(named("      serviceAccountName: storefront\n")),
			Inject: commit(git(storefront)),
		},
		{
			Name: "deprecated-alias/account-renamed-server-side", App: "agent-account",
			Cause: "the service account is removed in Git and the Application applies server-side; the alias keeps it",
			Files: git(nodeAgent), SyncPolicy: serverSideApply,
			Inject: commit(git(replaced(nodeAgent, "      serviceAccountName: node-agent\n", ""))),
		},
	}
}

func duplicates() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "duplicate-list-key/variable-twice", App: "storefront-doubled",
			Cause: "a variable stands twice in Git, with different values",
			Files: git(replaced(storefront, "        resources:\n", "        - {name: LOG_LEVEL, value: debug}\n        resources:\n")),
		},
		{
			Name: "duplicate-list-key/port-twice", App: "ledger-doubled",
			Cause: "a port stands twice in Git, once with the default protocol",
			Files: git(replaced(ledger, "[{name: grpc, containerPort: 9000}]", "[{name: grpc, containerPort: 9000}, {name: metrics, containerPort: 9000, protocol: TCP}]")),
		},
		{
			Name: "duplicate-list-key/second-value-committed", App: "agent-twice",
			Cause:  "a second value for a variable is appended in Git and synced",
			Files:  git(replaced(nodeAgent, "        volumeMounts:", "        - {name: LOG_FORMAT, value: text}\n        volumeMounts:")),
			Inject: inOrder(commit(git(replaced(nodeAgent, "        volumeMounts:", "        - {name: LOG_FORMAT, value: text}\n        - {name: LOG_FORMAT, value: json}\n        volumeMounts:"))), sync()),
		},
	}
}

// exported are manifests that somebody read out of a cluster and committed.
func exported() []recorder.Scenario {
	annotated := func(manifest, from, content string) string {
		return replaced(manifest, from, from+"\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      "+content)
	}
	return []recorder.Scenario{
		{
			Name: "last-applied-in-git/exported-configmap", App: "settings-dump",
			Cause: "a ConfigMap was exported from a cluster with kubectl get -o yaml and committed",
			Files: git(annotated(settings, "  name: settings", `{"apiVersion":"v1","data":{"region":"eu-central-1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"settings","namespace":"old"}}`)),
		},
		{
			Name: "last-applied-in-git/exported-deployment", App: "storefront-exported",
			Cause: "a Deployment was exported from a cluster and committed, with what the server added",
			Files: git(annotated(replaced(storefront, "  labels: {app.kubernetes.io/name: storefront}\nspec", "  labels: {app.kubernetes.io/name: storefront}\n  creationTimestamp: null\nspec"),
				"  name: storefront", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"storefront","namespace":"old"},"spec":{"replicas":1}}`)),
		},
		{
			Name: "last-applied-in-git/exported-service", App: "service-annotations",
			Cause: "a Service was exported from a cluster and committed",
			Files: git(annotated(storefrontService, "  name: storefront", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"storefront","namespace":"old"}}`), storefront),
		},
	}
}
