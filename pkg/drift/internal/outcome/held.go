package outcome

import (
	"regexp"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

var (
	// refusedValue finds `spec.replicas: Invalid value: -1: must be ...`.
	refusedValue = regexp.MustCompile(`(?:^|[\s\[,(])([a-zA-Z][^\s:,]*): (Invalid value|Unsupported value|Duplicate value|Required value)(?:: ("(?:[^"\\]|\\.)*"|-?[0-9.]+|true|false|null))?`)
	// unknownName finds `unknown field "spec.replica"`.
	unknownName = regexp.MustCompile(`unknown field "([^"]+)"`)
	// wrongType finds the field of which Go could not read a value.
	wrongType = regexp.MustCompile(`cannot unmarshal (string|number|bool|array|object) into Go struct field [A-Za-z0-9]+\.(\S+) of type`)
	listIndex = regexp.MustCompile(`\[([^\]]*)\]`)
)

// gaveUp reports whether Git no longer holds what the API server refused: a failure of
// another revision quotes the field and its value, and what Git renders now has another
// there. What a message does not quote may be refused again.
func gaveUp(r *state.Resource, message string) bool {
	if r.Target == nil {
		return false
	}
	quoted := false
	for _, found := range refusedValue.FindAllStringSubmatch(message, maxQuoted) {
		now, there := valueAt(r.Target, found[1])
		switch {
		case found[2] == "Required value":
			if !there || value.IsEmpty(now) {
				return false
			}
		case found[3] == "":
			return false // the value is a list or an object, or too long to be quoted
		default:
			var refused any
			if kjson.Unmarshal([]byte(found[3]), &refused) != nil || there && value.Equal(refused, now) {
				return false
			}
		}
		quoted = true
	}
	for _, found := range unknownName.FindAllStringSubmatch(message, maxQuoted) {
		if _, there := valueAt(r.Target, found[1]); there {
			return false
		}
		quoted = true
	}
	for _, found := range wrongType.FindAllStringSubmatch(message, maxQuoted) {
		if now, there := valueAt(r.Target, found[2]); !there || typeName(now) == found[1] {
			return false
		}
		quoted = true
	}
	return quoted
}

// maxQuoted is how many fields of a message are read.
const maxQuoted = 20

// valueAt follows a path as the API server spells it, such as
// spec.template.spec.containers[0].image or metadata.labels[app.kubernetes.io/name].
func valueAt(document any, path string) (any, bool) {
	node := document
	for part := range strings.SplitSeq(listIndex.ReplaceAllStringFunc(path, func(index string) string {
		return "." + strings.ReplaceAll(index[1:len(index)-1], ".", "\x00")
	}), ".") {
		part = strings.Trim(strings.ReplaceAll(part, "\x00", "."), `"`)
		switch holder := node.(type) {
		case map[string]any:
			child, found := holder[part]
			if !found {
				return nil, false
			}
			node = child
		case []any:
			if !value.IsIndex(part) || value.Index(part) >= len(holder) {
				return nil, false
			}
			node = holder[value.Index(part)]
		default:
			return nil, false
		}
	}
	return node, true
}

// typeName is the type of a value as Go's JSON reader calls it.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case nil:
		return "null"
	}
	return "number"
}
