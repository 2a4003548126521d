#!/usr/bin/env bash
# The script of a plan, in whose place of "plan" stands what it deletes and how that is
# rolled back. It runs nothing that changes anything unless DRY_RUN=0, and then asks before
# every step unless YES=1. The open questions of the plan are asked apart, unless CHECKED=1.
default_dumps=dumps

set -euo pipefail
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

# plan
delete_all() { :; }
rollback() { :; }
# end of the plan

case "${1:-delete}" in
delete) delete_all ;;
rollback) rollback ;;
*)
  say "usage: $0 [delete|rollback]"
  exit 2
  ;;
esac
