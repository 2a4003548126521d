package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Derive reads a CRD, as decoded from JSON or YAML, without changing it. The storage
// version counts. A CRD without a sign of health gives a Check of the grade [Nothing],
// whose evidence says what was looked for. The error says why the object is no CRD
// that can be read.
func Derive(object map[string]any, options Options) (Check, error) {
	read, err := readCRD(object)
	if err != nil {
		return Check{}, fmt.Errorf("read CRD: %w", err)
	}
	d := &derivation{crd: read, check: Check{
		Group: read.group, Version: read.version, Kind: read.kind, Scope: read.scope,
		Grade: Nothing, ReadyFalse: options.ReadyFalse,
	}}
	if d.check.ReadyFalse == "" {
		d.check.ReadyFalse = ByReason
	}
	d.gather()
	return d.check, nil
}

// derivation is one CRD on its way to a check.
type derivation struct {
	crd   crd
	check Check
	// finite tells that the objects run to an end.
	finite bool
}

// grades orders the grades, the best first.
var grades = []Grade{Column, Enum, Convention, Nothing}

// maxRules and maxNeeded bound what is made of one CRD, far above what real ones have: a
// check runs for each object, and has a second.
const (
	maxRules  = 60
	maxNeeded = 16
)

// found adds a rule with its evidence.
func (d *derivation) found(rule Rule, grade Grade, evidence string) {
	if len(d.check.Rules) == maxRules {
		return
	}
	if slices.ContainsFunc(d.check.Rules, func(have Rule) bool {
		return have.Signal == rule.Signal && slices.Equal(have.Path, rule.Path)
	}) {
		return
	}
	d.check.Rules = append(d.check.Rules, rule)
	if !slices.Contains(d.check.Evidence, evidence) {
		d.check.Evidence = append(d.check.Evidence, evidence)
	}
	if slices.Index(grades, grade) < slices.Index(grades, d.check.Grade) {
		d.check.Grade = grade
	}
}

// gather looks for signs of health, and puts the gates before them.
func (d *derivation) gather() {
	if !d.crd.hasStatus {
		d.check.Evidence = []string{"objects have no status"}
		return
	}
	d.finite = d.runsToAnEnd()
	d.conditions()
	d.columns()
	d.fields()
	d.nested()
	d.counts()
	if len(d.check.Rules) == 0 && properties(d.crd.status) == nil && !d.crd.anything {
		d.undescribed()
	}
	if len(d.check.Rules) == 0 && d.crd.anything {
		d.check.Evidence = []string{"the schema allows anything and no status is spoken of, so it shows nothing"}
		return
	}
	if len(d.check.Rules) == 0 {
		d.check.Evidence = []string{"the status has no conditions, phase, ready flag or replicas: " + strings.Join(slices.Sorted(maps.Keys(properties(d.crd.status))), ", ")}
		return
	}
	needed := slices.ContainsFunc(d.check.Rules, func(rule Rule) bool { return len(rule.Needed) > 0 })
	for at := range d.check.Rules {
		rule := &d.check.Rules[at]
		switch rule.Signal {
		case Fault:
			rule.Detail = len(d.check.Rules) > 1
		case Word:
			// Beside conditions that are needed, what lies deeper is a detail.
			rule.Detail = rule.Detail || (needed && len(rule.Path) > 2)
		case Generation, Switch, Absent, Conditions, Flag, Replicas:
		}
	}
	d.found(Rule{Signal: Conditions, Path: []string{"status", "conditions"}}, Convention, "another version of the CRD may bring conditions")
	d.check.Rules = append(d.before(), d.check.Rules...)
}

// before returns the gates.
func (d *derivation) before() []Rule {
	gates := switches(d.crd.spec, []string{"spec"})
	return append(gates,
		Rule{Signal: Absent, Path: []string{"status"}},
		Rule{Signal: Generation, Path: []string{"status", "observedGeneration"}},
	)
}

