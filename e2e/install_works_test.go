package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/freeport"
	"github.com/moorpin/moorpin/e2e/proxied"
	"github.com/moorpin/moorpin/manifests"
)

// TestInstallRights runs what the Pods of the manifests run, with the rights that the
// manifests give them and no others: the sidecar learns the cluster's CRDs, and the Job
// writes health checks.
func TestInstallRights(t *testing.T) {
	const namespace = "install-rights"
	if err := plane.ApplyYAML(t.Context(), "", []byte(pumpCRD)); err != nil {
		t.Fatal(err)
	}
	a := newApplier(t)
	a.restricted(t, namespace)
	objects := a.built(t, manifests.Overlay{Release: "v2.14", Base: "namespace-install", Namespace: namespace, Components: []string{"cmp", "lua"}})
	a.apply(t, objects)

	t.Run("sidecar", func(t *testing.T) {
		pod := find(t, objects, "Deployment", "argocd-repo-server")
		metrics, kubeconfig := freeport.Address(t), account(t, namespace, "argocd-repo-server")
		args := argsOf(t, pod, "containers/moorpin", strings.NewReplacer("--metrics-address=:8085", "--metrics-address="+metrics))
		startSidecar(t, append(args, "--kubeconfig", kubeconfig)...)
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
			got, err := call{method: http.MethodGet, url: "http://" + metrics + "/metrics"}.do(t.Context())
			if err == nil && strings.Contains(string(got.body), "moorpin_live_crds_synced 1") && strings.Contains(string(got.body), "moorpin_live_crds_up 1") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the sidecar has not read the CRDs: %v\n%s", err, got.body)
			}
		}
		if healthy, err := (call{method: http.MethodGet, url: "http://" + metrics + "/healthz"}).do(t.Context()); err != nil || healthy.status != http.StatusOK {
			t.Errorf("its probes fail: %d %v", healthy.status, err)
		}
		mayNot(t, kubeconfig, "/api/v1/namespaces/"+namespace+"/secrets", "/api/v1/pods", "/apis/apps/v1/deployments")
	})
	t.Run("health checks", func(t *testing.T) {
		job := find(t, objects, "Job", "moorpin-lua")
		kubeconfig := account(t, namespace, "moorpin-lua")
		places := strings.NewReplacer("/kubeconfig/kubeconfig", kubeconfig, "/checks/all", filepath.Join(t.TempDir(), "all"), "$(NAMESPACE)", namespace)
		wantSays(t, 0, []string{"checks written"}, argsOf(t, job, "initContainers/generate", places)...)
		wantSays(t, 0, []string{"written"}, argsOf(t, job, "containers/install", places)...)
		mayNot(t, kubeconfig, "/api/v1/namespaces/"+namespace+"/secrets", "/api/v1/namespaces/"+namespace+"/configmaps")
	})
}

// TestInstallProxies: with the settings that the components put into Argo CD's ConfigMaps,
// the shared secret and the account's token, a real argocd-server lets an admin see the
// report of a backend that runs with the arguments and the rights of the manifests.
func TestInstallProxies(t *testing.T) {
	components := []string{"extension", "extension-token", "extension-cluster"}
	a := newApplier(t)
	o := manifests.Overlay{Release: cmp.Or(os.Getenv(controlplane.ReleaseEnv), "v2.14"), Base: "cluster-install", Namespace: controlplane.Namespace}
	plain := a.built(t, o)
	o.Components = components
	objects := a.built(t, o)
	for _, object := range objects {
		if strings.HasPrefix(object.GetName(), "moorpin") {
			a.apply(t, []*unstructured.Unstructured{object})
		}
	}
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: moorpin-extension, labels: {app.kubernetes.io/part-of: argocd}}\nstringData: {secret: " + proxySecret + "}\n"
	if err := plane.ApplyYAML(t.Context(), controlplane.Namespace, []byte(secret)); err != nil {
		t.Fatal(err)
	}
	// Nobody here resolves the name of a Service.
	const service = "http://moorpin-extension:8080"
	address := freeport.Address(t)
	for _, name := range []string{"argocd-cm", "argocd-rbac-cm", "argocd-cmd-params-cm"} {
		added := addedKeys(t, find(t, plain, "ConfigMap", name), find(t, objects, "ConfigMap", name))
		if config, is := added["extension.config.moorpin"]; is {
			added["extension.config.moorpin"] = strings.Replace(config.(string), service, "http://"+address, 1)
		}
		mergeSettings(t, name, added)
	}

	token := secretFile(t, robotToken(t))
	pod := find(t, objects, "Deployment", "moorpin-extension")
	kubeconfig := account(t, controlplane.Namespace, "moorpin-extension")
	args := argsOf(t, pod, "containers/moorpin", strings.NewReplacer(
		"$(NAMESPACE)", controlplane.Namespace, "/secrets/moorpin/secret", secretFile(t, proxySecret), "/secrets/moorpin/next", filepath.Join(t.TempDir(), "next"),
		"--server=argocd-server:443", "--server="+plane.ServerURL(), "--server-crt=/argocd/tls.crt", "--plaintext", // this argocd-server speaks plain HTTP
		"/secrets/token/token", token, "--in-cluster", "--kubeconfig="+kubeconfig))
	startBackend(t, append(args, "--listen", address, "--scan", "0")...)

	repository := newRepository(t, map[string]string{"app/app.yaml": selectedApp})
	if err := plane.CreateApplication(t.Context(), controlplane.Application{Name: "installed", Namespace: "installed", Source: pathSource(repository, "app")}); err != nil {
		t.Fatal(err)
	}
	refreshThrice(t, "installed")
	admin, err := plane.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asker := asker{token: admin, application: "installed", project: "default"}
	wantInstalledReport(t, asker)
	mayNot(t, kubeconfig, "/api/v1/namespaces/"+controlplane.Namespace+"/secrets", "/api/v1/configmaps", "/apis/apps/v1/deployments")

	t.Run("pages", func(t *testing.T) {
		// argocd-server looks here, and nowhere else.
		dir := filepath.Join("/tmp/extensions", "moorpin-e2e")
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		server := find(t, objects, "Deployment", "argocd-server")
		wantSays(t, 0, nil, argsOf(t, server, "initContainers/moorpin-ui", strings.NewReplacer("/ui", dir))...)
		got, err := call{method: http.MethodGet, url: plane.ServerURL() + "/extensions.js"}.do(t.Context())
		if err != nil || !strings.Contains(string(got.body), "registerAppViewExtension") {
			t.Errorf("argocd-server does not serve the pages: %d %v", got.status, err)
		}
	})
}

