package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// limits are how much of a finding is shown; texts are counted in bytes.
type limits struct {
	fields, lines, fixes         int
	value, prose, snippet, names int
}

var (
	narrow = limits{fields: 5, lines: 3, fixes: 1, value: 100, prose: 300, snippet: 600, names: 200}
	wide   = limits{fields: 20, lines: 10, fixes: 4, value: 300, prose: 1500, snippet: 4000, names: 600}
	// single is for an answer about one resource.
	single = limits{fields: 60, lines: 20, fixes: 6, value: 2000, prose: 3000, snippet: 8000, names: 1000}
)

// replaced stands where a character was that does more than to be seen.
const replaced = '\uFFFD'

// plain is the text without characters that a terminal would obey or that nobody sees
// and a model still reads, cut to a length in bytes with a word about it.
func plain(text string, most int) string {
	total := len(text)
	if total > most {
		text = cut(text, most)
	}
	text = strings.Map(func(r rune) rune {
		if hostile(r) {
			return replaced
		}
		return r
	}, strings.ToValidUTF8(text, string(replaced)))
	if len(text) > most { // replacing made it longer
		text = cut(text, most)
	}
	if total > most {
		text += fmt.Sprintf("... (cut; %d bytes in all)", total)
	}
	return text
}

// cut is the beginning of the text, up to a whole character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// hostile reports whether a character does more than to be seen: control and format
// characters, and the selectors of variants, which can carry hidden text.
func hostile(r rune) bool {
	return r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r))
}

// texts are the first of some texts, and a word about the others.
func texts(all []string, most, length int) []string {
	shown := make([]string, 0, min(len(all), most+1))
	for i, text := range all {
		if i == most {
			return append(shown, fmt.Sprintf("... and %d more", len(all)-most))
		}
		shown = append(shown, plain(text, length))
	}
	return shown
}

// valueOf is a value as JSON text.
func valueOf(v any, present bool, most int) string {
	if !present {
		return "(absent)"
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "(no JSON)"
	}
	return plain(strings.TrimSuffix(text.String(), "\n"), most)
}
