package drift

import (
	"slices"
	"strings"
)

// unwise are the effects under which nobody is told to sync and nothing else: the sync
// fails, does not start, deletes, or is undone.
var unwise = []Sync{Blocked, WillFail, FightsController, Destructive}

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
}

// withoutPlainSync are a finding's fixes with another than a sync first: one for what
// the dry run was refused for, one of the others, or a look at the difference.
func (s *situation) withoutPlainSync(r *resource, f *Finding) []Fix {
	var offered []Fix
	if r != nil && r.given.DryRun != nil && r.given.DryRun.refused() {
		c := r.refusedClaim(r.given.DryRun)
		offered = fixesFor(s, r, &c, f.Fields)
	}
	offered = slices.DeleteFunc(append(offered, f.Fixes...), func(fix Fix) bool { return fix.plainSync() })
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
	for line := range strings.Lines(f.Snippet) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		options, isSync := strings.CutPrefix(line, "argocd app sync ")
		return isSync && !strings.Contains(options, "--replace") && !strings.Contains(options, "--force") && !strings.Contains(options, "--prune")
	}
	return false
}
