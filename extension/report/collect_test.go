package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

var shopRef = argocd.Ref{Name: "shop"}

func collect(t *testing.T, from *fake, options report.Options) (*drift.Snapshot, []string) {
	t.Helper()
	snapshot, warnings, err := report.Collect(t.Context(), from.client(t), shopRef, options)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot, warnings
}

// names are kind/namespace/name of objects.
func names(objects []map[string]any) []string {
	var found []string
	for _, o := range objects {
		metadata, _ := o["metadata"].(object)
		name, _ := metadata["name"].(string)
		namespace, _ := metadata["namespace"].(string)
		kind, _ := o["kind"].(string)
		found = append(found, kind+"/"+namespace+"/"+name)
	}
	return found
}

func TestCollect(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.FixedZone("", 3600)) }
	snapshot, warnings := collect(t, shop(t), report.Options{Now: now})

	resources := map[string]string{}
	for _, r := range snapshot.Resources {
		resources[r.Group+"/"+r.Version+"/"+r.Kind+"/"+r.Namespace+"/"+r.Name] = sides(r)
	}
	want := map[string]string{
		"apps/v1/Deployment/web/front":              "target live",
		"batch/v1/Job/web/migrate":                  "hook target live",
		"batch/v1/Job/web/gone":                     "hook", // Git has one of the name, which is no hook
		"batch/v1/Job/web/smoke-0a0a0a0-postsync-1": "hook target",
	}
	if diff := cmp.Diff(want, resources); diff != "" {
		t.Errorf("resources: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"HorizontalPodAutoscaler/web/front", "Pod/web/front-1", "Application/team/other", "Application/argocd/other"}, names(snapshot.Related)); diff != "" {
		t.Errorf("related: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Event/argocd/e1", "Event/web/e2"}, names(snapshot.Events)); diff != "" {
		t.Errorf("events: -want +got:\n%s", diff)
	}
	settings := drift.Settings{
		"argocdVersion": "v2.14.21", "trackingMethod": "annotation", "instanceLabelKey": "app.kubernetes.io/instance", "now": "2026-05-04T02:02:01Z",
		"lastCommit":              object{"revision": strings.Repeat("0a", 20), "time": "2026-01-02T03:04:05Z"},
		"resource.compareoptions": "ignoreResourceStatusField: all",
		"resource.customizations": `{"*/*":{"ignoreDifferences":"jqPathExpressions: []\njsonPointers:\n- /status\nmanagedFieldsManagers: []\n"},` +
			`"example.com/Quantity":{"ignoreDifferences":"jsonPointers: []\n","knownTypeFields":[{"field":"spec.cpu","type":"core/v1/ResourceList"}]}}`,
	}
	if diff := cmp.Diff(settings, snapshot.Settings); diff != "" {
		t.Errorf("settings: -want +got:\n%s", diff)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "AppProject team") || !strings.Contains(warnings[0], "p, ROLE, projects, get, team, allow") || !strings.Contains(warnings[1], "objects of kind Pod") {
		t.Errorf("want warnings about the AppProject and the lost Pod, have %q", warnings)
	}
}