// wantInstalledReport asks until argocd-server has read its settings, and fails unless
// nothing was kept from the backend.
func wantInstalledReport(t *testing.T, asker asker) {
	t.Helper()
	got, err := asker.untilProxied(t.Context(), asker.report)
	if err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %s %v", got.status, lastBytes(got.body, 500), err)
	}
	var answer struct {
		Report struct {
			Application string `json:"application"`
		} `json:"report"`
		Warnings []string `json:"warnings"`
	}
	if err := json.Unmarshal(got.body, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Report.Application != "argocd/installed" || len(answer.Warnings) > 0 {
		t.Errorf("a report on %q with warnings %q", answer.Report.Application, answer.Warnings)
	}
}

// argsOf returns the arguments of a container, such as "initContainers/moorpin-ui", with
// places of this machine.
func argsOf(t *testing.T, object *unstructured.Unstructured, container string, places *strings.Replacer) []string {
	t.Helper()
	list, name, _ := strings.Cut(container, "/")
	containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", list)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range containers {
		found := item.(map[string]any)
		if found["name"] != name {
			continue
		}
		args, _, err := unstructured.NestedStringSlice(found, "args")
		if err != nil {
			t.Fatal(err)
		}
		for i := range args {
			args[i] = places.Replace(args[i])
		}
		return args
	}
	t.Fatalf("%s has no container %s", object.GetName(), container)
	return nil
}

// addedKeys is what a component adds to a ConfigMap.
func addedKeys(t *testing.T, before, after *unstructured.Unstructured) map[string]any {
	t.Helper()
	was, _, err := unstructured.NestedStringMap(before.Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	is, _, err := unstructured.NestedStringMap(after.Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	added := map[string]any{}
	for key, value := range is {
		if was[key] != value {
			added[key] = value
		}
	}
	if len(added) == 0 {
		t.Errorf("nothing is added to %s", after.GetName())
	}
	return added
}

// mergeSettings adds keys to a ConfigMap of Argo CD until the test ends.
func mergeSettings(t *testing.T, name string, added map[string]any) {
	t.Helper()
	before := settingsOf(t, name).data
	admin := proxied.Admin{Plane: plane}
	if err := admin.Patch(t.Context(), "ConfigMap", name, map[string]any{"data": added}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		back := map[string]any{}
		for key := range added {
			back[key] = nil
			if value, was := before[key]; was {
				back[key] = value
			}
		}
		if err := admin.Patch(context.Background(), "ConfigMap", name, map[string]any{"data": back}); err != nil { // the test's own has ended
			t.Error(err)
		}
	})
}

// account writes a kubeconfig with a token of a service account, as its Pod mounts one.
func account(t *testing.T, namespace, name string) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err = clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "pod",
		Contexts:       map[string]*clientcmdapi.Context{"pod": {Cluster: "own", AuthInfo: "own"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"own": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"own": {Token: request.Status.Token}},
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// mayNot fails unless the API server refuses to show the lists.
func mayNot(t *testing.T, kubeconfig string, lists ...string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		var status int
		client.RESTClient().Get().AbsPath(list).Do(t.Context()).StatusCode(&status)
		if diff := gocmp.Diff(http.StatusForbidden, status); diff != "" {
			t.Errorf("%s: -want +got:\n%s", list, diff)
		}
	}
}
