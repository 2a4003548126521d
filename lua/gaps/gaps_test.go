package gaps_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/lua/gaps"
	"github.com/moorpin/moorpin/lua/overrides"
)

func kind(group, name string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: name} }

func TestFind(t *testing.T) {
	checks, err := overrides.Parse(map[string]string{
		"resource.customizations.health.x.io_Own":                    "return nil",
		"resource.customizations.health.cert-manager.io_Certificate": "return nil",
		"resource.customizations.ignoreDifferences.x.io_Gap":         "jsonPointers: [/spec]",
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason string
		kind   schema.GroupKind
		want   gaps.Row
	}{
		"unknown kind":     {"nothing checks it, and another customization is no check", kind("x.io", "Gap"), gaps.Row{State: gaps.Gap}},
		"script of Argo":   {"it is embedded", kind("argoproj.io", "Rollout"), gaps.Row{State: gaps.ByArgoCD, Check: "Argo CD's script"}},
		"code of Argo":     {"gitops-engine checks it", kind("apps", "Deployment"), gaps.Row{State: gaps.ByArgoCD, Check: "Argo CD's code"}},
		"own":              {"argocd-cm checks it", kind("x.io", "Own"), gaps.Row{State: gaps.Own, Check: "resource.customizations.health.x.io_Own"}},
		"hidden":           {"argocd-cm hides Argo CD's", kind("cert-manager.io", "Certificate"), gaps.Row{State: gaps.Own, Check: "resource.customizations.health.cert-manager.io_Certificate", Hides: true}},
		"later":            {"a newer Argo CD has a script", kind("acme.cert-manager.io", "Order"), gaps.Row{State: gaps.Gap, Later: "v3.6"}},
		"later by pattern": {"and patterns", kind("s3.services.k8s.aws", "Bucket"), gaps.Row{State: gaps.Gap, Later: "v3.6"}},
		"odd name":         {"a path is no kind", kind("..", "/etc"), gaps.Row{State: gaps.Gap}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.want.Group, test.want.Kind = test.kind.Group, test.kind.Kind
			if diff := cmp.Diff([]gaps.Row{test.want}, gaps.Find([]schema.GroupKind{test.kind, test.kind}, checks)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", test.reason, diff)
			}
		})
	}
}

// fakeCluster holds Applications and a number of objects of other kinds.
type fakeCluster struct {
	applications []map[string]any
	counts       map[string]int64
	err          error
}

func (f fakeCluster) Count(_ context.Context, _, name string) (int64, bool, error) {
	if name == "Forbidden" {
		return 0, false, f.err
	}
	count, served := f.counts[name]
	return count, served, nil
}

func (f fakeCluster) All(context.Context, string, string, string) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		for _, application := range f.applications {
			if !yield(application, nil) {
				return
			}
		}
	}
}

func application(name string, resources ...any) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name, "namespace": "argocd"}, "status": map[string]any{"resources": resources}}
}

func resource(name string, wave int64, hook bool) map[string]any {
	return map[string]any{"group": "x.io", "kind": name, "syncWave": wave, "hook": hook}
}

func TestCensus(t *testing.T) {
	cluster := fakeCluster{
		applications: []map[string]any{
			application("waves", resource("First", 0, false), resource("Last", 1, false)),
			application("early", resource("First", -5, false), resource("Last", 0, false)),
			application("flat", resource("First", 3, false), resource("Last", 3, false)),
			application("hooked", resource("Last", 0, false), resource("Job", 0, true)),
			application("empty"),
			{"metadata": "odd", "status": "odd"},
		},
		counts: map[string]int64{"Application": 5, "First": 7, "Last": 0},
		err:    errors.New("forbidden"),
	}
	rows := gaps.Find([]schema.GroupKind{kind("x.io", "First"), kind("x.io", "Last"), kind("x.io", "Absent"), kind("x.io", "Forbidden")}, overrides.Set{})
	warnings, err := gaps.Census(t.Context(), cluster, rows)
	if err != nil || len(warnings) != 1 {
		t.Fatalf("want one warning, of the kind that is forbidden: %q, %v", warnings, err)
	}
	seven, none := int64(7), int64(0)
	want := []gaps.Row{
		{Group: "x.io", Kind: "Absent", State: gaps.Gap},
		{Group: "x.io", Kind: "First", State: gaps.Gap, Objects: &seven, Waves: []string{"argocd/early", "argocd/waves"}},
		{Group: "x.io", Kind: "Forbidden", State: gaps.Gap},
		{Group: "x.io", Kind: "Last", State: gaps.Gap, Objects: &none, Waves: []string{"argocd/hooked"}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if gaps.Count(rows) != 4 {
		t.Errorf("%d gaps", gaps.Count(rows))
	}
}
