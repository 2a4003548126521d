package value

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

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
