package classify

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// holdBack makes the syncs among the fixes wait for what keeps a sync from starting, and
// for what another finding says of the same resource: Argo CD syncs all of the
// Application or nothing of it.
func holdBack(s *state.Application, findings []drift.Finding) {
	of, whole := byResource(findings), onceOf(s, findings)
	for i := range findings {
		f := &findings[i]
		if !slices.ContainsFunc(f.Fixes, syncsNow) {
			continue
		}
		once := slices.Clone(whole)
		for _, j := range of[drift.KeyOf(f.Resource)] {
			if other := &findings[j]; j != i && (other.Sync == drift.Waits || other.Sync == drift.WillFail) && drift.KeyOf(other.Resource) != drift.KeyOf(s.Ref()) {
				once = append(once, settled(other))
			}
		}
		f.Fixes = slices.Clone(f.Fixes)
		for k := range f.Fixes {
			if syncsNow(f.Fixes[k]) && len(once) > 0 {
				f.Fixes[k] = after(f.Fixes[k], words.Some(words.Unique(once)))
			}
		}
	}
}

// onceOf says when a sync of the Application can start; nothing where it can now.
func onceOf(s *state.Application, findings []drift.Finding) []string {
	var once []string
	if s.Object.DeletionTimestamp != nil {
		once = append(once, "the Application is there again, for it is being deleted")
	}
	if op := s.Object.Status.OperationState; s.Object.Operation != nil || op != nil && outcome.InFlight(op) {
		once = append(once, "the operation in flight has ended")
	}
	for i := range findings {
		switch f := &findings[i]; {
		case f.Sync != drift.Blocked:
		case f.Mechanism != drift.SyncWindowBlocked:
			once = append(once, settled(f))
		case !s.ManualSyncs():
			once = append(once, "the sync windows let a sync start")
		}
	}
	return once
}

// settled says that what the finding is about is over.
func settled(f *drift.Finding) string {
	if f.Mechanism == drift.DeletionStuck {
		return f.Resource.Words() + " is no longer being deleted"
	}
	return "the finding " + string(f.Mechanism) + " of " + f.Resource.Words() + " is settled"
}

// syncsNow reports whether a fix begins with a sync, or with what only a sync makes good.
func syncsNow(f drift.Fix) bool {
	deleted := false
	for _, line := range commands(f) {
		if strings.HasPrefix(line, "argocd app sync ") {
			return deleted || line == commands(f)[0]
		}
		deleted = deleted || strings.HasPrefix(line, "kubectl delete ")
	}
	return false
}

// commands are the lines of a snippet that are not comments.
func commands(f drift.Fix) []string {
	var commands []string
	for line := range strings.Lines(f.Snippet) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			commands = append(commands, line)
		}
	}
	return commands
}

// after is the fix for later: its commands are comments, under what has to be first.
func after(f drift.Fix, once string) drift.Fix {
	commented := []string{snippet.Note("once " + once + ":")}
	for line := range strings.Lines(f.Snippet) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			line = "# " + line
		}
		commented = append(commented, line)
	}
	f.Snippet = snippet.Lines(commented...)
	f.Why = words.Sentences("Not now, but once "+once+".", f.Why)
	return f
}
