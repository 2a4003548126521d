package scenarios

import (
	"slices"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// furnaces is a CRD whose scale subresource has a path of its own.
const furnaces = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: furnaces.forge.example.com}
spec:
  group: forge.example.com
  names: {kind: Furnace, listKind: FurnaceList, plural: furnaces, singular: furnace}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, alloy: {type: string}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

const furnace = "apiVersion: forge.example.com/v1\nkind: Furnace\nmetadata: {name: steel}\nspec: {size: 2, alloy: s235}\n"

const strongbox = `apiVersion: v1
kind: Secret
metadata: {name: strongbox}
type: Opaque
stringData: {user: reader, password: not-a-password}
`

const outsideDatabase = `apiVersion: v1
kind: Service
metadata: {name: orders-db}
spec: {ports: [{name: sql, port: 5432, targetPort: 5432, protocol: TCP}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: orders-db}
subsets: [{addresses: [{ip: 192.0.2.20}], ports: [{name: sql, port: 5432, protocol: TCP}]}]
`

const twoHosts = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: gallery}
spec:
  ingressClassName: public
  rules:
  - host: www.gallery.example.com
    http: &paths {paths: [{path: /, pathType: Prefix, backend: {service: {name: gallery, port: {number: 80}}}}]}
  - host: gallery.example.com
    http: *paths
