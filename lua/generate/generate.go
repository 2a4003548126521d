// Package generate writes a health check as a Lua script for Argo CD.
//
// [Script] turns a [health.Check] into Lua 5.1 that needs no library but the base
// functions and table, as the sandbox for scripts of argocd-cm has them. The script is
// the functions that its rules need, the same as those of package health, and one line
// a rule. Argo CD compiles a script for every object that it looks at, which takes
// longer than to run it: what only objects with uncommon names need stays a text that
// is compiled when it is wanted. The script always returns a status: whatever fails
// inside gives Unknown with a message. The same check gives the same bytes.
//
// Script refuses a check without rules: for a kind that shows no sign of health no
// script is better than one that waits without end.
//
// Valid: a check of the grade column. Refused: a check of the grade nothing.
package generate

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/health"
)

// Script returns the Lua for a check. The error says why there is none.
func Script(check health.Check) (string, error) {
	if len(check.Rules) == 0 {
		return "", fmt.Errorf("write the script of %s: the check has no rules: %s", check.Name(), strings.Join(check.Evidence, "; "))
	}
	w := &writer{needs: needs(check), readyFalse: check.ReadyFalse}
	w.header(check)
	if w.needs["names"] {
		w.linef("local uncommon")
	}
	w.linef("local function check()")
	w.functions()
	for _, rule := range check.Rules {
		if err := w.rule(rule); err != nil {
			return "", fmt.Errorf("write the script of %s: %w", check.Name(), err)
		}
	}
	w.linef("return answer")
	w.linef("end")
	if w.needs["names"] {
		w.uncommon()
	}
	w.linef("local fine, status = pcall(check)")
	w.linef("if fine then return status end")
	w.linef(`return {status = "Unknown", message = "the health check failed: " .. tostring(status)}`)
	return w.text.String(), nil
}

// writer gathers the text.
type writer struct {
	text strings.Builder
	// needs are the sections of functions that the rules need.
	needs map[string]bool
	// readyFalse is the choice of the user.
	readyFalse health.ReadyFalse
}

func (w *writer) linef(format string, arguments ...any) {
	fmt.Fprintf(&w.text, format+"\n", arguments...)
}

// header says what the script rests on. What comes from the CRD may hold anything and
// must not end the comment.
func (w *writer) header(check health.Check) {
	w.linef("-- Health of %s (%s/%s), derived from its CRD by Moorpin.", comment(check.Kind), comment(check.Group), comment(check.Version))
	w.linef("-- Evidence (%s):", check.Grade)
	seen := map[string]bool{}
	for _, evidence := range check.Evidence {
		if !seen[evidence] {
			w.linef("--   %s", comment(evidence))
		}
		seen[evidence] = true
	}
}

// commentLimit bounds one line of the header.
const commentLimit = 160

// comment makes a text safe to stand in a comment of one line.
func comment(text string) string {
	text = strings.Map(func(letter rune) rune {
		if letter < ' ' || letter > '~' {
			return '?'
		}
		return letter
	}, text)
	if len(text) > commentLimit {
		return text[:commentLimit] + "..."
	}
	return text
}
