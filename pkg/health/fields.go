package health

import (
	"maps"
	"slices"
	"strings"
)

// phases are the names of fields that hold the one word that sums an object up.
var phases = []string{"phase", "state", "status", "health", "currentPhase", "currentState", "overallStatus"}

// phaseLike are last words of names of fields that hold such a word.
var phaseLike = []string{"phase", "state", "status", "health", "stage"}

// faults are the names of fields that are there when something is wrong.
var faults = []string{"error", "errMsg", "errorMessage", "failureMessage", "failureReason"}

// flags are the names of booleans that are true when all is well.
var flags = []string{"ready", "isReady", "readyToUse", "available", "healthy", "applied"}

// outcomes are the names of booleans that are true when something went well; they may
// be left out.
var outcomes = []string{"pass", "passed", "succeeded", "successful"}

// columns adds the phases and flags that a printer column shows.
func (d *derivation) columns() {
	for _, column := range d.crd.columns {
		path := strings.Split(strings.TrimPrefix(column, "."), ".")
		if len(path) < 2 || path[0] != "status" || strings.ContainsAny(column, "[]()\\'\"") {
			continue
		}
		schema := d.crd.status
		for _, step := range path[1:] {
			schema, _ = property(schema, step)
		}
		d.column(path, schema)
	}
}

// column adds one field that a printer column shows.
func (d *derivation) column(path []string, schema map[string]any) {
	name := path[len(path)-1]
	kind := textAt(schema, "type")
	spelled := strings.Join(path, ".")
	switch {
	case (kind == "string" || kind == "") && lastWordIn(name, phaseLike) && understood(schema):
		d.found(Rule{Signal: Word, Path: path, Finite: d.finite, Detail: d.secondary(name)}, Column, "a printer column shows "+spelled)
	case kind == "boolean" && slices.Contains(flags, name):
		d.found(Rule{Signal: Flag, Path: path}, Column, "a printer column shows "+spelled)
	case kind == "boolean" && slices.Contains(outcomes, name):
		d.found(Rule{Signal: Flag, Path: path, Detail: true}, Column, "a printer column shows "+spelled)
	case kind == "boolean" && Classify(name) == Bad:
		d.found(Rule{Signal: Fault, Path: path}, Column, "a printer column shows "+spelled)
	}
}

// understood reports whether a schema that lists the words of a field lists one that
// means something: open, closed and merged do not tell of health.
func understood(schema any) bool {
	listed, ok := field(schema, "enum")
	for _, word := range items(listed) {
		name, _ := text(word)
		if Classify(name) != NoClass {
			return true
		}
	}
	return !ok
}

// secondary reports whether a field called name is one of several phases.
func (d *derivation) secondary(name string) bool {
	if slices.Contains(phases, name) {
		return false
	}
	for _, phase := range phases {
		if _, ok := property(d.crd.status, phase); ok {
			return true
		}
	}
	return false
}

// lastWordIn reports whether a name such as lifecycleState ends in one of the words,
// and tells of what is, not of what was or shall be.
func lastWordIn(name string, words []string) bool {
	parts := split(name)
	return len(parts) > 0 && slices.Contains(words, parts[len(parts)-1]) && !slices.Contains(otherTimes, parts[0])
}

// otherTimes are first words of names of fields that do not tell of the present.
var otherTimes = []string{"desired", "initial", "last", "previous", "target", "requested", "expected"}

// fields adds what the status itself holds, by its name and type.
func (d *derivation) fields() {
	fields := properties(d.crd.status)
	names := slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		if primary := boolOrder(slices.Contains(phases, a), slices.Contains(phases, b)); primary != 0 {
			return primary
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		d.field(name, fields[name])
	}
}

// boolOrder puts what is true first.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// field adds one field of the status.
func (d *derivation) field(name string, schema any) {
	path := []string{"status", name}
	spelled := strings.Join(path, ".")
	kind := textAt(schema, "type")
	switch {
	case kind == "string" && lastWordIn(name, phaseLike) && understood(schema):
		grade, evidence := Convention, spelled+" is named like a phase"
		if _, listed := field(schema, "enum"); listed {
			grade, evidence = Enum, "the schema lists the words of "+spelled
		} else if _, begins := field(schema, "default"); begins {
			grade, evidence = Enum, "the schema has a default for "+spelled
		}
		d.found(Rule{Signal: Word, Path: path, Finite: d.finite, Detail: d.secondary(name)}, grade, evidence)
	case kind == "boolean" && slices.Contains(flags, name):
		d.found(Rule{Signal: Flag, Path: path, Detail: len(d.check.Rules) > 0}, Convention, spelled+" is true when all is well")
	case (kind == "string" || kind == "object") && slices.Contains(faults, name):
		d.found(Rule{Signal: Fault, Path: path}, Convention, spelled+" tells of an error")
	}
}

// nested adds what lies one step deeper: objects with conditions of their own, and
// lists and maps whose items have conditions, a phase or a flag.
func (d *derivation) nested() {
	fields := properties(d.crd.status)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "conditions" {
			continue
		}
		if list, ok := property(fields[name], "conditions"); ok && isConditions(list) {
			d.found(Rule{Signal: Conditions, Path: []string{"status", name, "conditions"}}, Convention, "status."+name+" has conditions")
		}
		if one, ok := element(fields[name]); ok {
			d.items(name, one)
		} else if isOpen(fields[name]) && lastWordIn(name, []string{"statuses", "states", "phases"}) {
			for _, word := range []string{"phase", "state", "status"} {
				// Before there was a map, there was one.
				d.found(Rule{Signal: Word, Path: []string{"status", word}, Detail: true, Numbered: true}, Convention, "status."+word+" may be there instead of status."+name)
				d.found(Rule{Signal: Word, Path: []string{"status", name, EveryItem, word}, Detail: true, Numbered: true}, Convention, "status."+name+" is named like a map of states")
			}
		}
	}
}

// isOpen reports whether a schema leaves open what an object holds.
func isOpen(schema any) bool {
	open, _ := field(schema, "x-kubernetes-preserve-unknown-fields")
	return open == true && properties(schema) == nil
}

// items adds what the items of the field called name tell of themselves.
func (d *derivation) items(name string, one map[string]any) {
	at := func(field string) []string { return []string{"status", name, EveryItem, field} }
	spelled := "the items of status." + name + " have "
	if list, ok := property(one, "conditions"); ok && isConditions(list) {
		d.found(Rule{Signal: Conditions, Path: at("conditions")}, Convention, spelled+"conditions")
	}
	if d.finite {
		// How the parts of a run went is not how the run went.
		return
	}
	for _, field := range slices.Sorted(maps.Keys(properties(one))) {
		schema, _ := property(one, field)
		switch kind := textAt(schema, "type"); {
		case kind == "string" && lastWordIn(field, phaseLike) && understood(schema):
			d.found(Rule{Signal: Word, Path: at(field), Detail: true}, Convention, spelled+field)
		case kind == "boolean" && slices.Contains(flags, field):
			d.found(Rule{Signal: Flag, Path: at(field), Detail: true}, Convention, spelled+field)
		}
	}
}
