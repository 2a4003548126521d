package overrides_test

import (
	"errors"
	"testing"

	"github.com/argoproj/argo-cd/v2/util/settings"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"

	argolua "github.com/argoproj/argo-cd/v2/util/lua"

	"github.com/moorpin/moorpin/lua/overrides"
)

const healthy = `return {status = "Healthy"}`

var pump = schema.GroupKind{Group: "x.io", Kind: "Pump"}

// TestParse holds Parse against Argo CD's own reading of the same ConfigMap.
func TestParse(t *testing.T) {
	tests := map[string]struct {
		reason string
		data   map[string]string
		bad    string // the key at fault
		where  string // of the check for the pump; empty when there is none
	}{
		"nothing":             {"no key, no check", nil, "", ""},
		"split key":           {"the common case", map[string]string{"resource.customizations.health.x.io_Pump": healthy}, "", "resource.customizations.health.x.io_Pump"},
		"merged key":          {"the old form", map[string]string{"resource.customizations": "x.io/Pump:\n  health.lua: " + healthy}, "", "resource.customizations, entry x.io/Pump"},
		"both":                {"the split key wins", map[string]string{"resource.customizations": "x.io/Pump:\n  health.lua: " + healthy, "resource.customizations.health.x.io_Pump": "return nil"}, "", "resource.customizations.health.x.io_Pump"},
		"wildcard":            {"a pattern counts for kinds without a check of their own", map[string]string{"resource.customizations": "\"*.io/*\":\n  health.lua: " + healthy}, "", "resource.customizations, entry *.io/*"},
		"wildcard for all":    {"all stands for */*", map[string]string{"resource.customizations.health.all": healthy}, "", "resource.customizations.health.all"},
		"other wildcard":      {"a pattern that does not match is no check", map[string]string{"resource.customizations": "\"*.com/*\":\n  health.lua: " + healthy}, "", ""},
		"open libraries":      {"the flag is no check", map[string]string{"resource.customizations.useOpenLibs.x.io_Pump": "true"}, "", ""},
		"other settings":      {"they are not read", map[string]string{"url": "{", "resource.customizations.foo": "x"}, "", ""},
		"two underscores":     {"Argo CD cannot split the name", map[string]string{"resource.customizations.health.a_b_C": healthy}, "resource.customizations.health.a_b_C", ""},
		"unknown type":        {"Argo CD refuses it", map[string]string{"resource.customizations.heath.x.io_Pump": healthy}, "resource.customizations.heath.x.io_Pump", ""},
		"no boolean":          {"Argo CD refuses it", map[string]string{"resource.customizations.useOpenLibs.x.io_Pump": "maybe"}, "resource.customizations.useOpenLibs.x.io_Pump", ""},
		"merged no YAML":      {"Argo CD refuses it", map[string]string{"resource.customizations": "a: ["}, "resource.customizations", ""},
		"merged other type":   {"Argo CD refuses it", map[string]string{"resource.customizations": "- a"}, "resource.customizations", ""},
		"bad ignore rule":     {"Argo CD refuses it", map[string]string{"resource.customizations.ignoreDifferences.x.io_Pump": "a: ["}, "resource.customizations.ignoreDifferences.x.io_Pump", ""},
		"bad known fields":    {"Argo CD refuses it", map[string]string{"resource.customizations.knownTypeFields.x.io_Pump": "a: b"}, "resource.customizations.knownTypeFields.x.io_Pump", ""},
		"empty name":          {"Argo CD refuses it", map[string]string{"resource.customizations.health.": healthy}, "resource.customizations.health.", ""},
		"actions of any sort": {"Argo CD reads them later", map[string]string{"resource.customizations.actions.x.io_Pump": "a: ["}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			theirs, theirErr := argo(t, test.data)
			ours, err := overrides.Parse(test.data)
			if (err == nil) != (theirErr == nil) {
				t.Fatalf("%s: Argo CD says %v, Parse %v", test.reason, theirErr, err)
			}
			if refused, ok := errors.AsType[*overrides.KeyError](err); ok != (test.bad != "") || ok && refused.Key != test.bad {
				t.Fatalf("%s: want key %q to be at fault: %v", test.reason, test.bad, err)
			}
			if err != nil {
				return
			}
			check, found := ours.Find(pump)
			if found != (test.where != "") || found && check.Where() != test.where {
				t.Errorf("%s: want %q, have %q", test.reason, test.where, check.Where())
			}
			script, open := theirs(pump)
			if script != check.Script || open != check.OpenLibs {
				t.Errorf("%s: Argo CD runs %q, Find says %q", test.reason, script, check.Script)
			}
		})
	}
}

// argo reads the ConfigMap as Argo CD does, and returns how it finds a kind's script.
func argo(t *testing.T, data map[string]string) (func(schema.GroupKind) (string, bool), error) {
	t.Helper()
	labels := map[string]string{"app.kubernetes.io/part-of": "argocd"}
	client := fake.NewSimpleClientset(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "argocd-cm", Namespace: "argocd", Labels: labels}, Data: data},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "argocd-secret", Namespace: "argocd", Labels: labels}, Data: map[string][]byte{"server.secretkey": []byte("x")}},
	)
	read, err := settings.NewSettingsManager(t.Context(), client, "argocd").GetResourceOverrides()
	return func(kind schema.GroupKind) (string, bool) {
		vm := argolua.VM{ResourceOverrides: read}
		script, open, err := vm.GetHealthScript(object(kind))
		if err != nil {
			t.Fatal(err)
		}
		return script, open
	}, err
}

func TestNames(t *testing.T) {
	tests := map[string]struct {
		kind schema.GroupKind
		name string
	}{
		"group":      {schema.GroupKind{Group: "x.io", Kind: "Pump"}, "x.io_Pump"},
		"core group": {schema.GroupKind{Kind: "Pod"}, "Pod"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			back, ok := overrides.ParseName(test.name)
			if overrides.Name(test.kind) != test.name || !ok || back != test.kind {
				t.Errorf("%v is %s, and %s is %v", test.kind, overrides.Name(test.kind), test.name, back)
			}
			if kind, ok := overrides.HealthKind(overrides.HealthKey(test.kind)); !ok || kind != test.kind {
				t.Errorf("the key %s stands for %v", overrides.HealthKey(test.kind), kind)
			}
		})
	}
	for _, bad := range []string{"", "a_b_C", "x.io_"} {
		if kind, ok := overrides.ParseName(bad); ok {
			t.Errorf("%q is %v", bad, kind)
		}
	}
}

func TestKinds(t *testing.T) {
	set, err := overrides.Parse(map[string]string{
		"resource.customizations.health.x.io_Pump": healthy, "resource.customizations.health.all": healthy,
		"resource.customizations.health.Pod": healthy, "resource.customizations.actions.apps_Deployment": "x",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]schema.GroupKind{{Kind: "Pod"}, pump}, set.Kinds()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
