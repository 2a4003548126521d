package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Limits bound what [Decode] takes. A field that is zero stands for its default.
type Limits struct {
	// Bytes bounds the text, and apart from it what each document's aliases
	// expand to. Default 100 MiB, the largest message that Argo CD's components
	// take from one another.
	Bytes int64
	// Documents bounds the objects, Lists expanded. Default 100000.
	Documents int
	// Depth bounds the nesting of lists and maps. Default 500; the deepest
	// CRDs in use stay below 100.
	Depth int
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 100 << 20
	}
	if l.Documents == 0 {
		l.Documents = 100_000
	}
	if l.Depth == 0 {
		l.Depth = 500
	}
	return l
}

// Decode reads the objects of a YAML or JSON stream. file only names the input in
// origins and errors. The objects share no memory with data. Errors are [*Error].
func Decode(file string, data []byte, limits Limits) ([]Object, error) {
	limits = limits.withDefaults()
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if int64(len(data)) > limits.Bytes {
		return nil, &Error{Origin: Origin{File: file}, Reason: fmt.Sprintf("holds %d bytes, more than the limit of %d; split it", len(data), limits.Bytes)}
	}
	if objects, err, ok := decodeJSON(file, data, limits); ok {
		return objects, err
	}
	decoder := decoder{limits: limits}
	for _, document := range split(file, data) {
		value, err := parseYAML(document, limits)
		if err != nil {
			return nil, err
		}
		if decoder.add(document.origin, value); decoder.err != nil {
			return nil, decoder.err
		}
	}
	return decoder.objects, nil
}

// document is one YAML document of a stream.
type document struct {
	origin Origin
	text   []byte
}

// split cuts a stream at the lines that begin with "---" or "...". What follows
// the dashes on their line belongs to the document; documents that hold nothing
// but comments and directives (%YAML) are left out.
func split(file string, data []byte) []document {
	var documents []document
	current := document{origin: Origin{File: file, Document: 1, Line: 1}}
	start, number := 0, 1
	finish := func(end int) {
		current.text = data[start:end]
		if !blank(current.text) {
			documents = append(documents, current)
			current.origin.Document++
		}
	}
	for at := 0; at < len(data); number++ {
		end := at + bytes.IndexByte(data[at:], '\n') + 1
		if end == at {
			end = len(data)
		}
		switch line := data[at:end]; {
		case marks(line, "---"):
			finish(at)
			start, current.origin.Line = at+len("---"), number
			for start < end && (data[start] == ' ' || data[start] == '\t') {
				start++ // a tab there is more than YAML libraries take
			}
		case marks(line, "..."):
			finish(at)
			start, current.origin.Line = end, number+1
		}
		at = end
	}
	finish(len(data))
	return documents
}

// marks reports whether a line begins with a document marker, "---" or "...".
func marks(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// blank reports whether a document holds only spaces, comments and directives.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// lineInMessage finds the line that the YAML library names, counted within the document.
var lineInMessage = regexp.MustCompile(`line (\d+): `)

func parseYAML(document document, limits Limits) (any, error) {
	if err := checkAliases(document, limits); err != nil {
		return nil, err
	}
	text, err := yaml.YAMLToJSON(document.text)
	if err != nil {
		return nil, yamlError(document.origin, err)
	}
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &value); err != nil {
		return nil, &Error{Origin: document.origin, Reason: "does not parse: " + err.Error()}
	}
	return value, nil
}

// yamlError moves the line that the library counts within the document to the file's.
func yamlError(origin Origin, err error) *Error {
	reason := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	reason = strings.TrimPrefix(reason, "yaml: ")
	fault := &Error{Origin: origin}
	if match := lineInMessage.FindStringSubmatchIndex(reason); match != nil {
		if line, err := strconv.Atoi(reason[match[2]:match[3]]); err == nil {
			fault.Line = origin.Line + line - 1
		}
		reason = reason[:match[0]] + reason[match[1]:]
	}
	if strings.HasPrefix(reason, "invalid map key") {
		reason = "a map stands where a name should; templates must be rendered first"
	}
	fault.Reason = "is not valid YAML: " + strings.TrimSpace(reason)
	return fault
}

