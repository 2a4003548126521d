package drift

import (
	"encoding/json"
	"errors"
	"fmt"

	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// MaxSnapshot is the size in bytes above which Parse refuses a snapshot.
const MaxSnapshot = 512 << 20

// Parse reads a snapshot in JSON or YAML. Unknown keys are left alone. It refuses
// what is larger than [MaxSnapshot], what is neither JSON nor YAML, and what has no
// application.
func Parse(data []byte) (*Snapshot, error) {
	if len(data) > MaxSnapshot {
		return nil, fmt.Errorf("snapshot: %d bytes are more than the limit of %d; leave out resources that are Synced", len(data), MaxSnapshot)
	}
	if !json.Valid(data) {
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, fmt.Errorf("snapshot: is neither JSON nor YAML: %w", err)
		}
		data = converted
	}
	snapshot := &Snapshot{}
	if err := kjson.Unmarshal(data, snapshot); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if len(snapshot.Application) == 0 {
		return nil, errors.New("snapshot: has no application; make one with `moorpin extension snapshot APP`")
	}
	// Only maps are read with whole numbers as such, so the parts are read as maps.
	var whole map[string]any
	if err := kjson.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	adopt(snapshot, whole)
	return snapshot, nil
}

// adopt takes the objects from the document that was read as a map.
func adopt(snapshot *Snapshot, whole map[string]any) {
	snapshot.Application = fields(whole, "application")
	for i, entry := range list(whole, "resources") {
		if i >= len(snapshot.Resources) {
			break
		}
		r := &snapshot.Resources[i]
		r.Target, r.Live = fields(entry, "target"), fields(entry, "live")
		r.NormalizedLive, r.PredictedLive = fields(entry, "normalizedLive"), fields(entry, "predictedLive")
		if r.DryRun != nil {
			r.DryRun.Result = fields(entry, "dryRun", "result")
		}
	}
	for i, entry := range list(whole, "related") {
		if related, ok := entry.(map[string]any); ok && i < len(snapshot.Related) {
			snapshot.Related[i] = related
		}
	}
	for i, entry := range list(whole, "events") {
		if e, ok := entry.(map[string]any); ok && i < len(snapshot.Events) {
			snapshot.Events[i] = e
		}
	}
}
