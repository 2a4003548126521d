package manifests

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestNetwork: whom the backend and the sidecar's metrics let in, and where the backend may
// go: without a token, nowhere.
func TestNetwork(t *testing.T) {
	type allowed struct{ In, Out []string }
	tests := map[string]struct {
		reason     string
		components []string
		want       map[string]allowed
	}{
		"alone": {
			"the page sends all that is asked about",
			[]string{"extension"},
			map[string]allowed{"moorpin-extension": {In: []string{"app.kubernetes.io/name=argocd-server http"}}},
		},
		"with a token": {
			"it asks argocd-server, by name",
			[]string{"extension", "extension-token"},
			map[string]allowed{"moorpin-extension": {
				In:  []string{"app.kubernetes.io/name=argocd-server http"},
				Out: []string{"any namespace 53", "any namespace 53", "any namespace 5353", "any namespace 5353", "app.kubernetes.io/name=argocd-server 8080"},
			}},
		},
		"everything": {
			"the API server is no Pod, and Prometheus may be anywhere", Everything(),
			map[string]allowed{
				"moorpin-extension": {
					In:  []string{"app.kubernetes.io/name=argocd-server http", "any namespace 9090"},
					Out: []string{"any namespace 53", "any namespace 53", "any namespace 5353", "any namespace 5353", "app.kubernetes.io/name=argocd-server 8080", "anybody 443", "anybody 6443"},
				},
				"argocd-repo-server": {In: []string{"any namespace 8085"}},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			have := map[string]allowed{}
			isolated := map[string]bool{}
			for _, object := range made(t, Overlay{Release: "v3.1", Base: "namespace-install", Namespace: "argocd", Components: test.components}) {
				if object.GetKind() != "NetworkPolicy" || !isOurs(object) {
					continue
				}
				spec := typed[networkingv1.NetworkPolicy](t, object).Spec
				pod := spec.PodSelector.MatchLabels["app.kubernetes.io/name"]
				sum := have[pod]
				for _, rule := range spec.Ingress {
					sum.In = append(sum.In, reach(rule.From, rule.Ports)...)
				}
				for _, rule := range spec.Egress {
					sum.Out = append(sum.Out, reach(rule.To, rule.Ports)...)
				}
				have[pod] = sum
				isolated[pod] = isolated[pod] || len(spec.PolicyTypes) == 2
			}
			if diff := cmp.Diff(test.want, have); diff != "" {
				t.Errorf("%s: -want +got:\n%s", test.reason, diff)
			}
			if !isolated["moorpin-extension"] {
				t.Error("no policy binds both directions of the backend")
			}
		})
	}
}

// reach says who may speak over which port.
func reach(peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort) []string {
	whos := []string{}
	for _, peer := range peers {
		who := "anybody"
		switch {
		case peer.PodSelector != nil:
			for key, value := range peer.PodSelector.MatchLabels {
				who = key + "=" + value
			}
		case peer.NamespaceSelector != nil && len(peer.NamespaceSelector.MatchLabels) == 0:
			who = "any namespace"
		}
		whos = append(whos, who)
	}
	if len(peers) == 0 {
		whos = append(whos, "anybody")
	}
	var found []string
	for _, who := range whos {
		for _, port := range ports {
			found = append(found, who+" "+port.Port.String())
		}
		if len(ports) == 0 {
			found = append(found, who+" any port")
		}
	}
	return found
}
