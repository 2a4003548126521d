package scenarios

import (
	"context"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// tracked are settings of argocd-cm with another tracking method.
func tracked(method string) map[string]string {
	return map[string]string{"application.resourceTrackingMethod": method}
}

func trackingMissing() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "tracking-missing/applied-before-argocd-came", App: "settings-adopted",
			Cause:  "a ConfigMap was applied with kubectl before the Application was made, and is as Git says",
			Files:  git(settings),
			Before: kubectlApply(settings), NoSync: true,
		},
		{
			Name: "tracking-missing/made-by-terraform", App: "storefront-migrated",
			Cause: "a Deployment and a Service were made by Terraform, which does not manage them any more, and nothing was synced yet",
			Files: git(storefront, storefrontService), SyncPolicy: serverSideApply,
			Before: inOrder(apply("Terraform", stream(storefront, storefrontService)), rolledOut(onStorefront)), NoSync: true,
		},
		{
			Name: "tracking-missing/annotation-taken-off", App: "service-untracked",
			Cause:  "somebody takes the tracking annotation off a Service with kubectl annotate",
			Files:  git(storefrontService, settings),
			Inject: patch("kubectl-annotate", onService, `{metadata: {annotations: {argocd.argoproj.io/tracking-id: null}}}`),
		},
		{
			Name: "tracking-missing/bootstrap-script", App: "certificate-bootstrap",
			Cause: "a bootstrap script created a Certificate with kubectl create before the Application was made",
			Files: git(certificate), CRDs: []string{crdCertificate}, Annotations: serverSideDiff,
			Before: create("kubectl-create", certificate), NoSync: true,
		},
	}
}

// rival makes a second Application from another folder of the same repository and syncs it.
func rival(name string, extra string) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		err := s.Create(ctx, "argocd-server", `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: `+name+`, namespace: argocd}
spec:
  project: default
  source: {repoURL: "$REPOSITORY", targetRevision: main, path: rival}
  destination: {server: "https://kubernetes.default.svc", namespace: $NAMESPACE}
`+extra)
		if err != nil {
			return err
		}
		_, err = s.Plane.Sync(ctx, name)
		return err
	}
}

// rivals are the files of two Applications.
func rivals(app, other string) map[string]string {
	return map[string]string{"app/manifests.yaml": app, "rival/manifests.yaml": other}
}

