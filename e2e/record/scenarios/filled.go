package scenarios

import (
	"context"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const aggregatedRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %name}
aggregationRule:
  clusterRoleSelectors: [{matchLabels: {aggregate-to: %name}}]
rules: %rules
`

func aggregatedRoles() []recorder.Scenario {
	role := func(name, rules string) string { return replaced(aggregatedRole, "%name", name, "%rules", rules) }
	// The controller applies the rules that it collected by server-side apply.
	aggregate := func(name, rules string) action {
		return apply("clusterrole-aggregation-controller", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: "+name+"}\nrules: "+rules+"\n")
	}
	const (
		readShops  = "{apiGroups: [shop.example.com], resources: [orders], verbs: [get, list, watch]}"
		writeShops = "{apiGroups: [shop.example.com], resources: [orders], verbs: [create, update, patch, delete]}"
		readPods   = `{apiGroups: [""], resources: [pods], verbs: [get]}`
	)
	return []recorder.Scenario{
		{
			Name: "aggregated-clusterrole/empty-rules-in-git", App: "shop-viewer",
			Cause: "kube-controller-manager fills the rules of an aggregated ClusterRole that Git leaves empty",
			Files: git(role("shop-viewer", "[]")),
			// Normalising makes null of the empty list.
			Inject: aggregate("shop-viewer", "["+readShops+", "+readPods+"]"),
		},
		{
			Name: "aggregated-clusterrole/old-copy-of-the-rules", App: "shop-editor",
			Cause: "kube-controller-manager aggregates other rules than the copy in Git",
			Files: git(role("shop-editor", "["+readShops+"]")), SyncPolicy: serverSideApply,
			Inject: aggregate("shop-editor", "["+readShops+", "+writeShops+"]"),
		},
		{
			Name: "aggregated-clusterrole/verbs-added", App: "shop-admin",
			Cause: "kube-controller-manager aggregates more verbs than Git lists",
			Files: git(role("shop-admin", "["+readPods+"]")), Annotations: serverSideDiff,
			Inject: aggregate("shop-admin", replaced("["+readPods+"]", "[get]", "[get, delete]")),
		},
	}
}

func populatedData() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "runtime-populated-data/webhook-certificate", App: "webhook-certificate",
			Cause: "an operator fills the certificate and the key that Git pins empty",
			Files: git("apiVersion: v1\nkind: Secret\nmetadata: {name: webhook-cert}\ntype: kubernetes.io/tls\ndata: {tls.crt: \"\", tls.key: \"\"}\n"),
			Inject: func(ctx context.Context, s *recorder.Stage) error {
				return s.Update(ctx, "webhook-cert-rotator", "v1/Secret/webhook-cert", func(object map[string]any) {
					set(object, caBundle("webhook"), "data", "tls.crt")
					set(object, "bm90IGEga2V5", "data", "tls.key")
				})
			},
		},
		{
			Name: "runtime-populated-data/trust-bundle", App: "trust-bundle",
			Cause:      "a controller distributes the trust bundle into a ConfigMap that Git pins empty",
			Files:      git("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: trust-bundle, labels: {trust.example.com/inject: \"true\"}}\ndata: {ca-bundle.crt: \"\"}\n"),
			SyncPolicy: serverSideApply,
			Inject: rewrite("trust-manager", "v1/ConfigMap/trust-bundle", func(object map[string]any) {
				set(object, "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "data", "ca-bundle.crt")
			}),
		},
		{
			Name: "runtime-populated-data/initial-state-in-git", App: "shard-map",
			Cause:       "a controller keeps its state in a ConfigMap whose first version stands in Git",
			Files:       git("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shard-map}\ndata: {generation: \"0\", owners: \"{}\", strategy: ring}\n"),
			Annotations: serverSideDiff,
			Inject: rewrite("shard-controller", "v1/ConfigMap/shard-map", func(object map[string]any) {
				set(object, "17", "data", "generation")
				set(object, `{"a":"10.0.3.4","b":"10.0.3.9"}`, "data", "owners")
			}),
		},
		{
			Name: "runtime-populated-data/reflected-secret", App: "registry-credentials",
			Cause:       "a reflector copies credentials into a Secret that Git pins empty",
			Files:       git("apiVersion: v1\nkind: Secret\nmetadata: {name: registry, annotations: {reflector.example.com/reflects: platform/registry}}\ntype: Opaque\ndata: {password: \"\", username: \"\"}\n"),
			Annotations: serverSideDiff,
			Inject:      patch("secret-reflector", "v1/Secret/registry", `{data: {password: aHVudGVyMg==, username: cHVsbGVy}}`),
		},
	}
}
