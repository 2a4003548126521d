package state

import (
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/yaml"
)

// ignoreStatus adds what resource.compareoptions says about status. Words that Argo CD
// does not know mean the default of its release without more.
func (s *Application) ignoreStatus(overrides map[string]v1alpha1.ResourceOverride, option string) {
	before3 := s.Settings.Version.Before(3, 0)
	switch {
	case option == "off", option == "false", option == "none" && !before3:
	case option == "all", option != "crd" && !before3:
		ignorePointers(overrides, "*/*", StatusPointer)
	default:
		ignorePointers(overrides, crdKey, StatusPointer)
		if before3 && (option == "" || option == "crd") {
			ignorePointers(overrides, crdKey, "/spec/preserveUnknownFields")
		}
	}
}

// Keys and fields of what argocd-cm says about comparisons.
const (
	customizations = "resource.customizations"
	crdKey         = "apiextensions.k8s.io/CustomResourceDefinition"
	StatusPointer  = "/status"
)

// readOverrides reads from argocd-cm what changes comparisons, as Argo CD's
// settings do: customizations in one key or in split keys, and the compare options.
func (s *Application) readOverrides() error {
	cm := s.Settings.ArgocdCM
	overrides := map[string]v1alpha1.ResourceOverride{}
	if err := yaml.Unmarshal([]byte(cm[customizations]), &overrides); err != nil {
		return fmt.Errorf("%s: %w", customizations, err)
	}
	for name, value := range cm {
		what, kind, found := strings.Cut(strings.TrimPrefix(name, customizations+"."), ".")
		if !found || !strings.HasPrefix(name, customizations+".") {
			continue
		}
		if err := override(overrides, what, overrideKey(kind), value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	var options struct {
		IgnoreAggregatedRoles     bool   `json:"ignoreAggregatedRoles"`
		IgnoreResourceStatusField string `json:"ignoreResourceStatusField"`
	}
	if err := yaml.Unmarshal([]byte(cm["resource.compareoptions"]), &options); err != nil {
		return fmt.Errorf("resource.compareoptions: %w", err)
	}
	s.IgnoreAggregatedRoles = options.IgnoreAggregatedRoles
	s.ignoreStatus(overrides, options.IgnoreResourceStatusField)
	s.Overrides = overrides
	return nil
}

func override(overrides map[string]v1alpha1.ResourceOverride, what, kind, value string) error {
	given := overrides[kind]
	var err error
	switch what {
	case "ignoreDifferences":
		err = yaml.Unmarshal([]byte(value), &given.IgnoreDifferences)
	case "knownTypeFields":
		err = yaml.Unmarshal([]byte(value), &given.KnownTypeFields)
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the customization: %w", err)
	}
	overrides[kind] = given
	return nil
}

// overrideKey turns the "group_Kind" of a split key into "group/Kind".
func overrideKey(kind string) string {
	if kind == "all" {
		return "*/*"
	}
	if i := strings.LastIndex(kind, "_"); i >= 0 {
		return kind[:i] + "/" + kind[i+1:]
	}
	return kind
}

func ignorePointers(overrides map[string]v1alpha1.ResourceOverride, kind string, pointers ...string) {
	given := overrides[kind]
	given.IgnoreDifferences.JSONPointers = append(given.IgnoreDifferences.JSONPointers, pointers...)
	overrides[kind] = given
}
