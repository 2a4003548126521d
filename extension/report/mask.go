package report

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/drift"
)

// The masks are Argo CD's own, so that what it masked stays as it is: equal values
// of one key get equal masks, and each further value a longer one.
const (
	firstMask  = "++++++++"
	longerMask = "++++"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// masks are the masks of one object. All versions of the object share them.
type masks struct {
	// of are the masks by field and value.
	of map[string]map[string]string
	// given counts how often a value was masked.
	given int
}

func newMasks() *masks { return &masks{of: map[string]map[string]string{}} }

// mask replaces all values of Secrets in the snapshot.
func mask(s *drift.Snapshot) {
	newMasks().document(s.Application, "", false)
	for i := range s.Resources {
		r := &s.Resources[i]
		shared := newMasks()
		secret := isSecret(r.ResourceRef)
		sides := []map[string]any{r.Target, r.Live, r.NormalizedLive, r.PredictedLive}
		if r.DryRun != nil {
			sides = append(sides, r.DryRun.Result)
		}
		for _, o := range sides {
			shared.document(o, "", secret)
		}
		if r.DryRun != nil && shared.given > 0 {
			r.DryRun.Error = values.ReplaceAllString(r.DryRun.Error, "(hidden)")
		}
	}
	for _, o := range slices.Concat(s.Related, s.Events) {
		newMasks().document(o, "", false)
	}
}

func isSecret(r drift.ResourceRef) bool { return r.Group == "" && r.Kind == "Secret" }

// values are the parts of a refusal that may quote the object.
var values = regexp.MustCompile("(?s)\"(?:[^\"\\\\]|\\\\.)*\"?|`[^`]*`?|'[^']*'?|\\{.*")

// document masks an object, the Secrets inside of it, and the copies of Secrets in
// its annotations. The path leads to it, lists written as "*", so that a value keeps
// its mask when it moves.
func (m *masks) document(o map[string]any, path string, secret bool) {
	secret = secret || o["kind"] == "Secret" && o["apiVersion"] == "v1"
	if secret {
		m.values(o, "stringData", path)
		m.values(o, "data", path)
	}
	metadata, _ := o["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if text, ok := annotations[name].(string); ok {
			annotations[name] = m.copied(name, text, path, secret)
		}
	}
	for name, value := range o {
		m.inside(value, path+"/"+name)
	}
}

// inside masks the Secrets below a value.
func (m *masks) inside(value any, path string) {
	switch value := value.(type) {
	case map[string]any:
		m.document(value, path, false)
	case []any:
		for _, item := range value {
			m.inside(item, path+"/*")
		}
	}
}

// copied is an annotation of a Secret without the values in it: kubectl, and other
// tools under other names, keep the applied object there.
func (m *masks) copied(name, text, path string, secret bool) string {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		if secret && name == lastApplied {
			return firstMask
		}
		return text
	}
	var inner map[string]any
	if err := kjson.Unmarshal([]byte(text), &inner); err != nil {
		if secret {
			return firstMask
		}
		return text
	}
	if !secret && !strings.Contains(text, `"Secret"`) {
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

// values replaces the values of a Secret's data or stringData. What is no map is a
// value as a whole.
func (m *masks) values(o map[string]any, field, path string) {
	value, ok := o[field]
	if !ok || value == nil {
		return
	}
	data, ok := value.(map[string]any)
	if !ok {
		o[field] = m.mask(path+"/data", value, field)
		return
	}
	for key, value := range data {
		if value != nil {
			data[key] = m.mask(path+"/data/"+key, value, field)
		}
	}
}

func (m *masks) mask(at string, value any, field string) string {
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
