// Package weight says what JSON takes in memory before anybody makes objects of it, and
// bounds what is taken at once.
//
// A document decoded into maps and lists takes 3 to 60 times its bytes: every map that
// is not empty takes some hundred bytes, however short it is on the wire. [JSON] counts
// them in one pass that makes nothing. A [Budget] is what many may take together, an
// [Allowance] what one may take of it.
//
//	valid:    {"a": {"b": 1}}      weighs some 800 bytes
//	invalid:  {"a": [1, 2           weighs what is there; whether it is JSON is not asked
package weight

// What Go's decoded JSON takes, measured and rounded up; the test holds it to that.
const (
	fullMap  = 344 // a map with its first eight entries
	emptyMap = 64  // a map or a list without entries, in the entry that holds it
	entry    = 56  // a further value, with its share of what holds it
)

// JSON estimates the bytes that a document takes once it is decoded into maps, lists and
// strings, its own bytes aside. It is above what the document takes, by up to four times.
func JSON(document []byte) int64 {
	total := int64(len(document)) + emptyMap
	inside, escaped := false, false
	opened := byte(0) // the bracket that was opened last, as long as nothing followed
	for _, c := range document {
		if inside {
			switch {
			case escaped:
				escaped = false
			case c == '\\':
				escaped = true
			case c == '"':
				inside = false
			}
			continue
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '}', ']':
			opened = 0
			continue
		}
		if opened == '{' {
			total += fullMap - emptyMap
		}
		opened = 0
		switch c {
		case '"':
			inside = true
		case ',':
			total += entry
		case '{', '[':
			total += emptyMap
			opened = c
		}
	}
	return total
}
