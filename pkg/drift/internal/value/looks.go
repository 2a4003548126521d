package value

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
)

var (
	clock = regexp.MustCompile(`(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{8})([T _]?(UTC)?[ _-]?\d{1,2}[:.-]?\d{2}([:.-]?\d{2})?(\.\d+)?)?( ?(Z|UTC|[A-Z]{3,4}|[+-]\d{2}:?\d{2}))*( m=[+-][\d.]+)?`)
	epoch = regexp.MustCompile(`\b1\d{9}(\d{3}|\d{6}|\d{9})?\b`)
	rfc1x = regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}`)
)

// TimeLike reports whether two values differ in a time alone.
func TimeLike(live, target any) bool {
	a, b := Text(live), Text(target)
	for _, pattern := range []*regexp.Regexp{clock, epoch, rfc1x} {
		if pattern.MatchString(a) && pattern.MatchString(b) && pattern.ReplaceAllString(a, "") == pattern.ReplaceAllString(b, "") {
			return true
		}
	}
	return false
}

var digest = regexp.MustCompile(`^(sha\d+[:-])?[0-9a-f]{6,128}$`)

// Checksum reports whether a field is a digest of something else, by its name and values.
func Checksum(name string, live, target any) bool {
	a, b := Text(live), Text(target)
	if !strings.Contains(name, "checksum") && !strings.Contains(name, "hash") && !strings.Contains(name, "digest") && !strings.Contains(name, "sha") && !strings.Contains(name, "fingerprint") {
		return false
	}
	return digest.MatchString(a) && digest.MatchString(b) || Opaque(live) && Opaque(target)
}

// run is a stretch of letters and digits.
var run = regexp.MustCompile(`[A-Za-z0-9]{8,}`)

// Opaque reports whether a value looks random: a PEM block or base64 of one, or a
// text without spaces that holds eight or more letters and digits in a row, mixed as
// words and versions are not. References to images are none.
func Opaque(value any) bool {
	spelled := Text(value)
	if strings.Contains(spelled, "-----BEGIN ") {
		return true
	}
	if decoded, err := base64.StdEncoding.DecodeString(spelled); err == nil && len(decoded) > 5 {
		if strings.Contains(string(decoded), "-----BEGIN ") || !utf8.Valid(decoded) {
			return true
		}
	}
	if strings.ContainsAny(spelled, " \n") {
		return false
	}
	return slices.ContainsFunc(run.FindAllString(spelled, -1), mixed)
}

// mixed reports whether letters and digits, or cases, change too often for a word.
func mixed(text string) bool {
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 0
		case c >= 'a':
			return 1
		}
		return 2
	}
	changes, distinct := 0, map[byte]bool{text[0]: true}
	for i := 1; i < len(text); i++ {
		distinct[text[i]] = true
		if kind(text[i]) != kind(text[i-1]) {
			changes++
		}
	}
	return changes >= 3 && len(distinct) >= min(len(text)/2, 8)
}

// RandomParts reports whether two texts differ in nothing but parts that look random: of
// the same length, and letters mixed with digits or opaque. Two versions, two words or two
// numbers do not.
func RandomParts(a, b any) bool {
	one, other := parts(Text(a)), parts(Text(b))
	if len(one) != len(other) || len(one) > maxParts {
		return false
	}
	differ := false
	for i := range one {
		if one[i] == other[i] {
			continue
		}
		opaque := Opaque(one[i]) && Opaque(other[i])
		if alike := len(one[i]) == len(other[i]) && drawn(one[i]) && drawn(other[i]); !opaque && !alike {
			return false
		}
		differ = true
	}
	return differ
}

// maxParts is how many words of a text are compared.
const maxParts = 10000

// parts are the stretches of letters and digits of a text.
func parts(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return !alphanumeric(c) })
}

func alphanumeric(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// drawn reports whether a short word has letters and digits by turns, as drawn ones have.
func drawn(word string) bool {
	changes := 0
	for i := 1; i < len(word); i++ {
		if (word[i] <= '9') != (word[i-1] <= '9') {
			changes++
		}
	}
	return len(word) >= 5 && changes >= 2
}

// Bundle reports whether a value is base64 of a PEM certificate.
func Bundle(value any) bool {
	decoded, err := base64.StdEncoding.DecodeString(Text(value))
	return err == nil && strings.Contains(string(decoded), "-----BEGIN CERTIFICATE")
}

// exponent is a number that the reader of quantities writes out, digit by digit: that
// of 1e2147483647 takes all memory. One of a thousand digits does no harm yet.
var exponent = regexp.MustCompile(`^[-+]?[0-9.]+[eE][-+]?0*[1-9][0-9]{3,}$`)

// HugeExponent reports whether a text is such a number.
func HugeExponent(text string) bool {
	return len(text) > 4 && strings.ContainsAny(text, "eE") && exponent.MatchString(text)
}

// Quantity reads a quantity, but none that would be written out at such length.
func Quantity(text string) (resource.Quantity, bool) {
	if HugeExponent(text) {
		return resource.Quantity{}, false
	}
	read, err := resource.ParseQuantity(text)
	return read, err == nil
}
