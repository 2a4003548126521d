package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// scriptHead is what every script begins with. It runs nothing that changes
// anything unless DRY_RUN=0, and then asks before every step unless YES=1. The open
// questions of the plan are asked apart, unless CHECKED=1.
const scriptHead = `set -euo pipefail
umask 077

DRY_RUN="${DRY_RUN:-1}"
YES="${YES:-0}"
CHECKED="${CHECKED:-0}"
DUMPS="${DUMPS:-$default_dumps}"

say() { printf '%s\n' "$*"; }

kube() {
  if [[ -n "${CONTEXT:-}" ]]; then
    kubectl --context="$CONTEXT" "$@"
  else
    kubectl "$@"
  fi
}

# show prints a command so that it can be pasted.
show() {
  printf '+ kubectl'
  printf ' %q' "$@"
  printf '\n'
}

confirm() {
  local answer
  if [[ "$YES" == 1 ]]; then
    return 0
  fi
  read -r -p "$1 [y/N] " answer || return 1
  [[ "$answer" == [yY] ]]
}

# dump FILE KUBECTL-ARGUMENTS... writes an object to a file, once.
dump() {
  local file="$DUMPS/$1"
  shift
  if [[ "$DRY_RUN" != 0 ]]; then
    show "$@"
    return 0
  fi
  if [[ -s "$file" ]]; then
    say "already dumped: $file"
    return 0
  fi
  kube "$@" > "$file.part"
  mv -- "$file.part" "$file"
  say "dumped: $file"
}

# used KUBECTL-ARGUMENTS... stops the step when the command prints anything.
used() {
  local users
  if [[ "$DRY_RUN" != 0 ]]; then
    show "$@"
    return 1
  fi
  if ! users="$(kube "$@")"; then
    say "cannot tell whether it is still in use; left alone"
    return 0
  fi
  if [[ -n "$users" ]]; then
    say "still in use, left alone:"
    say "$users"
    return 0
  fi
  return 1
}

# checked QUESTION NAME KUBECTL-ARGUMENTS... shows where the name occurs, and asks whether
# that is fine; YES=1 does not answer it, CHECKED=1 does.
checked() {
  local question="$1" name="$2" found answer
  shift 2
  say "  $question"
  show "$@"
  if [[ "$DRY_RUN" != 0 || "$CHECKED" == 1 ]]; then
    return 0
  fi
  if ! found="$(kube "$@")"; then
    say "cannot tell; left alone (CHECKED=1 when you have looked yourself)"
    return 1
  fi
  if ! grep --line-number --fixed-strings -e "$name" <<< "$found"; then
    say "  its name does not occur there"
    return 0
  fi
  read -r -p "  does none of these need it? [y/N] " answer || answer=""
  if [[ "$answer" != [yY] ]]; then
    say "left alone (CHECKED=1 when you have looked yourself)"
    return 1
  fi
}

# same FILE UID KUBECTL-ARGUMENTS... tells whether the object was dumped and is still
# the one that was planned for.
same() {
  local file="$DUMPS/$1" uid="$2" now
  shift 2
  if [[ "$DRY_RUN" != 0 ]]; then
    return 0
  fi
  if [[ ! -s "$file" ]]; then
    say "it is gone, or was not dumped; left alone"
    return 1
  fi
  now="$(kube "$@")"
  if [[ -z "$now" || ( -n "$uid" && "$now" != "$uid" ) ]]; then
    say "it is gone, or is another one by now; left alone"
    return 1
  fi
}

# remove KUBECTL-ARGUMENTS... deletes after asking.
remove() {
  show "$@"
  if [[ "$DRY_RUN" != 0 ]]; then
    return 0
  fi
  if confirm "delete it?"; then
    kube "$@"
  else
    say "left alone"
  fi
}

# restore FILE creates an object from its dump, without what only the API server sets.
restore() {
  local file="$DUMPS/$1"
  if [[ ! -s "$file" ]]; then
    say "no dump: $file"
    return 0
  fi
  say "create again: $file"
  if [[ "$DRY_RUN" != 0 ]]; then
    return 0
  fi
  if confirm "create it?"; then
    sed -e '/^metadata:$/,/^[^ ]/{' -e '/^  resourceVersion:/d' -e '/^  uid:/d' -e '/^  creationTimestamp:/d' -e '/^  generation:/d' -e '/^  deletionTimestamp:/d' -e '/^  deletionGracePeriodSeconds:/d' -e '}' "$file" |
      kube create --filename=- || say "not created: $file"
  fi
}
`

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
	out.WriteString("default_dumps=" + snippet.ShellWord("dumps-"+fileName(p.Application)) + "\n\n" + scriptHead)
	p.writeDelete(&out)
	p.writeRollback(&out)
	out.WriteString(`
case "${1:-delete}" in
delete) delete_all ;;
rollback) rollback ;;
*)
  say "usage: $0 [delete|rollback]"
  exit 2
  ;;
esac
`)
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
