package drift

import (
	"slices"
	"strings"
)

// unwise are the effects under which nobody is told to sync and nothing else: the sync
// fails, does not start, has to wait, deletes, or is undone.
var unwise = []Sync{Waits, Blocked, WillFail, FightsController, Destructive}

// heedEffects makes the fixes heed what a sync really does. They are written when a
// rule has answered; a dry run, or that the object is replaced, makes the effect worse
// afterwards.
func (s *situation) heedEffects(findings []Finding) {
	of := map[key]*resource{}
	for _, r := range s.resources {
		of[keyOf(r.ref)] = r
	}
	for i := range findings {
		f := &findings[i]
		if len(f.Fixes) > 0 && slices.Contains(unwise, f.Sync) && f.Fixes[0].plainSync() {
			f.Fixes = s.withoutPlainSync(of[keyOf(f.Resource)], f)
		}
	}
	s.holdBack(findings)
}

// holdBack makes the syncs among the fixes wait for what keeps a sync from starting, and
// for what another finding says of the same resource: Argo CD syncs all of the
// Application or nothing of it.
func (s *situation) holdBack(findings []Finding) {
	of, whole := byResource(findings), s.onceOf(findings)
	for i := range findings {
		f := &findings[i]
		if !slices.ContainsFunc(f.Fixes, Fix.syncsNow) {
			continue
		}
		once := slices.Clone(whole)
		for _, j := range of[keyOf(f.Resource)] {
			if other := &findings[j]; j != i && (other.Sync == Waits || other.Sync == WillFail) && keyOf(other.Resource) != keyOf(s.ref()) {
				once = append(once, other.settled())
			}
		}
		f.Fixes = slices.Clone(f.Fixes)
		for k := range f.Fixes {
			if f.Fixes[k].syncsNow() && len(once) > 0 {
				f.Fixes[k] = f.Fixes[k].after(some(unique(once)))
			}
		}
	}
}

// onceOf says when a sync of the Application can start; nothing where it can now.
func (s *situation) onceOf(findings []Finding) []string {
	var once []string
	if s.app.DeletionTimestamp != nil {
		once = append(once, "the Application is there again, for it is being deleted")
	}
	if op := s.app.Status.OperationState; s.app.Operation != nil || op != nil && inFlight(op) {
		once = append(once, "the operation in flight has ended")
	}
	for i := range findings {
		switch f := &findings[i]; {
		case f.Sync != Blocked:
		case f.Mechanism != SyncWindowBlocked:
			once = append(once, f.settled())
		case !s.manualSyncs():
			once = append(once, "the sync windows let a sync start")
		}
	}
	return once
}

// settled says that what the finding is about is over.
func (f *Finding) settled() string {
	if f.Mechanism == DeletionStuck {
		return f.Resource.words() + " is no longer being deleted"
	}
	return "the finding " + string(f.Mechanism) + " of " + f.Resource.words() + " is settled"
}

// syncsNow reports whether a fix begins with a sync, or with what only a sync makes good.
func (f Fix) syncsNow() bool {
	deleted := false
	for _, line := range f.commands() {
		if strings.HasPrefix(line, "argocd app sync ") {
			return deleted || line == f.commands()[0]
		}
		deleted = deleted || strings.HasPrefix(line, "kubectl delete ")
	}
	return false
}

// commands are the lines of a snippet that are not comments.
func (f Fix) commands() []string {
	var commands []string
	for line := range strings.Lines(f.Snippet) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			commands = append(commands, line)
		}
	}
	return commands
}

// after is the fix for later: its commands are comments, under what has to be first.
func (f Fix) after(once string) Fix {
	commented := []string{note("once " + once + ":")}
	for line := range strings.Lines(f.Snippet) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			line = "# " + line
		}
		commented = append(commented, line)
	}
	f.Snippet = lines(commented...)
	f.Why = sentences("Not now, but once "+once+".", f.Why)
	return f
}

// withoutPlainSync are a finding's fixes with another than a sync first: one for what
// the dry run was refused for, one of the others, or a look at the difference.
func (s *situation) withoutPlainSync(r *resource, f *Finding) []Fix {
	var offered []Fix
	if r != nil && r.given.DryRun != nil && r.given.DryRun.refused() {
		c := r.refusedClaim(r.given.DryRun)
		offered = fixesFor(s, r, &c, f.Fields)
	}
	offered = slices.DeleteFunc(append(offered, f.Fixes...), Fix.plainSync)
	if len(offered) == 0 {
		offered = []Fix{{
			Kind: FixDecideCommitOrSync, Where: InOperation, Snippet: lines(s.argocd("diff"), s.argocd("get", "--show-operation")),
			Why: "A sync alone is no way out, as it " + f.Effect() + ": look first, and settle what the evidence names.",
		}}
	}
	if f.Sync != WillFail && f.Sync != Blocked {
		// Who has looked may want it all the same.
		offered = append(offered, f.Fixes[0])
	}
	return offered[:min(len(offered), maxFixes)]
}

// plainSync reports whether a fix is first of all a sync as the Application's own
// options have it.
func (f Fix) plainSync() bool {
	commands := f.commands()
	if len(commands) == 0 {
		return false
	}
	options, isSync := strings.CutPrefix(commands[0], "argocd app sync ")
	return isSync && !strings.Contains(options, "--replace") && !strings.Contains(options, "--force") && !strings.Contains(options, "--prune")
}
