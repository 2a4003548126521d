package state

import (
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Window is one sync window of the AppProject.
type Window struct{ *v1alpha1.SyncWindow }

// Words are the window in a sentence.
func (w Window) Words() string {
	article := "a"
	if w.Kind == "allow" {
		article = "an"
	}
	return fmt.Sprintf("the AppProject has %s %s window, schedule %q for %s%s", article, w.Kind, w.Schedule, w.Duration, zoneWords(w.TimeZone))
}

func zoneWords(zone string) string {
	if zone == "" {
		return ""
	}
	return " in time zone " + zone
}

// Windows are the sync windows that concern the Application.
func (s *Application) Windows() []Window {
	project, found := s.project()
	if !found {
		return nil
	}
	given := slices.DeleteFunc(slices.Clone(project.Spec.SyncWindows), func(w *v1alpha1.SyncWindow) bool { return w == nil })
	concerned := given.Matches(s.Object)
	if concerned == nil {
		return nil
	}
	windows := make([]Window, 0, len(*concerned))
	for _, w := range *concerned {
		windows = append(windows, Window{w})
	}
	return windows
}

// ManualSyncs reports whether there are windows and all let a sync by hand through.
func (s *Application) ManualSyncs() bool {
	windows := s.Windows()
	return len(windows) > 0 && !slices.ContainsFunc(windows, func(w Window) bool { return !w.ManualSync })
}

// ActiveAt reports whether the window is open: whether it began less than its
// duration ago.
func (w Window) ActiveAt(now metav1.Time) (bool, error) {
	parsed, err := w.parsed()
	if err != nil {
		return false, err
	}
	var duration metav1.Duration
	if err := duration.UnmarshalJSON([]byte(`"` + w.Duration + `"`)); err != nil {
		return false, fmt.Errorf("sync window: duration %q: %w", w.Duration, err)
	}
	at := now.UTC()
	return parsed.Next(at.Add(-duration.Duration)).Before(at), nil
}

// parsed is the window's schedule. Given a time zone with nothing behind it, the
// library panics.
func (w Window) parsed() (schedule cron.Schedule, err error) {
	spelled := w.Schedule
	if w.TimeZone != "" && w.TimeZone != "UTC" {
		spelled = "CRON_TZ=" + w.TimeZone + " " + spelled
	}
	defer func() {
		if recover() != nil {
			schedule, err = nil, fmt.Errorf("sync window: schedule %q: it cannot be read", spelled)
		}
	}()
	if schedule, err = cron.ParseStandard(spelled); err != nil {
		return nil, fmt.Errorf("sync window: schedule %q: %w", spelled, err)
	}
	return schedule, nil
}
