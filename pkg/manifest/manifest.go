// Package manifest turns streams of YAML or JSON into Kubernetes objects and back.
//
// [Decode] reads what `kubectl apply -f` reads: documents separated by "---",
// JSON objects one after the other, JSON arrays of objects, and Lists, which are
// expanded in place. The order of the objects is the order of the text, and every
// object and every error knows its file, document and line. Scalars are read with
// the library that Argo CD uses, so "yes" is true and 0644 is 420 here as well.
//
// It refuses, with an [*Error]: text that does not parse, a document that is no
// object or has no kind, and whatever passes the [Limits] (bytes, documents,
// nesting, and the size that aliases expand to, checked before they expand).
// Empty documents are skipped.
//
//	valid:    {apiVersion: v1, kind: Secret, metadata: {name: a}}
//	invalid:  just text        ("app.yaml: document 1 (line 1): is a string, not an object")
package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	yaml "sigs.k8s.io/yaml/goyaml.v2"
)

// Origin says where an object stood. Documents and lines count from 1; the zero
// Origin means that the object came from no text.
type Origin struct {
	File     string
	Document int
	Line     int
}

// String returns the origin for people: "app.yaml: document 2 (line 14)".
func (o Origin) String() string {
	file := o.File
	if file == "" {
		file = "input"
	}
	if o.Document == 0 {
		return file
	}
	return fmt.Sprintf("%s: document %d (line %d)", file, o.Document, o.Line)
}

// Object is one Kubernetes object and where it came from. Content holds JSON
// values only: string, bool, int64, float64, nil, map[string]any and []any.
type Object struct {
	Content map[string]any
	Origin  Origin
}

// Kind returns the group, version and kind; parts that are missing or no strings are empty.
func (o Object) Kind() schema.GroupVersionKind {
	apiVersion, _ := o.Content["apiVersion"].(string)
	kind, _ := o.Content["kind"].(string)
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}

// Name returns metadata.name, empty where there is none.
func (o Object) Name() string { return o.meta("name") }

// Namespace returns metadata.namespace, empty where there is none.
func (o Object) Namespace() string { return o.meta("namespace") }

// Annotation returns the annotation called name, and whether there is one that is a string.
func (o Object) Annotation(name string) (string, bool) {
	metadata, _ := o.Content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	value, ok := annotations[name].(string)
	return value, ok
}

// AnnotationNames returns the names of the annotations, sorted.
func (o Object) AnnotationNames() []string {
	metadata, _ := o.Content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if len(annotations) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(annotations))
}

// String names the object for people: "ExternalSecret.external-secrets.io/team/db".
func (o Object) String() string {
	kind := o.Kind()
	parts := []string{kind.Kind}
	if kind.Group != "" {
		parts[0] += "." + kind.Group
	}
	for _, part := range []string{o.Namespace(), o.Name()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// JSON returns the object as one line of JSON with sorted keys.
func (o Object) JSON() ([]byte, error) {
	text, err := json.Marshal(o.Content)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", o, err)
	}
	return text, nil
}

func (o Object) meta(field string) string {
	metadata, _ := o.Content["metadata"].(map[string]any)
	value, _ := metadata[field].(string)
	return value
}

// Encode writes the objects as a YAML stream: sorted keys, "---" before every
// document but the first. The same objects always give the same bytes, and
// [Decode] reads them back as they were.
func Encode(objects []Object) ([]byte, error) {
	var stream bytes.Buffer
	for i, object := range objects {
		// Straight from the values: by way of JSON, as sigs.k8s.io/yaml does it,
		// control characters in strings would not survive.
		text, err := yaml.Marshal(object.Content)
		if holdsOddText(object.Content) {
			text, err = oddJSON(object)
		}
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", object, err)
		}
		if i > 0 {
			stream.WriteString("---\n")
		}
		stream.Write(text)
		if !bytes.HasSuffix(text, []byte("\n")) {
			stream.WriteByte('\n')
		}
	}
	return stream.Bytes(), nil
}

// oddCharacters are those that the YAML library writes in ways that it does not read.
const oddCharacters = "\u0085\u2028\u2029\ufeff"

// holdsOddText reports whether a name or a text in the value would not survive being
// written as YAML: it holds an odd character, or is the name of a merge.
func holdsOddText(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.ContainsAny(value, oddCharacters)
	case []any:
		return slices.ContainsFunc(value, holdsOddText)
	case map[string]any:
		for name, child := range value {
			if name == "<<" || holdsOddText(name) || holdsOddText(child) {
				return true
			}
		}
	}
	return false
}

// oddJSON writes an object as a document in JSON, which is YAML too, with the odd and
// the control characters escaped.
func oddJSON(object Object) ([]byte, error) {
	text, err := object.JSON()
	if err != nil {
		return nil, err
	}
	var escaped bytes.Buffer
	for _, c := range string(text) {
		if c >= 0x7f && c <= 0x9f || strings.ContainsRune(oddCharacters, c) {
			fmt.Fprintf(&escaped, "\\u%04x", c)
		} else {
			escaped.WriteRune(c)
		}
	}
	return escaped.Bytes(), nil
}

// Error is a refusal of [Decode] or [CheckAliases]: the input's mistake, not ours.
type Error struct {
	// Origin is the document that is at fault; its Document is 0 when the whole input is.
	Origin Origin
	// Line is the line of the fault in the file, from 1, or 0 where only the document is known.
	Line int
	// Reason says what is wrong and what to do.
	Reason string
}

// Error returns the sentence for people.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Origin.String())
	if e.Line > 0 {
		fmt.Fprintf(&text, ", line %d", e.Line)
	}
	text.WriteString(": ")
	text.WriteString(e.Reason)
	return text.String()
}
