package classify

import (
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
)

// unwise are the effects under which nobody is told to sync and nothing else: the sync
// fails, does not start, deletes, or is undone.
var unwise = []drift.Sync{drift.Blocked, drift.WillFail, drift.FightsController, drift.Destructive}

// heedEffects makes the fixes heed what a sync really does. They are written when a
// rule has answered; a dry run, or that the object is replaced, makes the effect worse
// afterwards.
func (s *situation) heedEffects(findings []drift.Finding) {
	of := map[drift.Key]*resource{}
	for _, r := range s.resources {
		of[drift.KeyOf(r.ref)] = r
	}
	for i := range findings {
		f := &findings[i]
		if len(f.Fixes) > 0 && slices.Contains(unwise, f.Sync) && plainSync(f.Fixes[0]) {
			f.Fixes = s.withoutPlainSync(of[drift.KeyOf(f.Resource)], f)
		}
	}
}

// withoutPlainSync are a finding's fixes with another than a sync first: one for what
// the dry run was refused for, one of the others, or a look at the difference.
func (s *situation) withoutPlainSync(r *resource, f *drift.Finding) []drift.Fix {
	var offered []drift.Fix
	if r != nil && r.given.DryRun != nil && refused(r.given.DryRun) {
		c := r.refusedClaim(r.given.DryRun)
		offered = fixesFor(s, r, &c, f.Fields)
	}
	offered = slices.DeleteFunc(append(offered, f.Fixes...), func(fix drift.Fix) bool { return plainSync(fix) })
	if len(offered) == 0 {
		offered = []drift.Fix{{
			Kind: drift.FixDecideCommitOrSync, Where: drift.InOperation, Snippet: snippet.Lines(s.argocd("diff"), s.argocd("get", "--show-operation")),
			Why: "A sync alone is no way out, as it " + f.Effect() + ": look first, and settle what the evidence names.",
		}}
	}
	if f.Sync != drift.WillFail && f.Sync != drift.Blocked {
		// Who has looked may want it all the same.
		offered = append(offered, f.Fixes[0])
	}
	return offered[:min(len(offered), maxFixes)]
}

// plainSync reports whether a fix is first of all a sync as the Application's own
// options have it.
func plainSync(f drift.Fix) bool {
	for line := range strings.Lines(f.Snippet) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		options, isSync := strings.CutPrefix(line, "argocd app sync ")
		return isSync && !strings.Contains(options, "--replace") && !strings.Contains(options, "--force") && !strings.Contains(options, "--prune")
	}
	return false
}
