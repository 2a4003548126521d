package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// Markdown is the plan for people.
func (p Plan) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# What Application %s left behind\n\n", code(p.Application))
	fmt.Fprintf(&out, "Cluster: %s. Moorpin deletes nothing; this is a plan, from one Application's snapshot.\n", code(words.First(p.Cluster, "the Application's destination")))
	if len(p.Keep) > 0 {
		out.WriteString("\n## Still in use, or kept on purpose: not to be deleted\n\n")
		for _, kept := range p.Keep {
			fmt.Fprintf(&out, "- %s\n", code(kept.Resource.Words()))
			for _, reason := range kept.Reasons {
				fmt.Fprintf(&out, "  - %s\n", prose(reason))
			}
		}
	}
	if len(p.Unseen) > 0 {
		out.WriteString("\n## What the snapshot cannot show: look first\n")
		for _, check := range p.Unseen {
			fmt.Fprintf(&out, "\n%s: %s\n\n```sh\n%s\n```\n", code(check.Resource.Words()), check.Question, check.Command)
		}
	}
	p.writeSteps(&out)
	p.writeManual(&out)
	return out.String()
}

// Dump is the command that writes the object to its file.
func (d Deletion) Dump() string {
	return snippet.Command(append([]string{"kubectl"}, d.object("get", "--output=yaml")...)...) + " > " + snippet.ShellWord(d.File)
}

func (p Plan) writeSteps(out *strings.Builder) {
	if len(p.Delete) == 0 {
		out.WriteString("\nThere is nothing to delete.\n")
		return
	}
	out.WriteString("\n## Dump\n\nThe files may hold Secrets; only you can read them.\n\n```sh\numask 077\n")
	for _, d := range p.Delete {
		out.WriteString(d.Dump() + "\n")
	}
	out.WriteString("```\n\n## Delete, in this order\n\nWhat refers to something goes before it. Nothing in the snapshot refers to these any more.\n\n```sh\n")
	for _, d := range p.Delete {
		for _, noted := range d.Notes {
			out.WriteString(snippet.Commented("", noted))
		}
		out.WriteString(snippet.Command(append([]string{"kubectl"}, d.object("delete")...)...) + "\n")
	}
	out.WriteString("```\n\n## Roll back\n\nIn the opposite order, without what only the API server sets (`resourceVersion`, `uid`, `creationTimestamp`):\n\n```sh\n")
	for _, d := range slices.Backward(p.Delete) {
		out.WriteString("sed -e '/^metadata:$/,/^[^ ]/{' -e '/^  resourceVersion:/d' -e '/^  uid:/d' -e '/^  creationTimestamp:/d' -e '}' " +
			snippet.ShellWord(d.File) + " | kubectl create --filename=-\n")
	}
	out.WriteString("```\n")
}

func (p Plan) writeManual(out *strings.Builder) {
	if len(p.Manual) == 0 {
		return
	}
	out.WriteString("\n## By hand only\n\nThese hold what no dump brings back. Make a backup, then delete them yourself when you are sure:\n\n")
	for _, d := range p.Manual {
		fmt.Fprintf(out, "- %s\n", code(d.Resource.Words()))
		for _, noted := range d.Notes {
			fmt.Fprintf(out, "  - %s\n", prose(noted))
		}
	}
}

// code is a name in Markdown that says no more than itself.
func code(name string) string {
	return "`" + strings.ReplaceAll(prose(name), "`", "'") + "`"
}

// prose keeps a text in its line.
func prose(said string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case snippet.IsLineEnd(r):
			return ' '
		case r == '<' || r == '>':
			return '\''
		}
		return snippet.Printable(r)
	}, said)
}

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
