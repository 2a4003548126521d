package value

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
