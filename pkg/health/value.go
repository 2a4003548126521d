package health

import (
	"maps"
	"slices"
	"strconv"
)

// safeInteger bounds the numbers that both Lua and JSON hold exactly.
const safeInteger = 1 << 53

// field returns what an object holds under a name; false when it holds nothing or
// is no object. Nulls do not exist in the Lua, so they are nothing here as well.
func field(value any, name string) (any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	found := object[name]
	return found, found != nil
}

// items returns the items of a list in order, or the values of a map in the order of
// their keys; nulls are left out.
func items(value any) []any {
	var result []any
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if item != nil {
				result = append(result, item)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if value[key] != nil {
				result = append(result, value[key])
			}
		}
	}
	return result
}

// at returns every value that a path leads to. A value comes with the one that holds it.
func at(object any, path []string) []place {
	places := []place{{value: object}}
	for _, step := range path {
		var next []place
		for _, place := range places {
			next = append(next, place.step(step)...)
		}
		places = next
	}
	return places
}

// place is a value and what holds it.
type place struct {
	value, holder any
}

func (p place) step(step string) []place {
	if step == EveryItem {
		var result []place
		for _, item := range items(p.value) {
			result = append(result, place{value: item, holder: p.value})
		}
		return result
	}
	if found, ok := field(p.value, step); ok {
		return []place{{value: found, holder: p.value}}
	}
	return nil
}

// number reads a number, or a text that is a number in its plain form.
func number(value any) (float64, bool) {
	result := 0.0
	switch value := value.(type) {
	case int:
		result = float64(value)
	case int32:
		result = float64(value)
	case int64:
		result = float64(value)
	case float64:
		result = value
	case string:
		parsed, err := strconv.ParseInt(value, 10, 64)
		if err != nil || strconv.FormatInt(parsed, 10) != value {
			return 0, false
		}
		result = float64(parsed)
	default:
		return 0, false
	}
	if result <= -safeInteger || result >= safeInteger {
		return 0, false
	}
	return result, true
}

// text reads a string that is not empty.
func text(value any) (string, bool) {
	result, ok := value.(string)
	return result, ok && result != ""
}

// textAt reads the string under a name of an object; "" when there is none.
func textAt(object any, name string) string {
	value, _ := field(object, name)
	result, _ := text(value)
	return result
}

// empty reports whether a value is nothing or holds nothing.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(items(value)) == 0
	case []any:
		return len(items(value)) == 0
	}
	return false
}
