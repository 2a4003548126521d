package classify

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/object"
)

// shellSafe needs no quotes in any shell.
var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord quotes a word for the shell, always in one line. Nothing in single
// quotes has a meaning there, except the quote itself; control characters take the
// form that bash and zsh have for them.
func shellWord(word string) string {
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

// command spells a command; its words are quoted.
func command(words ...string) string {
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		quoted = append(quoted, shellWord(word))
	}
	return strings.Join(quoted, " ")
}

// operand is a word that is no option, whatever it begins with.
func operand(word string) []string {
	if strings.HasPrefix(word, "-") {
		return []string{"--", word}
	}
	return []string{word}
}

// kubectl spells a kubectl command for one object. Its options follow the verb, so
// that the object's name, whatever it is, comes last.
func kubectl(ref drift.ResourceRef, verb string, options ...string) string {
	words := append([]string{"kubectl", verb}, options...)
	if ref.Namespace != "" {
		words = append(words, "--namespace="+ref.Namespace)
	}
	return command(append(words, operand(kubectlName(ref))...)...)
}

// kubectlPairs spells a kubectl command that takes its pairs after the object.
func kubectlPairs(ref drift.ResourceRef, verb string, pairs ...string) string {
	return kubectl(ref, verb, "--overwrite") + " " + command(pairs...)
}

// kubectlName is kind.group/name, as kubectl takes it.
func kubectlName(ref drift.ResourceRef) string {
	kind := ref.Kind
	if ref.Group != "" {
		kind += "." + ref.Group
	}
	return kind + "/" + ref.Name
}

// argocd spells a command about the Application.
func (s *situation) argocd(words ...string) string {
	name := s.app.Name
	if s.app.Namespace != "" {
		name = s.app.Namespace + "/" + name
	}
	return command(append(append([]string{"argocd", "app"}, words...), operand(name)...)...)
}

// selected is the option that picks one resource of the Application.
func selected(ref drift.ResourceRef) string {
	name := ref.Name
	if ref.Namespace != "" {
		name = ref.Namespace + "/" + name
	}
	return "--resource=" + ref.Group + ":" + ref.Kind + ":" + name
}

// lines joins commands, each in its own line.
func lines(commands ...string) string { return strings.Join(commands, "\n") + "\n" }

// note is a comment of shell and YAML alike.
func note(sentences ...string) string {
	return strings.TrimSuffix(commented("", strings.Join(sentences, "\n")), "\n")
}

// jsonPatch is a patch in one line: pairs of an operation's name and its words.
type jsonPatch []map[string]any

func (p *jsonPatch) test(path string, value any) {
	*p = append(*p, map[string]any{"op": "test", "path": path, "value": value})
}

func (p *jsonPatch) remove(path string) {
	*p = append(*p, map[string]any{"op": "remove", "path": path})
}

// text spells the patch as the option of kubectl patch.
func (p *jsonPatch) text() string { return "--patch=" + jsonText(*p) }

// dumped writes an object to a file that only its owner can read, as it may hold a
// Secret's values.
func dumped(ref drift.ResourceRef) string {
	return lines("umask 077", kubectl(ref, "get", "--output=yaml")+" > "+shellWord(dumpName(ref)))
}

var noFileName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// dumpName is a file name for an object's dump.
func dumpName(ref drift.ResourceRef) string {
	var parts []string
	for _, part := range []string{ref.Kind, ref.Group, ref.Namespace, ref.Name} {
		if part = strings.Trim(noFileName.ReplaceAllString(part, "_"), ".-"); part != "" {
			parts = append(parts, part)
		}
	}
	name := strings.Join(parts, "-")
	const longest = 200 // file systems take 255 bytes
	return name[:min(len(name), longest)] + ".yaml"
}

// hasOwnerKind returns the name of the owner of that kind, and whether there is one.
func hasOwnerKind(o object.Object, kind string) (string, bool) {
	for _, owner := range object.List(o, "metadata", "ownerReferences") {
		if object.Text(owner, "kind") == kind {
			return object.Text(owner, "name"), true
		}
	}
	return "", false
}

// home says where the Application's own manifest is edited: a generated one is not
// the place.
func (s *situation) home() string {
	name := s.ref().Words()
	if set, found := hasOwnerKind(s.snapshot.Application, "ApplicationSet"); found {
		return name + " is generated: edit spec.template of ApplicationSet " + set
	}
	if id, found := parseTrackingID(object.Annotation(s.snapshot.Application, trackingIDAnnotation)); found {
		return name + " comes from Application " + id.app + ": edit it in that one's Git"
	}
	return name
}

// application spells an edit of the Application: annotations, ignoreDifferences and
// sync options, each to be added to those that are there.
func (s *situation) application(annotations map[string]any, rules []v1alpha1.ResourceIgnoreDifferences, options ...string) string {
	var out strings.Builder
	out.WriteString(commented("", s.home()))
	if len(annotations) > 0 {
		out.WriteString("metadata:\n" + keyed("  annotations:", annotations, "  "))
	}
	if len(rules) == 0 && len(options) == 0 {
		return out.String()
	}
	out.WriteString("spec:\n")
	if len(rules) > 0 {
		out.WriteString(beside(len(s.app.Spec.IgnoreDifferences)) + "  ignoreDifferences:\n")
		for _, rule := range rules {
			out.WriteString(dashed(ruleText(rule), "    "))
		}
	}
	if len(options) > 0 {
		out.WriteString("  syncPolicy:\n    syncOptions:\n")
		there := map[string]bool{}
		if policy := s.app.Spec.SyncPolicy; policy != nil {
			for _, option := range policy.SyncOptions {
				there[option] = true
				out.WriteString("      - " + yamlScalar(option) + "\n")
			}
		}
		for _, option := range options {
			if !there[option] {
				out.WriteString("      - " + yamlScalar(option) + "\n")
			}
		}
	}
	return out.String()
}

func beside(entries int) string {
	if entries == 0 {
		return ""
	}
	return "  # beside the entries that stay:\n"
}
