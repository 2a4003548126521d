// Package fleet is the bird's-eye view of all Applications of an Argo CD: what makes
// them drift, which kinds drift the most, what nobody explained, and which of them are
// Progressing or Degraded behind their drift.
//
// [Summarise] reads Applications one after the other and keeps a few numbers of each.
// What an Application's own status says costs under a millisecond; which fields drift,
// and why, has to be asked for, Application by Application, and only where [Options]
// has somebody to ask. Flagged resources of which only the status was read are counted
// as unread, never as explained, nor as unexplained.
//
// [Scanner] does the same again and again, for Prometheus. [Text], [Markdown] and
// [CSV] write an [Overview]; its JSON form has everything. Nothing here holds the
// value of a field.
package fleet

import (
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// Overview is the state of a fleet. Its lists are sorted, the worst first.
type Overview struct {
	// Applications are those that were read, Resources what they manage.
	Applications int `json:"applications"`
	Resources    int `json:"resources"`
	// Drifting are the Applications in Affected.
	Drifting int `json:"drifting"`
	// Unread are resources that Argo CD flags, and of which no more than that was read.
	Unread int     `json:"unread"`
	States []State `json:"states"`
	// Mechanisms are what is at work, without "none".
	Mechanisms []Mechanism `json:"mechanisms"`
	// Kinds are those of the resources that Argo CD flags.
	Kinds []Kind `json:"kinds"`
	// Unexplained are the differences that no rule explains.
	Unexplained []Unexplained `json:"unexplained"`
	// Behind are the Applications that are Progressing or Degraded, and not Synced.
	Behind []Behind `json:"behind"`
	// Affected are the Applications about which there is something to say.
	Affected []Application `json:"affected"`
	// Problems are Applications that could not be read in full.
	Problems []Problem `json:"problems"`
	// Fields tells what reading the fields took; nil where they were not read.
	Fields *Reading `json:"fields,omitempty"`
}

// State is how many Applications Argo CD calls so.
type State struct {
	Sync         string `json:"sync"`
	Health       string `json:"health"`
	Applications int    `json:"applications"`
}

// Mechanism is one cause, over all Applications.
type Mechanism struct {
	Mechanism drift.Mechanism `json:"mechanism"`
	// Class is the letter "A" to "G" of the well-known kinds of drift, or "".
	Class        string `json:"class,omitempty"`
	Applications int    `json:"applications"`
	Findings     int    `json:"findings"`
	Fields       int    `json:"fields"`
	// Sync is the worst that a sync would do to one of them.
	Sync drift.Sync `json:"sync"`
	// Example is an Application with most findings of it.
	Example string `json:"example"`
}

// Kind is one kind of resource, over all Applications.
type Kind struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	// Resources are those that Argo CD flags, Fields the drifting fields that were read.
	Resources    int `json:"resources"`
	Applications int `json:"applications"`
	Fields       int `json:"fields"`
}

// Application is what was found out about one.
type Application struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Project   string `json:"project"`
	Sync      string `json:"sync"`
	Health    string `json:"health"`
	// Since is since when the health is so, RFC 3339, or "".
	Since string `json:"healthSince,omitempty"`
	// Counts are the findings by mechanism, the most first.
	Counts []Count `json:"counts"`
	// Unread are resources that Argo CD flags, and of which no more was read.
	Unread int `json:"unread"`
	// Effect is what a sync would do, as far as was read.
	Effect drift.Sync `json:"effect"`
	// AtLeast tells that a sync may do more, or worse, than Effect.
	AtLeast bool `json:"effectAtLeast"`
	// FieldsRead tells that the fields were read, not the status alone.
	FieldsRead bool `json:"fieldsRead"`

	notes notes
}

// Count is how often a mechanism is at work in one Application.
type Count struct {
	Mechanism drift.Mechanism `json:"mechanism"`
	Findings  int             `json:"findings"`
	Fields    int             `json:"fields"`
	Sync      drift.Sync      `json:"sync"`

	// bare are the findings that are not about a field.
	bare int
}

// Unexplained is a finding that no rule explains, without values.
type Unexplained struct {
	Application string            `json:"application"`
	Resource    drift.ResourceRef `json:"resource"`
	// Pointers are the first fields, Fields the number of all.
	Pointers []fieldpath.Pointer `json:"pointers,omitempty"`
	Fields   int                 `json:"fields"`
	// Evidence is the first that is known, such as Argo CD's own message.
	Evidence string `json:"evidence,omitempty"`
}

// Behind is an Application that is ill while its drift draws all the attention.
type Behind struct {
	Application string `json:"application"`
	Sync        string `json:"sync"`
	Health      string `json:"health"`
	// Since is since when, RFC 3339, or "" where Argo CD does not say.
	Since string `json:"since,omitempty"`
	// Restarts are those of its Pods' containers; nil where they could not be read.
	Restarts *int `json:"restarts,omitempty"`
	// Resources are the first that are ill, as Argo CD lists them.
	Resources []Ill `json:"resources,omitempty"`
	// More are ill too.
	More int `json:"more,omitempty"`
}

// Ill is a resource that is Progressing or Degraded.
type Ill struct {
	Resource drift.ResourceRef `json:"resource"`
	Health   string            `json:"health"`
	Message  string            `json:"message,omitempty"`
}

// Problem is why an Application, or a part of it, could not be read.
type Problem struct {
	Application string `json:"application"`
	Error       string `json:"error"`
}

// Reading is what it took to read the fields.
type Reading struct {
	Applications int `json:"applications"`
	// Seconds are those of the clock, several Applications at once.
	Seconds float64 `json:"seconds"`
	// PerSecond is the rate.
	PerSecond float64 `json:"perSecond"`
}
