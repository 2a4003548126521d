package drift

import (
	"encoding/json"
	"fmt"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// wireField is a Field on the wire, where an absent side has no key.
type wireField struct {
	Pointer fieldpath.Pointer `json:"pointer"`
	Target  *json.RawMessage  `json:"target,omitempty"`
	Live    *json.RawMessage  `json:"live,omitempty"`
	Owner   *Owner            `json:"owner,omitempty"`
}

// MarshalJSON writes the field as {"pointer","target","live","owner"}; an absent
// side omits its key, and null means null.
func (f Field) MarshalJSON() ([]byte, error) {
	wire := wireField{Pointer: f.Pointer, Owner: f.Owner}
	var err error
	if wire.Target, err = side(f.Target, f.InTarget); err != nil {
		return nil, fmt.Errorf("field %s: %w", f.Pointer, err)
	}
	if wire.Live, err = side(f.Live, f.InLive); err != nil {
		return nil, fmt.Errorf("field %s: %w", f.Pointer, err)
	}
	data, err := json.Marshal(wire)
	if err != nil {
		return nil, fmt.Errorf("field %s: %w", f.Pointer, err)
	}
	return data, nil
}

func side(value any, present bool) (*json.RawMessage, error) {
	if !present {
		return nil, nil //nolint:nilnil // an absent side has no key
	}
	data, err := json.Marshal(value)
	raw := json.RawMessage(data)
	return &raw, err //nolint:wrapcheck // MarshalJSON names the field
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Field) UnmarshalJSON(data []byte) error {
	var wire struct {
		Pointer fieldpath.Pointer `json:"pointer"`
		Owner   *Owner            `json:"owner"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return fmt.Errorf("field: %w", err)
	}
	var sides map[string]any
	if err := kjson.Unmarshal(data, &sides); err != nil {
		return fmt.Errorf("field %s: %w", wire.Pointer, err)
	}
	*f = Field{Pointer: wire.Pointer, Owner: wire.Owner}
	f.Target, f.InTarget = sides["target"]
	f.Live, f.InLive = sides["live"]
	return nil
}
