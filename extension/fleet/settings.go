package fleet

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

// SettingsFunc returns the settings that the status of an Application is read with.
type SettingsFunc func(context.Context) (drift.Settings, error)

// Versioner tells Argo CD's version; [argocd.Client] does.
type Versioner interface {
	Version(ctx context.Context) (string, error)
}

// ServerSettings are the time, and the version that an Argo CD says it has.
func ServerSettings(server Versioner, now func() time.Time) SettingsFunc {
	return func(ctx context.Context) (drift.Settings, error) {
		version, err := server.Version(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask Argo CD for its version: %w", err)
		}
		return drift.Settings{drift.SettingNow: stamp(now), drift.SettingVersion: version}, nil
	}
}

// reconciliation is the key of argocd-cm that says how old a status may get.
const reconciliation = "timeout.reconciliation"

// Getter reads one object of a cluster; that of package kube does.
type Getter interface {
	Get(ctx context.Context, kind schema.GroupKind, namespace, name string) (map[string]any, bool, error)
}

// ClusterSettings are the time, and how often Argo CD means to look at an Application,
// of the ConfigMap argocd-cm in a namespace; without it, Argo CD's default stands.
func ClusterSettings(cluster Getter, namespace string, now func() time.Time) SettingsFunc {
	return func(ctx context.Context) (drift.Settings, error) {
		settings := drift.Settings{drift.SettingNow: stamp(now)}
		found, ok, err := cluster.Get(ctx, schema.GroupKind{Kind: "ConfigMap"}, namespace, "argocd-cm")
		if err != nil {
			return nil, fmt.Errorf("read argocd-cm: %w", err)
		}
		if given := object.Text(found, "data", reconciliation); ok && given != "" {
			settings[reconciliation] = given
		}
		return settings, nil
	}
}

func stamp(now func() time.Time) string { return now().UTC().Format(time.RFC3339) }
