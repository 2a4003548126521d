package report_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/extension/report"
)

// village is a report.Cluster in whose namespaces others live too.
type village map[string][]object

func (v village) Definition(context.Context, string, string) (map[string]any, bool, error) {
	return nil, false, nil
}

func (v village) List(_ context.Context, _, kind, namespace string) ([]map[string]any, bool, error) {
	var found []map[string]any
	for _, o := range v[kind] {
		if o["metadata"].(object)["namespace"] == namespace {
			found = append(found, o)
		}
	}
	return found, false, nil
}

func (v village) Get(_ context.Context, kind schema.GroupKind, namespace, name string) (map[string]any, bool, error) {
	return named("v1", kind.Kind, namespace, name), true, nil
}

// owned is an object with an owner; of that, the uid alone is to be believed.
func owned(o object, uid string) object {
	metadata := o["metadata"].(object)
	metadata["uid"] = "uid-of-" + metadata["name"].(string)
	metadata["ownerReferences"] = []any{object{"apiVersion": "apps/v1", "kind": "Deployment", "name": "front", "uid": uid}}
	return o
}

// scaling is an autoscaler of an object.
func scaling(o object, kind, name string) object {
	o["spec"] = object{"scaleTargetRef": object{"kind": kind, "name": name}}
	return o
}

// event is about an object, whose uid is its name's.
func event(name, namespace, kind, of string) object {
	o := named("v1", "Event", namespace, name)
	o["involvedObject"] = object{"kind": kind, "namespace": namespace, "name": of, "uid": "uid-of-" + of}
	return o
}

// settlers are the objects of the namespaces web, where the shop lives beside others,
// and bank, where it does not.
func settlers() village {
	rollout := named("argoproj.io/v1alpha1", "Rollout", "web", "shifting")
	rollout["spec"] = object{"strategy": object{"canary": object{"stableService": "front"}}}
	stranger := named("argoproj.io/v1alpha1", "Rollout", "web", "strange-rollout")
	stranger["spec"] = object{"strategy": object{"canary": object{"stableService": "strange"}}, "template": object{"name": "front"}}
	v := village{
		"HorizontalPodAutoscaler": {scaling(named("autoscaling/v2", "HorizontalPodAutoscaler", "web", "scaler"), "Deployment", "front")},
		"ScaledObject":            {scaling(named("keda.sh/v1alpha1", "ScaledObject", "web", "keda"), "", "front")},
		"Rollout":                 {rollout, stranger},
		"ReplicaSet":              {owned(named("apps/v1", "ReplicaSet", "web", "front-abc"), "uid-front")},
		"Pod":                     {owned(named("v1", "Pod", "web", "front-abc-x"), "uid-of-front-abc")},
		"Job":                     {named("batch/v1", "Job", "web", "migrate")},
		"Event": {
			event("of-pod", "web", "Pod", "front-abc-x"), event("of-lost-job", "web", "Job", "gone"),
			event("of-stranger", "web", "Pod", "strange"), event("of-vault", "bank", "Pod", "vault"),
		},
	}
	for _, namespace := range []string{"web", "bank"} {
		for kind, apiVersion := range map[string]string{"HorizontalPodAutoscaler": "autoscaling/v2", "ScaledObject": "keda.sh/v1alpha1"} {
			v[kind] = append(v[kind], scaling(named(apiVersion, kind, namespace, "strange"), "Deployment", "vault"))
		}
		for kind, apiVersion := range map[string]string{"ReplicaSet": "apps/v1", "Pod": "v1", "Job": "batch/v1"} {
			v[kind] = append(v[kind], owned(named(apiVersion, kind, namespace, "strange"), "uid-vault"))
		}
	}
	return v
}

// fromVillage are the related objects and events that come from the cluster.
func fromVillage(t *testing.T, from *fake) []string {
	t.Helper()
	snapshot, _ := collect(t, from, report.Options{Cluster: settlers(), Home: true})
	found := slices.Concat(names(snapshot.Related), names(snapshot.Events))
	return slices.DeleteFunc(found, func(name string) bool {
		return strings.HasPrefix(name, "Application/") || slices.Contains([]string{"HorizontalPodAutoscaler/web/front", "Pod/web/front-1", "Event/argocd/e1", "Event/web/e2"}, name) // Argo CD's API gives these
	})
}

// TestNeighboursStayOut: whoever writes an Application learns of the namespace that he
// chose no more than what has to do with his own objects.
func TestNeighboursStayOut(t *testing.T) {
	want := []string{
		"Namespace//web", "HorizontalPodAutoscaler/web/scaler", "ScaledObject/web/keda", "Rollout/web/shifting",
		"ReplicaSet/web/front-abc", "Pod/web/front-abc-x", "Event/web/of-pod", "Event/web/of-lost-job",
	}
	if diff := cmp.Diff(want, fromVillage(t, shop(t))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestChosenNamespaces goes through what an Application's writer can set.
func TestChosenNamespaces(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(app object, from *fake)
		// never is in no name that comes from the cluster.
		never string
	}{
		"a moved destination": {"Argo CD has not yet compared with it", func(app object, _ *fake) {
			tree(app, "spec", "destination")["namespace"] = "bank"
		}, "bank"},
		"an invalid destination": {"Argo CD refuses it", func(app object, _ *fake) {
			tree(app, "status")["conditions"] = []any{object{"type": "InvalidSpecError", "message": "not permitted"}}
		}, "web"},
		"incomparable": {"nothing is known to be the Application's", func(app object, from *fake) {
			tree(app, "status")["conditions"] = []any{object{"type": "ComparisonError", "message": "x"}}
			from.answers[appPath+"/managed-resources"] = 500
		}, "web"},
		"a target elsewhere": {"Git can name anything", func(_ object, from *fake) {
			items := from.answers[appPath+"/managed-resources"].(object)
			items["items"] = append(items["items"].([]any), object{"group": "apps", "kind": "Deployment", "namespace": "bank", "name": "vault", "targetState": `{"kind":"Deployment"}`},
				object{"kind": "Pod", "namespace": "bank", "name": "vault", "targetState": `{"kind":"Pod"}`})
		}, "/bank/"},
		"a hook elsewhere": {"so can a status", func(app object, _ *fake) {
			tree(app, "status")["resources"] = []any{object{"kind": "Pod", "version": "v1", "namespace": "bank", "name": "vault", "hook": true}}
		}, "/bank/"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			from := shop(t)
			test.change(from.answers[appPath].(object), from)
			for _, found := range fromVillage(t, from) {
				if strings.Contains(found, test.never) {
					t.Errorf("%s: %s came from the cluster", test.reason, found)
				}
			}
		})
	}
}
