package state

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
