package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const imagePolicy = `apiVersion: kyverno.io/v1
kind: Policy
metadata: {name: pinned-images}
spec:
  validationFailureAction: Audit
  background: true
  rules:
  - name: no-latest
    match: {any: [{resources: {kinds: [Pod]}}]}
    validate:
      message: name a version
      pattern: {spec: {containers: [{image: "!*:latest"}]}}
`

func furtherSchemas() []recorder.Scenario {
	autogen := appended(map[string]any{
		"name": "autogen-no-latest", "skipBackgroundRequests": true,
		"match": map[string]any{"any": []any{map[string]any{"resources": map[string]any{"kinds": []any{"Deployment", "StatefulSet"}}}}},
		"validate": map[string]any{
			"message": "name a version", "allowExistingViolations": true,
			"pattern": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": "!*:latest"}}}}}},
		},
	}, "spec", "rules")
	exported := replaced(fence, "metadata: {name: fence}", "metadata:\n  name: fence\n  creationTimestamp: \"2025-11-03T08:12:55Z\"\n  generation: 7\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"NetworkPolicy\",\"metadata\":{\"name\":\"fence\",\"namespace\":\"old\"}}")
	return []recorder.Scenario{
		{
			Name: "crd-list-default/listeners-of-a-gateway", App: "gateway-defaults",
			Cause: "the CRD of Gateway completes the listeners of an Application that applies server-side",
			Files: git(publicGateway), CRDs: []string{crdGateway}, SyncPolicy: serverSideApply,
			// The listeners are merged by name, the references are one list.
		},
		{
			Name: "crd-list-default/collateral-of-a-listener", App: "gateway-edited",
			Cause: "somebody changes the host of a listener; the three-way diff then shows every default of the list",
			Files: git(publicGateway), CRDs: []string{crdGateway},
			Inject: patch("kubectl-edit", onGateway, `[{op: replace, path: /spec/listeners/0/hostname, value: "*.shop.example.com"}]`),
		},
		{
			Name: "crd-list-default/relabelings-of-a-monitor", App: "monitor-defaults",
			Cause: "the CRD of ServiceMonitor completes the relabelings of an Application that applies server-side",
			Files: git(cellarMonitor), CRDs: []string{crdMonitor}, SyncPolicy: serverSideApply,
		},
		{
			Name: "multiple/rules-generated-and-completed", App: "policy-generated",
			Cause: "the policy engine's webhook appends a rule of its own, and with it the three-way diff shows what the CRD adds to the rules",
			Files: git(imagePolicy), CRDs: []string{"policies.kyverno.io"},
			Before:  webhook("policy-rules", "{apiGroups: [kyverno.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [policies]}", autogen),
			Related: []string{recorder.WebhookRef("policy-rules")},
		},
		{
			Name: "unknown-field-pruned/british-spelling", App: "gallery-behaviour",
			Cause: "the behaviour of a HorizontalPodAutoscaler is misspelt in Git",
			Files: git(replaced(galleryScaler, "  behavior:", "  behaviour:")),
		},
		{
			Name: "deprecated-alias/account-of-a-cron-job", App: "digest-account",
			Cause: "Git gives the service account of a CronJob under both names, with different values",
			Files: git(replaced(digest, "serviceAccountName: digest\n", "serviceAccountName: digest\n          serviceAccount: news\n")),
		},
		{
			Name: "duplicate-list-key/address-of-a-host", App: "cellar-hosts",
			Cause: "a host alias with the same address stands twice in Git",
			Files: git(replaced(cellar, "      containers:\n", "      hostAliases:\n      - {ip: 10.30.0.8, hostnames: [archive.example.com]}\n      - {ip: 10.30.0.8, hostnames: [backup.example.com]}\n      containers:\n")),
		},
		{
			Name: "last-applied-in-git/exported-policy", App: "fence-exported",
			Cause: "a NetworkPolicy was exported from a cluster and committed, with what the server added",
			Files: git(exported),
		},
	}
}

const repository = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: charts}
spec:
  url: https://git.example.com/platform/charts.git
  ref: {branch: main}
  interval: 300s
  suspend: false
  recurseSubmodules: false
