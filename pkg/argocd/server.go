package argocd

import (
	"context"
	"encoding/json"
	"fmt"
)

// Settings is what the API tells of Argo CD's configuration.
type Settings struct {
	// AppLabelKey is the label that tracking by label uses.
	AppLabelKey string `json:"appLabelKey"`
	// TrackingMethod is annotation, label or annotation+label; "" where argocd-cm
	// says nothing.
	TrackingMethod string `json:"trackingMethod"`
	InstallationID string `json:"installationID"`
	// ControllerNamespace is where Argo CD lives.
	ControllerNamespace string `json:"controllerNamespace"`
	// ResourceOverrides are by group/kind; among them are those that Argo CD adds
	// by itself to ignore status.
	ResourceOverrides map[string]Override `json:"resourceOverrides"`
}

// Override is what argocd-cm says of one kind, as its key resource.customizations
// writes it.
type Override struct {
	// IgnoreDifferences and IgnoreResourceUpdates hold YAML.
	IgnoreDifferences     string `json:"ignoreDifferences,omitempty"`
	IgnoreResourceUpdates string `json:"ignoreResourceUpdates,omitempty"`

	KnownTypeFields []KnownTypeField `json:"knownTypeFields,omitempty"`
}

// KnownTypeField says that a field of a custom kind has a built-in type.
type KnownTypeField struct {
	Field string `json:"field"`
	Type  string `json:"type"`
}

// Settings returns what the API tells of Argo CD's configuration.
func (c *Client) Settings(ctx context.Context) (Settings, error) {
	var settings Settings
	data, err := c.ask(ctx, question{path: "/api/v1/settings"})
	if err != nil {
		return Settings{}, err
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		return Settings{}, fmt.Errorf("read settings: %w", err)
	}
	return settings, nil
}

// Version returns Argo CD's version, such as v2.14.21.
func (c *Client) Version(ctx context.Context) (string, error) {
	data, err := c.ask(ctx, question{path: "/api/version"})
	if err != nil {
		return "", err
	}
	var answer struct {
		Version string `json:"Version"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return "", fmt.Errorf("read version: %w", err)
	}
	return trimVersion(answer.Version), nil
}

// Project returns an AppProject. The token needs the right `projects, get`.
func (c *Client) Project(ctx context.Context, name string) (map[string]any, error) {
	part, err := segment(name)
	if err != nil {
		return nil, fmt.Errorf("project: %w", err)
	}
	data, err := c.ask(ctx, question{path: "/api/v1/projects/" + part, right: "p, ROLE, projects, get, " + printable(name) + ", allow"})
	if err != nil {
		return nil, err
	}
	project, err := object(data)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", printable(name), err)
	}
	project["apiVersion"], project["kind"] = Group+"/v1alpha1", "AppProject"
	return project, nil
}
