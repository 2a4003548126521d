package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

func repeatedResources() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "repeated-resource/two-files", App: "settings-twice",
			Cause: "two files of the folder hold the same ConfigMap with different values",
			Files: map[string]string{"app/a.yaml": settings, "app/b.yaml": replaced(settings, "10m", "15m")},
		},
		{
			Name: "repeated-resource/loop-in-a-chart", App: "reader-loop",
			Cause: "a loop in a chart renders the same ServiceAccount for every tenant",
			Files: map[string]string{
				"app/Chart.yaml": chartFile, "app/values.yaml": "tenants: [a, b, c]\n", "app/templates/settings.yaml": settings,
				"app/templates/account.yaml": "{{- range .Values.tenants }}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: tenant-reader}\nautomountServiceAccountToken: false\n{{- end }}\n",
			},
			SyncPolicy: serverSideApply,
		},
		{
			Name: "repeated-resource/committed-later", App: "service-twice",
			Cause:  "a second copy of the Service is committed in another file",
			Files:  git(storefrontService, settings),
			Inject: commit(map[string]string{"app/service.yaml": storefrontService}),
		},
	}
}

func excludedResources() []recorder.Scenario {
	exclusions := func(text string) map[string]string { return map[string]string{"resource.exclusions": text} }
	network := exclusions("- apiGroups: ['', discovery.k8s.io]\n  kinds: [Endpoints, EndpointSlice]\n  clusters: ['*']\n")
	return []recorder.Scenario{
		{
			Name: "excluded-resource/hand-made-endpoint-slice", App: "partner-gateway", Settings: network,
			Cause: "Git holds an EndpointSlice by hand, and its kind is excluded",
			Files: git(settings, `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: partner, labels: {kubernetes.io/service-name: partner}}
addressType: IPv4
endpoints: [{addresses: [192.0.2.7]}]
ports: [{name: https, port: 443, protocol: TCP}]
`),
		},
		{
			Name: "excluded-resource/endpoints-of-a-database", App: "legacy-database", Settings: network,
			Cause: "Git holds the Endpoints of a database outside the cluster, and the kind was excluded",
			Files: git(ingressService, "apiVersion: v1\nkind: Endpoints\nmetadata: {name: edge}\nsubsets: [{addresses: [{ip: 192.0.2.9}], ports: [{name: https, port: 5432}]}]\n"),
		},
		{
			Name: "excluded-resource/kind-of-the-platform-team", App: "batch-priority",
			Settings: exclusions("- apiGroups: [scheduling.k8s.io]\n  kinds: [PriorityClass]\n"),
			Cause:    "an Application renders a PriorityClass, which the platform team has excluded",
			Files:    git(settings, "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: batch-high}\nvalue: 100000\n"),
		},
	}
}

func managedNamespaces() []recorder.Scenario {
	labels := func(labels map[string]any) map[string]any {
		return map[string]any{
			"syncOptions":              []any{"CreateNamespace=true"},
			"managedNamespaceMetadata": map[string]any{"labels": labels},
		}
	}
	return []recorder.Scenario{
		{
			Name: "managed-namespace-metadata/labels-added", App: "games-labelled",
			Cause:      "pod security labels are added to managedNamespaceMetadata and not synced yet",
			Files:      git(settings),
			SyncPolicy: labels(map[string]any{"team": "games"}),
			Inject:     applicationEdited(`{spec: {syncPolicy: {managedNamespaceMetadata: {labels: {pod-security.kubernetes.io/enforce: restricted}}}}}`),
		},
		{
			Name: "managed-namespace-metadata/first-metadata", App: "mesh-labelled",
			Cause:      "managedNamespaceMetadata is added to an Application that had none",
			Files:      git(settings, storefrontService),
			SyncPolicy: withOptions("CreateNamespace=true", "ServerSideApply=true"),
			Inject:     applicationEdited(`{spec: {syncPolicy: {managedNamespaceMetadata: {labels: {istio-injection: enabled}, annotations: {owner: mesh}}}}}`),
		},
		{
			Name: "managed-namespace-metadata/label-removed", App: "pages-labelled",
			Cause:      "a label is taken out of managedNamespaceMetadata and not synced yet",
			Files:      git(settings),
			SyncPolicy: labels(map[string]any{"team": "web", "tier": "front"}),
			Inject:     applicationEdited(`{spec: {syncPolicy: {managedNamespaceMetadata: {labels: {tier: null}}}}}`),
		},
		{
			Name: "managed-namespace-metadata/chart-renders-the-namespace", App: "mesh-chart",
			Cause: "Git renders the Namespace itself, so that the labels of managedNamespaceMetadata are never written",
			Files: git(settings, "apiVersion: v1\nkind: Namespace\nmetadata: {name: $NAMESPACE, labels: {team: mesh}}\n"),
			SyncPolicy: labels(map[string]any{
				"pod-security.kubernetes.io/enforce": "privileged",
			}),
		},
	}
}
