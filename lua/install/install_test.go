package install_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/lua/install"
)

const (
	pumpKey  = "resource.customizations.health.x.io_Pump"
	script   = "return {status = \"Healthy\", message = \"new\"}\n"
	older    = "return {status = \"Healthy\", message = \"old\"}\n"
	valveKey = "resource.customizations.health.x.io_Valve"
)

func check(kind string) install.Check {
	return install.Check{Kind: schema.GroupKind{Group: "x.io", Kind: kind}, Script: script}
}

// owned says which manager owns which keys of data.
type owned map[string][]string

// configMap is a live argocd-cm.
func configMap(data map[string]string, owners owned) map[string]any {
	content := map[string]any{}
	for key, value := range data {
		content[key] = value
	}
	managed := []any{}
	for manager, keys := range owners {
		fields := map[string]any{}
		for _, key := range keys {
			fields["f:"+key] = map[string]any{}
		}
		operation := "Update"
		if manager == install.Manager {
			operation = "Apply"
		}
		managed = append(managed, map[string]any{
			"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": fields},
		})
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": content,
		"metadata": map[string]any{
			"name": "argocd-cm", "namespace": "argocd", "resourceVersion": "5", "managedFields": managed,
			"labels": map[string]any{"app.kubernetes.io/part-of": "argocd"},
		},
	}
}

// recorder keeps what is applied.
type recorder struct {
	object map[string]any
	force  bool
	writes int
}

func (r *recorder) Apply(_ context.Context, manager string, object map[string]any, force bool) error {
	if manager != install.Manager {
		return fmt.Errorf("manager %s", manager)
	}
	r.object, r.force = object, force
	r.writes++
	return nil
}

func TestPlan(t *testing.T) {
	merged := "x.io/Pump:\n  health.lua: return nil\n"
	tests := map[string]struct {
		reason   string
		live     map[string]any
		checks   []install.Check
		takeOver []string
		actions  string // "add Pump, ..."
		refused  string // a word of the refusal
		applied  []string
		force    bool
	}{
		"add":                {"nothing is there", configMap(nil, nil), []install.Check{check("Pump")}, nil, "add", "", []string{pumpKey}, false},
		"again":              {"all is as it should be", configMap(map[string]string{pumpKey: script}, owned{install.Manager: {pumpKey}}), []install.Check{check("Pump")}, nil, "keep", "", nil, false},
		"update":             {"ours, and older", configMap(map[string]string{pumpKey: older}, owned{install.Manager: {pumpKey}}), []install.Check{check("Pump")}, nil, "update", "", []string{pumpKey}, false},
		"remove":             {"ours, and no longer wanted", configMap(map[string]string{pumpKey: older, valveKey: script}, owned{install.Manager: {pumpKey, valveKey}}), []install.Check{check("Valve")}, nil, "remove keep", "", []string{valveKey}, false},
		"uninstall":          {"only ours goes", configMap(map[string]string{pumpKey: older, valveKey: script}, owned{install.Manager: {pumpKey}, "helm": {valveKey}}), nil, nil, "remove", "", []string{}, false},
		"shared":             {"what another owns too stays when ours goes", configMap(map[string]string{pumpKey: older}, owned{install.Manager: {pumpKey}, "helm": {pumpKey}}), nil, nil, "", "", nil, false},
		"another's":          {"it is not touched", configMap(map[string]string{pumpKey: older}, owned{"helm": {pumpKey}}), []install.Check{check("Pump")}, nil, "", "field manager helm", nil, false},
		"another's, equal":   {"it is left alone, too", configMap(map[string]string{pumpKey: script}, owned{"helm": {pumpKey}}), []install.Check{check("Pump")}, nil, "", "this very check", nil, false},
		"nobody's":           {"somebody wrote it", configMap(map[string]string{pumpKey: older}, nil), []install.Check{check("Pump")}, nil, "", "has not recorded", nil, false},
		"edited meanwhile":   {"the editor owns it now", configMap(map[string]string{pumpKey: older}, owned{install.Manager: {}, "kubectl-edit": {pumpKey}}), []install.Check{check("Pump")}, nil, "", "kubectl-edit", nil, false},
		"taken over by kind": {"the user named it", configMap(map[string]string{pumpKey: older}, owned{"helm": {pumpKey}}), []install.Check{check("Pump")}, []string{"x.io_Pump"}, "update", "", []string{pumpKey}, true},
		"taken over by key":  {"the user named it", configMap(map[string]string{pumpKey: older}, owned{"helm": {pumpKey}}), []install.Check{check("Pump")}, []string{pumpKey}, "update", "", []string{pumpKey}, true},
		"own check":          {"the merged key covers the kind", configMap(map[string]string{"resource.customizations": merged}, nil), []install.Check{check("Pump"), check("Valve")}, nil, "add", "entry x.io/Pump", []string{valveKey}, false},
		"own check hidden":   {"the user named it, and no field changes hands", configMap(map[string]string{"resource.customizations": merged}, nil), []install.Check{check("Pump")}, []string{"x.io_Pump"}, "add", "", []string{pumpKey}, false},
		"built in":           {"Argo CD's own check is better", configMap(nil, nil), []install.Check{{Kind: schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}, Script: script}}, nil, "", "Argo CD checks", nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan, err := install.New(test.live, test.checks, install.Options{TakeOver: test.takeOver})
			if err != nil {
				t.Fatal(err)
			}
			var actions []string
			for _, change := range plan.Changes {
				actions = append(actions, string(change.Action))
			}
			if got := strings.Join(actions, " "); got != test.actions {
				t.Errorf("%s: want %q, have %q", test.reason, test.actions, got)
			}
			if (test.refused == "") != (len(plan.Refusals) == 0) || test.refused != "" && !strings.Contains(plan.Refusals[0].Reason, test.refused) {
				t.Errorf("%s: want a refusal with %q: %v", test.reason, test.refused, plan.Refusals)
			}
			checkWrite(t, plan, test.applied, test.force)
		})
	}
}

