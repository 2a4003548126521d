package state

import (
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
)

// TestIgnoreStatus holds what ignoreResourceStatusField of resource.compareoptions means,
// which is not the same in all releases (addIgnoreStatus of util/settings).
func TestIgnoreStatus(t *testing.T) {
	all := map[string][]string{"*/*": {StatusPointer}}
	ofCRDs := map[string][]string{crdKey: {StatusPointer}}
	andUnknown := map[string][]string{crdKey: {StatusPointer, "/spec/preserveUnknownFields"}}
	for name, test := range map[string]struct {
		version version
		option  string
		want    map[string][]string
	}{
		"v2, nothing said":       {version{2, 14}, "", andUnknown},
		"v2, crd":                {version{2, 14}, "crd", andUnknown},
		"v2, all":                {version{2, 14}, "all", all},
		"v2, off":                {version{2, 14}, "off", map[string][]string{}},
		"v2 does not know none":  {version{2, 14}, "none", ofCRDs},
		"v2, a word of nobody's": {version{2, 14}, "some", ofCRDs},
		"v3, nothing said":       {version{3, 1}, "", all},
		"v3, crd: no field more": {version{3, 1}, "crd", ofCRDs},
		"v3, none":               {version{3, 1}, "none", map[string][]string{}},
		"v3, false":              {version{3, 1}, "false", map[string][]string{}},
		"v3, a word of nobody's": {version{3, 1}, "some", all},
	} {
		t.Run(name, func(t *testing.T) {
			overrides := map[string]v1alpha1.ResourceOverride{}
			(&Application{Settings: settings{Version: test.version}}).ignoreStatus(overrides, test.option)
			have := map[string][]string{}
			for kind, override := range overrides {
				have[kind] = override.IgnoreDifferences.JSONPointers
			}
			if diff := cmp.Diff(test.want, have); diff != "" {
				t.Errorf("(-want +have)\n%s", diff)
			}
		})
	}
}
