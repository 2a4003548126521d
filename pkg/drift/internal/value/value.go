// Package value compares and judges JSON values: whether two are equal, empty or alike in
// a way that tells who made them.
//
// int64(1) and float64(1) are equal, "1" is neither. Values of any type may be given.
package value

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
)

// Equal compares JSON values; numbers are equal by value, whatever their Go type.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			other, found := b[name]
			if !found || !Equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case string, bool, nil:
		return a == b
	}
	x, whole := a.(int64)
	y, wholeToo := b.(int64)
	switch {
	case whole && wholeToo:
		return x == y
	case isNumber(a) && isNumber(b):
		return Canonical(a) == Canonical(b)
	}
	return reflect.DeepEqual(a, b)
}

// isNumber reports whether a value is a JSON number. The API server keeps whole ones
// of 64 bits exactly, so that none may become a float on the way: above 2^53 those
// that differ by one are the same float.
func isNumber(value any) bool {
	switch value.(type) {
	case float64, int64, int:
		return true
	}
	return false
}

// Canonical is a spelling of a JSON value in which equal values are the same text.
func Canonical(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}

// Scalar is the text of a value that can tell items apart.
func Scalar(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return "s" + value, true
	case int64:
		return strconv.FormatInt(value, 10), true
	case int:
		return strconv.Itoa(value), true
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), true
	case json.Number:
		return value.String(), true
	case map[string]any:
		spelled := Canonical(value)
		return "m" + spelled, len(value) > 0 && len(spelled) < maxIdentity
	}
	return "", false
}

// maxIdentity bounds the size of a map that tells items apart, in bytes.
const maxIdentity = 300

// Child is a field of a node, nil when it has none.
func Child(node any, name string) any {
	holder, _ := node.(map[string]any)
	return holder[name]
}

// Item is an item of a list, nil when there is none.
func Item(list []any, i int) any {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// Index reads a list index, -1 when it is none.
func Index(step string) int {
	index, err := strconv.Atoi(step)
	if err != nil {
		return -1
	}
	return index
}

// ChildOf is the node at a step of a pointer, nil when there is none.
func ChildOf(model any, step string) any {
	switch model := model.(type) {
	case map[string]any:
		return model[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(model) {
			return model[i]
		}
	}
	return nil
}

// Nested reports whether something can be below the value.
func Nested(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// IsEmpty reports whether a value is null, "", {} or [], at any depth of maps.
func IsEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		for _, child := range value {
			if !IsEmpty(child) {
				return false
			}
		}
		return true
	}
	return false
}

// IsZero reports whether a value is false or 0, or a map of nothing but zero values.
func IsZero(value any) bool {
	switch value := value.(type) {
	case bool:
		return !value
	case map[string]any:
		for _, child := range value {
			if !IsZero(child) && !IsEmpty(child) {
				return false
			}
		}
		return len(value) > 0
	}
	return isNumber(value) && Equal(value, int64(0))
}

// Text is a string as it is and a number as JSON has it; "" for anything else.
func Text(value any) string {
	if spelled, ok := value.(string); ok {
		return spelled
	}
	if isNumber(value) {
		return Canonical(value)
	}
	return ""
}

// IsIndex reports whether a step of a pointer is an index.
func IsIndex(step string) bool {
	i, err := strconv.Atoi(step)
	return err == nil && i >= 0
}

// SizeLeft estimates the bytes of a document in JSON, and is what is left of the limit:
// negative where the document is larger.
func SizeLeft(value any, left int) int {
	left -= 8
	switch value := value.(type) {
	case string:
		return left - len(value)
	case map[string]any:
		for name, child := range value {
			if left = SizeLeft(child, left-len(name)); left < 0 {
				return left
			}
		}
	case []any:
		for _, child := range value {
			if left = SizeLeft(child, left); left < 0 {
				return left
			}
		}
	}
	return left
}

// Size is at least how many bytes the value has as JSON; it stops at the limit.
func Size(value any, limit int) int {
	total := 2
	switch value := value.(type) {
	case map[string]any:
		for name, child := range value {
			if total += len(name) + 4 + Size(child, limit-total); total > limit {
				break
			}
		}
	case []any:
		for _, child := range value {
			if total += 1 + Size(child, limit-total); total > limit {
				break
			}
		}
	case string:
		total += len(value)
	}
	return total
}
