package fix

import (
	"slices"
	"strings"
	"sync"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// unwise are the effects under which nobody is told to sync and nothing else: the sync
// fails, does not start, has to wait, deletes, or is undone.
var unwise = []drift.Sync{drift.Waits, drift.Blocked, drift.WillFail, drift.FightsController, drift.Destructive}

// Write writes the fixes of all findings, whose effects are final, as far as the time
// goes. No fix is a sync alone where that is no way out, and none is one for now that has
// to wait.
func Write(s *state.Application, findings []rule.Finding) {
	writeAll(s, findings)
	of := map[drift.Key]*state.Resource{}
	for _, r := range s.Resources {
		of[drift.KeyOf(r.Ref)] = r
	}
	for i := range findings {
		f := &findings[i].Finding
		if len(f.Fixes) > 0 && slices.Contains(unwise, f.Sync) && plainSync(f.Fixes[0]) {
			f.Fixes = withoutPlainSync(s, of[drift.KeyOf(f.Resource)], f)
		}
	}
	holdBack(s, findings)
}

// writeAll writes what the mechanisms offer: first of the findings about the Application,
// which may read any resource, then on all processors, so that each resource has one reader.
func writeAll(s *state.Application, findings []rule.Finding) {
	var groups [][]rule.Finding
	write := func(f *rule.Finding) {
		if s.Ctx.Err() == nil {
			by := *f.By
			by.Loss = f.Loss // what others found out about the effect counts
			f.Fixes = For(s, f.Of, &by, f.Fields)
		}
	}
	for i, start := 0, 0; i < len(findings); i++ {
		if i+1 < len(findings) && findings[i+1].Of == findings[start].Of {
			continue
		}
		if findings[start].Of != nil {
			groups = append(groups, findings[start:i+1])
		} else {
			for j := range findings[start : i+1] {
				write(&findings[start+j])
			}
		}
		start = i + 1
	}
	var running sync.WaitGroup
	for _, portion := range state.Portions(len(groups), 1) {
		running.Go(func() {
			defer s.Recover()
			for _, group := range groups[portion[0]:portion[1]] {
				for i := range group {
					write(&group[i])
				}
			}
		})
	}
	running.Wait()
}

// withoutPlainSync are a finding's fixes with another than a sync first: one for what
// the dry run was refused for, one of the others, or a look at the difference.
func withoutPlainSync(s *state.Application, r *state.Resource, f *drift.Finding) []drift.Fix {
	var offered []drift.Fix
	if r != nil && outcome.Refused(r.Given.DryRun) {
		c := outcome.DryRunAnswer(r, r.Given.DryRun)
		offered = For(s, r, &c, f.Fields)
	}
	offered = slices.DeleteFunc(append(offered, f.Fixes...), plainSync)
	if len(offered) == 0 {
		offered = []drift.Fix{{
			Kind: drift.FixDecideCommitOrSync, Where: drift.InOperation, Snippet: snippet.Lines(Argocd(s, "diff"), Argocd(s, "get", "--show-operation")),
			Why: "A sync alone is no way out, as it " + f.Effect() + ": look first, and settle what the evidence names.",
		}}
	}
	if f.Sync != drift.WillFail && f.Sync != drift.Blocked {
		// Who has looked may want it all the same.
		offered = append(offered, f.Fixes[0])
	}
	return offered[:min(len(offered), Most)]
}

// plainSync reports whether a fix is first of all a sync as the Application's own
// options have it.
func plainSync(f drift.Fix) bool {
	commands := commands(f)
	if len(commands) == 0 {
		return false
	}
	options, isSync := strings.CutPrefix(commands[0], "argocd app sync ")
	return isSync && !strings.Contains(options, "--replace") && !strings.Contains(options, "--force") && !strings.Contains(options, "--prune")
}

// holdBack makes the syncs among the fixes wait for what keeps a sync from starting, and
// for what another finding says of the same resource: Argo CD syncs all of the
// Application or nothing of it.
func holdBack(s *state.Application, findings []rule.Finding) {
	of, whole := rule.ByResource(findings), onceOf(s, findings)
	for i := range findings {
		f := &findings[i]
		if !slices.ContainsFunc(f.Fixes, syncsNow) {
			continue
		}
		once := slices.Clone(whole)
		for _, j := range of[drift.KeyOf(f.Resource)] {
			if other := &findings[j]; j != i && (other.Sync == drift.Waits || other.Sync == drift.WillFail) && drift.KeyOf(other.Resource) != drift.KeyOf(s.Ref()) {
				once = append(once, settled(&other.Finding))
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
func onceOf(s *state.Application, findings []rule.Finding) []string {
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
			once = append(once, settled(&f.Finding))
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
