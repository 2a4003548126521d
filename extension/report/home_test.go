package report_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/extension/report"
)

// TestCollectHome: where the cluster is Argo CD's own, namespaces of that name on the
// Application's destination are not taken for those here.
func TestCollectHome(t *testing.T) {
	settings := []string{"get ConfigMap argocd/argocd-cm", "get ConfigMap argocd/argocd-cmd-params-cm"}
	tests := map[string]struct {
		reason      string
		destination object
		// others tells that more is asked for than Argo CD's own settings.
		others bool
	}{
		"here":            {"its objects are here", object{"server": "https://kubernetes.default.svc", "namespace": "web"}, true},
		"here by name":    {"its objects are here", object{"name": "in-cluster", "namespace": "web"}, true},
		"another cluster": {"what is here is somebody else's", object{"server": "https://far.example.com", "namespace": "web"}, false},
		"another by name": {"what is here is somebody else's", object{"name": "far", "namespace": "web"}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			from, asked := shop(t), &cluster{}
			from.answers[appPath].(object)["spec"].(object)["destination"] = test.destination
			collect(t, from, report.Options{Cluster: asked, Home: true})
			slices.Sort(asked.asked)
			if test.others != slices.Contains(asked.asked, "get Namespace /web") {
				t.Errorf("%s: asked for %q", test.reason, asked.asked)
			}
			if diff := cmp.Diff(settings, asked.asked); !test.others && diff != "" {
				t.Errorf("%s: -want +asked:\n%s", test.reason, diff)
			}
		})
	}
}
