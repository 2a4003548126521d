package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift"
)

// syncWindowBlocked: the AppProject's sync windows keep a sync from starting. Argo
// CD says so only where an operation runs already, so the windows are computed.
// Evidence: an operation "blocked by sync window"; or, at the time of the snapshot,
// an active deny window, or allow windows none of which is active. Without a time
// the windows are only a possibility. Counter-evidence: nothing to sync; or windows
// that bind automated syncs of an Application that has none. Sources:
// v1alpha1/types.go, CanSync; controller/sync.go; #21692, #25361, #26215.
func syncWindowBlocked(s *situation) []claim {
	windows := s.windows()
	c := claim{mechanism: drift.SyncWindowBlocked, confidence: drift.Certain, sync: drift.Blocked}
	op := s.app.Status.OperationState
	if op != nil && inFlight(op) && strings.Contains(op.Message, "blocked by sync window") {
		c.evidence = append(c.evidence, fmt.Sprintf("the operation is %s since %s: %s", op.Phase, stamp(op.StartedAt), s.quote(op.Message)))
		for _, w := range windows {
			c.evidence = append(c.evidence, w.words())
		}
		return []claim{c}
	}
	if len(windows) == 0 || !s.drifts() && s.app.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync {
		return nil
	}
	now, known := s.now()
	if !known {
		c.confidence = drift.Possible
	}
	blocking, read := blockingWindows(windows, now, known)
	if !read {
		c.confidence = drift.Possible
	}
	if len(blocking) == 0 {
		return nil
	}
	manual := true
	for _, w := range blocking {
		manual = manual && w.ManualSync
		c.evidence = append(c.evidence, w.words())
	}
	if _, enabled := s.automated(); manual && !enabled {
		return nil
	}
	if manual {
		c.evidence = append(c.evidence, "automated syncs cannot start; the windows let a sync by hand through (manualSync)")
	} else {
		c.evidence = append(c.evidence, "neither an automated sync nor one by hand can start")
	}
	if !known {
		c.evidence = append(c.evidence, "the time of the snapshot is unknown, so whether the windows are active is too")
	}
	return []claim{c}
}

// window is one sync window of the AppProject.
type window struct{ *v1alpha1.SyncWindow }

func (w window) words() string {
	return fmt.Sprintf("the AppProject has a %s window, schedule %q for %s%s", w.Kind, w.Schedule, w.Duration, zoneWords(w.TimeZone))
}

func zoneWords(zone string) string {
	if zone == "" {
		return ""
	}
	return " in time zone " + zone
}

// windows are the sync windows that concern the Application.
func (s *situation) windows() []window {
	project, found := s.project()
	if !found {
		return nil
	}
	given := slices.DeleteFunc(project.Spec.SyncWindows, func(w *v1alpha1.SyncWindow) bool { return w == nil })
	concerned := given.Matches(s.app)
	if concerned == nil {
		return nil
	}
	windows := make([]window, 0, len(*concerned))
	for _, w := range *concerned {
		windows = append(windows, window{w})
	}
	return windows
}

// blockingWindows are those that keep an automated sync from starting, as Argo
// CD's CanSync decides: an active deny wins, then an active allow, then the
// inactive allows. Without a time those that could block are returned. read tells
// that all could be read; one that cannot blocks, as with Argo CD.
func blockingWindows(windows []window, now metav1.Time, known bool) (blocking []window, read bool) {
	var denies, inactive []window
	allowed, read := false, true
	for _, w := range windows {
		active, err := w.activeAt(now)
		if err != nil {
			denies, read = append(denies, w), false
			continue
		}
		switch {
		case w.Kind == "deny" && (active || !known):
			denies = append(denies, w)
		case w.Kind == "allow" && active && known:
			allowed = true
		case w.Kind == "allow":
			inactive = append(inactive, w)
		}
	}
	switch {
	case len(denies) > 0:
		return denies, read
	case allowed:
		return nil, read
	}
	return inactive, read
}

// parsed is the window's schedule. Given a time zone with nothing behind it, the
// library panics.
func (w window) parsed() (schedule cron.Schedule, err error) {
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

// activeAt reports whether the window is open: whether it began less than its
// duration ago.
func (w window) activeAt(now metav1.Time) (bool, error) {
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
