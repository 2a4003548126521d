package classify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/object"
)

// strategyOf says how Argo CD compares the resource: the reporter's word, else the
// Application's options, else the resource's own.
func (s *situation) strategyOf(r *resource) drift.Strategy {
	if s.settings.strategy != "" {
		return s.settings.strategy
	}
	if s.serverSideDiff() {
		return drift.ServerSide
	}
	if s.app.Spec.SyncPolicy == nil || !s.app.Spec.SyncPolicy.SyncOptions.HasOption("ServerSideApply=true") {
		if !hasOption(r.target, mark.SyncOptions, "ServerSideApply=true") {
			return drift.Legacy
		}
	}
	if s.settings.version.before(3, 6) || hasOption(s.snapshot.Application, mark.CompareOptions, "ServerSideDiff=false") {
		return drift.StructuredMerge
	}
	return drift.ServerSide
}

func (s *situation) serverSideDiff() bool {
	application := s.snapshot.Application
	if hasOption(application, mark.CompareOptions, "ServerSideDiff=false") {
		return false
	}
	return hasOption(application, mark.CompareOptions, "ServerSideDiff=true") ||
		s.settings.argocdCM["controller.diff.server.side"] == "true"
}

// hasOption reports whether the comma-separated options in an annotation hold the option.
func hasOption(o object.Object, name, option string) bool {
	for given := range strings.SplitSeq(object.Annotation(o, name), ",") {
		if strings.TrimSpace(given) == option {
			return true
		}
	}
	return false
}

// syncsServerSide reports whether a sync of the resource is a server-side apply.
func (r *resource) syncsServerSide() bool {
	policy := r.situation.app.Spec.SyncPolicy
	return !hasOption(r.target, mark.SyncOptions, "ServerSideApply=false") &&
		(policy != nil && policy.SyncOptions.HasOption("ServerSideApply=true") ||
			hasOption(r.target, mark.SyncOptions, "ServerSideApply=true"))
}

// ignoreStatus adds what resource.compareoptions says about status. Words that Argo CD
// does not know mean the default of its release without more.
func (s *situation) ignoreStatus(overrides map[string]v1alpha1.ResourceOverride, option string) {
	before3 := s.settings.version.before(3, 0)
	switch {
	case option == "off", option == "false", option == "none" && !before3:
	case option == "all", option != "crd" && !before3:
		ignorePointers(overrides, "*/*", statusPointer)
	default:
		ignorePointers(overrides, crdKey, statusPointer)
		if before3 && (option == "" || option == "crd") {
			ignorePointers(overrides, crdKey, "/spec/preserveUnknownFields")
		}
	}
}

// answered is a dry run whose answer is known.
type answered object.Object

// Run returns the known answer.
func (a answered) Run(_ context.Context, _ *unstructured.Unstructured, _ string) (string, error) {
	if a == nil {
		return "", errors.New("the snapshot holds no predicted live state")
	}
	data, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("write the predicted live state: %w", err)
	}
	return string(data), nil
}

const (
	customizations = "resource.customizations"
	crdKey         = "apiextensions.k8s.io/CustomResourceDefinition"
	statusPointer  = "/status"
)

// readOverrides reads from argocd-cm what changes comparisons, as Argo CD's
// settings do: customizations in one key or in split keys, and the compare options.
func (s *situation) readOverrides() error {
	cm := s.settings.argocdCM
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
	s.ignoreAggregatedRoles = options.IgnoreAggregatedRoles
	s.ignoreStatus(overrides, options.IgnoreResourceStatusField)
	s.overrides = overrides
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
