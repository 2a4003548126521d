package state

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// settings are the parsed [Settings].
type settings struct {
	// Version is the running Argo CD's, 2.14 when the snapshot says nothing.
	Version       version
	strategy      drift.Strategy // "" when it is to be derived
	Tracking      string
	InstanceLabel string
	Commit        commit
	now           metav1.Time // zero when unknown
	// ArgocdCM are the keys of argocd-cm.
	ArgocdCM map[string]string
}

// commit is the newest one of the Application's source.
type commit struct {
	revision string
	Time     metav1.Time
}

// version is an Argo CD version.
type version struct{ major, minor int }

// Before reports whether v is older than major.minor.
func (v version) Before(major, minor int) bool {
	return v.major < major || v.major == major && v.minor < minor
}

// The tracking methods, and the label that tracks by default.
const (
	TrackAnnotation         = "annotation"
	TrackLabel              = "label"
	trackAnnotationAndLabel = "annotation+label"
	defaultInstanceLabel    = "app.kubernetes.io/instance"
)

func parseSettings(given drift.Settings) (settings, error) {
	parsed := settings{ArgocdCM: map[string]string{}}
	for name, value := range given {
		switch value := value.(type) {
		case string:
			parsed.ArgocdCM[name] = value
		case bool:
			parsed.ArgocdCM[name] = strconv.FormatBool(value)
		}
	}
	parsed.Version = parseVersion(parsed.ArgocdCM[drift.SettingVersion])
	parsed.strategy = drift.Strategy(parsed.ArgocdCM[drift.SettingStrategy])
	switch parsed.strategy {
	case "", drift.Legacy, drift.StructuredMerge, drift.ServerSide:
	default:
		return settings{}, fmt.Errorf("%s: %q is not known; use %s, %s or %s", drift.SettingStrategy, parsed.strategy, drift.Legacy, drift.StructuredMerge, drift.ServerSide)
	}
	parsed.Tracking = parsed.tracked()
	parsed.InstanceLabel = words.First(parsed.ArgocdCM[drift.SettingInstanceLabel], parsed.ArgocdCM["application.instanceLabelKey"], defaultInstanceLabel)
	var err error
	if parsed.now, err = ParseTime(parsed.ArgocdCM[drift.SettingNow]); err != nil {
		return settings{}, fmt.Errorf("%s: %w", drift.SettingNow, err)
	}
	last, _ := given[drift.SettingLastCommit].(map[string]any)
	parsed.Commit.revision = object.Text(last, "revision")
	if parsed.Commit.Time, err = ParseTime(object.Text(last, "time")); err != nil {
		return settings{}, fmt.Errorf("%s: %w", drift.SettingLastCommit, err)
	}
	for _, name := range []string{drift.SettingVersion, drift.SettingStrategy, drift.SettingTracking, drift.SettingInstanceLabel, drift.SettingNow} {
		delete(parsed.ArgocdCM, name)
	}
	return parsed, nil
}

// tracked is the tracking method: as set, else the version's default.
func (s settings) tracked() string {
	method := words.First(s.ArgocdCM[drift.SettingTracking], s.ArgocdCM["application.resourceTrackingMethod"])
	if method != "" {
		return method
	}
	if s.Version.Before(3, 0) {
		return TrackLabel
	}
	return TrackAnnotation
}

// parseVersion reads "v2.14.21", "2.14" and the like; what it cannot read is taken
// for v2.14, the version of the linked packages.
func parseVersion(text string) version {
	parts := strings.SplitN(strings.TrimPrefix(text, "v"), ".", 3)
	if len(parts) >= 2 {
		major, errMajor := strconv.Atoi(parts[0])
		minor, errMinor := strconv.Atoi(parts[1])
		if errMajor == nil && errMinor == nil {
			return version{major, minor}
		}
	}
	return version{2, 14}
}

// ParseTime reads RFC 3339; nothing is the zero time.
func ParseTime(text string) (metav1.Time, error) {
	var read metav1.Time
	if text == "" {
		return read, nil
	}
	quoted, err := json.Marshal(text)
	if err == nil {
		err = read.UnmarshalJSON(quoted)
	}
	if err != nil {
		return metav1.Time{}, fmt.Errorf("%q is no RFC 3339 time", text)
	}
	return read, nil
}

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
