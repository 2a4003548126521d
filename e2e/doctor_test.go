package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/freeport"
	"github.com/moorpin/moorpin/e2e/proxied"
	"github.com/moorpin/moorpin/manifests"
	"github.com/moorpin/moorpin/pkg/doctor"
)

// doctorRights are what `moorpin doctor --help` says that it needs, and no more.
const doctorRights = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: doctor}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: doctor}
rules:
- {apiGroups: [""], resources: [configmaps], resourceNames: [argocd-cm, argocd-cmd-params-cm, argocd-rbac-cm], verbs: [get]}
- {apiGroups: [""], resources: [secrets], resourceNames: [moorpin-extension], verbs: [get]}
- {apiGroups: [""], resources: [pods, services], verbs: [list]}
- {apiGroups: [apps], resources: [deployments], verbs: [list]}
- {apiGroups: [argoproj.io], resources: [applications], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: doctor}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: doctor}
subjects: [{kind: ServiceAccount, name: doctor}]
`

// installation is Argo CD's installation in the plane, on its way to one with Moorpin.
type installation struct {
	admin proxied.Admin
	// bare and whole are the objects without and with Moorpin's components.
	bare, whole []*unstructured.Unstructured
	args        []string
}

// TestDoctor installs Moorpin step by step over Argo CD's own manifests; the doctor's
// checks go from red to green, each with its step, on the real API server and the real
// argocd-server, with no more rights than its help names.
func TestDoctor(t *testing.T) {
	i := newInstallation(t)
	i.applyWorkloads(t, i.bare, "argocd-repo-server", "argocd-server")
	i.expect(t, "bare", map[string]doctor.Status{
		"cluster": doctor.OK, "argocd-version": doctor.OK, "settings-size": doctor.OK, "sidecar": doctor.Fail, "sidecar-tools": doctor.Unknown,
		"socket": doctor.Fail, "backend": doctor.Fail, "service": doctor.Unknown, "secret": doctor.Fail, "extension-config": doctor.Fail,
		"rbac": doctor.Fail, "ui": doctor.Fail, "answer": doctor.Fail,
	})

	i.applyWorkloads(t, i.whole, "argocd-repo-server")
	metrics := freeport.Address(t)
	startSidecar(t, "--metrics-address", metrics)
	i.args = append(i.args, "--sidecar-metrics", "http://"+metrics+"/metrics")
	i.expect(t, "sidecar", map[string]doctor.Status{
		"sidecar": doctor.OK, "sidecar-tools": doctor.OK, "socket": doctor.OK, "confinement": doctor.OK, "discovery": doctor.OK, "schemas": doctor.OK,
	})

	b := startBackend(t, "--secret-file", secretFile(t, proxySecret))
	i.applyWorkloads(t, i.whole, "moorpin-extension")
	i.apply(t, "Service", "moorpin-extension")
	i.expect(t, "backend", map[string]doctor.Status{"backend": doctor.OK, "service": doctor.Unknown})

	i.patchFrom(t, "argocd-rbac-cm")
	i.expect(t, "rights", map[string]doctor.Status{"rbac": doctor.OK, "answer": doctor.Fail})

	i.patchFrom(t, "argocd-cm")
	i.expect(t, "configuration", map[string]doctor.Status{"extension-config": doctor.OK, "service": doctor.OK, "secret": doctor.Fail, "answer": doctor.Fail})

	i.addSecret(t)
	i.expect(t, "secret", map[string]doctor.Status{"secret": doctor.OK})
	i.pointAt(t, b.url)
	i.expect(t, "backend behind argocd-server", map[string]doctor.Status{"answer": doctor.OK, "extension-config": doctor.OK})

	i.patchFrom(t, "argocd-cmd-params-cm")
	i.applyWorkloads(t, i.whole, "argocd-server")
	servePages(t)
	i.expect(t, "pages", map[string]doctor.Status{"extension-flag": doctor.OK, "ui": doctor.OK, "skew": doctor.OK})

	i.repoint(t)
	report := i.examine(t)
	for _, f := range report.Findings {
		if f.Status != doctor.OK && f.Check != "answer" { // argocd-server cannot resolve the Service's name here
			t.Errorf("at the end %s is %s: %s", f.Check, f.Status, f.Says)
		}
	}
}

// newInstallation prepares accounts, an Application to ask about, and a kubeconfig with
// the rights of the help.
func newInstallation(t *testing.T) *installation {
	t.Helper()
	i := &installation{admin: proxied.Admin{Plane: plane}}
	if err := i.admin.AddAccounts(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	i.forget(t)
	t.Cleanup(func() { i.forget(t) })
	if err := i.admin.Patch(t.Context(), "ConfigMap", "argocd-rbac-cm", map[string]any{"data": map[string]any{"policy.doctor.csv": "g, moorpin, role:readonly\n"}}); err != nil {
		t.Fatal(err)
	}
	repository := newRepository(t, map[string]string{"app/app.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: examined}\n"})
	if err := plane.CreateApplication(t.Context(), controlplane.Application{Name: "examined", Namespace: "examined", Source: pathSource(repository, "app")}); err != nil {
		t.Fatal(err)
	}
	i.args = []string{
		"doctor", "-o", "json", "--kubeconfig", limited(t), "--server", plane.ServerURL(), "--auth-token-file", secretFile(t, robotToken(t)),
		"--application", "examined", "--socket", filepath.Join(plane.PluginDir(), "moorpin.sock"),
	}
	overlay := manifests.Overlay{Release: "v2.14", Base: "cluster-install", Namespace: controlplane.Namespace}
	var err error
	if i.bare, err = overlay.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	overlay.Components = []string{"cmp", "extension"}
	// The tag of this Argo CD's manifests is latest, which is no version.
	overlay.More = "images: [{name: quay.io/argoproj/argocd, newTag: v2.14.21}]\n"
	if i.whole, err = overlay.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	return i
}

// forget takes what this test sets out of Argo CD's settings.
func (i *installation) forget(t *testing.T) {
	t.Helper()
	for name, keys := range map[string][]string{
		"argocd-cm": {"extension.config.moorpin"}, "argocd-cmd-params-cm": {"server.enable.proxy.extension"},
		"argocd-rbac-cm": {"policy.moorpin.csv", "policy.doctor.csv"},
	} {
		gone := map[string]any{}
		for _, key := range keys {
			gone[key] = nil
		}
		patch, err := json.Marshal(map[string]any{"data": gone})
		if err != nil {
			t.Fatal(err)
		}
		i.patch(t, name, patch)
	}
}

// patch merges into a ConfigMap, also when the test has ended.
func (i *installation) patch(t *testing.T, name string, patch []byte) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	place, err := plane.Resource(ctx, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, controlplane.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := place.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// limited is a kubeconfig of an account with the rights of the help.
func limited(t *testing.T) string {
	t.Helper()
	if err := plane.ApplyYAML(t.Context(), controlplane.Namespace, []byte(doctorRights)); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	asked, err := client.CoreV1().ServiceAccounts(controlplane.Namespace).CreateToken(t.Context(), "doctor", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &api.AuthInfo{Token: asked.Status.Token}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// applyWorkloads applies Deployments, and plays the controller that would start them.
func (i *installation) applyWorkloads(t *testing.T, from []*unstructured.Unstructured, names ...string) {
	t.Helper()
	place, err := plane.Resource(t.Context(), schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, controlplane.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		wanted := find(t, from, "Deployment", name).DeepCopy()
		if err := plane.Apply(t.Context(), controlplane.Namespace, wanted); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = place.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}) })
		made, err := place.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		replicas, _, err := unstructured.NestedInt64(made.Object, "spec", "replicas")
		if err != nil {
			t.Fatal(err)
		}
		made.Object["status"] = map[string]any{"observedGeneration": made.GetGeneration(), "replicas": replicas, "readyReplicas": replicas, "updatedReplicas": replicas}
		if _, err := place.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// apply applies another object of the whole installation.
func (i *installation) apply(t *testing.T, kind, name string) {
	t.Helper()
	if err := plane.Apply(t.Context(), controlplane.Namespace, find(t, i.whole, kind, name).DeepCopy()); err != nil {
		t.Fatal(err)
	}
}

// patchFrom merges one of Argo CD's ConfigMaps, as the components make it, into the live one.
func (i *installation) patchFrom(t *testing.T, name string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"data": find(t, i.whole, "ConfigMap", name).Object["data"]})
	if err != nil {
		t.Fatal(err)
	}
	i.patch(t, name, patch)
}

// addSecret makes the Secret that the documents ask for.
func (i *installation) addSecret(t *testing.T) {
	t.Helper()
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: moorpin-extension, labels: {app.kubernetes.io/part-of: argocd}}\nstringData: {secret: " + proxySecret + "}\n"
	if err := plane.ApplyYAML(t.Context(), controlplane.Namespace, []byte(secret)); err != nil {
		t.Fatal(err)
	}
}

// pointAt names the backend by its address: the names of Services are nobody's here.
func (i *installation) pointAt(t *testing.T, url string) {
	t.Helper()
	data := find(t, i.whole, "ConfigMap", "argocd-cm").Object["data"].(map[string]any)
	config := strings.ReplaceAll(data["extension.config.moorpin"].(string), "http://moorpin-extension:8080", url)
	patch, err := json.Marshal(map[string]any{"data": map[string]any{"extension.config.moorpin": config}})
	if err != nil {
		t.Fatal(err)
	}
	i.patch(t, "argocd-cm", patch)
}

// repoint names the backend as the components do.
func (i *installation) repoint(t *testing.T) {
	t.Helper()
	i.patchFrom(t, "argocd-cm")
}

// servePages writes the pages where argocd-server looks for them, which is one folder of
// the machine.
func servePages(t *testing.T) {
	t.Helper()
	const folder = "/tmp/extensions"
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(folder, "moorpin-e2e")
	t.Cleanup(func() {
		_ = os.RemoveAll(own)
		_ = os.Remove(folder) // unless somebody else uses it
	})
	if output, err := exec.CommandContext(t.Context(), binary, "extension", "bundle", own).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

// examine runs the doctor.
func (i *installation) examine(t *testing.T) doctor.Report {
	t.Helper()
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), binary, i.args...)
	var errs strings.Builder
	command.Stderr = &errs
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if strings.Contains(string(output), proxySecret) {
		t.Error("the doctor shows the secret")
	}
	var report doctor.Report
	if err := json.Unmarshal(output, &report); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return report
}

// expect examines until the checks answer as they should: Argo CD takes a moment to read
// its settings. What fails has to have a remedy.
func (i *installation) expect(t *testing.T, step string, want map[string]doctor.Status) {
	t.Helper()
	var report doctor.Report
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(500 * time.Millisecond) {
		report = i.examine(t)
		have := map[string]doctor.Status{}
		for _, f := range report.Findings {
			if _, asked := want[f.Check]; asked {
				have[f.Check] = f.Status
			}
			if f.Status == doctor.Fail && len(f.Remedy) == 0 {
				t.Errorf("%s: %s fails without a remedy", step, f.Check)
			}
		}
		if maps.Equal(want, have) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: want %v, have %v:\n%s", step, want, have, report.Text())
		}
	}
	index := slices.IndexFunc(report.Findings, func(f doctor.Finding) bool { return f.Status == doctor.Fail })
	next := "nothing fails"
	if index >= 0 {
		next = report.Findings[index].Check + ": " + report.Findings[index].Says
	}
	t.Logf("%s: %d ok, %d warn, %d fail, %d unknown; next %s", step, report.Counts[doctor.OK], report.Counts[doctor.Warn], report.Counts[doctor.Fail], report.Counts[doctor.Unknown], next)
}
