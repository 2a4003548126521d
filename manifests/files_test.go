package manifests

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	k8syaml "sigs.k8s.io/yaml"
)

// TestFiles: every file is YAML without a key that stands twice, and each is part of a
// kustomization.
func TestFiles(t *testing.T) {
	tree, err := read(files)
	if err != nil {
		t.Fatal(err)
	}
	documents := 0
	for name, content := range tree {
		if path.Ext(name) == ".yaml" {
			documents += decodes(t, name, content)
		}
		folder, base := path.Split(name)
		alone := base == "kustomization.yaml" || base == "application.yaml"
		if !alone && !bytes.Contains(tree[folder+"kustomization.yaml"], []byte(base)) {
			t.Errorf("%s is part of no kustomization", name)
		}
	}
	if documents < 40 {
		t.Errorf("only %d documents were read", documents)
	}
}

// decodes counts the documents; the decoder refuses a key that stands twice.
func decodes(t *testing.T, name string, content []byte) int {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for count := 0; ; count++ {
		var document any
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return count
		case err != nil:
			t.Errorf("%s: %v", name, err)
			return count
		}
	}
}

var tags = regexp.MustCompile(regexp.QuoteMeta(image) + `(\S+)`)

// TestImageTag: all components name the image of the newest version in the changelog.
func TestImageTag(t *testing.T) {
	changes, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (v[0-9]+\.[0-9]+\.[0-9]+)`).FindSubmatch(changes)
	if newest == nil {
		t.Fatal("the changelog names no version")
	}
	seen := 0
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		for _, tag := range tags.FindAllSubmatch(content, -1) {
			seen++
			if !bytes.Equal(tag[1], newest[1]) {
				t.Errorf("%s names the image %s, and the newest version is %s", name, tag[0], newest[1])
			}
		}
		return err
	})
	if err != nil || seen < 5 {
		t.Errorf("%d images seen: %v", seen, err)
	}
}

// TestExample builds the overlay that people start from, over the manifests that it names.
func TestExample(t *testing.T) {
	const install = "https://raw.githubusercontent.com/argoproj/argo-cd/v2.14.21/manifests/install.yaml"
	argoCD, err := argoManifests(t.Context(), "v2.14")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := read(files)
	if err != nil {
		t.Fatal(err)
	}
	const name = "overlays/example/kustomization.yaml"
	local := strings.Replace(string(ours[name]), install, "install.yaml", 1)
	if local == string(ours[name]) {
		t.Fatalf("%s does not name %s", name, install)
	}
	ours[name] = []byte(local)
	ours["overlays/example/install.yaml"] = argoCD["install.yaml"]
	disk := filesys.MakeFsInMemory()
	for name, content := range ours {
		if err := disk.WriteFile("/"+name, content); err != nil {
			t.Fatal(err)
		}
	}
	built, err := build(disk, "/overlays/example")
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := unstructured.NestedStringMap(find(t, built, "ConfigMap", "argocd-cm").Object, "data")
	if err != nil || data["url"] != "https://argocd.example.com" || data["extension.config.moorpin"] == "" {
		t.Errorf("argocd-cm: %v %v", data, err)
	}
	find(t, built, "CustomResourceDefinition", "applications.argoproj.io")
	find(t, built, "PrometheusRule", "moorpin")
}

// TestApplication: Argo CD knows every field of the Application of itself.
func TestApplication(t *testing.T) {
	content, err := files.ReadFile("overlays/example/application.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var application v1alpha1.Application
	if err := k8syaml.UnmarshalStrict(content, &application); err != nil {
		t.Fatal(err)
	}
	if application.Spec.Source.Plugin != nil {
		t.Error("it must not depend on the plugin that it installs")
	}
}

// TestExtensionSettings: the keys are those that Argo CD's own manifests and the help texts
// of Moorpin name.
func TestExtensionSettings(t *testing.T) {
	built := made(t, Overlay{Release: "v3.1", Base: "namespace-install", Namespace: "argocd", Components: []string{"extension"}})
	server := container(t, find(t, built, "Deployment", "argocd-server"), "containers", "argocd-server")
	asked := false
	for _, item := range slice(t, server, "env") {
		key, _, err := unstructured.NestedString(item.(map[string]any), "valueFrom", "configMapKeyRef", "key")
		asked = asked || err == nil && key == "server.enable.proxy.extension"
	}
	if !asked {
		t.Error("argocd-server does not ask for server.enable.proxy.extension")
	}
	params, _, err := unstructured.NestedStringMap(find(t, built, "ConfigMap", "argocd-cmd-params-cm").Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"server.enable.proxy.extension": "true"}, params); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var config struct {
		Services []struct {
			URL     string `json:"url"`
			Headers []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"headers"`
		} `json:"services"`
	}
	settings, _, err := unstructured.NestedStringMap(find(t, built, "ConfigMap", "argocd-cm").Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	if err := k8syaml.UnmarshalStrict([]byte(settings["extension.config.moorpin"]), &config); err != nil {
		t.Fatal(err)
	}
	service := find(t, built, "Service", "moorpin-extension")
	port := slice(t, service.Object, "spec", "ports")[0].(map[string]any)["port"].(int64)
	if len(config.Services) != 1 || config.Services[0].URL != "http://moorpin-extension:8080" || port != 8080 {
		t.Errorf("%+v, and the Service listens on %d", config, port)
	}
	if header := config.Services[0].Headers[0]; header.Name != "Moorpin-Secret" || header.Value != "$moorpin-extension:secret" {
		t.Errorf("%+v", header)
	}
}
