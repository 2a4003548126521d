// Package fieldpath spells field paths in one way: RFC 6901 JSON pointers.
//
// A [Pointer] names a node of a JSON document: "" is the document, "/spec/data/0"
// the first item of the list "data" below "spec". In a step "~1" stands for "/"
// and "~0" for "~", so the annotation "example.com/team" is
// "/metadata/annotations/example.com~1team".
//
// [Parse] refuses what is no pointer: text that does not begin with "/"
// ("spec/data"), and a "~" that is followed by neither 0 nor 1 ("/a~b").
package fieldpath

import (
	"fmt"
	"strconv"
	"strings"
)

// Pointer is an RFC 6901 JSON pointer in its text form. The empty pointer names
// the whole document. A Pointer made by [Parse], [Of], [Pointer.Key] or
// [Pointer.Index] is always well formed.
type Pointer string

// escaper and unescaper turn a step into its pointer form and back.
var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// Parse reads a pointer from its text form. The error says what is malformed.
func Parse(text string) (Pointer, error) {
	if text == "" {
		return "", nil
	}
	if text[0] != '/' {
		return "", fmt.Errorf("field path %q: does not begin with \"/\"; write it as in /spec/replicas", text)
	}
	for i := strings.IndexByte(text, '~'); i >= 0; {
		if i+1 == len(text) || (text[i+1] != '0' && text[i+1] != '1') {
			return "", fmt.Errorf("field path %q: \"~\" at character %d; write ~0 for \"~\" and ~1 for \"/\"", text, i+1)
		}
		next := strings.IndexByte(text[i+1:], '~')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return Pointer(text), nil
}

// Of returns the pointer with the given steps, each a field name or a list index
// in its plain form.
func Of(steps ...string) Pointer {
	var text strings.Builder
	for _, step := range steps {
		text.WriteByte('/')
		text.WriteString(escape(step))
	}
	return Pointer(text.String())
}

// Key returns the pointer to the field called name below p.
func (p Pointer) Key(name string) Pointer {
	return p + "/" + Pointer(escape(name))
}

// Index returns the pointer to the item i, counted from 0, of the list at p.
func (p Pointer) Index(i int) Pointer {
	return p + "/" + Pointer(strconv.Itoa(i))
}

// AppendKey appends the step to the field called name to text, a pointer that is
// still being built, and returns the longer text.
func AppendKey(text []byte, name string) []byte {
	return append(append(text, '/'), escape(name)...)
}

// AppendIndex appends the step to the list item i in the same way.
func AppendIndex(text []byte, i int) []byte {
	return strconv.AppendInt(append(text, '/'), int64(i), 10)
}

// Steps returns the plain form of p's steps, from the root down; none for the root.
func (p Pointer) Steps() []string {
	if p == "" {
		return nil
	}
	steps := strings.Split(string(p[1:]), "/")
	for i, step := range steps {
		if strings.Contains(step, "~") {
			steps[i] = unescaper.Replace(step)
		}
	}
	return steps
}

// Parent returns the pointer to the node that holds p; the root's parent is the root.
func (p Pointer) Parent() Pointer {
	return p[:max(strings.LastIndexByte(string(p), '/'), 0)]
}

// Covers reports whether p is q or an ancestor of q.
func (p Pointer) Covers(q Pointer) bool {
	return strings.HasPrefix(string(q), string(p)) && (len(p) == len(q) || q[len(p)] == '/')
}

// Value returns the node that p names in the document, and whether there is one.
// A list item is named by its decimal index without leading zeros.
func (p Pointer) Value(document any) (any, bool) {
	node := document
	for _, step := range p.Steps() {
		switch holder := node.(type) {
		case map[string]any:
			child, found := holder[step]
			if !found {
				return nil, false
			}
			node = child
		case []any:
			i, ok := index(step)
			if !ok || i >= len(holder) {
				return nil, false
			}
			node = holder[i]
		default:
			return nil, false
		}
	}
	return node, true
}

// Compare orders pointers as a reader meets the fields: step by step, list
// indices by number, a node before what it holds. It returns a value below,
// equal to or above 0.
func Compare(p, q Pointer) int {
	a, b := p.Steps(), q.Steps()
	for i := range min(len(a), len(b)) {
		if c := compareSteps(a[i], b[i]); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

// compareSteps orders indices before names, indices by number and names by bytes.
func compareSteps(a, b string) int {
	i, aIsIndex := index(a)
	j, bIsIndex := index(b)
	switch {
	case aIsIndex && bIsIndex:
		return i - j
	case aIsIndex:
		return -1
	case bIsIndex:
		return 1
	}
	return strings.Compare(a, b)
}

// index reads a list index; leading zeros, signs and numbers past nine digits are names.
func index(step string) (int, bool) {
	if step == "" || len(step) > 9 || (len(step) > 1 && step[0] == '0') {
		return 0, false
	}
	n := 0
	for _, c := range []byte(step) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func escape(step string) string {
	if strings.IndexByte(step, '~') < 0 && strings.IndexByte(step, '/') < 0 {
		return step
	}
	return escaper.Replace(step)
}
