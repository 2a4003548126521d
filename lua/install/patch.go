package install

import (
	"bytes"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/lua/overrides"
)

// patchHead tells people what the patch is.
const patchHead = `# Health checks for argocd-cm, one key a kind. With kustomize:
#   patches:
#   - path: argocd-cm.patch.yaml
`

// Patch writes checks as a patch for the ConfigMap argocd-cm, for those who keep it in
// Git. It leaves out nothing; the same checks give the same bytes.
func Patch(checks []Check) ([]byte, error) {
	data := map[string]string{}
	for _, check := range checks {
		key := overrides.HealthKey(check.Kind)
		if _, twice := data[key]; twice {
			return nil, fmt.Errorf("kind %s: there are two checks for it; keep one", check.Kind)
		}
		data[key] = check.Script
	}
	object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm"}, "data": data}
	text, err := yaml.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	return bytes.Join([][]byte{[]byte(patchHead), text}, nil), nil
}
