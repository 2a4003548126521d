package state

import (
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// SyncedRevision is the revision that an operation applies: the resolved one,
// else the one asked for. Several sources are joined.
func SyncedRevision(op *v1alpha1.OperationState) string {
	if op == nil {
		return ""
	}
	if op.SyncResult != nil {
		if resolved := words.First(strings.Join(op.SyncResult.Revisions, ","), op.SyncResult.Revision); resolved != "" {
			return resolved
		}
	}
	if op.Operation.Sync == nil {
		return ""
	}
	return words.First(strings.Join(op.Operation.Sync.Revisions, ","), op.Operation.Sync.Revision)
}

// Revision is the one that Argo CD compares with now.
func (s *Application) Revision() string {
	return words.First(strings.Join(s.Object.Status.Sync.Revisions, ","), s.Object.Status.Sync.Revision)
}

// IsCommit reports whether the revision is resolved and no branch or range.
func IsCommit(revision string) bool {
	if len(revision) < 7 {
		return false
	}
	return !strings.ContainsFunc(revision, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef,", r) })
}

// Short shortens a commit for a sentence.
func Short(revision string) string {
	if IsCommit(revision) && !strings.Contains(revision, ",") && len(revision) > 8 {
		return revision[:8]
	}
	return words.First(revision, "unknown")
}

// Synced returns the revisions of the last sync that succeeded.
func (s *Application) Synced() (revision string, revisions []string, known bool) {
	status := &s.Object.Status
	if state := status.OperationState; state != nil && state.SyncResult != nil && state.Phase.Successful() {
		return state.SyncResult.Revision, state.SyncResult.Revisions, true
	}
	if len(status.History) > 0 {
		last := status.History[len(status.History)-1]
		return last.Revision, last.Revisions, true
	}
	return "", nil, false
}

// Revisions spells the revision of one source, or those of several.
func Revisions(revision string, revisions []string) string {
	if len(revisions) > 0 {
		return strings.Join(revisions, ", ")
	}
	return words.First(revision, "(none)")
}

// Minutes says how long something takes.
func Minutes(age float64) string {
	if age < 1 {
		return "less than a minute"
	}
	return words.Plural(int(age), "minute")
}

// Since returns the minutes that passed since the time, and whether they are known.
func (s *Application) Since(start metav1.Time) (minutes float64, known bool) {
	now, known := s.Now()
	if !known || start.IsZero() {
		return 0, false
	}
	return now.Sub(start.Time).Minutes(), true
}

// SinceText is since for a time as an object spells it.
func (s *Application) SinceText(start string) (minutes float64, known bool) {
	parsed, err := ParseTime(start)
	if err != nil {
		return 0, false
	}
	return s.Since(parsed)
}

// Stamp spells a time, or says that it is unknown.
func Stamp(t metav1.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}
