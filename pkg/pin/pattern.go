package pin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// pattern is a pointer whose steps may be "*", which stands for any one step.
type pattern []string

const anyStep = "*"

func parsePattern(text string) (pattern, error) {
	pointer, err := fieldpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse pattern: %w", err)
	}
	if pointer == "" {
		return nil, fmt.Errorf("pattern %q names the whole object; use %s: none", text, AnnotationPin)
	}
	return pointer.Steps(), nil
}

// What an object may exclude by its own annotation: every change is held against all of
// it. The longest annotations that are in use hold a few hundred bytes.
const (
	maxPatterns     = 256
	maxPatternsText = 16 << 10
)

// parsePatterns reads pointers that are separated by commas or white space.
func parsePatterns(text string) ([]pattern, error) {
	if len(text) > maxPatternsText {
		return nil, fmt.Errorf("holds %d bytes, more than the limit of %d; put \"*\" for steps, or skip what is above", len(text), maxPatternsText)
	}
	var patterns []pattern
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(", \t\r\n", c) }) {
		pattern, err := parsePattern(word)
		if err != nil {
			return nil, err
		}
		if len(patterns) == maxPatterns {
			return nil, fmt.Errorf("names more pointers than the limit of %d; put \"*\" for steps, or skip what is above", maxPatterns)
		}
		patterns = append(patterns, pattern)
	}
	return patterns, nil
}

// after returns what is left of the pattern behind the path, and whether the path fits.
func (p pattern) after(path []string) (pattern, bool) {
	for i, step := range path {
		if i == len(p) {
			return nil, true
		}
		if p[i] != anyStep && p[i] != step {
			return nil, false
		}
	}
	return p[len(path):], true
}

// skipped reports whether the current path is excluded.
func (w *walk) skipped() bool {
	if len(w.skips) == 0 {
		return false
	}
	path := w.pointer().Steps()
	return slices.ContainsFunc(w.skips, func(skip pattern) bool {
		rest, fits := skip.after(path)
		return fits && len(rest) == 0
	})
}

// carve returns the value for the current path without what is excluded below it, and
// whether the budget allows for that: each exclusion there costs a look at the whole.
func (w *walk) carve(value any) (any, bool) {
	if len(w.skips) == 0 {
		return value, true
	}
	path, copied := w.pointer().Steps(), false
	for _, skip := range w.skips {
		rest, fits := skip.after(path)
		if !fits || len(rest) == 0 {
			continue
		}
		if !w.meter.steps(weight(value)) {
			return nil, false
		}
		if !copied {
			value, copied = runtime.DeepCopyJSONValue(value), true
		}
		removeMatches(value, rest)
	}
	return value, true
}

// removeMatches deletes the fields that the pattern names; list items stay.
func removeMatches(value any, rest pattern) {
	switch value := value.(type) {
	case map[string]any:
		for name, child := range value {
			if rest[0] != anyStep && rest[0] != name {
				continue
			}
			if len(rest) == 1 {
				delete(value, name)
			} else {
				removeMatches(child, rest[1:])
			}
		}
	case []any:
		for i, child := range value {
			if len(rest) > 1 && (rest[0] == anyStep || rest[0] == strconv.Itoa(i)) {
				removeMatches(child, rest[1:])
			}
		}
	}
}