const nodeReader = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: node-metrics-reader}
rules:
- {apiGroups: [""], resources: [nodes, nodes/metrics], verbs: [get, list, watch]}
`

func sharedResources() []recorder.Scenario {
	const serverSide = "  syncPolicy: {syncOptions: [ServerSideApply=true]}\n"
	application := func(name string) []string { return []string{"argoproj.io/v1alpha1/Application/argocd/" + name} }
	return []recorder.Scenario{
		{
			Name: "shared-resource/same-configmap-twice", App: "checkout-settings",
			Cause:  "a second Application renders the same ConfigMap and was synced last",
			Files:  rivals(settings, stream(settings, storefrontService)),
			Inject: rival("catalog-settings", ""), Related: application("catalog-settings"),
		},
		{
			Name: "shared-resource/other-values", App: "settings-europe",
			Cause: "a second Application renders the ConfigMap with other values and was synced last",
			Files: rivals(settings, replaced(settings, "eu-central-1", "ap-south-1", "10m", "5m")), SyncPolicy: serverSideApply,
			Inject: rival("settings-asia", serverSide), Related: application("settings-asia"),
		},
		{
			Name: "shared-resource/clusterrole-of-two-releases", App: "metrics-blue",
			Cause: "two Applications render a ClusterRole of the same name, and the other one was synced last",
			Files: rivals(nodeReader, replaced(nodeReader, "[get, list, watch]", "[get, list]")), Annotations: serverSideDiff,
			Inject: rival("metrics-green", ""), Related: application("metrics-green"),
		},
		{
			Name: "shared-resource/service-taken-by-the-new-team", App: "storefront-old-team",
			Cause:  "the new team's Application took the Service over with another port; the Deployment stayed",
			Files:  rivals(stream(storefront, storefrontService), replaced(storefrontService, "targetPort: http", "targetPort: 9090")),
			Inject: inOrder(rolledOut(onStorefront), rival("storefront-new-team", "")), Related: application("storefront-new-team"),
		},
	}
}

func labelsCopied() []recorder.Scenario {
	const elsewhere = "apiVersion: v1\nkind: Namespace\nmetadata: {name: $NAMESPACE-copies}\n"
	return []recorder.Scenario{
		{
			Name: "tracking-label-copied/reflected-configmap", App: "settings-reflected", Settings: tracked("label"),
			Cause: "a reflector copies a ConfigMap with all its labels into another namespace",
			Files: git(settings), Cluster: elsewhere,
			Inject: create("reflector", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: $NAMESPACE-copies
  labels: {app.kubernetes.io/instance: $APP}
  annotations: {reflector.v1.k8s.emberstack.com/reflects: $NAMESPACE/settings}
data: {cache.ttl: 10m, region: eu-central-1}
`),
		},
		{
			Name: "tracking-label-copied/services-of-an-operator", App: "events-store", Settings: tracked("label"),
			Cause: "an operator makes Services and copies the labels of what it makes them for, and automated prune is on",
			Files: git(ledger), SyncPolicy: automated(map[string]any{"prune": true}),
			Inject: inOrder(rolledOut(onLedger), create("clickhouse-operator", `
apiVersion: v1
kind: Service
metadata: {name: ledger-0-0, labels: {app.kubernetes.io/instance: $APP, shard: "0"}}
spec: {clusterIP: None, selector: {app: ledger, replica: "0"}, ports: [{name: grpc, port: 9000}]}
---
apiVersion: v1
kind: Service
metadata: {name: ledger-0-1, labels: {app.kubernetes.io/instance: $APP, shard: "0"}}
spec: {clusterIP: None, selector: {app: ledger, replica: "1"}, ports: [{name: grpc, port: 9000}]}
`)),
		},
		{
			Name: "tracking-label-copied/secret-copied-to-tenants", App: "registry-secret", Settings: tracked("label"),
			Cause:   "an operator copies a Secret with its labels into a tenant's namespace",
			Files:   git("apiVersion: v1\nkind: Secret\nmetadata: {name: registry}\nstringData: {username: reader, password: not-a-password}\n"),
			Cluster: elsewhere,
			Inject: create("clustersecret", `
apiVersion: v1
kind: Secret
metadata:
  name: registry
  namespace: $NAMESPACE-copies
  labels: {app.kubernetes.io/instance: $APP, clustersecret.io: "true"}
stringData: {username: reader, password: not-a-password}
`),
		},
	}
}

func instanceLabels() []recorder.Scenario {
	relabel := func(manager, on, name string) action {
		return rewrite(manager, on, func(object map[string]any) {
			set(object, name, "metadata", "labels", "app.kubernetes.io/instance")
		})
	}
	return []recorder.Scenario{
		{
			Name: "instance-label-conflict/operator-labels-its-service", App: "payments-cache", Settings: tracked("label"),
			Cause:  "an operator writes its own instance label on a Service that Argo CD tracks by this label",
			Files:  git(storefrontService, settings),
			Inject: relabel("redis-operator", onService, "redisfailover"),
		},
		{
			Name: "instance-label-conflict/helm-release-name", App: "ledger-production", Settings: tracked("label"),
			Cause:  "a helm upgrade by hand writes the release's name, which is not that of the Application, into the instance label",
			Files:  git(ledger),
			Inject: inOrder(rolledOut(onLedger), patch("helm", onLedger, `{metadata: {labels: {app.kubernetes.io/instance: ledger}}}`)),
		},
		{
			Name: "instance-label-conflict/both-methods", App: "agent-settings", Settings: tracked("annotation+label"),
			Cause: "with both tracking methods on, an addon manager writes another instance label on a ConfigMap",
			Files: git(settings), SyncPolicy: serverSideApply,
			Inject: relabel("addon-manager", onSettings, "platform-addons"),
		},
	}
}
