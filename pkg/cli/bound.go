package cli

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode"
)

// How many bytes a log keeps of one value, and of a stack.
const (
	maxLogged = 1 << 10
	maxStack  = 16 << 10
)

// Cut shortens a text from outside to at most so many bytes of it, and then says how
// long it was: "aaa... (cut, 9437184 bytes)". The rest is valid UTF-8.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("... (cut, %d bytes)", len(text))
}

// bounded shortens a value of a log line, and takes out of it what drives a terminal.
// Line ends stay, since both formats escape them.
func bounded(_ []string, attribute slog.Attr) slog.Attr {
	value := attribute.Value.Resolve()
	text, found := textOf(value)
	if !found {
		return attribute
	}
	most := maxLogged
	if attribute.Key == "stack" {
		most = maxStack
	}
	return slog.String(attribute.Key, strings.Map(visible, Cut(text, most)))
}

// textOf is the text of a value that has one of any length. Numbers, times and
// durations have not, nor has what the handler itself adds.
func textOf(value slog.Value) (text string, found bool) {
	if value.Kind() == slog.KindString {
		return value.String(), true
	}
	if value.Kind() != slog.KindAny {
		return "", false
	}
	switch value := value.Any().(type) {
	case nil, slog.Level, *slog.Source:
		return "", false
	case error:
		return value.Error(), true
	default:
		return fmt.Sprintf("%+v", value), true
	}
}

// visible replaces what moves a cursor or turns the direction of a text.
func visible(r rune) rune {
	if r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf) {
		return r
	}
	return unicode.ReplacementChar
}
