package plan

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// template is the script without what differs between plans: what it begins with, from
// its first command on, and what it ends with.
//
//go:embed script.sh
var template string

// Script is a bash script that dumps, deletes in order, and can roll back. It only
// prints what it would do unless DRY_RUN=0; it then asks before every step unless
// YES=1, and asks what the snapshot leaves open unless CHECKED=1. It deletes no namespace and no volume, and nothing that was replaced since.
func (p Plan) Script() string {
	if len(p.Delete) == 0 {
		return snippet.Commented("", p.nothing())
	}
	var out strings.Builder
	out.WriteString("#!/usr/bin/env bash\n")
	out.WriteString(snippet.Commented("", "Deletes what the Application "+p.Application+" left behind in the cluster "+words.First(p.Cluster, "that it names")+"."))
	out.WriteString("# Usage: [CONTEXT=name] [DRY_RUN=0] [YES=1] [CHECKED=1] bash SCRIPT [delete|rollback]\n")
	out.WriteString("# Without DRY_RUN=0 it only prints what it would do. YES=1 answers its questions, except\n# whether something that the snapshot does not show needs an object: CHECKED=1 answers those.\n")
	out.WriteString("default_dumps=" + snippet.ShellWord("dumps-"+fileName(p.Application)) + "\n\n")
	_, text, _ := strings.Cut(template, "default_dumps=dumps\n\n")
	head, text, _ := strings.Cut(text, "\n# plan\n")
	_, end, _ := strings.Cut(text, "# end of the plan\n")
	out.WriteString(head)
	p.writeDelete(&out)
	p.writeRollback(&out)
	out.WriteString(end)
	return out.String()
}

// asked are the conditions that the plan's open questions about an object add.
func (p Plan) asked(d Deletion) string {
	var out strings.Builder
	for _, check := range p.Unseen {
		if check.Resource == d.Resource && check.look != nil {
			out.WriteString(" && checked " + snippet.Command(append([]string{check.Question, d.Resource.Name}, check.look...)...))
		}
	}
	return out.String()
}

// nothing says why a script would delete nothing.
func (p Plan) nothing() string {
	said := "Nothing to delete for the Application " + p.Application + ": "
	switch {
	case len(p.Keep) > 0:
		return said + "what Git no longer has is still in use, in doubt or kept on purpose; -o plan says why."
	case len(p.Manual) > 0:
		return said + "what Git no longer has holds data, and is deleted by hand only; -o plan says how."
	}
	return said + "the report finds nothing that Git no longer has."
}

// object is the kubectl arguments that name an object.
func (d Deletion) object(verb string, options ...string) []string {
	words := append([]string{verb}, options...)
	if d.Resource.Namespace != "" {
		words = append(words, "--namespace="+d.Resource.Namespace)
	}
	return append(words, snippet.Operand(snippet.KubectlName(d.Resource))...)
}

func (p Plan) writeDelete(out *strings.Builder) {
	out.WriteString("\ndelete_all() {\n")
	out.WriteString("  if [[ \"$DRY_RUN\" == 0 ]]; then\n    mkdir -p -- \"$DUMPS\"\n  fi\n  say \"1. dump everything\"\n")
	for _, d := range p.Delete {
		out.WriteString("  dump " + snippet.Command(append([]string{d.File}, d.object("get", "--ignore-not-found", "--output=yaml")...)...) + "\n")
	}
	out.WriteString("  say \"2. delete\"\n")
	for i, d := range p.Delete {
		fmt.Fprintf(out, "  say %s\n", snippet.ShellWord(fmt.Sprintf("%d of %d: %s", i+1, len(p.Delete), d.Resource.Words())))
		for _, noted := range d.Notes {
			out.WriteString("  say " + snippet.ShellWord("  "+noted) + "\n")
		}
		condition := "same " + snippet.Command(append([]string{d.File, d.UID}, d.object("get", "--ignore-not-found", "--output=jsonpath={.metadata.uid}")...)...)
		if d.guard != nil {
			condition += " && ! used " + snippet.Command(d.guard...)
		}
		condition += p.asked(d)
		out.WriteString("  if " + condition + "; then\n    remove " + snippet.Command(d.object("delete", "--ignore-not-found")...) + "\n  fi\n")
	}
	out.WriteString("}\n")
}

func (p Plan) writeRollback(out *strings.Builder) {
	out.WriteString("\nrollback() {\n  say \"create again what was dumped, in the opposite order\"\n")
	for _, d := range slices.Backward(p.Delete) {
		out.WriteString("  restore " + snippet.ShellWord(d.File) + "\n")
	}
	out.WriteString("}\n")
}

// fileName is a name that is one in every file system.
func fileName(name string) string {
	return strings.Trim(snippet.NoFileName.ReplaceAllString(name, "-"), ".-")
}
