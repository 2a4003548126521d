package compare

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/object"
)

// Limits of what is given to Argo CD's packages, whose work cannot be interrupted.
const (
	// maxBurden bounds an object: its bytes, each counted as often as it lies levels
	// deeper than usual, as a merge reads what is below a level anew for each. The API
	// server stores objects of 3 MiB at most.
	maxBurden = 8 << 20
	// usualDepth is how deep most objects are.
	usualDepth = 16
	// MaxPortion bounds the bytes that are compared before the context is asked again.
	MaxPortion = 1 << 20
)

var (
	errBurden   = errors.New("compare: the object is too large and too deep to be compared; look at it by itself")
	errExponent = errors.New("compare: the object has a number whose exponent is too large for the reader of quantities; correct it in the manifest")
)

// exponent is a number that the reader of quantities writes out, digit by digit: that
// of 1e2147483647 takes all memory.
var exponent = regexp.MustCompile(`^[-+]?[0-9.]{1,64}[eE][-+]?[0-9]{3,}$`)

// HugeExponent reports whether a text is such a number.
func HugeExponent(text string) bool {
	return len(text) > 4 && strings.ContainsAny(text, "eE") && exponent.MatchString(text)
}

// unfitFor says why neither side of the resource may be given to the libraries; nil
// where both may.
func unfitFor(r *state.Resource) error {
	for _, side := range []object.Object{r.Target, r.Live} {
		if side == nil {
			continue
		}
		if burden(side, 0, maxBurden) < 0 {
			return errBurden
		}
		if kind := object.Text(side, "kind"); kind != "ConfigMap" && kind != "Secret" && exponentIn(side) {
			return errExponent
		}
	}
	return nil
}

// burden is what is left of a limit after a document.
func burden(value any, depth, left int) int {
	times := max(1, depth-usualDepth)
	left -= 8 * times
	switch value := value.(type) {
	case string:
		return left - times*len(value)
	case map[string]any:
		for name, child := range value {
			if left = burden(child, depth+1, left-times*len(name)); left < 0 {
				return left
			}
		}
	case []any:
		for _, child := range value {
			if left = burden(child, depth+1, left); left < 0 {
				return left
			}
		}
	}
	return left
}

// exponentIn reports whether a text of the document, metadata aside, is a number with
// a huge exponent.
func exponentIn(value any) bool {
	switch value := value.(type) {
	case string:
		return HugeExponent(value)
	case map[string]any:
		for name, child := range value {
			if name != "metadata" && exponentIn(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, exponentIn)
	}
	return false
}

// Portion splits resources into those that are compared at once: at most so many, and
// no more than can be compared in a short time.
func Portion(resources []*state.Resource, most int) [][]*state.Resource {
	var split [][]*state.Resource
	start, left := 0, MaxPortion
	for i, r := range resources {
		left = value.SizeLeft(r.Live, max(0, value.SizeLeft(r.Target, left)))
		if left <= 0 || i+1-start == most {
			split = append(split, resources[start:i+1])
			start, left = i+1, MaxPortion
		}
	}
	if start < len(resources) {
		split = append(split, resources[start:])
	}
	return split
}
