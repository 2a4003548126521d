package drift

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Report is the answer for one Application.
type Report struct {
	// Application is namespace/name.
	Application string `json:"application"`
	// Verdict is one sentence for people; programs read the findings.
	Verdict string `json:"verdict"`
	// Counts are the numbers of findings by mechanism.
	Counts   map[Mechanism]int `json:"counts"`
	Findings []Finding         `json:"findings"`
	// Sync is what a sync would do now: the worst of the findings.
	Sync Sync `json:"sync"`
	// Unheeded are the ignore rules that a guarded classification did not run, one
	// sentence each: what they would hide is reported as flagged.
	Unheeded []string `json:"unheeded,omitempty"`
}

// Finding is one mechanism at work on one resource, or on the Application.
type Finding struct {
	// Resource is the Application itself where the finding is about it.
	Resource  ResourceRef `json:"resource"`
	Mechanism Mechanism   `json:"mechanism"`
	// Class is the letter "A" to "G" of the well-known kinds of drift, or "".
	Class string `json:"class"`
	// Flagged is false where Argo CD does not see the difference.
	Flagged bool `json:"flagged"`
	// Summary is one sentence for people.
	Summary string `json:"summary"`
	// Fields are sorted by pointer; empty for an Application or a one-sided resource.
	Fields     []Field    `json:"fields"`
	Confidence Confidence `json:"confidence"`
	Evidence   []string   `json:"evidence"`
	Sync       Sync       `json:"sync"`
	// Loss names the live values that a sync would overwrite, with who wrote them.
	Loss []string `json:"loss,omitempty"`
	// Fixes are ordered, the recommended one first.
	Fixes []Fix `json:"fixes"`
}

// Field is one differing field. A side that lacks it has no value.
type Field struct {
	Pointer fieldpath.Pointer
	// Target is what the field would be after a sync, Live what it is.
	Target, Live     any
	InTarget, InLive bool
	// Owner is the newest writer known from managedFields.
	Owner *Owner
}

// Owner is an entry of managedFields.
type Owner struct {
	Manager     string `json:"manager"`
	Operation   string `json:"operation"`
	Subresource string `json:"subresource,omitempty"`
	// Time is RFC 3339, or empty.
	Time string `json:"time,omitempty"`
}

// Confidence is how sure a finding is.
type Confidence string

// The grades of confidence.
const (
	Certain  Confidence = "certain"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)

// Where says what a fix is an edit of.
type Where string

// The places of fixes.
const (
	InGit         Where = "git"
	InApplication Where = "application"
	InProject     Where = "appproject"
	InArgoCM      Where = "argocd-cm"
	InCluster     Where = "cluster"
	InOperation   Where = "operation"
)

// Fix is one way to make a finding go away.
type Fix struct {
	Kind  FixKind `json:"kind"`
	Where Where   `json:"where"`
	// Snippet is ready to paste: YAML, or a shell command.
	Snippet string `json:"snippet"`
	// Proven tells that the fix was tried in process and the finding went away
	// with nothing else appearing.
	Proven bool `json:"proven"`
	// Why says what the fix does, when it is right, and what it hides.
	Why string `json:"why"`
	// Edit is what the fix changes, for those who try it or make it; nil where only a
	// person can.
	Edit Edit `json:"-"`
}

// Edit is the change that a fix makes.
type Edit interface {
	// Rules are the entries of ignoreDifferences that it adds to the Application.
	Rules() []v1alpha1.ResourceIgnoreDifferences
	// Edited returns the manifest as it is afterwards, and whether it is an edit of the
	// manifest that can be made so. It does not change the manifest.
	Edited(manifest map[string]any) (map[string]any, bool)
}

// Rules are the entries of ignoreDifferences that the fix adds to the Application.
func (f Fix) Rules() []v1alpha1.ResourceIgnoreDifferences {
	if f.Edit == nil {
		return nil
	}
	return f.Edit.Rules()
}

// Edited returns the manifest as it is after the fix, and whether the fix is an edit
// of the manifest that can be made so. It does not change the manifest.
func (f Fix) Edited(manifest map[string]any) (map[string]any, bool) {
	if f.Edit == nil {
		return nil, false
	}
	return f.Edit.Edited(manifest)
}

// Lower returns the lower of two confidences.
func Lower(a, b Confidence) Confidence {
	order := []Confidence{Certain, Likely, Possible}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

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