// checkWrite wants exactly the keys to be applied; nil means no write at all.
func checkWrite(t *testing.T, plan install.Plan, keys []string, force bool) {
	t.Helper()
	var cluster recorder
	if err := plan.Write(t.Context(), &cluster); err != nil {
		t.Fatal(err)
	}
	diff, err := plan.Diff()
	if err != nil || (diff == "") != plan.Empty() {
		t.Errorf("diff %q, %v", diff, err)
	}
	if keys == nil {
		if cluster.writes != 0 {
			t.Errorf("wrote %v", cluster.object)
		}
		return
	}
	if cluster.writes != 1 || cluster.force != force {
		t.Fatalf("%d writes, force %v", cluster.writes, cluster.force)
	}
	data := map[string]any{}
	for _, key := range keys {
		data[key] = script
	}
	want := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm", "namespace": "argocd", "resourceVersion": "5"}}
	if len(data) > 0 {
		want["data"] = data
	}
	if diff := cmp.Diff(want, cluster.object); diff != "" {
		t.Errorf("applied: -want +got:\n%s", diff)
	}
}

func TestRefuses(t *testing.T) {
	tests := map[string]struct {
		reason   string
		live     map[string]any
		checks   []install.Check
		takeOver []string
		says     string
	}{
		"too large":      {"the API server would refuse it", configMap(map[string]string{"a": strings.Repeat("x", install.MaxBytes-10)}, nil), []install.Check{check("Pump")}, nil, "more than the 1048576"},
		"broken":         {"Argo CD could not load it", configMap(map[string]string{"resource.customizations.health.a_b_C": ""}, nil), []install.Check{check("Pump")}, nil, "resource.customizations.health.a_b_C"},
		"no ConfigMap":   {"it is another kind", map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "a"}}, nil, nil, "is no ConfigMap"},
		"twice":          {"which one counts?", configMap(nil, nil), []install.Check{check("Pump"), check("Pump")}, nil, "two checks"},
		"take over what": {"a typing error must not pass", configMap(nil, nil), []install.Check{check("Pump")}, []string{"x.io_Pumpe"}, "x.io_Pumpe"},
		"odd kind":       {"no ConfigMap could hold the key", configMap(nil, nil), []install.Check{check("Pu mp")}, nil, "none that a ConfigMap can hold"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := install.New(test.live, test.checks, install.Options{TakeOver: test.takeOver})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: want %q: %v", test.reason, test.says, err)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	tests := map[string]struct {
		live   map[string]any
		checks []install.Check
		want   string
	}{
		"added":   {configMap(nil, nil), []install.Check{check("Pump")}, "--- /dev/null\n+++ argocd-cm/" + pumpKey + "\n@@ -0,0 +1 @@\n+" + script},
		"removed": {configMap(map[string]string{pumpKey: script}, owned{install.Manager: {pumpKey}}), nil, "--- argocd-cm/" + pumpKey + "\n+++ /dev/null\n@@ -1 +0,0 @@\n-" + script},
		"changed": {configMap(map[string]string{pumpKey: older}, owned{install.Manager: {pumpKey}}), []install.Check{check("Pump")}, "--- argocd-cm/" + pumpKey + "\n+++ argocd-cm/" + pumpKey + "\n@@ -1 +1 @@\n-" + older + "+" + script},
		"kept":    {configMap(map[string]string{pumpKey: script}, owned{install.Manager: {pumpKey}}), []install.Check{check("Pump")}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan, err := install.New(test.live, test.checks, install.Options{})
			if err != nil {
				t.Fatal(err)
			}
			have, err := plan.Diff()
			if diff := cmp.Diff(strings.TrimSuffix(test.want, "\n"), strings.TrimSuffix(have, "\n")); err != nil || diff != "" {
				t.Errorf("%v -want +got:\n%s", err, diff)
			}
		})
	}
}

