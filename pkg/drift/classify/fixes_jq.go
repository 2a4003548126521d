package classify

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// jqPath is the path as a jq expression that can be deleted: items are selected by
// their identity, and a list that an object lacks is no error.
func jqPath(path []pathStep) string {
	var expression strings.Builder
	for _, step := range path {
		switch {
		case !step.item:
			expression.WriteString(jqStep(step.field, expression.Len() == 0))
		case step.identity == nil:
			expression.WriteString("[" + strconv.Itoa(step.index) + "]")
		default:
			expression.WriteString("[]? | select(")
			for i, key := range step.identity {
				if i > 0 {
					expression.WriteString(" and ")
				}
				expression.WriteString(jqStep(key.name, true) + " == " + jsonText(key.value))
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
		return ".[" + jsonText(name) + "]"
	}
	return "[" + jsonText(name) + "]"
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

// jsonText is a value as JSON in one line.
func jsonText(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "null"
	}
	return strings.TrimSuffix(text.String(), "\n")
}
