package manifests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestBuild builds each component by itself and all together over each way to install Argo
// CD, and finds that Argo CD's own objects keep everything that they had.
func TestBuild(t *testing.T) {
	touched := map[string][]string{
		"cmp":                {"Deployment argocd-repo-server"},
		"cmp-native-sidecar": {"Deployment argocd-repo-server"},
		"extension":          {"ConfigMap argocd-cm", "ConfigMap argocd-cmd-params-cm", "ConfigMap argocd-rbac-cm", "Deployment argocd-server"},
	}
	for version := range Releases() {
		for _, base := range bases {
			plain := Overlay{Release: version, Base: base, Namespace: "argocd"}
			before := made(t, plain)
			sets := [][]string{Everything(), {"cmp-native-sidecar", "extension", "extension-ui-configmap"}}
			if base == "namespace-install" { // what a component needs of Argo CD is the same everywhere
				sets = append(sets, []string{"cmp"}, []string{"extension"}, []string{"extension", "extension-token"}, []string{"lua"}, []string{"cmp", "monitoring"})
			}
			for _, set := range sets {
				plain.Components = set
				t.Run(plain.String(), func(t *testing.T) {
					var may []string
					for _, component := range set {
						may = append(may, touched[component]...)
					}
					keeps(t, before, made(t, plain), may)
				})
			}
		}
	}
}

// keeps fails unless all objects that were there still are, with all that they had, and
// only some have more.
func keeps(t *testing.T, before, after []*unstructured.Unstructured, may []string) {
	t.Helper()
	now := map[string]*unstructured.Unstructured{}
	for _, object := range after {
		if now[id(object)] != nil {
			t.Errorf("%s is there twice", id(object))
		}
		now[id(object)] = object
	}
	for _, was := range before {
		is := now[id(was)]
		if is == nil {
			t.Errorf("%s is gone", id(was))
			continue
		}
		if lost := missing(was.Object, is.Object); lost != "" {
			t.Errorf("%s lost %s", id(was), lost)
		}
		changed := cmp.Diff(was.Object, is.Object) != ""
		if allowed := slices.Contains(may, was.GetKind()+" "+was.GetName()); changed != allowed {
			t.Errorf("%s: changed is %v, and may be %v", id(was), changed, allowed)
		}
		delete(now, id(was))
	}
	for _, object := range now {
		if !isOurs(object) {
			t.Errorf("%s is new and has not Moorpin's name", id(object))
		}
		if object.GetLabels()["app.kubernetes.io/part-of"] != "argocd" || !strings.HasPrefix(object.GetLabels()["app.kubernetes.io/name"], "moorpin") {
			t.Errorf("%s lacks its labels: %v", id(object), object.GetLabels())
		}
	}
}

// missing names what of a value is not in another: items of lists may move, and not change.
func missing(was, is any) string {
	switch was := was.(type) {
	case map[string]any:
		now, _ := is.(map[string]any)
		for key, value := range was {
			if lost := missing(value, now[key]); lost != "" {
				return "." + key + lost
			}
		}
		return ""
	case []any:
		now, _ := is.([]any)
		for i, item := range was {
			j := slices.IndexFunc(now, func(candidate any) bool { return missing(item, candidate) == "" })
			if j < 0 {
				return fmt.Sprintf("[%d]", i)
			}
			now = now[j+1:] // the order stays
		}
		return ""
	}
	if was != is {
		return fmt.Sprintf(": %v became %v", was, is)
	}
	return ""
}

// TestMissing: what finds losses must find them.
func TestMissing(t *testing.T) {
	list := []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}}
	tests := map[string]struct {
		reason  string
		was, is any
		lost    bool
	}{
		"more":      {"additions are what components are for", map[string]any{"a": "1"}, map[string]any{"a": "1", "b": "2"}, false},
		"other":     {"a value was changed", map[string]any{"a": "1"}, map[string]any{"a": "2"}, true},
		"less":      {"a key is gone", map[string]any{"a": map[string]any{"b": "1"}}, map[string]any{"a": map[string]any{}}, true},
		"insertion": {"an item was added between", list, []any{list[0], "new", list[1]}, false},
		"order":     {"the first container is the one that kubectl logs means", list, []any{list[1], list[0]}, true},
	}
	for name, test := range tests {
		if lost := missing(test.was, test.is); (lost != "") != test.lost {
			t.Errorf("%s (%s): %q", name, test.reason, lost)
		}
	}
}

// TestSidecarImage: the sidecar runs in the image of the repo-server, whatever that is.
func TestSidecarImage(t *testing.T) {
	const own = "images:\n- {name: quay.io/argoproj/argocd, newName: registry.example.com/argocd, newTag: v9.9.9-own}\n"
	for component, list := range map[string]string{"cmp": "containers", "cmp-native-sidecar": "initContainers"} {
		for version := range Releases() {
			for base, more := range map[string]string{"ha/cluster-install": "", "core-install": own} {
				built := made(t, Overlay{Release: version, Base: base, Namespace: "argocd", Components: []string{component}, More: more})
				pod := find(t, built, "Deployment", "argocd-repo-server")
				server := container(t, pod, "containers", "argocd-repo-server")["image"].(string)
				if have := container(t, pod, list, "moorpin")["image"]; have != server || (more != "") != strings.HasSuffix(server, "-own") {
					t.Errorf("%s over %s: the sidecar has %v, repo-server %v", component, version, have, server)
				}
				if have := container(t, pod, "initContainers", "moorpin-install")["image"].(string); !strings.HasPrefix(have, image) {
					t.Errorf("%s over %s: the installer has %v", component, version, have)
				}
				if own := slice(t, pod.Object, "spec", "template", "spec", "containers")[0].(map[string]any)["name"]; own != "argocd-repo-server" {
					t.Errorf("%s over %s: kubectl logs would mean %v", component, version, own)
				}
			}
		}
	}
}

