// Package jq compiles and runs the jq paths of ignore rules.
//
// The paths are somebody else's programs. [Unsafe] says which must not run for a caller
// that they could harm, and [Checked.TryOnce] runs one under a deadline: ".spec.replicas" may run,
// "[limit(1e9; repeat(1))]" may not. A path that cannot be parsed is an error, never a
// panic.
package jq

import (
	"context"
	"fmt"
	"regexp"

	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	"github.com/itchyny/gojq"

	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Compile parses and compiles an expression. The parser of a hostile one may panic.
func Compile(expression string) (code *gojq.Code, err error) {
	query, err := parse(expression)
	if err != nil {
		return nil, fmt.Errorf("read the jq path: %w", err)
	}
	code, err = gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("compile the jq path: %w", err)
	}
	return code, nil
}

var (
	jqFilter = regexp.MustCompile(`(?:select|test|any|all)\([^()]*(?:\([^()]*\)[^()]*)*\)`)
	jqField  = regexp.MustCompile(`\.\[?"?([A-Za-z_][\w-]*)"?|\["([^"]+)"\]`)
)

// Names are the fields that a jq path names, filters set aside.
func Names(path string) []string {
	var names []string
	for _, match := range jqField.FindAllStringSubmatch(jqFilter.ReplaceAllString(path, ""), -1) {
		names = append(names, words.First(match[1], match[2]))
	}
	return names
}

// MaxSelected bounds the places that one jq path may name.
const MaxSelected = 10000

// Select returns the places that a compiled jq path names in a document whose numbers
// are plain.
func Select(ctx context.Context, code *gojq.Code, document any) ([]fieldpath.Pointer, error) {
	ctx, cancel := context.WithTimeout(ctx, normalizers.DefaultJQExecutionTimeout)
	defer cancel()
	var found []fieldpath.Pointer
	for named := code.RunWithContext(ctx, document); len(found) < MaxSelected; {
		value, more := named.Next()
		if !more {
			break
		}
		if err, failed := value.(error); failed {
			return nil, err
		}
		steps, _ := value.([]any)
		found = append(found, pointerTo(steps))
	}
	return found, nil
}

// pointerTo spells a path of jq. A slice of a list has no pointer: it is the list.
func pointerTo(steps []any) fieldpath.Pointer {
	pointer := fieldpath.Pointer("")
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			pointer = pointer.Key(step)
		case int:
			pointer = pointer.Index(step)
		}
	}
	return pointer
}

// Numbers copies a document with the number types that gojq knows.
func Numbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, child := range value {
			copied[name] = Numbers(child)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, child := range value {
			copied[i] = Numbers(child)
		}
		return copied
	case int64:
		return int(value)
	}
	return value
}
