package operation

import (
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// SyncWindowBlocked answers: the AppProject's sync windows keep a sync from starting. Argo
// CD says so only where an operation runs already, so the windows are computed.
// Evidence: an operation "blocked by sync window"; or, at the time of the snapshot,
// an active deny window, or allow windows none of which is active. Without a time
// the windows are only a possibility. Counter-evidence: nothing to sync; or windows
// that bind automated syncs of an Application that has none. Sources:
// v1alpha1/types.go, CanSync; controller/sync.go; #21692, #25361, #26215.
func SyncWindowBlocked(s *state.Application) []rule.Answer {
	windows := s.Windows()
	c := rule.Answer{Mechanism: drift.SyncWindowBlocked, Confidence: drift.Certain, Sync: drift.Blocked}
	op := s.Object.Status.OperationState
	if op != nil && outcome.InFlight(op) && strings.Contains(op.Message, "blocked by sync window") {
		c.Evidence = append(c.Evidence, fmt.Sprintf("the operation is %s since %s: %s", op.Phase, state.Stamp(op.StartedAt), s.Quote(op.Message)))
		for _, w := range windows {
			c.Evidence = append(c.Evidence, w.Words())
		}
		return []rule.Answer{c}
	}
	if len(windows) == 0 || !s.Drifts() && s.Object.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync {
		return nil
	}
	now, known := s.Now()
	if !known {
		c.Confidence = drift.Possible
	}
	blocking, read := blockingWindows(windows, now, known)
	if !read {
		c.Confidence = drift.Possible
	}
	if len(blocking) == 0 {
		return nil
	}
	manual := true
	for _, w := range blocking {
		manual = manual && w.ManualSync
		c.Evidence = append(c.Evidence, w.Words())
	}
	if _, enabled := s.Automated(); manual && !enabled {
		return nil
	}
	if manual {
		c.Summary = "A sync window holds automated syncs back; one by hand goes through."
		c.Evidence = append(c.Evidence, "automated syncs cannot start; the windows let a sync by hand through (manualSync)")
	} else {
		c.Evidence = append(c.Evidence, "neither an automated sync nor one by hand can start")
	}
	if !known {
		c.Evidence = append(c.Evidence, "the time of the snapshot is unknown, so whether the windows are active is too")
	}
	return []rule.Answer{c}
}

// blockingWindows are those that keep an automated sync from starting, as Argo
// CD's CanSync decides: an active deny wins, then an active allow, then the
// inactive allows. Without a time those that could block are returned. read tells
// that all could be read; one that cannot blocks, as with Argo CD.
func blockingWindows(windows []state.Window, now metav1.Time, known bool) (blocking []state.Window, read bool) {
	var denies, inactive []state.Window
	allowed, read := false, true
	for _, w := range windows {
		active, err := w.ActiveAt(now)
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
