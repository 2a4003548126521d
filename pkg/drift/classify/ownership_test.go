package classify

import (
	"fmt"
	"testing"
)

// Who made an object once is no writer who comes again.
func TestMadeOnce(t *testing.T) {
	const mine = `annotations: {argocd.argoproj.io/tracking-id: "web:/ConfigMap:web/settings"}`
	object := func(applied, managers string) string {
		return fmt.Sprintf(`
application:
  status:
    sync: {status: OutOfSync}
    history: [{id: 1, revision: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, deployedAt: "2026-01-01T00:00:00Z"}]
resources:
- target: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, `+mine+`}, data: {a: "2"}}
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, creationTimestamp: "2025-12-01T00:00:00Z", annotations: {argocd.argoproj.io/tracking-id: "web:/ConfigMap:web/settings"%s}, managedFields: [%s]}, data: {a: "1"}}`, applied, managers)
	}
	by := func(manager, time string) string {
		return fmt.Sprintf(`{manager: %s, operation: Update, time: "%s", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}`, manager, time)
	}
	const argo = `, {manager: argocd-controller, operation: Update, time: "2025-12-05T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:annotations": {"f:argocd.argoproj.io/tracking-id": {}}}}}`
	const applied = `, kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"web","annotations":{"argocd.argoproj.io/tracking-id":"web:/ConfigMap:web/settings"}}}'`
	const made, later = "2025-12-01T00:00:00Z", "2025-12-09T00:00:00Z"
	const foreign, ahead = "foreign-apply ConfigMap/settings overwrites-live certain", "git-ahead ConfigMap/settings safe certain"
	situations{
		"made by Helm, Argo CD's since": {"Git declares it anew", object(applied, by("helm", made)+argo), []string{ahead}},
		"upgraded by Helm before":       {"Helm has not come again since Argo CD wrote", object(applied, by("helm", "2025-12-03T00:00:00Z")+argo), []string{ahead}},
		"upgraded by Helm since":        {"Helm has come again", object(applied, by("helm", later)+argo), []string{foreign}},
		"made by a script":              {"Argo CD has never written it, and kubectl but once", object("", by("kubectl-create", made)), []string{"manual-edit ConfigMap/settings overwrites-live likely"}},
		"applied by a script again":     {"kubectl has come again", object("", by("kubectl-client-side-apply", later)), []string{foreign}},
		"made by Helm":                  {"a release keeps what it made", object("", by("helm", made)), []string{foreign}},
	}.run(t)
}

// To write nothing but Argo CD's own mark again overwrites nothing.
func TestMarkRestored(t *testing.T) {
	const target = `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, annotations: {argocd.argoproj.io/tracking-id: "web:/ConfigMap:web/settings"}}, data: {a: "1"}}`
	live := func(data string) string {
		return `
application: {status: {sync: {status: OutOfSync}}}
resources:
- target: ` + target + `
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"web"},"data":{"a":"` + data + `"}}'}, managedFields: [{manager: argocd-controller, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {}}}, {manager: kubectl-client-side-apply, operation: Update, time: "2026-01-02T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: "` + data + `"}}`
	}
	situations{
		"the mark alone":      {"the other manifest is Git's without the mark", live("1"), []string{"foreign-apply ConfigMap/settings safe certain"}},
		"a value beside mark": {"the other manifest has another value too", live("2"), []string{"foreign-apply ConfigMap/settings overwrites-live certain"}},
	}.run(t)
}
