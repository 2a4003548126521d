package classify

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/fix"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// unwise are the effects under which nobody is told to sync and nothing else: the sync
// fails, does not start, has to wait, deletes, or is undone.
var unwise = []drift.Sync{drift.Waits, drift.Blocked, drift.WillFail, drift.FightsController, drift.Destructive}

// fitFixes fits the fixes to what a sync really does. They are written when a
// rule has answered; a dry run, or that the object is replaced, makes the effect worse
// afterwards.
func fitFixes(s *state.Application, findings []drift.Finding) {
	of := map[drift.Key]*state.Resource{}
	for _, r := range s.Resources {
		of[drift.KeyOf(r.Ref)] = r
	}
	for i := range findings {
		f := &findings[i]
		if len(f.Fixes) > 0 && slices.Contains(unwise, f.Sync) && plainSync(f.Fixes[0]) {
			f.Fixes = withoutPlainSync(s, of[drift.KeyOf(f.Resource)], f)
		}
	}
	holdBack(s, findings)
}

// withoutPlainSync are a finding's fixes with another than a sync first: one for what
// the dry run was refused for, one of the others, or a look at the difference.
func withoutPlainSync(s *state.Application, r *state.Resource, f *drift.Finding) []drift.Fix {
	var offered []drift.Fix
	if r != nil && r.Given.DryRun != nil && refused(r.Given.DryRun) {
		c := refusedAnswer(r, r.Given.DryRun)
		offered = fix.For(s, r, &c, f.Fields)
	}
	offered = slices.DeleteFunc(append(offered, f.Fixes...), plainSync)
	if len(offered) == 0 {
		offered = []drift.Fix{{
			Kind: drift.FixDecideCommitOrSync, Where: drift.InOperation, Snippet: snippet.Lines(fix.Argocd(s, "diff"), fix.Argocd(s, "get", "--show-operation")),
			Why: "A sync alone is no way out, as it " + f.Effect() + ": look first, and settle what the evidence names.",
		}}
	}
	if f.Sync != drift.WillFail && f.Sync != drift.Blocked {
		// Who has looked may want it all the same.
		offered = append(offered, f.Fixes[0])
	}
	return offered[:min(len(offered), fix.Most)]
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