`

const galleryDestination = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: archive}
spec:
  hosts: [archive.example.com]
  addresses: ["2001:DB8:0:0::7", 10.30.0.8]
  ports: [{number: 443, name: https, protocol: TLS}]
  resolution: STATIC
  endpoints: [{address: 10.30.0.8}]
`

func furtherSpellings() []recorder.Scenario {
	const charts = "source.toolkit.fluxcd.io/v1/GitRepository/charts"
	return []recorder.Scenario{
		{
			Name: "multiple/repository-written-back", App: "charts-written",
			Cause: "Flux writes a GitRepository back with its interval spelt out and without two falses",
			Files: git(repository), CRDs: []string{"gitrepositories.source.toolkit.fluxcd.io"},
			Inject: rewrite("source-controller", charts, func(object map[string]any) {
				set(object, []any{"finalizers.fluxcd.io"}, "metadata", "finalizers")
				set(object, "5m0s", "spec", "interval")
				unset(object, "spec", "suspend")
				unset(object, "spec", "recurseSubmodules")
			}),
		},
		{
			Name: "value-canonicalised/address-of-a-service-entry", App: "archive-address",
			Cause: "a mesh operator writes an address in its shortest spelling", SyncPolicy: serverSideApply,
			Files: git(galleryDestination), CRDs: []string{"serviceentries.networking.istio.io"},
			Inject: rewrite("mesh-operator", "networking.istio.io/v1/ServiceEntry/archive", func(object map[string]any) {
				set(object, "2001:db8::7", "spec", "addresses", 0)
			}),
		},
	}
}

func furtherAdmission() []recorder.Scenario {
	const rule = "{apiGroups: [networking.k8s.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [ingresses]}"
	classed := func(object map[string]any) { set(object, "shared-edge", "spec", "ingressClassName") }
	return []recorder.Scenario{
		{
			Name: "webhook-overwrite/ingress-class", App: "gallery-class",
			Cause: "a webhook gives every Ingress the class of the shared edge", SyncPolicy: serverSideApply,
			Files: git(gallery), Before: webhook("ingress-classes", rule, classed),
			Related: []string{recorder.WebhookRef("ingress-classes")},
		},
		{
			Name: "webhook-injection/tls-of-an-ingress", App: "gallery-tls",
			Cause: "a webhook appends the certificate of the company's domain to every Ingress",
			Files: git(gallery),
			Before: webhook("ingress-certificates", rule, appended(
				map[string]any{"hosts": []any{"gallery.corp.example.com"}, "secretName": "corp-tls"}, "spec", "tls")),
			Related: []string{recorder.WebhookRef("ingress-certificates")},
		},
		{
			// A webhook leaves no entry in managedFields, so such a rule can never match.
			Name: "ignore-rule-dead/manager-of-a-webhook", App: "gallery-ruled",
			Cause: "a webhook gives every Ingress another class, and a rule is to ignore what the webhook owns",
			Files: git(gallery), Before: webhook("ingress-ruled", rule, classed),
			Spec: ignoring(map[string]any{
				"group": "networking.k8s.io", "kind": "Ingress", "managedFieldsManagers": []any{"ingress-ruled"},
			}),
			Related: []string{recorder.WebhookRef("ingress-ruled")},
		},
	}
}

func furtherRenders() []recorder.Scenario {
	report := replaced(digest, "      template:\n        spec:\n", "      template:\n        metadata: {annotations: {renderedAt: {{ now | date \"2006-01-02T15:04:05Z07:00\" | quote }}}}\n        spec:\n")
	key := "apiVersion: v1\nkind: Secret\nmetadata: {name: broker}\ntype: Opaque\nstringData: {user: broker, token: {{ randAlphaNum 40 | quote }}}\n"
	return []recorder.Scenario{
		{
			// Nothing runs when the template of a CronJob changes: its next Job has the new one.
			Name: "timestamp-render/pods-of-a-cron-job", App: "digest-rendered",
			Cause: "a chart stamps the pods of a CronJob with the time of the render",
			Files: chart(map[string]string{"digest.yaml": report}),
		},
		{
			Name: "random-render/text-of-a-secret", App: "broker-token",
			Cause: "a chart makes a new token at every render and gives it as text", SyncPolicy: serverSideApply,
			Files: chart(map[string]string{"secret.yaml": key}),
		},
	}
}