// TestNativeSidecar: both variants run the same container, and the native one after its
// binary is there.
func TestNativeSidecar(t *testing.T) {
	build := func(component string) *unstructured.Unstructured {
		return find(t, made(t, Overlay{Release: "v2.14", Base: "cluster-install", Namespace: "argocd", Components: []string{component}}), "Deployment", "argocd-repo-server")
	}
	pod := build("cmp-native-sidecar")
	native := container(t, pod, "initContainers", "moorpin")
	if native["restartPolicy"] != "Always" {
		t.Errorf("it does not stay: %v", native["restartPolicy"])
	}
	delete(native, "restartPolicy")
	if diff := cmp.Diff(container(t, build("cmp"), "containers", "moorpin"), native); diff != "" {
		t.Errorf("-cmp +cmp-native-sidecar:\n%s", diff)
	}
	var names []string
	for _, item := range slice(t, pod.Object, "spec", "template", "spec", "initContainers") {
		names = append(names, item.(map[string]any)["name"].(string))
	}
	if diff := cmp.Diff([]string{"moorpin-install", "copyutil", "moorpin"}, names); diff != "" {
		t.Errorf("a native sidecar must come after what installs it: -want +got:\n%s", diff)
	}
	if n := len(slice(t, pod.Object, "spec", "template", "spec", "containers")); n != 1 {
		t.Errorf("there are %d containers: the sidecar is among them still", n)
	}
}

// TestNamespace: nothing stays behind in the usual namespace.
func TestNamespace(t *testing.T) {
	for _, base := range []string{"cluster-install", "ha/namespace-install"} {
		for _, object := range made(t, Overlay{Release: "v3.1", Base: base, Namespace: "cd", Components: Everything()}) {
			if !isOurs(object) {
				continue
			}
			cluster := strings.HasPrefix(object.GetKind(), "ClusterRole")
			if (object.GetNamespace() == "cd") == cluster {
				t.Errorf("%s is in the wrong place", id(object))
			}
			for _, subject := range slice(t, object.Object, "subjects") {
				if subject.(map[string]any)["namespace"] != "cd" {
					t.Errorf("%s is for %v", id(object), subject)
				}
			}
		}
	}
}

// TestMergesWithOwnSettings: the keys of others in the same ConfigMaps stay.
func TestMergesWithOwnSettings(t *testing.T) {
	built := made(t, Overlay{
		Release: "v3.1", Base: "cluster-install", Namespace: "argocd", Components: Everything(),
		More:  "patches:\n- path: own.yaml\n",
		Files: map[string]string{"own.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-rbac-cm}\ndata:\n  policy.default: role:readonly\n  policy.csv: p, role:a, applications, get, */*, allow\n"},
	})
	data, _, err := unstructured.NestedStringMap(find(t, built, "ConfigMap", "argocd-rbac-cm").Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"policy.default":           "role:readonly",
		"policy.csv":               "p, role:a, applications, get, */*, allow",
		"policy.moorpin.csv":       "p, role:readonly, extensions, invoke, moorpin, allow\n",
		"policy.moorpin-token.csv": "p, role:moorpin, applications, get, */*, allow\np, role:moorpin, projects, get, *, allow\ng, moorpin, role:moorpin\n",
	}
	if diff := cmp.Diff(want, data); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDigests: two lines pin every image, Moorpin's and that of Argo CD, which the sidecar
// runs in too.
func TestDigests(t *testing.T) {
	const (
		ours    = "ghcr.io/moorpin/moorpin@sha256:1111111111111111111111111111111111111111111111111111111111111111"
		theirs  = "quay.io/argoproj/argocd@sha256:2222222222222222222222222222222222222222222222222222222222222222"
		digests = "images:\n" +
			"- {name: ghcr.io/moorpin/moorpin, digest: sha256:1111111111111111111111111111111111111111111111111111111111111111}\n" +
			"- {name: quay.io/argoproj/argocd, digest: sha256:2222222222222222222222222222222222222222222222222222222222222222}\n"
	)
	for version := range Releases() {
		built := made(t, Overlay{Release: version, Base: "cluster-install", Namespace: "argocd", Components: Everything(), More: digests})
		counts := map[string]int{}
		for pod, template := range pods(t, built) {
			for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
				counts[c.Image]++
				if (strings.Contains(c.Image, "moorpin") || strings.Contains(c.Image, "argoproj/argocd")) && c.Image != ours && c.Image != theirs || c.Name == "moorpin" && !strings.Contains(c.Image, "@") {
					t.Errorf("%s: %s/%s runs %s", version, pod, c.Name, c.Image)
				}
			}
		}
		if counts[ours] == 0 || counts[theirs] == 0 {
			t.Errorf("%s: the digests are not seen: %v", version, counts)
		}
	}
}