// decodeJSON reads data as JSON values one after the other. It reports false when
// data is no JSON, so that it can be read as YAML: the flow style of YAML looks the
// same, and a YAML stream may begin with a document in JSON.
func decodeJSON(file string, data []byte, limits Limits) (objects []Object, err error, ok bool) {
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	if len(trimmed) == 0 || (trimmed[0] != '{' && trimmed[0] != '[') {
		return nil, nil, false
	}
	stream := json.NewDecoder(bytes.NewReader(data))
	decoder := decoder{limits: limits}
	line, counted := 1, 0
	for number := 1; ; number++ {
		var raw json.RawMessage
		if err := stream.Decode(&raw); err != nil {
			return decoder.objects, nil, errors.Is(err, io.EOF)
		}
		start := int(stream.InputOffset()) - len(raw)
		line += bytes.Count(data[counted:start], []byte("\n"))
		counted = start
		origin := Origin{File: file, Document: number, Line: line}
		var value any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &value); err != nil {
			return nil, &Error{Origin: origin, Reason: "does not parse: " + err.Error()}, true
		}
		if decoder.add(origin, value); decoder.err != nil {
			return nil, decoder.err, true
		}
	}
}

// decoder gathers objects until the first error.
type decoder struct {
	limits  Limits
	objects []Object
	err     error
}

func (d *decoder) refusef(origin Origin, format string, args ...any) {
	d.err = &Error{Origin: origin, Reason: fmt.Sprintf(format, args...)}
}

// add takes one document's value: an object, a List of objects, or a JSON array of them.
func (d *decoder) add(origin Origin, value any) {
	if depthOver(value, d.limits.Depth) {
		d.refusef(origin, "nests deeper than the limit of %d levels", d.limits.Depth)
		return
	}
	switch value := value.(type) {
	case nil:
	case map[string]any:
		d.addObject(origin, value)
	case []any:
		d.addItems(origin, value)
	default:
		d.refusef(origin, "is a %s, not an object; an object begins with apiVersion and kind", typeName(value))
	}
}

func (d *decoder) addObject(origin Origin, content map[string]any) {
	kind, _ := content["kind"].(string)
	if kind == "" {
		d.refusef(origin, "has no kind (a non-empty string), so that it is no object; charts and kustomizations must be rendered first")
		return
	}
	// What Argo CD takes for a list: a list in "items", or null there and neither
	// spec nor status beside it.
	if items, found := content["items"]; found {
		if list, ok := items.([]any); ok {
			d.addItems(origin, list)
			return
		}
		_, spec := content["spec"]
		_, status := content["status"]
		if items == nil && !spec && !status {
			return
		}
	}
	if len(d.objects) == d.limits.Documents {
		d.refusef(origin, "is past the limit of %d objects; split the input", d.limits.Documents)
		return
	}
	d.objects = append(d.objects, Object{Content: content, Origin: origin})
}

func (d *decoder) addItems(origin Origin, items []any) {
	for i, item := range items {
		content, ok := item.(map[string]any)
		if !ok {
			d.refusef(origin, "item %d of the list is a %s, not an object", i, typeName(item))
			return
		}
		if kind, _ := content["kind"].(string); kind == "" {
			d.refusef(origin, "item %d of the list has no kind (a non-empty string)", i)
			return
		}
		if d.addObject(origin, content); d.err != nil {
			return
		}
	}
}

func depthOver(value any, limit int) bool {
	if limit < 0 {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for _, child := range value {
			if depthOver(child, limit-1) {
				return true
			}
		}
	case []any:
		for _, child := range value {
			if depthOver(child, limit-1) {
				return true
			}
		}
	}
	return false
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "list"
	default:
		return "number"
	}
}
