package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/weight"
)

// The masks are Argo CD's own, so that what it masked stays as it is: equal values
// of one key get equal masks, and each further value a longer one.
const (
	firstMask  = "++++++++"
	longerMask = "++++"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// What an annotation may have that is read: Kubernetes takes no more than that of all
// annotations of an object together, and no object is as deep. Of a text in which a Secret
// may hide and which has more, nothing is left.
const (
	maxCopy  = 256 << 10
	maxDepth = 200
)

// masking is what masking a snapshot needs and finds.
type masking struct {
	// memory is asked before an annotation is read; nil bounds nothing.
	memory *weight.Allowance
	// heaviest is what was taken for the heaviest so far; each is let go before the next.
	heaviest int64
	// full is why no more was to be had.
	full error
	// values are those that were masked.
	values []drift.SecretValue
}

// masks are the masks of one object. All versions of the object share them.
type masks struct {
	*masking

	// of are the masks by field and value.
	of map[route]map[string]string
	// given counts how often a value was masked.
	given int
}

func (m *masking) masks() *masks { return &masks{masking: m, of: map[route]map[string]string{}} }

// route stands for a path to a value, lists written as "*", in as many bytes however long
// the path is.
type route [sha256.Size]byte

func (p route) below(name string) route { return sha256.Sum256(append(p[:], name...)) }

// mask replaces all values of Secrets in the snapshot, and returns them. The error says
// that there is not enough memory to look for them; the snapshot must not be used then.
func mask(s *drift.Snapshot, memory *weight.Allowance) ([]drift.SecretValue, error) {
	m := &masking{memory: memory}
	m.snapshot(s)
	return m.values, m.full
}

func (m *masking) snapshot(s *drift.Snapshot) {
	m.masks().document(s.Application, route{}, false)
	for i := range s.Resources {
		r := &s.Resources[i]
		shared := m.masks()
		secret := isSecret(r.ResourceRef)
		sides := []map[string]any{r.Target, r.Live, r.NormalizedLive, r.PredictedLive}
		if r.DryRun != nil {
			sides = append(sides, r.DryRun.Result)
		}
		for _, o := range sides {
			shared.document(o, route{}, secret)
		}
		if r.DryRun != nil && shared.given > 0 {
			r.DryRun.Error = values.ReplaceAllString(r.DryRun.Error, "(hidden)")
		}
	}
	for _, o := range slices.Concat(s.Related, s.Events) {
		m.masks().document(o, route{}, false)
	}
}

func isSecret(r drift.ResourceRef) bool { return r.Group == "" && r.Kind == "Secret" }

// values are the parts of a refusal that may quote the object.
var values = regexp.MustCompile("(?s)\"(?:[^\"\\\\]|\\\\.)*\"?|`[^`]*`?|'[^']*'?|\\{.*")

// document masks an object, the Secrets inside of it, and the copies of Secrets in
// its annotations. The path leads to it, so that a value keeps its mask when it moves.
func (m *masks) document(o map[string]any, path route, secret bool) {
	secret = secret || o["kind"] == "Secret" && o["apiVersion"] == "v1"
	if secret {
		m.replace(o, "stringData", path)
		m.replace(o, "data", path)
	}
	metadata, _ := o["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if text, ok := annotations[name].(string); ok {
			annotations[name] = m.copied(name, text, path, secret)
		}
	}
	for name, value := range o {
		switch value.(type) {
		case map[string]any, []any:
			m.inside(value, path.below(name))
		}
	}
}

// inside masks the Secrets below a value.
func (m *masks) inside(value any, path route) {
	switch value := value.(type) {
	case map[string]any:
		m.document(value, path, false)
	case []any:
		below := path.below("*")
		for _, item := range value {
			m.inside(item, below)
		}
	}
}

// copied is an annotation of a Secret without the values in it: kubectl, and other
// tools under other names, keep the applied object there.
func (m *masks) copied(name, text string, path route, secret bool) string {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		if secret && name == lastApplied {
			return firstMask
		}
		return text
	}
	if !secret && !mayNameSecret(text) {
		return text
	}
	if !m.readable(text) {
		return firstMask
	}
	var inner map[string]any
	if err := kjson.Unmarshal([]byte(text), &inner); err != nil {
		if secret {
			return firstMask
		}
		return text
	}
	before := m.given
	m.document(inner, path, secret)
	if m.given == before {
		return text // in its own spelling
	}
	masked, err := json.Marshal(inner)
	if err != nil {
		return firstMask
	}
	return string(masked)
}

// mayNameSecret reports whether a JSON text can hold the word, escaped too.
func mayNameSecret(text string) bool {
	return strings.Contains(text, "Secret") || strings.Contains(text, `\u`)
}

// readable reports whether a JSON text may be read, for which it takes memory.
func (m *masking) readable(text string) bool {
	if len(text) > maxCopy || deeper(text, maxDepth) {
		return false
	}
	if heavy := weight.JSON([]byte(text)); m.memory != nil && heavy > m.heaviest {
		if err := m.memory.Take(heavy - m.heaviest); err != nil {
			m.full = err
			return false
		}
		m.heaviest = heavy
	}
	return true
}

// deeper reports whether a JSON text is nested deeper than so many levels.
func deeper(text string, most int) bool {
	depth := 0
	inside, escaped := false, false
	for i := range len(text) {
		switch c := text[i]; {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// replace replaces the values of a Secret's data or stringData. What is no map is a
// value as a whole.
func (m *masks) replace(o map[string]any, field string, path route) {
	value, ok := o[field]
	if !ok || value == nil {
		return
	}
	data, ok := value.(map[string]any)
	if !ok {
		m.values = append(m.values, drift.SecretValue{Key: field, Value: value})
		o[field] = m.mask(path.below("data"), value, field)
		return
	}
	below := path.below("data")
	for key, value := range data {
		if value != nil {
			m.values = append(m.values, drift.SecretValue{Key: key, Value: value})
			data[key] = m.mask(below.below(key), value, field)
		}
	}
}

func (m *masks) mask(at route, value any, field string) string {
	plain, ok := value.(string)
	if !ok {
		plain = fmt.Sprintf("%T %v", value, value)
	}
	if field == "stringData" {
		// The API server moves it to data in this form.
		plain = base64.StdEncoding.EncodeToString([]byte(plain))
	}
	if m.of[at] == nil {
		m.of[at] = map[string]string{}
	}
	masked, ok := m.of[at][plain]
	if !ok {
		masked = firstMask + strings.Repeat(longerMask, len(m.of[at]))
		m.of[at][plain] = masked
	}
	m.given++
	return masked
}
