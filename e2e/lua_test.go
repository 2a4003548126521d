package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

// pumpCRD is a kind that no Argo CD knows.
const pumpCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pumps.lua.moorpin.dev}
spec:
  group: lua.moorpin.dev
  scope: Namespaced
  names: {kind: Pump, plural: pumps, singular: pump, listKind: PumpList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              observedGeneration: {type: integer, format: int64}
              conditions:
                type: array
                items:
                  type: object
                  required: [type, status]
                  properties:
                    type: {type: string}
                    status: {type: string, enum: ["True", "False", "Unknown"]}
                    reason: {type: string}
                    message: {type: string}
                    observedGeneration: {type: integer, format: int64}
`

const pumpFiles = `apiVersion: lua.moorpin.dev/v1
kind: Pump
metadata: {name: pump, annotations: {argocd.argoproj.io/sync-wave: "0"}}
spec: {litres: 3}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: consumer, annotations: {argocd.argoproj.io/sync-wave: "1"}}
data: {needs: pump}
`

const pumpName = "lua.moorpin.dev_Pump"

var (
	pumpKind      = schema.GroupVersionKind{Group: "lua.moorpin.dev", Version: "v1", Kind: "Pump"}
	configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// moorpinSays runs moorpin against the plane and returns its exit code and all it says.
func moorpinSays(t *testing.T, args ...string) (int, string) {
	t.Helper()
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), string(output)
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, string(output)
}

// wantSays fails unless moorpin ends with the code and says all the words.
func wantSays(t *testing.T, code int, words []string, args ...string) string {
	t.Helper()
	got, said := moorpinSays(t, args...)
	if got != code {
		t.Fatalf("moorpin %s: want exit code %d, have %d:\n%s", strings.Join(args, " "), code, got, said)
	}
	for _, word := range words {
		if !strings.Contains(said, word) {
			t.Errorf("moorpin %s: want %q in:\n%s", strings.Join(args, " "), word, said)
		}
	}
	return said
}

// pumpChecks generates the checks for the pump's CRD and returns their folder.
func pumpChecks(t *testing.T) string {
	t.Helper()
	crds, checks := filepath.Join(t.TempDir(), "crd.yaml"), filepath.Join(t.TempDir(), "checks")
	if err := os.WriteFile(crds, []byte(pumpCRD), 0o600); err != nil {
		t.Fatal(err)
	}
	wantSays(t, 0, []string{"1 checks written"}, "lua", "generate", "--crds", crds, "--out", checks)
	return checks
}

// TestLuaWaves: Argo CD does not wait for a kind without a health check. With the check
// that moorpin installs, the next wave waits until the status says so, and a status that
// tells of a failure stops the sync.
func TestLuaWaves(t *testing.T) {
	if err := plane.ApplyYAML(t.Context(), "", []byte(pumpCRD)); err != nil {
		t.Fatal(err)
	}
	repository := newRepository(t, map[string]string{"app/all.yaml": pumpFiles})
	cluster := []string{"--kubeconfig", plane.Kubeconfig()}

	native := settle(t, controlplane.Application{Name: "pump-native", Namespace: "pump-native", Source: pathSource(repository, "app")})
	if native.Operation.Phase != "Succeeded" || !consumed(t, "pump-native") {
		t.Fatalf("without a check the wave must not wait: %s", native)
	}
	found := wantSays(t, 1, []string{"argocd/pump-native"}, append([]string{"lua", "gaps", "--check", "-o", "json"}, cluster...)...)
	if !strings.Contains(found, `"kind": "Pump"`) {
		t.Errorf("the kind is not among the gaps:\n%s", found)
	}

	t.Log(wantSays(t, 0, []string{"no wave waits for it in argocd/pump-native"}, append([]string{"lua", "gaps"}, cluster...)...))

	checks := pumpChecks(t)
	install := append([]string{"lua", "install", checks}, cluster...)
	before := settingsOf(t, "argocd-cm")
	t.Log(wantSays(t, 0, []string{"1 to add", "nothing is written"}, install...))
	if after := settingsOf(t, "argocd-cm"); after.version != before.version {
		t.Error("install without --yes wrote")
	}
	wantSays(t, 0, []string{"1 to add", "written"}, append(install, "--yes")...)
	installed := settingsOf(t, "argocd-cm")
	t.Log(wantSays(t, 0, []string{"0 to add, 0 to update, 0 to remove, 1 as they should be"}, append(install, "--yes")...))
	if again := settingsOf(t, "argocd-cm"); again.version != installed.version {
		t.Error("installing twice changed something")
	}

	startPump(t, repository, "pump-gated")
	waitForPump(t, "pump-gated", "Running", "waiting for healthy state of lua.moorpin.dev/Pump/pump")
	setPump(t, "pump-gated", "False", "Creating")
	waitForPump(t, "pump-gated", "Running", "waiting for healthy state of lua.moorpin.dev/Pump/pump")
	if consumed(t, "pump-gated") {
		t.Error("the next wave did not wait")
	}
	setPump(t, "pump-gated", "True", "Pumping")
	waitForPump(t, "pump-gated", "Succeeded", "")
	if !consumed(t, "pump-gated") {
		t.Error("the next wave did not run")
	}

	startPump(t, repository, "pump-failed")
	waitForPump(t, "pump-failed", "Running", "waiting for healthy state of lua.moorpin.dev/Pump/pump")
	setPump(t, "pump-failed", "False", "InstallationFailed")
	waitForPump(t, "pump-failed", "Failed", "")
	if consumed(t, "pump-failed") {
		t.Error("the sync went on after a failure")
	}

	wantLive(t, checks, cluster)

	t.Log(wantSays(t, 0, []string{"1 to remove", "written"}, append([]string{"lua", "install", "--uninstall", "--yes"}, cluster...)...))
	if after := settingsOf(t, "argocd-cm"); fmt.Sprint(after.data) != fmt.Sprint(before.data) {
		t.Errorf("uninstall left %v, want %v", after.data, before.data)
	}
}

// wantLive tries the check on the three pumps: one without a status, one that is ready,
// one that failed.
func wantLive(t *testing.T, checks string, cluster []string) {
	t.Helper()
	const answers = "1 Degraded, 1 Healthy, 1 Progressing"
	t.Log(wantSays(t, 0, []string{"ok " + pumpName, "live: " + answers}, append([]string{"lua", "verify", checks, "--live"}, cluster...)...))
	live := filepath.Join(t.TempDir(), "live")
	t.Log(wantSays(t, 0, []string{"checks written"}, append([]string{"lua", "generate", "--live", "--out", live}, cluster...)...))
	report, err := os.ReadFile(filepath.Join(live, "report.md"))
	if err != nil || !strings.Contains(string(report), answers) {
		t.Errorf("want %q in the report: %v\n%s", answers, err, report)
	}
}

// startPump creates an Application with a pump and begins to sync it.
func startPump(t *testing.T, repository *controlplane.Repository, name string) {
	t.Helper()
	if err := plane.CreateApplication(t.Context(), controlplane.Application{Name: name, Namespace: name, Source: pathSource(repository, "app")}); err != nil {
		t.Fatal(err)
	}
	if _, err := plane.RefreshApplication(t.Context(), name, controlplane.RefreshNormal); err != nil {
		t.Fatal(err)
	}
	if err := plane.PostAPI(t.Context(), "/api/v1/applications/"+name+"/sync", map[string]any{}); err != nil {
		t.Fatal(err)
	}
}

func waitForPump(t *testing.T, name, phase, message string) {
	t.Helper()
	status, err := plane.WaitForApplication(t.Context(), name, func(status controlplane.Status) bool {
		return status.Operation.Phase == phase && strings.Contains(status.Operation.Message, message)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", status)
}

// setPump writes the pump's status as its controller would.
func setPump(t *testing.T, namespace, status, reason string) {
	t.Helper()
	pumps, err := plane.Resource(t.Context(), pumpKind, namespace)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"observedGeneration": 1,
		"conditions":         []any{map[string]any{"type": "Ready", "status": status, "reason": reason, "message": "says the test"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pumps.Patch(t.Context(), "pump", types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// consumed reports whether the second wave has run.
func consumed(t *testing.T, namespace string) bool {
	t.Helper()
	maps, err := plane.Resource(t.Context(), configMapKind, namespace)
	if err != nil {
		t.Fatal(err)
	}
	_, err = maps.Get(t.Context(), "consumer", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}
