// Package health derives from a CustomResourceDefinition how the health of its
// objects can be told, and tells it.
//
// [Derive] reads a CRD's schema and printer columns and returns a [Check]: an
// ordered list of [Rule]s with the evidence for them. [Evaluate] applies a Check to
// an object; it is the reference for the Lua that package generate writes. Rules that
// are gates (a stale generation, a suspended object) answer at once. The others are
// readings: the gravest reading wins, the first of equals. Words that no rule can know
// beforehand, such as the reason of a condition, are taken apart and classified by
// [Classify] when they are met, up to 60 of an object; those of [Common] need not be.
// Beside a condition Ready that is True, other conditions count only when their type is
// common bad news.
//
// Derive decides by the schema, never by the name of a group or kind. It refuses what
// is no CRD, and it abstains (the grade [Nothing], with reasons) where a CRD shows no
// sign of health: a check that waits without end is worse than none.
//
// Valid: a CRD with a printer column on the condition Ready. Refused: a Deployment.
package health

// Code is a health status of Argo CD.
type Code string

// The codes, as Argo CD spells them.
const (
	Healthy     Code = "Healthy"
	Progressing Code = "Progressing"
	Degraded    Code = "Degraded"
	Suspended   Code = "Suspended"
	Missing     Code = "Missing"
	Unknown     Code = "Unknown"
)

// Status is what a check answers. The message is never empty.
type Status struct {
	Code    Code   `json:"status"`
	Message string `json:"message"`
}

// Grade says how good the evidence behind a check is.
type Grade string

// The grades, the best first.
const (
	// Column: the CRD's author put the deciding field in a printer column.
	Column Grade = "column"
	// Enum: the schema lists the words of the deciding field, or gives its default.
	Enum Grade = "enum"
	// Convention: the schema has fields that are commonly used for health.
	Convention Grade = "convention"
	// Nothing: there is no sign of health, and no check.
	Nothing Grade = "nothing"
)

// Signal is what a rule looks at.
type Signal string

// The signals. Generation, Switch and Absent are gates, the others are readings.
const (
	// Generation: the number at Path is below metadata.generation: Progressing.
	Generation Signal = "generation"
	// Switch: the value at Path is true: Suspended.
	Switch Signal = "switch"
	// Absent: there is nothing at Path, or it is empty: Progressing.
	Absent Signal = "absent"
	// Conditions: the list of conditions at Path, each of which has a type, a status
	// and perhaps a reason. Needed holds the types that must be there and True.
	Conditions Signal = "conditions"
	// Word: the string at Path is a phase or state, read by Classify.
	Word Signal = "word"
	// Flag: the boolean at Path is true when all is well, and Progressing otherwise.
	Flag Signal = "flag"
	// Fault: the value at Path, true or a text that is not empty, tells of an error: Degraded.
	Fault Signal = "fault"
	// Replicas: the number at Path is below the number at Against: Progressing.
	Replicas Signal = "replicas"
)

// EveryItem is the step of a path that stands for every item of a list and for every
// value of a map.
const EveryItem = "*"

// Rule is one look at an object.
type Rule struct {
	Signal Signal `json:"signal"`
	// Path leads from the object's root to the value.
	Path []string `json:"path"`
	// Against leads to the wanted number, for Replicas.
	Against []string `json:"against,omitempty"`
	// Needed are the condition types that must be True, for Conditions, the most
	// telling first. When it is empty, the types are chosen among those that are there.
	Needed []string `json:"needed,omitempty"`
	// Finite tells that the object runs to an end: "Running" is then Progressing.
	Finite bool `json:"finite,omitempty"`
	// Detail tells that the value is one of several: a word that is not understood
	// says nothing, and a healthy one does not suffice.
	Detail bool `json:"detail,omitempty"`
	// Numbered tells that the word may be a number instead, as protobuf writes enums:
	// 0 is not yet known, 1 is accepted, anything else is not.
	Numbered bool `json:"numbered,omitempty"`
}

// Gate reports whether the rule answers at once when it matches.
func (r Rule) Gate() bool {
	return r.Signal == Generation || r.Signal == Switch || r.Signal == Absent
}

// ReadyFalse says what a needed condition that is False means.
type ReadyFalse string

// The meanings of False.
const (
	// ByReason: the reason tells whether it is Degraded; if it does not, Progressing.
	ByReason ReadyFalse = "reason"
	// AlwaysDegraded: Degraded, whatever the reason.
	AlwaysDegraded ReadyFalse = "degraded"
	// AlwaysProgressing: Progressing, whatever the reason.
	AlwaysProgressing ReadyFalse = "progressing"
)

// Check is how the health of one kind is told.
type Check struct {
	Group string `json:"group"`
	// Version is the one whose schema was read: the storage version.
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// Scope is Namespaced or Cluster.
	Scope string `json:"scope"`
	Grade Grade  `json:"grade"`
	// Rules are empty when the grade is Nothing.
	Rules      []Rule     `json:"rules,omitempty"`
	ReadyFalse ReadyFalse `json:"readyFalse,omitempty"`
	// Evidence says for people, a sentence a piece, what the rules rest on or why
	// there are none.
	Evidence []string `json:"evidence"`
}

// Name is the check's name in argocd-cm and of its file: group_Kind.
func (c Check) Name() string { return c.Group + "_" + c.Kind }

// Options are the choices of the user.
type Options struct {
	// ReadyFalse is ByReason when empty.
	ReadyFalse ReadyFalse
}
