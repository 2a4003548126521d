package lua_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNames refuses kinds whose names no API server takes: each would be the name of a
// file, and of a key that keeps Argo CD from loading any setting.
func TestNames(t *testing.T) {
	const text = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"},
"spec": {"group": %q, "names": {"kind": %q}, "scope": "Namespaced", "versions": [{"name": "v1", "storage": true, "schema":
{"openAPIV3Schema": {"properties": {"status": {"properties": {"phase": {"type": "string", "enum": ["Ready", "Failed"]}}}}}}}]}}`
	for name, kind := range map[string][2]string{
		"out of the folder": {"example.com", "../../../Pump"},
		"a folder":          {"example.com/a", "Pump"},
		"two underscores":   {"example.com", "Water_Pump"},
		"every kind":        {"*", "*"},
		"a new line":        {"example.com", "Pump\nkey"},
		"too long":          {"example.com", strings.Repeat("Pump", 60)},
	} {
		t.Run(name, func(t *testing.T) {
			folder, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
			write(t, filepath.Join(folder, "bad.json"), fmt.Sprintf(text, kind[0], kind[1]))
			write(t, filepath.Join(folder, "good.json"), fmt.Sprintf(text, "example.com", "Pump"))
			wants(t, 0, "1 checks written, 0 kinds without evidence, 1 refused", "generate", "--crds", folder, "--out", out)
			patch, err := os.ReadFile(filepath.Join(out, "argocd-cm.patch.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(patch), "resource.customizations") != 1 {
				t.Errorf("the patch must hold the key of the good kind alone:\n%s", patch)
			}
		})
	}
}

// TestOutHoldsFolder leaves alone a folder that only has the name of one of our files.
func TestOutHoldsFolder(t *testing.T) {
	out := t.TempDir()
	kept := write(t, filepath.Join(out, "argocd-cm.patch.yaml", "kept.txt"), "precious")
	wants(t, 2, "no earlier run has written", "generate", "--crds", crds, "--out", out)
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
