package render_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/cmp/render"
)

// Whether a path outside of the private copy exists is nobody's business: the answer is
// the same.
func TestPathsOutsideAreNotLookedUp(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, map[string]string{"there/x": "x"})
	up := strings.Repeat("../", 40)
	cases := map[string]struct {
		reason string
		files  func(path string) map[string]string
		where  string
	}{
		"resource": {"kustomize would say which", func(path string) map[string]string {
			return map[string]string{"k/kustomization.yaml": "resources: ['" + path + "']\n"}
		}, "k/kustomization.yaml"},
		"resource by parents": {"it is the same path", func(path string) map[string]string {
			return map[string]string{"k/kustomization.yaml": "resources: ['" + up + path[1:] + "']\n"}
		}, "k/kustomization.yaml"},
		"patch": {"what is no object is a path", func(path string) map[string]string {
			return map[string]string{"k/kustomization.yaml": "patchesStrategicMerge: [\"a: b\\n#/../" + up + path[1:] + "\"]\n"}
		}, "k/kustomization.yaml"},
		"base of a base": {"it counts from the base's own folder", func(path string) map[string]string {
			return map[string]string{"k/kustomization.yaml": "resources: [../base]\n", "base/kustomization.yaml": "resources: ['" + path + "']\n"}
		}, "base/kustomization.yaml"},
		"chart": {"helm would say which", func(path string) map[string]string {
			return map[string]string{"k/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies: [{name: y, version: 1.0.0, repository: 'file://" + path + "'}]\n"}
		}, "k/Chart.yaml"},
		"chart by parents": {"it is the same path, escaped", func(path string) map[string]string {
			return map[string]string{"k/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies: [{name: y, version: 1.0.0, repository: 'file://%2e%2e/" + up + path[1:] + "'}]\n"}
		}, "k/Chart.yaml"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var answers []string
			for _, end := range []string{"there", "gone"} {
				path := filepath.Join(outside, end)
				_, err := renderer.Run(t.Context(), sourceCase{path: "k"}.request(fixture(t, "k", test.files(path))))
				var refusal *render.Refusal
				if !errors.As(err, &refusal) || refusal.Where != test.where {
					t.Errorf("%s: got %v, want a refusal of %s: %s", end, err, test.where, test.reason)
					continue
				}
				answers = append(answers, strings.ReplaceAll(refusal.Reason, end, "END"))
			}
			if len(answers) == 2 && answers[0] != answers[1] {
				t.Errorf("the answers differ:\n%s\n%s", answers[0], answers[1])
			}
		})
	}
}

// What a link or a patch only looks like must not be refused.
func TestPathsThatStayInside(t *testing.T) {
	patch := "\n- |\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n  data: {path: /../../../../../../../../../x}\n"
	root := fixture(t, "k", map[string]string{
		"deep/er/app/kustomization.yaml": "resources: [../../../base]\npatchesStrategicMerge:" + patch,
		"base/kustomization.yaml":        "resources: [a.yaml]\n",
		"base/a.yaml":                    configMap("a"),
	})
	check(t, os.Symlink("deep/er/app", filepath.Join(root, "short")))
	for _, path := range []string{"deep/er/app", "short"} {
		request := sourceCase{path: path}.request(root)
		request.Source.Kustomize = &v1alpha1.ApplicationSourceKustomize{NamePrefix: "x-"}
		objects, err := renderer.Run(t.Context(), request)
		if err != nil || len(objects) != 1 {
			t.Errorf("%s: got %v, %v", path, names(objects), err)
		}
	}
}
