package snippet

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// JQPath is the path as a jq expression that can be deleted: items are selected by
// their identity, and a list that an object lacks is no error.
func JQPath(path []Step) string {
	var expression strings.Builder
	for _, step := range path {
		switch {
		case !step.Item:
			expression.WriteString(jqStep(step.Field, expression.Len() == 0))
		case step.Identity == nil:
			expression.WriteString("[" + strconv.Itoa(step.Index) + "]")
		default:
			expression.WriteString("[]? | select(")
			for i, key := range step.Identity {
				if i > 0 {
					expression.WriteString(" and ")
				}
				expression.WriteString(jqStep(key.Name, true) + " == " + JSON(key.Value))
			}
			expression.WriteString(") | ")
		}
	}
	return strings.TrimSuffix(expression.String(), " | ")
}

// jqStep is the step to a field; the first one of a filter begins with a dot.
func jqStep(name string, first bool) string {
	if plainJQName(name) {
		return "." + name
	}
	if first {
		return ".[" + JSON(name) + "]"
	}
	return "[" + JSON(name) + "]"
}

// jqWords cannot be trusted to follow a dot in every version of jq.
var jqWords = []string{"and", "as", "catch", "def", "elif", "else", "end", "foreach", "if", "import", "include", "label", "module", "or", "reduce", "then", "try", "__loc__"}

func plainJQName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && !slices.Contains(jqWords, name)
}

// JSON is a value as JSON in one line.
func JSON(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "null"
	}
	return strings.TrimSuffix(text.String(), "\n")
}
