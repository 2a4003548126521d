package e2e

import (
	"testing"

	"github.com/moorpin/moorpin/e2e/controlplane"
)

const secretsApp = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: database
spec:
  refreshInterval: 1h
  secretStoreRef:
    name: vault
    kind: ClusterSecretStore
  target:
    name: database
  data:
  - secretKey: username
    remoteRef:
      key: shop/database
      property: username
  - secretKey: password
    remoteRef:
      key: shop/database
      property: password
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: everything
spec:
  secretStoreRef:
    name: vault
  dataFrom:
  - extract:
      key: shop/everything
`

// TestDefaults: an Application of ExternalSecrets that is applied on the server is
// OutOfSync for ever, because the API server adds defaults inside of lists. Through
// Moorpin it is Synced.
func TestDefaults(t *testing.T) {
	installCRDs(t, "external-secrets.io")
	startSidecar(t)
	repository := newRepository(t, map[string]string{"app/secrets.yaml": secretsApp})
	source := pathSource(repository, "app")

	native := settle(t, controlplane.Application{Name: "secrets-native", Namespace: "secrets-native", Source: source, SyncPolicy: serverSideApply})
	wantSync(t, native, "OutOfSync", "ExternalSecret")

	pinned := settle(t, controlplane.Application{Name: "secrets-moorpin", Namespace: "secrets-moorpin", Source: through(source), SyncPolicy: serverSideApply})
	wantSync(t, pinned, "Synced", "")
	if len(pinned.Resources) != len(native.Resources) {
		t.Errorf("%d resources through Moorpin, %d natively", len(pinned.Resources), len(native.Resources))
	}
}