// TestFullButEmpty: taking checks out of a ConfigMap that is too full is allowed.
func TestFullButEmpty(t *testing.T) {
	live := configMap(map[string]string{"a": strings.Repeat("x", install.MaxBytes-len(script)), pumpKey: script}, owned{install.Manager: {pumpKey}})
	plan, err := install.New(live, nil, install.Options{})
	if err != nil || plan.Empty() || plan.Bytes != install.MaxBytes-len(script) {
		t.Errorf("%d bytes, %v", plan.Bytes, err)
	}
}

func TestWarnings(t *testing.T) {
	live := configMap(nil, nil)
	metadata := live["metadata"].(map[string]any)
	delete(metadata, "labels")
	metadata["annotations"] = map[string]any{"argocd.argoproj.io/tracking-id": "argocd:/ConfigMap:argocd/argocd-cm"}
	later := install.Check{Kind: schema.GroupKind{Group: "acme.cert-manager.io", Kind: "Order"}, Script: script}
	plan, err := install.New(live, []install.Check{later}, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(plan.Warnings, "\n")
	for _, word := range []string{"part-of", "the Application argocd", "v3.6"} {
		if !strings.Contains(said, word) {
			t.Errorf("want %q in %q", word, said)
		}
	}
}

func TestPatch(t *testing.T) {
	text, err := install.Patch([]install.Check{check("Valve"), check("Pump")})
	if err != nil {
		t.Fatal(err)
	}
	again, err := install.Patch([]install.Check{check("Pump"), check("Valve")})
	if err != nil || string(again) != string(text) {
		t.Errorf("another order, other bytes: %v", err)
	}
	var object struct {
		Kind string            `json:"kind"`
		Data map[string]string `json:"data"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{pumpKey: script, valveKey: script}, maps.Clone(object.Data)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
