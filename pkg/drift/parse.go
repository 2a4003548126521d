package drift

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/object"
)

// MaxSnapshot is the size in bytes above which Parse refuses a snapshot.
const MaxSnapshot = 512 << 20

// makeOne says how to come to a snapshot.
const makeOne = "make one with `moorpin extension snapshot APP`"

// Parse reads a snapshot in JSON or YAML. Unknown keys are left alone. It refuses
// what is larger than [MaxSnapshot], what is neither JSON nor YAML, and what has no
// application.
func Parse(data []byte) (*Snapshot, error) {
	if len(data) > MaxSnapshot {
		return nil, fmt.Errorf("snapshot: %d bytes are more than the limit of %d; leave out resources that are Synced", len(data), MaxSnapshot)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("snapshot: is empty; " + makeOne)
	}
	if !json.Valid(data) {
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, fmt.Errorf("snapshot: is neither JSON nor YAML: %w", err)
		}
		data = converted
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil, errors.New("snapshot: is not a snapshot, which is one object with an application; " + makeOne)
	}
	snapshot := &Snapshot{}
	if err := kjson.Unmarshal(data, snapshot); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if len(snapshot.Application) == 0 {
		return nil, errors.New("snapshot: is not a snapshot, as it has no application; " + makeOne)
	}
	// Only maps are read with whole numbers as such, so the parts are read as maps.
	var whole map[string]any
	if err := kjson.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	adopt(snapshot, whole)
	for i, related := range snapshot.Related {
		if object.Text(related, "kind") == "" || object.Text(related, "apiVersion") == "" {
			return nil, fmt.Errorf("snapshot: related[%d] has no apiVersion or no kind, so nothing can be read from it; give the whole object or leave it out", i)
		}
	}
	return snapshot, nil
}

// adopt takes the objects from the document that was read as a map.
func adopt(snapshot *Snapshot, whole map[string]any) {
	snapshot.Application = object.Map(whole, "application")
	for i, entry := range object.List(whole, "resources") {
		if i >= len(snapshot.Resources) {
			break
		}
		r := &snapshot.Resources[i]
		r.Target, r.Live = object.Map(entry, "target"), object.Map(entry, "live")
		r.NormalizedLive, r.PredictedLive = object.Map(entry, "normalizedLive"), object.Map(entry, "predictedLive")
		if r.DryRun != nil {
			r.DryRun.Result = object.Map(entry, "dryRun", "result")
		}
	}
	for i, entry := range object.List(whole, "related") {
		if related, ok := entry.(map[string]any); ok && i < len(snapshot.Related) {
			snapshot.Related[i] = related
		}
	}
	for i, entry := range object.List(whole, "events") {
		if e, ok := entry.(map[string]any); ok && i < len(snapshot.Events) {
			snapshot.Events[i] = e
		}
	}
}

// PanicError says that a rule, or a library that it calls, panicked. That is a mistake
// of this package, whatever the snapshot holds. The error has no word of the panic
// itself, which may quote a Secret.
type PanicError struct {
	// Thrown is the type of the panic's value.
	Thrown string
	// Stack is where it happened, for a log. It shows no values.
	Stack []byte
}

// Error names the type of what was thrown.
func (e *PanicError) Error() string { return "classify: panic: " + e.Thrown }
