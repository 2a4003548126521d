package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

const pumpKey = "resource.customizations.health." + pumpName

// settingsState is what tests compare of a ConfigMap.
type settingsState struct {
	version string
	data    map[string]string
}

func settingsOf(t *testing.T, name string) settingsState {
	t.Helper()
	maps, err := plane.Resource(t.Context(), configMapKind, controlplane.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	found, err := maps.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := unstructured.NestedStringMap(found.Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	return settingsState{found.GetResourceVersion(), data}
}

// newSettings makes a ConfigMap as the given field manager would.
func newSettings(t *testing.T, name, manager string, data map[string]any) {
	t.Helper()
	maps, err := plane.Resource(t.Context(), configMapKind, controlplane.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": name, "labels": map[string]any{"app.kubernetes.io/part-of": "argocd"}},
	}}
	if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{FieldManager: manager}); err != nil {
		t.Fatal(err)
	}
}

// TestLuaInstallShares: a live ConfigMap belongs to more people than one. What others
// wrote survives, and each refusal says whose it is and what to do.
func TestLuaInstallShares(t *testing.T) {
	const own = `return {status = "Healthy", message = "mine"}`
	checks := pumpChecks(t)
	tests := map[string]struct {
		reason  string
		manager string
		data    map[string]any
		code    int
		says    []string
		written bool
	}{
		"settings": {
			"settings of other sorts are not in the way", "kubectl-edit",
			map[string]any{"url": "https://cd.example.com", "resource.customizations.actions.apps_Deployment": "discovery.lua: return {}"},
			0,
			[]string{"1 to add"},
			true,
		},
		"Helm's key": {
			"a key of another manager is not touched", "helm",
			map[string]any{pumpKey: own},
			0,
			[]string{pumpKey + " is left alone", "field manager helm", "--take-over " + pumpName, "1 left alone"},
			false,
		},
		"user's own check": {
			"an own check in the merged key would be hidden", "kubectl-client-side-apply",
			map[string]any{"resource.customizations": "lua.moorpin.dev/Pump:\n  health.lua: |\n    " + own + "\n"},
			0,
			[]string{"resource.customizations, entry lua.moorpin.dev/Pump"},
			false,
		},
		"wildcard": {
			"so would a wildcard", "kubectl-edit",
			map[string]any{"resource.customizations": "'*.moorpin.dev/*':\n  health.lua: |\n    " + own + "\n"},
			0,
			[]string{"*.moorpin.dev/*"},
			false,
		},
		"full": {
			"a ConfigMap holds 1 MiB", "kubectl-edit",
			map[string]any{"notes": strings.Repeat("x", 1<<20-100)},
			2,
			[]string{"more than the 1048576 that a ConfigMap may hold"},
			false,
		},
		"broken": {
			"Argo CD cannot load it as it is", "kubectl-edit",
			map[string]any{"resource.customizations.health.a_b_C": own},
			2,
			[]string{"resource.customizations.health.a_b_C", "until it is mended"},
			false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			settings := "cm-" + strings.ToLower(strings.NewReplacer(" ", "-", "'", "").Replace(name))
			newSettings(t, settings, test.manager, test.data)
			before := settingsOf(t, settings)
			flags := []string{"--kubeconfig", plane.Kubeconfig(), "--configmap", settings, "--yes"}
			t.Log(wantSays(t, test.code, test.says, append([]string{"lua", "install", checks}, flags...)...))
			after := settingsOf(t, settings)
			if written := after.data[pumpKey] != before.data[pumpKey]; written != test.written {
				t.Errorf("%s: written is %v", test.reason, written)
			}
			if !test.written && after.version != before.version {
				t.Errorf("%s: the ConfigMap was written to", test.reason)
			}
			if test.code != 0 {
				return
			}
			wantSays(t, 0, nil, append([]string{"lua", "install", checks, "--take-over", pumpName}, flags...)...)
			if taken := settingsOf(t, settings); !strings.Contains(taken.data[pumpKey], "Pump") {
				t.Errorf("the check named by --take-over is not written: %q", taken.data[pumpKey])
			}
			wantSays(t, 0, nil, append([]string{"lua", "install", "--uninstall"}, flags...)...)
			want := before.data
			delete(want, pumpKey) // what was taken over is not given back
			if diff := cmp.Diff(want, settingsOf(t, settings).data, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: uninstall must leave the rest: -want +got:\n%s", test.reason, diff)
			}
		})
	}
}
