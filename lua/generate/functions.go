package generate

import (
	_ "embed" // for the Lua
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/health"
)

// functions holds the functions in sections; a signal's section has its name.
//
//go:embed functions.lua
var functions string

// sections are the functions by section, without comments: argocd-cm holds 1 MiB.
var sections = func() map[string]string {
	result := map[string]string{}
	for _, section := range strings.Split(functions, "---- ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		var kept strings.Builder
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "--") {
				kept.WriteString(line)
			}
		}
		result[name] = kept.String()
	}
	return result
}()

// needs returns the names of the sections that a check's rules need.
func needs(check health.Check) map[string]bool {
	result := map[string]bool{"core": true}
	for _, rule := range check.Rules {
		result[string(rule.Signal)] = true
		if rule.Numbered {
			result["numbered"] = true
		}
		if slices.Contains(rule.Path, health.EveryItem) {
			result["each"] = true
		}
		if rule.Signal == health.Conditions || rule.Signal == health.Word {
			result["names"] = true
		}
	}
	return result
}

// section writes one section when its functions are needed.
func (w *writer) section(name, needed string) {
	if w.needs[needed] {
		w.text.WriteString(strings.ReplaceAll(sections[name], "DEGRADED", degraded[w.readyFalse]))
	}
}

// degraded is when a condition that is not as it should be is Degraded.
var degraded = map[health.ReadyFalse]string{
	health.ByReason:          `class == 4 and (c.status == "False" or c.status == "True")`,
	health.AlwaysDegraded:    `c.status == "False" or class == 4 and c.status == "True"`,
	health.AlwaysProgressing: `class == 4 and c.status == "True"`,
}

// functions writes what the rules need.
func (w *writer) functions() {
	w.section("core", "core")
	w.section("each", "each")
	if w.needs["names"] {
		w.linef("-- Common names: 1 well, 2 under way, 3 paused, 4 wrong, 5 running.")
		w.linef("local known, more, rare = {%s}", strings.Join(entries(health.Common()), ","))
	}
	for _, name := range []string{"conditions", "word", "numbered", "flag", "fault", "replicas"} {
		w.section(name, name)
	}
	if w.needs["names"] {
		w.linef("function rare()")
		w.linef("  if more then return more end")
		w.linef("  more = {}")
		w.linef("  loadstring(uncommon)(more, known, note, text%s)", map[bool]string{true: ", say, needed"}[w.needs["conditions"]])
		w.linef("  return more")
		w.linef("end")
	}
}

// uncommon writes, as text, what only names need that are not common.
func (w *writer) uncommon() {
	w.linef("-- For names that are not common. This stays text until it is wanted, because Argo CD")
	w.linef("-- compiles the script for every object that it looks at.")
	w.linef("uncommon = [==[")
	from := w.text.Len()
	w.linef("local more, known, note, text, say, needed = ...")
	w.words()
	w.section("names", "names")
	w.section("othercondition", "conditions")
	w.section("otherword", "word")
	w.unindent(from)
	w.linef("]==]")
}

// unindent takes the indentation from all lines behind a place: argocd-cm holds 1 MiB.
func (w *writer) unindent(from int) {
	written := w.text.String()
	w.text.Reset()
	w.text.WriteString(written[:from])
	for line := range strings.Lines(written[from:]) {
		w.text.WriteString(strings.TrimLeft(line, " "))
	}
}

// words writes the vocabulary by first letter, again as texts, and the letters in their
// order.
func (w *writer) words() {
	byLetter := map[string]map[string]health.Sense{}
	for sense, words := range health.Vocabulary() {
		for _, word := range words {
			if byLetter[word[:1]] == nil {
				byLetter[word[:1]] = map[string]health.Sense{}
			}
			byLetter[word[:1]][word] = sense
		}
	}
	w.linef("-- As above, and 6 wrong when denied, 7 denies, 8 says nothing, 9 warns.")
	w.linef("local vocabulary = {")
	for _, letter := range slices.Sorted(maps.Keys(byLetter)) {
		w.linef("%s=%q,", letter, strings.Join(entries(byLetter[letter]), ","))
	}
	w.linef("}")
	var letters []string
	for letter := byte(' '); letter <= '~'; letter++ {
		letters = append(letters, string(rune(letter)))
	}
	// A function of its own has a short list of constants, which the compiler searches
	// from its start.
	w.linef("local letters = (function() return %s end)()", list(letters))
}

// entries writes words with their senses as the entries of a Lua table.
func entries(senses map[string]health.Sense) []string {
	result := make([]string, 0, len(senses))
	for _, word := range slices.Sorted(maps.Keys(senses)) {
		if word == "not" { // Lua's own word
			result = append(result, fmt.Sprintf("['not']=%d", senses[word]))
			continue
		}
		result = append(result, fmt.Sprintf("%s=%d", word, senses[word]))
	}
	return result
}
