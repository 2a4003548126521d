package scenarios

import (
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

const storefrontBudget = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: storefront}
spec:
  minAvailable: 2
  selector: {matchLabels: {app.kubernetes.io/name: storefront}}
`

func missingResources() []recorder.Scenario {
	const budget = "policy/v1/PodDisruptionBudget/storefront"
	return []recorder.Scenario{
		{
			Name: "resource-missing/configmap-deleted", App: "settings-deleted",
			Cause:  "somebody deletes a ConfigMap",
			Files:  git(settings, storefront),
			Inject: remove(onSettings),
		},
		{
			Name: "resource-missing/budget-deleted-for-a-drain", App: "storefront-drain",
			Cause: "somebody deletes a PodDisruptionBudget and a Service to drain a node",
			Files: git(storefront, storefrontService, storefrontBudget), SyncPolicy: serverSideApply,
			Inject: remove(budget, onService),
		},
		{
			Name: "resource-missing/certificate-deleted", App: "certificate-deleted",
			Cause: "somebody deletes a Certificate",
			Files: git(certificate), CRDs: []string{crdCertificate}, Annotations: serverSideDiff,
			Inject: remove(onCertificate),
		},
	}
}

const chartFile = "apiVersion: v2\nname: mailer\nversion: 1.4.0\n"

// mailer is a chart as a template.
const mailer = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-mailer
  labels: {helm.sh/chart: "mailer-{{ .Chart.Version }}", app.kubernetes.io/instance: "{{ .Release.Name }}"}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: mailer}}
  template:
    metadata:
      labels: {app: mailer}
    spec:
      containers:
      - name: mailer
        image: "registry.example.com/mail/mailer:{{ .Values.tag }}"
        ports: [{containerPort: 2525, protocol: TCP}]
        env:
        - {name: RELAY, value: {{ .Values.relay | quote }}}
`

func gitAhead() []recorder.Scenario {
	chart := map[string]string{
		"app/Chart.yaml": chartFile, "app/templates/deployment.yaml": mailer,
		"app/values.yaml": "replicas: 1\ntag: 3.0.1\nrelay: smtp.example.com\n",
	}
	return []recorder.Scenario{
		{
			Name: "git-ahead/new-image", App: "storefront-release",
			Cause:  "a new image is committed and not synced yet",
			Files:  git(storefront, storefrontService),
			Inject: commit(git(replaced(storefront, "1.14.2", "1.15.0"), storefrontService)),
		},
		{
			Name: "git-ahead/values-of-a-chart", App: "mailer-release",
			Cause: "the values and the version of a chart are committed and not synced yet",
			Files: chart, SyncPolicy: serverSideApply,
			Inject: commit(map[string]string{
				"app/Chart.yaml":  "apiVersion: v2\nname: mailer\nversion: 1.5.0\n",
				"app/values.yaml": "replicas: 2\ntag: 3.0.1\nrelay: relay.mail.example.com\n",
			}),
		},
		{
			Name: "git-ahead/variable-removed", App: "storefront-cleanup",
			Cause: "a variable and a limit are removed in Git and not synced yet",
			Files: git(storefront),
			Inject: commit(git(replaced(storefront,
				"        - {name: CHECKOUT_URL, value: \"http://checkout:8080\"}\n", "", "          limits: {memory: 512Mi}\n", ""))),
		},
		{
			Name: "git-ahead/new-object", App: "settings-split",
			Cause:  "a second ConfigMap is committed and not synced yet",
			Files:  git(settings),
			Inject: commit(git(settings, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: feature-flags}\ndata: {newCheckout: \"true\"}\n")),
		},
		{
			Name: "git-ahead/kustomize-overlay", App: "ledger-overlay",
			Cause: "an overlay is changed in Git and not synced yet",
			Files: map[string]string{
				"base/kustomization.yaml": "resources: [ledger.yaml]\n", "base/ledger.yaml": ledger,
				"app/kustomization.yaml": "resources: [../base]\nreplicas: [{name: ledger, count: 3}]\n",
			},
			Annotations: serverSideDiff,
			Inject: commit(map[string]string{
				"app/kustomization.yaml": "resources: [../base]\nreplicas: [{name: ledger, count: 7}]\nlabels: [{pairs: {tier: data}}]\n",
			}),
		},
		{
			Name: "git-ahead/certificate-name-added", App: "certificate-names",
			Cause: "a name is added to a Certificate in Git and not synced yet",
			Files: git(certificate), CRDs: []string{crdCertificate},
			Inject: commit(git(replaced(certificate, "api.shop.example.com]", "api.shop.example.com, cdn.shop.example.com]"))),
		},
	}
}

// child is an Application in Git: %name is its own name.
const child = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: %name
  namespace: argocd
spec:
  project: default
  source:
    repoURL: $REPOSITORY
    targetRevision: main
    path: charts/mailer
    helm:
      parameters:
      - {name: tag, value: 3.0.1}
      - {name: replicas, value: "1"}
  destination: {server: https://kubernetes.default.svc, namespace: $NAMESPACE}
  syncPolicy:
    automated: {selfHeal: true}
    syncOptions: [CreateNamespace=true]
`

func childFiles(name string) map[string]string {
	return map[string]string{
		"app/child.yaml":                      replaced(child, "%name", name),
		"charts/mailer/Chart.yaml":            chartFile,
		"charts/mailer/templates/mailer.yaml": mailer,
		"charts/mailer/values.yaml":           "replicas: 1\ntag: 3.0.1\nrelay: smtp.example.com\n",
	}
}

func applicationEdits() []recorder.Scenario {
	on := func(name string) string { return "argoproj.io/v1alpha1/Application/argocd/" + name }
	return []recorder.Scenario{
		{
			Name: "application-spec-edit/revision-in-the-ui", App: "root-revision",
			Cause:  "somebody points a child Application at another revision in Argo CD's UI",
			Files:  childFiles("mailer-revision"),
			Inject: patch("argocd-server", on("mailer-revision"), `{spec: {source: {targetRevision: HEAD}}}`),
		},
		{
			Name: "application-spec-edit/image-updater", App: "root-updater",
			Cause: "argocd-image-updater writes a new tag into a child Application's parameters",
			Files: childFiles("mailer-updater"), SyncPolicy: serverSideApply,
			Inject: rewrite("argocd-image-updater", on("mailer-updater"), func(application map[string]any) {
				set(application, "3.0.4", "spec", "source", "helm", "parameters", 0, "value")
			}),
		},
		{
			Name: "application-spec-edit/autosync-switched-off", App: "root-autosync",
			Cause: "somebody switches self-heal of a child Application off with argocd app set, and raises the replicas",
			Files: childFiles("mailer-autosync"),
			Inject: rewrite("argocd-server", on("mailer-autosync"), func(application map[string]any) {
				set(application, "3", "spec", "source", "helm", "parameters", 1, "value")
				unset(application, "spec", "syncPolicy", "automated")
			}),
		},
	}
}
