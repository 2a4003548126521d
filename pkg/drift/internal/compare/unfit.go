package compare

import (
	"errors"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// Limits of what is given to Argo CD's packages, whose work cannot be interrupted.
const (
	// MaxBurden bounds an object: its bytes, each counted as often as it lies levels
	// deeper than usual, as a merge reads what is below a level anew for each. The API
	// server stores objects of 3 MiB at most.
	MaxBurden = 8 << 20
	// usualDepth is how deep most objects are.
	usualDepth = 16
	// MaxPortion bounds the bytes that are compared before the context is asked again.
	MaxPortion = 1 << 20
)

var (
	errBurden   = errors.New("compare: the object is too large and too deep to be compared; look at it by itself")
	errExponent = errors.New("compare: the object has a number whose exponent is too large for the reader of quantities; correct it in the manifest")
)

// quantityFields hold quantities, at themselves or anywhere below, in small letters as
// a reader may not tell them from capitals. Those of containers, volumes, claims, quotas,
// limit ranges, nodes, devices and autoscalers.
var quantityFields = words.Set(`limits requests capacity storage hard used allocatable allocatedresources
	max min default defaultrequest maxlimitrequestratio overhead podfixed sizelimit divisor resources
	maximumvolumesize target current averagevalue targetvalue targetaveragevalue currentvalue currentaveragevalue
	minavailable usage`)

// unfitFor says why neither side of the resource may be given to the libraries; nil
// where both may.
func unfitFor(r *state.Resource) error {
	for _, side := range []object.Object{r.Target, r.Live} {
		if side == nil {
			continue
		}
		if burden(side, 0, MaxBurden) < 0 {
			return errBurden
		}
		if kind := object.Text(side, "kind"); kind != "ConfigMap" && kind != "Secret" && exponentIn(side, readsAsQuantity(r)) {
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
func readsAsQuantity(r *state.Resource) bool {
	if r.Application == nil {
		return false
	}
	name := r.Ref.Kind
	if r.Ref.Group != "" {
		name = r.Ref.Group + "/" + name
	}
	return len(r.Application.Overrides[name].KnownTypeFields) > 0
}

// exponentIn reports whether a text of the document, metadata aside, is a number with
// a huge exponent and stands where quantities are read.
func exponentIn(node any, quantities bool) bool {
	switch node := node.(type) {
	case string:
		return quantities && value.HugeExponent(node)
	case map[string]any:
		for name, child := range node {
			if name != "metadata" && exponentIn(child, quantities || quantityFields[strings.ToLower(name)]) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(node, func(item any) bool { return exponentIn(item, quantities) })
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
