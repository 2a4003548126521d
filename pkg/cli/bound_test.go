package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/moorpin/moorpin/pkg/cli"
)

func TestCut(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		most         int
		want         string
	}{
		"short":  {"what fits stays", "abc", 3, "abc"},
		"long":   {"the reader learns that it was longer", "abcdef", 3, "abc... (cut, 6 bytes)"},
		"inside": {"a rune is not cut in two", "aé", 2, "a... (cut, 3 bytes)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := cli.Cut(test.text, test.most); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

// huge is what %+v makes much of.
type huge struct{ Text string }

// TestLogIsBounded logs what repositories may hold, in both formats.
func TestLogIsBounded(t *testing.T) {
	long := strings.Repeat("K", 9<<20)
	forged := "web\nlevel=ERROR msg=forged\r\n{\"msg\":\"forged\"}\x1b[2J\u009b2J\u202e"
	tests := map[string]struct {
		reason  string
		message string
		value   any
		most    int
	}{
		"string":  {"a kind may have any length", "answered", long, 2 << 10},
		"error":   {"and so may what quotes it", "refused", errors.New(long), 2 << 10},
		"wrapped": {"at any depth", "refused", fmt.Errorf("render: %w", errors.New(long)), 2 << 10},
		"message": {"a warning is a message of its own", long, 1, 2 << 10},
		"struct":  {"libraries log whatever they have", "klog", huge{long}, 2 << 10},
		"lines":   {"a value makes no line", "answered", forged, 2 << 10},
		"error's": {"nor does an error", "refused", errors.New(forged), 2 << 10},
	}
	for name, test := range tests {
		for _, format := range []string{"text", "json"} {
			t.Run(name+" "+format, func(t *testing.T) {
				var out bytes.Buffer
				log, err := cli.Logger(&out, format, "info")
				if err != nil {
					t.Fatal(err)
				}
				log.Info(test.message, "value", test.value)
				line := out.Bytes()
				if len(line) > test.most || bytes.Count(line, []byte("\n")) != 1 || !utf8.Valid(line) {
					t.Errorf("%s: %d bytes, %d lines: %.300q", test.reason, len(line), bytes.Count(line, []byte("\n")), line)
				}
				if bytes.ContainsAny(line, "\x1b\r\u009b\u202e") {
					t.Errorf("%s: the line drives a terminal: %.300q", test.reason, line)
				}
				if format == "json" && !json.Valid(line) {
					t.Errorf("%s: no JSON: %.300q", test.reason, line)
				}
			})
		}
	}
}

// What is no text stays what it was.
func TestLogKeepsNumbers(t *testing.T) {
	var out bytes.Buffer
	log, err := cli.Logger(&out, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	log.Info("answered", "bytes", 7, "fine", true, "stack", strings.Repeat("s", 4<<10))
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	stack, _ := line["stack"].(string)
	if line["level"] != "INFO" || line["bytes"] != 7.0 || line["fine"] != true || len(stack) != 4<<10 {
		t.Errorf("got %v", line)
	}
}