// switches finds the booleans that suspend an object: in the spec itself, and in what
// says how to update.
func switches(schema any, path []string) []Rule {
	var result []Rule
	for _, name := range []string{"suspend", "suspended", "paused", "pause"} {
		if found, ok := property(schema, name); ok && textAt(found, "type") == "boolean" {
			result = append(result, Rule{Signal: Switch, Path: append(slices.Clone(path), name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties(schema))) {
		if found, ok := property(schema, name); ok && lastWordIn(name, []string{"strategy", "update"}) {
			result = append(result, switches(found, append(slices.Clone(path), name))...)
		}
	}
	return result
}

// endings are fields that only objects have which run to an end.
var endings = []string{"completedat", "finishedat", "completiontime", "finishtime", "endtime", "completiontimestamp", "completedtime", "endedat"}

// runsToAnEnd reports whether the status tells when an object was done.
func (d *derivation) runsToAnEnd() bool {
	for name := range properties(d.crd.status) {
		if slices.Contains(endings, strings.ToLower(name)) {
			return true
		}
	}
	for _, name := range deadlines {
		if _, ok := property(d.crd.spec, name); ok {
			return true
		}
	}
	return false
}

// deadlines are fields of the spec that only such objects have.
var deadlines = []string{"activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "terminate"}

// conditions adds the list of conditions, with the types that the columns show.
func (d *derivation) conditions() {
	schema, described := property(d.crd.status, "conditions")
	needed := d.columnTypes()
	// A type such as Complete does not say how it went: it is read with its reason.
	rule := Rule{Signal: Conditions, Path: []string{"status", "conditions"}, Needed: slices.DeleteFunc(slices.Clone(needed), func(kind string) bool {
		return slices.Contains(ends, kind)
	})}
	switch {
	case len(needed) > 0:
		d.found(rule, Column, "printer columns show the conditions "+strings.Join(needed, ", "))
	case described && isConditions(schema):
		d.found(rule, Convention, "the status has conditions; which of them are needed is not said")
	case described:
		d.found(rule, Convention, "the status has a field conditions that is not described")
	}
}

// ends are condition types that are True when something is over.
var ends = []string{"Complete", "Completed", "Finished"}

// columnTypes returns the condition types whose status a printer column shows and that
// are True when all is well.
func (d *derivation) columnTypes() []string {
	var types []string
	for _, column := range d.crd.columns {
		kind, ok := conditionOf(column)
		if ok && polarityOf(meaning(kind)) == positive && !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	leads := Leads()
	position := func(kind string) int {
		if at := slices.Index(leads, kind); at >= 0 {
			return at
		}
		return len(leads)
	}
	slices.SortStableFunc(types, func(a, b string) int { return position(a) - position(b) })
	// Active tells whether there is work, not whether all is well.
	if len(types) > 1 {
		types = slices.DeleteFunc(types, func(kind string) bool { return kind == "Active" })
	}
	return types[:min(len(types), maxNeeded)]
}

// conditionOf returns the type that a column such as
// .status.conditions[?(@.type=="Ready")].status asks for.
func conditionOf(column string) (string, bool) {
	rest, ok := strings.CutPrefix(column, ".status.conditions[?(")
	if !ok {
		return "", false
	}
	filter, shown, ok := strings.Cut(rest, ")]")
	if !ok || shown != ".status" {
		return "", false
	}
	left, right, ok := strings.Cut(filter, "==")
	if !ok || strings.TrimSpace(left) != "@.type" {
		return "", false
	}
	kind := strings.Trim(strings.TrimSpace(right), `"'\`)
	return kind, kind != ""
}

// undescribed adds what is commonly there, for a status that the schema leaves open.
func (d *derivation) undescribed() {
	const evidence = "the schema leaves the status open; common fields are looked for"
	d.found(Rule{Signal: Conditions, Path: []string{"status", "conditions"}}, Convention, evidence)
	for _, name := range []string{"phase", "state", "status"} {
		d.found(Rule{Signal: Word, Path: []string{"status", name}}, Convention, evidence)
	}
}