func sides(r drift.Resource) string {
	var parts []string
	for name, there := range map[string]bool{"hook": r.Hook, "target": r.Target != nil, "live": r.Live != nil, "normalized": r.NormalizedLive != nil, "predicted": r.PredictedLive != nil} {
		if there {
			parts = append(parts, name)
		}
	}
	order := []string{"hook", "target", "live", "normalized", "predicted"}
	slices.SortFunc(parts, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return strings.Join(parts, " ")
}

func TestCollectCompared(t *testing.T) {
	snapshot, _ := collect(t, shop(t), report.Options{Compared: true})
	if got := sides(snapshot.Resources[0]); got != "target live normalized predicted" {
		t.Errorf("have %s", got)
	}
	if _, ok := snapshot.Settings[drift.SettingNow]; ok {
		t.Error("there is a time although no clock was given")
	}
}

func TestCollectNeeds(t *testing.T) {
	for _, path := range []string{appPath, appPath + "/managed-resources"} {
		from := shop(t)
		delete(from.answers, path)
		_, _, err := report.Collect(t.Context(), from.client(t), shopRef, report.Options{})
		if _, ok := errors.AsType[*argocd.Error](err); !ok {
			t.Errorf("without %s: want its refusal, have %v", path, err)
		}
	}
	from := shop(t)
	for path := range from.answers {
		if path != appPath && path != appPath+"/managed-resources" {
			delete(from.answers, path)
		}
	}
	snapshot, warnings := collect(t, from, report.Options{})
	if len(snapshot.Resources) != 4 || len(warnings) < 5 {
		t.Errorf("want the resources and warnings for the rest, have %d and %q", len(snapshot.Resources), warnings)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := report.Collect(ctx, shop(t).client(t), shopRef, report.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestCollectIncomparable holds that an Application that Argo CD cannot compare is
// collected without resources, and that a server that is down is no such thing.
func TestCollectIncomparable(t *testing.T) {
	from := shop(t)
	from.answers[appPath+"/managed-resources"] = 500
	if _, _, err := report.Collect(t.Context(), from.client(t), shopRef, report.Options{}); err == nil {
		t.Error("no resources, no reason, and no error")
	}
	status := from.answers[appPath].(object)["status"].(object)
	status["conditions"] = []any{object{"type": "InvalidSpecError", "message": "the repository is not permitted in project team"}}
	status["operationState"], status["resources"] = nil, nil
	snapshot, warnings := collect(t, from, report.Options{})
	if len(snapshot.Resources) != 0 || !strings.Contains(warnings[0], "lacks the resources") {
		t.Errorf("have %v and %q", snapshot.Resources, warnings)
	}
	from.answers[appPath+"/managed-resources"] = 403
	if _, _, err := report.Collect(t.Context(), from.client(t), shopRef, report.Options{}); err == nil {
		t.Error("a token without the right is no reason to go on")
	}
}

// TestCollectReadsNoOther holds that of other Applications nothing is read.
func TestCollectReadsNoOther(t *testing.T) {
	from := shop(t)
	collect(t, from, report.Options{Cluster: &cluster{}})
	for _, path := range from.asked {
		if strings.HasPrefix(path, "/api/v1/applications") && !strings.HasPrefix(path, appPath) {
			t.Errorf("asked for %s", path)
		}
	}
}

// TestCollectOddShapes holds that an Application of another shape is collected as it is.
func TestCollectOddShapes(t *testing.T) {
	for name, status := range map[string]any{
		"text": "status", "list": []any{1}, "null": nil,
		"odd parts": object{"resources": object{}, "conditions": []any{1, nil, object{"type": 1}}, "operationState": []any{}, "sync": object{"revision": 7, "revisions": []any{1}}},
	} {
		from := shop(t)
		from.answers[appPath].(object)["status"] = status
		from.answers[appPath].(object)["metadata"] = []any{}
		snapshot, _ := collect(t, from, report.Options{})
		got, err := json.Marshal(snapshot.Application["status"])
		if err != nil || string(got) != text(t, status) {
			t.Errorf("%s: status became %s", name, got)
		}
	}
}

// cluster is a report.Cluster that notes what it is asked for.
type cluster struct {
	asked []string
	err   error
}

func (c *cluster) Definition(_ context.Context, group, kind string) (map[string]any, bool, error) {
	c.asked = append(c.asked, "definition "+kind+"."+group)
	return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", kind+"."+group), c.err == nil, c.err
}

func (c *cluster) List(_ context.Context, group, kind, namespace string) ([]map[string]any, bool, error) {
	c.asked = append(c.asked, "list "+group+"/"+kind+" "+namespace)
	if c.err != nil {
		return nil, false, c.err
	}
	found := named("v1", kind, namespace, "found")
	found["metadata"].(object)["ownerReferences"] = []any{object{"kind": "Deployment", "name": "front", "uid": "uid-front"}}
	found["involvedObject"] = object{"uid": "uid-front"}
	return []map[string]any{found}, kind == "Pod", nil
}

func (c *cluster) Get(_ context.Context, kind schema.GroupKind, namespace, name string) (map[string]any, bool, error) {
	c.asked = append(c.asked, "get "+kind.Kind+" "+namespace+"/"+name)
	return object{"data": object{
		"resource.exclusions": "- kinds: [Event]", "application.links": "x", "oidc.config": "clientSecret: hush", "admin.enabled": "true",
		"controller.diff.server.side": "true", "redis.server": "redis:6379",
	}}, c.err == nil, c.err
}

func TestCollectFromCluster(t *testing.T) {
	from := shop(t)
	from.answers[appPath+"/managed-resources"].(object)["items"] = []any{object{
		"group": "example.com", "kind": "Widget", "namespace": "other", "name": "w", "targetState": "null", "liveState": text(t, named("example.com/v1", "Widget", "other", "w")),
	}}
	asked := &cluster{}
	snapshot, warnings := collect(t, from, report.Options{Cluster: asked})
	for _, want := range []string{
		"definition Widget.example.com", "list autoscaling/HorizontalPodAutoscaler web", "list /Pod other", "list keda.sh/ScaledObject other", "list /Event web",
		"list admissionregistration.k8s.io/MutatingWebhookConfiguration ", "get ConfigMap argocd/argocd-cm", "get Namespace /web",
	} {
		if !slices.Contains(asked.asked, want) {
			t.Errorf("not asked: %s in %q", want, asked.asked)
		}
	}
	related := names(snapshot.Related)
	for _, want := range []string{"CustomResourceDefinition//Widget.example.com", "MutatingWebhookConfiguration//found", "Job/other/found"} {
		if !slices.Contains(related, want) {
			t.Errorf("lacks %s: %q", want, related)
		}
	}
	if !slices.Contains(names(snapshot.Events), "Event/web/found") || slices.Contains(related, "Event/web/found") {
		t.Errorf("events: %q", names(snapshot.Events))
	}
	if snapshot.Settings["resource.exclusions"] != "- kinds: [Event]" || snapshot.Settings["controller.diff.server.side"] != "true" {
		t.Errorf("settings: %v", snapshot.Settings)
	}
	for _, private := range []string{"oidc.config", "admin.enabled", "redis.server"} {
		if _, ok := snapshot.Settings[private]; ok {
			t.Errorf("settings hold %s", private)
		}
	}
	if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "Pod in namespace web only the first 1 ") }) {
		t.Errorf("no word about Pods left out: %q", warnings)
	}
	_, warnings = collect(t, shop(t), report.Options{Cluster: &cluster{err: errors.New("down")}})
	if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "down") }) {
		t.Errorf("no word about a cluster that is down: %q", warnings)
	}
}
