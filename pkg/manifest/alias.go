package manifest

import (
	"bufio"
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v2"
)

// CheckAliases refuses a YAML stream in which the aliases of one document expand
// to more than limits.Bytes, without expanding them. It is for text that another
// YAML library is going to read; [Decode] does the same by itself. Text without
// an anchor and an alias is not parsed at all, and text that does not parse is let
// pass: it cannot expand. Errors are [*Error].
func CheckAliases(file string, data []byte, limits Limits) error {
	if !mayHoldAliases(data) {
		return nil
	}
	limits = limits.withDefaults()
	for _, document := range splitForArgoCD(file, data) {
		if err := checkAliases(document, limits); err != nil {
			return err
		}
	}
	return nil
}

// splitForArgoCD cuts a stream with the reader that Argo CD uses, so that what does not
// parse here does not parse there.
func splitForArgoCD(file string, data []byte) []document {
	var documents []document
	reader := kubeyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	line, rest := 1, data
	for number := 1; ; number++ {
		text, err := reader.Read()
		if err != nil {
			return documents
		}
		before, after, found := bytes.Cut(rest, text)
		if found {
			line += bytes.Count(before, []byte("\n"))
			rest = after
		}
		documents = append(documents, document{origin: Origin{File: file, Document: number, Line: line}, text: text})
		line += bytes.Count(text, []byte("\n"))
	}
}

func mayHoldAliases(text []byte) bool {
	return bytes.IndexByte(text, '*') >= 0 && bytes.IndexByte(text, '&') >= 0
}

func checkAliases(document document, limits Limits) error {
	if !mayHoldAliases(document.text) {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(document.text, &root); err != nil {
		return checkByDecoding(document, limits)
	}
	sizer := aliasSizer{limit: limits.Bytes, sizes: map[*yaml.Node]int64{}}
	if _, ok := sizer.size(&root); !ok {
		return expansion(document, document.origin.Line+sizer.line-1, limits)
	}
	return nil
}

func expansion(document document, line int, limits Limits) *Error {
	return &Error{
		Origin: document.origin, Line: line,
		Reason: fmt.Sprintf("this alias makes the document expand to more than the limit of %d bytes; write the values out or use fewer aliases", limits.Bytes),
	}
}

// checkByDecoding measures a document that the library with a view of aliases cannot
// read, but the one that decodes it perhaps can. That one bounds by itself how many
// nodes aliases make, and repeated texts share their memory until they are written out.
func checkByDecoding(document document, limits Limits) error {
	var value any
	if goyaml.Unmarshal(document.text, &value) != nil {
		return nil //nolint:nilerr // what does not parse does not expand.
	}
	if left := limits.Bytes; !fits(value, &left) {
		return expansion(document, 0, limits)
	}
	return nil
}

// fits subtracts the size of a decoded value from what is left, and reports whether
// that is enough.
func fits(value any, left *int64) bool {
	*left -= nodeCost
	switch value := value.(type) {
	case string:
		*left -= int64(len(value))
	case []any:
		for _, item := range value {
			if !fits(item, left) {
				return false
			}
		}
	case map[any]any:
		for name, child := range value {
			if !fits(name, left) || !fits(child, left) {
				return false
			}
		}
	}
	return *left >= 0
}

// nodeCost is what a node takes in memory beside its text, about.
const nodeCost = 16

// aliasSizer adds up what a document's nodes expand to; every anchor is measured once.
type aliasSizer struct {
	limit int64
	sizes map[*yaml.Node]int64
	line  int
}

// size returns the expanded size of node, or false once the limit is passed or an
// alias stands inside its own anchor; line then names the place.
func (s *aliasSizer) size(node *yaml.Node) (int64, bool) {
	if node.Kind == yaml.AliasNode {
		return s.sizeOfAnchor(node)
	}
	total := int64(len(node.Value)) + nodeCost
	for _, child := range node.Content {
		size, ok := s.size(child)
		if !ok {
			return 0, false
		}
		if total += size; total > s.limit {
			s.line = child.Line
			return 0, false
		}
	}
	return total, true
}

// measuring marks an anchor whose size is still being added up.
const measuring = -1

func (s *aliasSizer) sizeOfAnchor(alias *yaml.Node) (int64, bool) {
	size, known := s.sizes[alias.Alias]
	if size == measuring {
		s.line = alias.Line
		return 0, false
	}
	if known {
		return size, true
	}
	s.sizes[alias.Alias] = measuring
	size, ok := s.size(alias.Alias)
	s.sizes[alias.Alias] = size
	return size, ok
}
