package drift

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	quantities "k8s.io/apimachinery/pkg/api/resource"
)

// Limits of what is given to Argo CD's packages, whose work cannot be interrupted.
const (
	// maxBurden bounds an object: its bytes, each counted as often as it lies levels
	// deeper than usual, as a merge reads what is below a level anew for each. The API
	// server stores objects of 3 MiB at most.
	maxBurden = 8 << 20
	// usualDepth is how deep most objects are.
	usualDepth = 16
	// maxPortion bounds the bytes that are compared before the context is asked again.
	maxPortion = 1 << 20
)

var (
	errBurden   = errors.New("compare: the object is too large and too deep to be compared; look at it by itself")
	errExponent = errors.New("compare: the object has a number whose exponent is too large for the reader of quantities; correct it in the manifest")
)

// exponent is a number that the reader of quantities writes out, digit by digit: that
// of 1e2147483647 takes all memory. One of a thousand digits does no harm yet.
var exponent = regexp.MustCompile(`^[-+]?[0-9.]+[eE][-+]?0*[1-9][0-9]{3,}$`)

// quantityFields hold quantities, at themselves or anywhere below, in small letters as
// a reader may not tell them from capitals. Those of containers, volumes, claims, quotas,
// limit ranges, nodes, devices and autoscalers.
var quantityFields = wordSet(`limits requests capacity storage hard used allocatable allocatedresources
	max min default defaultrequest maxlimitrequestratio overhead podfixed sizelimit divisor resources
	maximumvolumesize target current averagevalue targetvalue targetaveragevalue currentvalue currentaveragevalue
	minavailable usage`)

func hugeExponent(text string) bool {
	return len(text) > 4 && strings.ContainsAny(text, "eE") && exponent.MatchString(text)
}

// readQuantity reads a quantity, but none that would be written out at such length.
func readQuantity(text string) (quantities.Quantity, error) {
	if hugeExponent(text) {
		return quantities.Quantity{}, errExponent
	}
	return quantities.ParseQuantity(text) //nolint:wrapcheck // callers only ask whether it is one
}

// unfitFor says why neither side of the resource may be given to the libraries; nil
// where both may.
func (r *resource) unfitFor() error {
	for _, side := range []object{r.target, r.live} {
		if side == nil {
			continue
		}
		if burden(side, 0, maxBurden) < 0 {
			return errBurden
		}
		if kind := text(side, "kind"); kind != "ConfigMap" && kind != "Secret" && exponentIn(side, r.readsAsQuantity()) {
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

// readsAsQuantity reports whether argocd-cm has Argo CD read fields of the kind in a
// type of Kubernetes' own, wherever those stand.
func (r *resource) readsAsQuantity() bool {
	if r.situation == nil {
		return false
	}
	name := r.ref.Kind
	if r.ref.Group != "" {
		name = r.ref.Group + "/" + name
	}
	return len(r.situation.overrides[name].KnownTypeFields) > 0
}

// exponentIn reports whether a text of the document, metadata aside, is a number with
// a huge exponent and stands where quantities are read.
func exponentIn(value any, quantities bool) bool {
	switch value := value.(type) {
	case string:
		return quantities && hugeExponent(value)
	case map[string]any:
		for name, child := range value {
			if name != "metadata" && exponentIn(child, quantities || quantityFields[strings.ToLower(name)]) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return exponentIn(item, quantities) })
	}
	return false
}

// portion splits resources into those that are compared at once: at most so many, and
// no more than can be compared in a short time.
func portion(resources []*resource, most int) [][]*resource {
	var split [][]*resource
	start, left := 0, maxPortion
	for i, r := range resources {
		left = sizeOf(r.live, max(0, sizeOf(r.target, left)))
		if left <= 0 || i+1-start == most {
			split = append(split, resources[start:i+1])
			start, left = i+1, maxPortion
		}
	}
	if start < len(resources) {
		split = append(split, resources[start:])
	}
	return split
}
