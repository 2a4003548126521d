package health

import (
	"slices"
	"strings"
)

// rank orders readings; the gravest wins.
type rank int

// The ranks.
const (
	rankNone rank = iota
	// rankHint: one of several values is well.
	rankHint
	rankHealthy
	// rankUnfamiliar: a phase that is not understood.
	rankUnfamiliar
	rankProgressing
	rankUnknown
	rankSuspended
	rankDegraded
)

// evaluation gathers readings.
type evaluation struct {
	check      Check
	names      *reader
	generation float64
	rank       rank
	status     Status
}

// note keeps a reading that is graver than all before.
func (e *evaluation) note(rank rank, code Code, message string) {
	if rank > e.rank {
		e.rank, e.status = rank, Status{Code: code, Message: message}
	}
}

// Evaluate tells the health of an object, without changing it. It is total: whatever
// the object looks like, the status has a code and a message. A check without rules
// answers Unknown.
func Evaluate(check Check, object map[string]any) Status {
	if len(check.Rules) == 0 {
		return Status{Code: Unknown, Message: "there is no check for this kind"}
	}
	e := &evaluation{check: check, names: &reader{known: map[string]sense{}}}
	metadata, _ := field(object, "metadata")
	generation, _ := field(metadata, "generation")
	e.generation, _ = number(generation)
	for _, rule := range check.Rules {
		if rule.Gate() {
			if status, stop := e.gate(rule, object); stop {
				return status
			}
			continue
		}
		e.read(rule, object)
	}
	if e.rank == rankNone {
		return Status{Code: Progressing, Message: "waiting for a sign of health"}
	}
	return e.status
}

// gate answers whether a gate is shut, and how.
func (e *evaluation) gate(rule Rule, object map[string]any) (Status, bool) {
	places := at(object, rule.Path)
	name := rule.Path[len(rule.Path)-1]
	switch rule.Signal {
	case Absent:
		if len(places) == 0 || empty(places[0].value) {
			return Status{Code: Progressing, Message: "waiting for the controller to report"}, true
		}
	case Switch:
		if len(places) > 0 && places[0].value == true {
			return Status{Code: Suspended, Message: "the object says " + name + ": true"}, true
		}
	case Generation:
		if len(places) > 0 && e.stale(places[0].value) {
			return Status{Code: Progressing, Message: "waiting for the controller to observe the latest change"}, true
		}
	case Conditions, Word, Flag, Fault, Replicas:
	}
	return Status{}, false
}

// stale reports whether an observed generation is below the object's.
func (e *evaluation) stale(observed any) bool {
	seen, ok := number(observed)
	return ok && seen < e.generation
}

// read takes one reading.
func (e *evaluation) read(rule Rule, object map[string]any) {
	places := at(object, rule.Path)
	if len(places) == 0 && !slices.Contains(rule.Path, EveryItem) {
		e.absent(rule)
	}
	switch rule.Signal {
	case Conditions:
		for _, place := range places {
			e.conditions(rule, place.value)
		}
	case Word:
		for _, place := range places {
			e.word(rule, place)
		}
	case Flag:
		for _, place := range places {
			e.flag(rule, place.value)
		}
	case Fault:
		for _, place := range places {
			e.fault(rule, place)
		}
	case Replicas:
		e.replicas(rule, object)
	case Generation, Switch, Absent:
	}
}

// absent reads that there is nothing to read.
func (e *evaluation) absent(rule Rule) {
	name := rule.Path[len(rule.Path)-1]
	switch {
	case rule.Signal == Flag && !rule.Detail:
		e.note(rankProgressing, Progressing, "waiting for "+name)
	case rule.Signal == Fault && !rule.Detail:
		e.note(rankHint, Healthy, "there is no "+name)
	}
}

// wholeWords are phases that are a status of Argo CD of their own.
var wholeWords = map[string]Code{
	"unknown": Unknown, "inconclusive": Unknown,
	"missing": Missing, "not found": Missing,
	"warning": Degraded,
	"up":      Healthy, "up to date": Healthy,
}

// word reads a phase or a state.
func (e *evaluation) word(rule Rule, place place) {
	value, ok := text(place.value)
	if !ok {
		if numbered, ok := number(place.value); ok && rule.Numbered {
			e.numbered(numbered)
		}
		return
	}
	message := value
	if more := textAt(place.holder, "message"); more != "" {
		message = value + ": " + more
	}
	meant := e.names.meaning(value)
	code, whole := wholeWords[strings.Join(meant.words, " ")]
	switch {
	case whole && code == Degraded:
		e.note(rankDegraded, code, message)
	case code == Healthy, !whole && meant.class == Good && (!rule.Finite || !meant.running):
		e.note(well(rule), Healthy, message)
	case whole && rule.Detail:
		// Of one of several, that it cannot be told says nothing of the whole.
	case whole:
		e.note(rankUnknown, code, message)
	case meant.class == Bad:
		e.note(rankDegraded, Degraded, message)
	case meant.class == Pause:
		e.note(rankSuspended, Suspended, message)
	case meant.class == Wait, meant.class == Good:
		e.note(rankProgressing, Progressing, message)
	case !rule.Detail:
		e.note(rankUnfamiliar, Progressing, message)
	}
}

// well ranks a reading that is well: one of several does not suffice.
func well(rule Rule) rank {
	if rule.Detail {
		return rankHint
	}
	return rankHealthy
}

// numbered reads a state that is a number.
func (e *evaluation) numbered(state float64) {
	switch state {
	case 0:
		e.note(rankProgressing, Progressing, "the state is not known yet")
	case 1:
		e.note(rankHint, Healthy, "the state is accepted")
	default:
		e.note(rankDegraded, Degraded, "the state is not accepted")
	}
}

// flag reads a boolean that is true when all is well.
func (e *evaluation) flag(rule Rule, value any) {
	name := rule.Path[len(rule.Path)-1]
	switch value {
	case true:
		e.note(well(rule), Healthy, name+" is true")
	case false:
		e.note(rankProgressing, Progressing, name+" is false")
	}
}

// fault reads a field that is there when something is wrong.
func (e *evaluation) fault(rule Rule, place place) {
	name := rule.Path[len(rule.Path)-1]
	if value, ok := text(place.value); ok {
		e.note(rankDegraded, Degraded, value)
	} else if place.value == true {
		e.note(rankDegraded, Degraded, name+" is true")
	} else if message := textAt(place.value, "message"); message != "" {
		e.note(rankDegraded, Degraded, message)
	} else {
		e.absent(rule)
	}
}

// replicas compares two numbers. A number that is not there is none at all.
func (e *evaluation) replicas(rule Rule, object map[string]any) {
	wanted := at(object, rule.Against)
	if len(wanted) == 0 {
		return
	}
	want, ok := number(wanted[0].value)
	if !ok {
		return
	}
	have := 0.0
	if found := at(object, rule.Path); len(found) > 0 {
		have, _ = number(found[0].value)
	}
	name := rule.Path[len(rule.Path)-1]
	if have < want {
		e.note(rankProgressing, Progressing, name+" is below what is wanted")
		return
	}
	e.note(rankHint, Healthy, name+" is what is wanted")
}
