package plan

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// maxUsers is how many of those that refer to a leftover a finding names.
const maxUsers = 5

// WarnUsed says in the findings about leftovers, and in their fixes, who in the
// snapshot still refers to them: a prune would break it.
func WarnUsed(s *state.Application, report *drift.Report) {
	leftovers := leftoversOf(s.Snapshot, report)
	if len(leftovers) == 0 {
		return
	}
	users := usersOf(s.Snapshot, leftovers)
	keepUsed(leftovers, users)
	used := map[drift.Key]string{}
	for i, l := range leftovers {
		var who []string
		for _, u := range users[i] {
			if reason := u.who + " " + u.how; slices.Contains(l.reasons, reason) && !slices.Contains(who, reason) {
				who = append(who, reason)
			}
		}
		if len(who) > maxUsers {
			who = append(who[:maxUsers], "and "+words.Plural(len(who)-maxUsers, "other"))
		}
		if len(who) > 0 {
			used[drift.KeyOf(l.ref)] = "still in use: " + strings.Join(who, "; ")
		}
	}
	for i := range report.Findings {
		f := &report.Findings[i]
		said := used[drift.KeyOf(f.Resource)]
		if said == "" || f.Mechanism != drift.PendingPrune && f.Mechanism != drift.PruneProtected {
			continue
		}
		f.Evidence = append(f.Evidence, said)
		for j := range f.Fixes {
			if fix := &f.Fixes[j]; fix.Kind == drift.FixPruneAfterReview {
				fix.Why = "Do not prune it yet, it is " + said + ". Take the reference away first. " + fix.Why
				fix.Snippet = snippet.Note("Do not run this yet: it is "+said) + "\n" + fix.Snippet
			}
		}
	}
}
