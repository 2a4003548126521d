package lua

import (
	"strings"
	"unicode"
)

// inert puts a text that comes from elsewhere on one line, without the control and
// format characters that a terminal would obey.
func inert(text string) string {
	return strings.Map(func(letter rune) rune {
		switch {
		case unicode.IsSpace(letter):
			return ' '
		case unicode.IsControl(letter), unicode.Is(unicode.Cf, letter):
			return -1
		}
		return letter
	}, text)
}
