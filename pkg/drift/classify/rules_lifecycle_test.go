package classify

import (
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

func TestTracking(t *testing.T) {
	object := func(metadata string) string {
		return `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web` + metadata + `}, data: {a: "1"}}`
	}
	const mine = `, annotations: {argocd.argoproj.io/tracking-id: "web:/ConfigMap:web/settings"}`
	const theirs = `argocd.argoproj.io/tracking-id: "api:/ConfigMap:web/settings"`
	by := func(manager, operation string) string {
		return `, managedFields: [{manager: ` + manager + `, operation: ` + operation + `, time: "2026-01-01T00:00:00Z"}]`
	}
	two := func(target, live string) string {
		return "\napplication: {status: {sync: {status: OutOfSync}}}\nresources:\n- target: " + target + "\n  live: " + live + "\n"
	}
	label := func(value, manager string) string {
		return `, labels: {app.kubernetes.io/instance: ` + value + `}, managedFields: [{manager: ` + manager + `, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {"f:app.kubernetes.io/instance": {}}}}}]`
	}
	const byLabel = "settings: {trackingMethod: label}\n"
	situations{
		"adopted": {
			"it was there before the Application", two(object(mine), object(by("kubectl-create", "Update"))),
			[]string{"tracking-missing ConfigMap/settings safe certain"},
		},
		"taken away": {
			"Argo CD marked it, and the mark is gone", two(object(mine), object(by("argocd-controller", "Update"))),
			[]string{"tracking-missing ConfigMap/settings safe likely"},
		},
		"another's": {
			"the mark names another Application", two(object(mine), object(", annotations: {"+theirs+"}"+by("argocd-controller", "Update"))),
			[]string{"shared-resource ConfigMap/settings overwrites-live certain"},
		},
		"another's, and the sync refuses": {
			"FailOnSharedResource ends it", `
application: {spec: {syncPolicy: {syncOptions: [FailOnSharedResource=true]}}, status: {sync: {status: OutOfSync}}}
resources:
- target: ` + object(mine) + `
  live: ` + object(", annotations: {"+theirs+"}") + "\n",
			[]string{"shared-resource ConfigMap/settings will-fail certain"},
		},
		"another's, and not compared": {
			"the annotation is ignored, so only the warning shows it", `
application:
  spec: {ignoreDifferences: [{kind: ConfigMap, jsonPointers: [/metadata/annotations]}]}
  status: {conditions: [{type: SharedResourceWarning, message: "ConfigMap/settings is part of applications argocd/web and api"}]}
resources:
- target: ` + object(mine) + `
  live: ` + object(", annotations: {"+theirs+"}") + "\n",
			[]string{"ignore-without-respect ConfigMap/settings overwrites-live certain", "shared-resource ConfigMap/settings overwrites-live certain"},
		},
		"label of an operator": {
			"the label is a program's, and no Application's name", two(object(", labels: {app.kubernetes.io/instance: web}"), object(label("shop", "shop-operator"))) + byLabel,
			[]string{"instance-label-conflict ConfigMap/settings fights-controller certain"},
		},
		"label of another Application": {
			"the snapshot knows the Application", two(object(", labels: {app.kubernetes.io/instance: web}"), object(label("shop", "argocd-controller"))) + byLabel + `
related: [{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: shop, namespace: argocd}}]`,
			[]string{"shared-resource ConfigMap/settings overwrites-live certain"},
		},
		"label missing": {
			"it was there before the Application", two(object(", labels: {app.kubernetes.io/instance: web}"), object(by("kubectl-create", "Update"))) + byLabel,
			[]string{"tracking-missing ConfigMap/settings safe certain"},
		},
	}.run(t)
}

func TestOurs(t *testing.T) {
	for name, row := range map[string]struct {
		namespace, controller, app string
		want                       bool
	}{
		"beside the controller":     {"argocd", "argocd", "web", true},
		"elsewhere":                 {"team", "argocd", "team_web", true},
		"elsewhere, only its name":  {"team", "argocd", "web", false},
		"of an unknown controller":  {"team", "", "team_web", true},
		"another":                   {"argocd", "argocd", "api", false},
		"another team's same named": {"argocd", "argocd", "team_web", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &state.Application{}
			s.Object = applicationNamed(row.namespace, row.controller)
			if got := s.Ours(row.app); got != row.want {
				t.Errorf("ours %t, want %t", got, row.want)
			}
		})
	}
}

// Marks of any shape are read without harm.
func FuzzTrackingID(f *testing.F) {
	f.Add("web:apps/Deployment:web/api")
	f.Add("a:b/c:d")
	f.Add("::/:/")
	f.Fuzz(func(t *testing.T, id string) {
		if read, found := state.ParseTrackingID(id); found && read.App == "" {
			t.Errorf("%q names no Application", id)
		}
	})
}

func applicationNamed(namespace, controller string) *v1alpha1.Application {
	app := &v1alpha1.Application{}
	app.Name, app.Namespace, app.Status.ControllerNamespace = "web", namespace, controller
	return app
}
