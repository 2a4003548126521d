// Package snippet spells fixes: fragments of YAML, jq paths, commands for a shell, and the
// paths of fields that they are about.
//
// Whatever a name or a value holds, the text stays what it is meant to be: a word with a
// quote in it is one word of the shell, and a line break never ends a comment.
package snippet

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/moorpin/moorpin/pkg/drift"
)

// shellSafe needs no quotes in any shell.
var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// ShellWord quotes a word for the shell, always in one line. Nothing in single
// quotes has a meaning there, except the quote itself; control characters take the
// form that bash and zsh have for them.
func ShellWord(word string) string {
	if shellSafe.MatchString(word) {
		return word
	}
	word = strings.ReplaceAll(strings.ToValidUTF8(word, ""), "\x00", "")
	if !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var quoted strings.Builder
	for _, r := range word {
		switch {
		case r == '\'' || r == '\\':
			quoted.WriteString(`\` + string(r))
		case unicode.IsPrint(r):
			quoted.WriteRune(r)
		default:
			for _, b := range []byte(string(r)) {
				fmt.Fprintf(&quoted, `\x%02x`, b)
			}
		}
	}
	return "$'" + quoted.String() + "'"
}

// Command spells a command; its words are quoted.
func Command(words ...string) string {
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		quoted = append(quoted, ShellWord(word))
	}
	return strings.Join(quoted, " ")
}

// Operand is a word that is no option, whatever it begins with.
func Operand(word string) []string {
	if strings.HasPrefix(word, "-") {
		return []string{"--", word}
	}
	return []string{word}
}

// Kubectl spells a kubectl command for one object. Its options follow the verb, so
// that the object's name, whatever it is, comes last.
func Kubectl(ref drift.ResourceRef, verb string, options ...string) string {
	words := append([]string{"kubectl", verb}, options...)
	if ref.Namespace != "" {
		words = append(words, "--namespace="+ref.Namespace)
	}
	return Command(append(words, Operand(KubectlName(ref))...)...)
}

// KubectlPairs spells a kubectl command that takes its pairs after the object.
func KubectlPairs(ref drift.ResourceRef, verb string, pairs ...string) string {
	return Kubectl(ref, verb, "--overwrite") + " " + Command(pairs...)
}

// KubectlName is kind.group/name, as kubectl takes it.
func KubectlName(ref drift.ResourceRef) string {
	kind := ref.Kind
	if ref.Group != "" {
		kind += "." + ref.Group
	}
	return kind + "/" + ref.Name
}

// OfResource is the option that picks one resource of the Application.
func OfResource(ref drift.ResourceRef) string {
	name := ref.Name
	if ref.Namespace != "" {
		name = ref.Namespace + "/" + name
	}
	return "--resource=" + ref.Group + ":" + ref.Kind + ":" + name
}

// Lines joins commands, each in its own line.
func Lines(commands ...string) string { return strings.Join(commands, "\n") + "\n" }

// Note is a comment of shell and YAML alike.
func Note(sentences ...string) string {
	return strings.TrimSuffix(Commented("", strings.Join(sentences, "\n")), "\n")
}

// JSONPatch is a patch in one line: pairs of an operation's name and its words.
type JSONPatch []map[string]any

// Test adds that the patch fails where the value is another.
func (p *JSONPatch) Test(path string, value any) {
	*p = append(*p, map[string]any{"op": "test", "path": path, "value": value})
}

// Remove adds a removal.
func (p *JSONPatch) Remove(path string) {
	*p = append(*p, map[string]any{"op": "remove", "path": path})
}

// Text spells the patch as the option of kubectl patch.
func (p *JSONPatch) Text() string { return "--patch=" + JSON(*p) }

// Dumped writes an object to a file that only its owner can read, as it may hold a
// Secret's values.
func Dumped(ref drift.ResourceRef) string {
	return Lines("umask 077", Kubectl(ref, "get", "--output=yaml")+" > "+ShellWord(DumpName(ref)))
}

// NoFileName is what a file name is written without.
var NoFileName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// DumpName is a file name for an object's dump.
func DumpName(ref drift.ResourceRef) string {
	var parts []string
	for _, part := range []string{ref.Kind, ref.Group, ref.Namespace, ref.Name} {
		if part = strings.Trim(NoFileName.ReplaceAllString(part, "_"), ".-"); part != "" {
			parts = append(parts, part)
		}
	}
	name := strings.Join(parts, "-")
	const longest = 200 // file systems take 255 bytes
	return name[:min(len(name), longest)] + ".yaml"
}

// Beside warns that a list of rules takes the place of the one that is there.
func Beside(entries int) string {
	if entries == 0 {
		return ""
	}
	return "  # beside the entries that stay:\n"
}
