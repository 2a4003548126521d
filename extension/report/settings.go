package report

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// Keys of argocd-cm that the settings API answers for.
const (
	customizationsKey = "resource.customizations"
	compareOptionsKey = "resource.compareoptions"
	installationKey   = "installationID"
)

// settings are what the API tells of Argo CD, and the clock.
func (c *collector) settings(ctx context.Context) {
	settings := c.snapshot.Settings
	if c.options.Now != nil {
		settings[drift.SettingNow] = c.options.Now().UTC().Format(time.RFC3339)
	}
	version, err := c.client.Version(ctx)
	c.warn("Argo CD's version", err)
	told, err := c.client.Settings(ctx)
	c.warn("Argo CD's settings", err)
	c.home = told.ControllerNamespace
	for name, value := range map[string]string{
		drift.SettingVersion: version, drift.SettingTracking: told.TrackingMethod,
		drift.SettingInstanceLabel: told.AppLabelKey, installationKey: told.InstallationID,
	} {
		if value != "" {
			settings[name] = value
		}
	}
	if err != nil {
		return
	}
	settings[compareOptionsKey] = "ignoreResourceStatusField: " + ignoredStatus(told.ResourceOverrides)
	if overrides := customizations(told.ResourceOverrides); len(overrides) > 0 {
		text, err := json.Marshal(overrides) // which is YAML too
		c.warn(customizationsKey, err)
		settings[customizationsKey] = string(text)
	}
}

// ignoredStatus is the option that made Argo CD add the override which ignores
// status. Who ignores status for all kinds by an override of his own gets the same.
func ignoredStatus(overrides map[string]argocd.Override) string {
	switch {
	case strings.Contains(overrides["*/*"].IgnoreDifferences, "- /status\n"):
		return "all"
	case strings.Contains(overrides["apiextensions.k8s.io/CustomResourceDefinition"].IgnoreDifferences, "- /status\n"):
		return "crd"
	}
	return `"off"`
}

// customizations are the overrides that say something about differences. Health
// checks and actions say nothing about them, and Argo CD writes out empty lists.
func customizations(overrides map[string]argocd.Override) map[string]argocd.Override {
	kept := map[string]argocd.Override{}
	for kind, override := range overrides {
		override.IgnoreResourceUpdates = ""
		if strings.Contains(override.IgnoreDifferences, "- ") || len(override.KnownTypeFields) > 0 {
			kept[kind] = override
		}
	}
	return kept
}

// commit is when the newest commit of the first source was made.
func (c *collector) commit(ctx context.Context) {
	revision := c.text("status", "sync", "revision")
	if revisions, _ := nested(c.app, "status", "sync", "revisions").([]any); len(revisions) > 0 {
		revision, _ = revisions[0].(string)
	}
	if !isCommit(revision) {
		return // nothing compared yet, or a chart, whose versions have no time
	}
	made, err := c.client.CommitTime(ctx, c.ref, revision, 0)
	c.warn("the time of the newest commit", err)
	if made != "" {
		c.snapshot.Settings[drift.SettingLastCommit] = map[string]any{"revision": revision, "time": made}
	}
}

func isCommit(revision string) bool {
	return len(revision) >= 40 && !slices.ContainsFunc([]byte(revision), func(b byte) bool {
		return !strings.ContainsRune("0123456789abcdef", rune(b))
	})
}