`

func furtherSecrets() []recorder.Scenario {
	const on = "v1/Secret/strongbox"
	return []recorder.Scenario{
		{
			Name: "manual-edit/password-in-a-secret", App: "strongbox-edited",
			Cause: "somebody changes a password in a Secret that Git gives as text", Files: git(strongbox),
			Inject: patch("kubectl-edit", on, `{data: {password: c29tZXRoaW5nLWVsc2U=}}`),
		},
		{
			Name: "git-ahead/password-of-a-secret", App: "strongbox-ahead", SyncPolicy: serverSideApply,
			Cause: "another user name is committed in a Secret that Git gives as text, and not synced yet", Files: git(strongbox),
			Inject: commit(git(replaced(strongbox, "user: reader", "user: writer"))),
		},
		{
			Name: "hidden-live-addition/key-of-a-secret", App: "strongbox-keyed", Annotations: serverSideDiff,
			Cause: "somebody adds a key to a Secret with kubectl patch", Files: git(strongbox),
			Inject: patch("kubectl-patch", on, `{data: {token: bm90IGEgdG9rZW4=}}`),
		},
	}
}

// furtherMaps are about maps that a server-side apply takes as one value.
func furtherMaps() []recorder.Scenario {
	placed := replaced(cellar, "      containers:\n", "      nodeSelector: {disk: ssd}\n      containers:\n")
	add := `{spec: {template: {spec: {nodeSelector: {zone: b}}}}}`
	return []recorder.Scenario{
		{
			Name: "hidden-live-addition/selector-of-a-service", App: "service-narrowed",
			Cause: "somebody adds a key to the selector of a Service with kubectl patch, which a three-way diff does not show", Files: git(storefrontService),
			Inject: patch("kubectl-patch", onService, `{spec: {selector: {version: v2}}}`),
		},
		{
			Name: "hidden-live-addition/node-of-a-pod", App: "cellar-placed",
			Cause: "somebody adds a key to the node selector of a StatefulSet in Lens, which a three-way diff does not show", Files: git(placed),
			Inject: patch("node-fetch", onCellar, add),
		},
		{
			Name: "manual-edit/node-of-a-pod", App: "cellar-moved", SyncPolicy: serverSideApply,
			Cause: "somebody adds a key to the node selector of a StatefulSet, which a server-side apply removes", Files: git(placed),
			Inject: patch("kubectl-edit", onCellar, add),
		},
		{
			Name: "none/selector-of-an-operator", App: "calm-selector", Files: git(storefrontService),
			Cause:  "an operator adds a key to the selector of a Service, which a three-way diff does not show",
			Inject: patch("traffic-operator", onService, `{spec: {selector: {track: stable}}}`),
		},
	}
}

func furtherScaled() []recorder.Scenario {
	const onFurnace = "forge.example.com/v1/Furnace/steel"
	short := replaced(scaledObject, "apiVersion: apps/v1, kind: %kind, ", "", "%name", "storefront")
	all := map[string]string{"resource.customizations.ignoreDifferences.all": "managedFieldsManagers:\n- kube-controller-manager\n"}
	files := git(storefront, autoscalerOf("apps/v1", "Deployment", "storefront"))
	return []recorder.Scenario{
		{
			Name: "hpa-replicas/size-of-a-custom-resource", App: "forge-scaled", Cluster: furnaces,
			Cause:  "the HorizontalPodAutoscaler scales a custom resource, whose size is its replicas",
			Files:  git(furnace, autoscalerOf("forge.example.com/v1", "Furnace", "steel")),
			Inject: autoscaled(onFurnace, "steel", 6),
		},
		{
			Name: "keda-replicas/kind-left-out", App: "storefront-short", CRDs: []string{crdScaledObject},
			Cause: "KEDA scales a Deployment by a ScaledObject that names no kind", Files: git(storefront, short),
			Cluster: replaced(kedaAutoscaler, "%kind", "Deployment", "%name", "storefront"), SyncPolicy: serverSideApply,
			Inject: autoscaled(onStorefront, "keda-hpa-storefront", 8), Related: []string{onAutoscaler + "keda-hpa-storefront"},
		},
		{
			Name: "ignore-without-respect/manager-ignored-everywhere", App: "storefront-instance", Settings: all, Files: files,
			Cause:  "the HorizontalPodAutoscaler scales a Deployment, and argocd-cm ignores what its manager owns everywhere",
			Inject: autoscaled(onStorefront, "storefront", 9),
		},
		{
			Name: "none/manager-for-the-whole-instance", App: "calm-everywhere", Settings: all, Files: files,
			Cause:      "the HorizontalPodAutoscaler scales a Deployment, and argocd-cm ignores what its manager owns everywhere, which a sync respects",
			SyncPolicy: withOptions("RespectIgnoreDifferences=true"), Inject: autoscaled(onStorefront, "storefront", 9),
		},
	}
}

func furtherRemovals() []recorder.Scenario {
	const region = `{data: {region: null}}`
	oneStore := replaced(cellar, "      - name: exporter\n        image: registry.example.com/data/exporter:0.17\n        args: [--port=9187]\n", "")
	return []recorder.Scenario{
		{
			// Who removes a field leaves no entry in managedFields for it.
			Name: "manual-edit/key-removed", App: "settings-removed", Files: git(settings),
			Cause:  "somebody removes a key of a ConfigMap with kubectl edit",
			Inject: patch("kubectl-edit", onSettings, region),
		},
		{
			Name: "manual-edit/key-removed-server-side", App: "settings-gone", Files: git(settings), SyncPolicy: serverSideApply,
			Cause:  "somebody removes a key of a ConfigMap with kubectl patch and adds another, and the Application applies server-side",
			Inject: patch("kubectl-patch", onSettings, `{data: {region: null, zone: b}}`),
		},
		{
			Name: "git-ahead/container-removed", App: "cellar-slim", Files: git(cellar), SyncPolicy: serverSideApply,
			Cause:  "a container of a StatefulSet is removed in Git and not synced yet",
			Inject: commit(git(oneStore)),
		},
		{
			Name: "multiple/role-renamed", App: "press-renamed", Files: git(pressRole, settings),
			Cause:  "a Role gets another name in Git, and it is not synced yet",
			Inject: commit(git(replaced(pressRole, "name: press", "name: newsroom"), settings)),
		},
	}
}

func furtherOdd() []recorder.Scenario {
	restarted := `{spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: "2026-05-06T07:08:09Z"}}}}}`
	typed := replaced(storefrontService, "spec:\n", "spec:\n  type: ClusterIP\n")
	hashed := replaced(brokerOf("DaemonSet", `checksum/config: {{ now | toString | sha256sum }}`, ""), "  replicas: {{ .Values.replicas }}\n", "")
	timed := replaced(route, "  - matches:", "  - timeouts: {request: 60s}\n    matches:")
	return []recorder.Scenario{
		{
			Name: "rollout-restart/restarted-in-the-ui", App: "storefront-button", Files: git(storefront),
			Cause:  "somebody restarts a Deployment with the button of Argo CD's UI",
			Inject: patch("argocd-server", onStorefront, restarted),
		},
		{
			Name: "manual-edit/type-of-a-service", App: "service-typed", Files: git(typed),
			Cause:  "somebody makes a Service reachable from outside with kubectl edit",
			Inject: patch("kubectl-edit", onService, `{spec: {type: NodePort}}`),
		},
		{
			Name: "manual-edit/address-of-endpoints", App: "orders-outside", Files: git(outsideDatabase), SyncPolicy: serverSideApply,
			Cause:  "somebody points the Endpoints of a database outside the cluster to another address",
			Inject: patch("kubectl-edit", "v1/Endpoints/orders-db", `[{op: replace, path: /subsets/0/addresses/0/ip, value: 192.0.2.21}]`),
		},
		{
			Name: "manual-edit/port-beside-an-operators", App: "service-shared-ports", Files: git(storefrontService),
			Cause: "an operator adds a port to a Service, and somebody changes the target of Git's port",
			Inject: inOrder(rewrite("metrics-operator", onService, appended(map[string]any{"name": "metrics", "port": int64(9100), "targetPort": int64(9100), "protocol": "TCP"}, "spec", "ports")),
				patch("kubectl-edit", onService, `[{op: replace, path: /spec/ports/0/targetPort, value: 8088}]`)),
		},
		{
			Name: "none/reloader-at-work", App: "calm-reloader", Files: git(cellar),
			Cause: "a controller that reloads configuration adds a variable, an annotation and a label to a StatefulSet",
			Inject: rewrite("Reloader", onCellar, func(object map[string]any) {
				appended(map[string]any{"name": "RELOADER_SETTINGS", "value": "9c0f2ab1"}, "spec", "template", "spec", "containers", 0, "env")(object)
				set(object, map[string]any{"reloader.example.com/last": "settings"}, "spec", "template", "metadata", "annotations")
				set(object, map[string]any{"reloaded": "true"}, "metadata", "labels")
			}),
		},
		{
			Name: "checksum-churn/digest-of-the-time", App: "broker-hashed", Files: chart(map[string]string{"broker.yaml": hashed}),
			Cause: "a chart hashes the time of the render into the pods of a DaemonSet",
		},
		{
			Name: "empty-vs-absent/null-pull-secrets", App: "press-null", Files: git(pressAccount + "imagePullSecrets:\n"),
			Cause: "a chart renders a null list of pull secrets, and a controller has one of its own there",
			Inject: rewrite("pull-secret-controller", onAccount, func(object map[string]any) {
				set(object, []any{map[string]any{"name": "press-dockercfg-x7k2p"}}, "imagePullSecrets")
			}),
		},
		{
			Name: "operator-writeback/pull-secret-of-a-controller", App: "press-pulled", Files: git(pressAccount + "imagePullSecrets: [{name: registry}]\n"),
			Cause:  "a controller adds a pull secret of its own to those of Git",
			Inject: rewrite("pull-secret-controller", onAccount, appended(map[string]any{"name": "press-dockercfg-x7k2p"}, "imagePullSecrets")),
		},
		{
			Name: "list-reordered/hosts-of-an-ingress", App: "gallery-order", Files: git(twoHosts), SyncPolicy: serverSideApply,
			Cause: "an operator sorts the rules of an Ingress by host",
			Inject: rewrite("ingress-operator", onGallery, func(object map[string]any) {
				slices.Reverse(follow(object, []any{"spec", "rules"}).([]any))
			}),
		},
		{
			Name: "value-canonicalised/timeout-of-a-route", App: "route-timeout", Files: git(timed), CRDs: []string{crdRoute},
			Cause:  "a gateway controller writes a timeout in its shortest spelling",
			Inject: rewrite("gateway-controller", onRoute, func(object map[string]any) { set(object, "1m", "spec", "rules", 0, "timeouts", "request") }),
		},
		{
			Name: "wave-blocked/certificate-of-an-early-wave", App: "certificate-wave", CRDs: []string{crdCertificate}, Files: git(settings),
			Cause: "a Certificate of an early wave is not issued for hours, and the next wave waits",
			Inject: inOrder(commit(git(replaced(settings, "eu-central-1", "eu-south-1"), replaced(certificate, "  name: shop-tls\nspec", "  name: shop-tls\n  annotations: {argocd.argoproj.io/sync-wave: \"-5\"}\nspec"))),
				startSync("waiting for healthy state of cert-manager.io/Certificate/shop-tls"), hoursLater(4)),
		},
		{
			Name: "unhealthy-not-drift/claim-lost", App: "photos-lost", Files: git(replaced(claim, "%s", "")),
			Cause:  "the volume of a claim was deleted, and the claim is lost",
			Inject: inOrder(status(kcm, "v1/PersistentVolumeClaim/photos", "{phase: Lost}"), hoursLater(2)),
		},
		{
			Name: "respect-ignore-blocks-change/listeners-of-a-gateway", App: "gateway-blocked", Files: git(publicGateway), CRDs: []string{crdGateway},
			Cause:      "Git moves a listener to another port, and a respected rule covers all listeners",
			SyncPolicy: withOptions("RespectIgnoreDifferences=true"), Spec: ignoring(pointers("gateway.networking.k8s.io", "Gateway", "/spec/listeners")),
			Inject: inOrder(commit(git(replaced(publicGateway, "port: 80,", "port: 8080,"))), sync()),
		},
	}
}
