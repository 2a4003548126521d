package health

import "slices"

// polarity is what a condition's type says when the condition is True.
type polarity int

const (
	positive polarity = iota
	negative
	underway
	paused
	ignored
)

// polarityOf tells from what a condition's type means.
func polarityOf(meant sense) polarity {
	switch {
	case meant.warning:
		return ignored
	case meant.last == Good:
		return positive
	case meant.class == Bad, meant.class == Wait && meant.denied:
		return negative
	case meant.class == Pause:
		return paused
	case meant.class == Wait:
		return underway
	case len(meant.words) > 0 && senseOf(meant.words[0]) == SenseNot:
		return negative // "NoMatchingInstance".
	}
	return positive
}

// condition is one condition, as far as it can be read.
type condition struct {
	kind, status, reason, message string
	stale                         bool
}

// text tells of the condition.
func (c condition) text() string {
	switch {
	case c.message != "":
		return c.message
	case c.reason != "":
		return c.kind + " is " + c.status + ": " + c.reason
	}
	return c.kind + " is " + c.status
}

// why classifies the reason of a condition that is not as it should be; where the
// reason says nothing, a message that starts with a failure does.
func (e *evaluation) why(c condition) Class {
	if class := e.names.meaning(c.reason).class; class != NoClass {
		return class
	}
	if e.names.failing(c.message) {
		return Bad
	}
	return NoClass
}

// listed reads the conditions of a list.
func (e *evaluation) listed(list any) []condition {
	var result []condition
	one, _ := list.([]any)
	for _, item := range items(one) {
		kind, status := textAt(item, "type"), textAt(item, "status")
		if kind == "" || status == "" {
			continue
		}
		observed, _ := field(item, "observedGeneration")
		result = append(result, condition{
			kind: kind, status: status, reason: textAt(item, "reason"), message: textAt(item, "message"), stale: e.stale(observed),
		})
	}
	return result
}

// conditions reads one list of conditions.
func (e *evaluation) conditions(rule Rule, list any) {
	listed := e.listed(list)
	there := map[string]string{}
	for _, c := range listed {
		there[c.kind] = c.status
	}
	if len(rule.Needed) > 0 && len(listed) > 0 && there[rule.Needed[0]] == "" {
		e.note(rankProgressing, Progressing, "waiting for the condition "+rule.Needed[0])
	}
	needed := chosen(rule, there)
	for _, c := range listed {
		switch {
		case c.stale:
			e.note(rankProgressing, Progressing, "waiting for the controller to observe the latest change")
		case slices.Contains(needed, c.kind):
			e.needed(c)
		case len(needed) == 0 || speaks(c, there["Ready"] == "True"):
			e.other(c, beside{led: len(needed) > 0, ready: there["Ready"] == "True"})
		}
	}
}

// speaks reports whether a condition that is not needed says something beside those
// that are. Beside Ready, which sums up all others, only common bad news do.
func speaks(c condition, ready bool) bool {
	sense, known := common[c.kind]
	if ready {
		return c.status == "True" && known && sense > Sense(Good) && sense <= Sense(Bad)
	}
	return sense != Sense(Good)
}

// chosen returns which types must be True: those of the rule that are there, or, when
// it names none, the first lead that is there.
func chosen(rule Rule, there map[string]string) []string {
	// Ready sums up whatever else the schema speaks of.
	types := append([]string{"Ready"}, rule.Needed...)
	if len(rule.Needed) == 0 {
		types = Leads()
	}
	needed := slices.DeleteFunc(types, func(kind string) bool { return there[kind] == "" })
	if len(rule.Needed) == 0 && len(needed) > 1 {
		return needed[:1]
	}
	return needed
}

// needed reads a condition that must be True.
func (e *evaluation) needed(c condition) {
	if c.status == "True" {
		e.note(rankHealthy, Healthy, c.text())
		return
	}
	if c.status != "False" {
		e.note(rankProgressing, Progressing, c.text())
		return
	}
	e.amiss(c, e.why(c))
}

// amiss reads a condition that is not as it should be, by the class of its reason.
func (e *evaluation) amiss(c condition, class Class) {
	isFalse := c.status == "False"
	switch {
	case class == Pause:
		e.note(rankSuspended, Suspended, c.text())
	case isFalse && e.check.ReadyFalse == AlwaysDegraded,
		isFalse && e.check.ReadyFalse != AlwaysProgressing && class == Bad,
		c.status == "True" && class == Bad:
		e.note(rankDegraded, Degraded, c.text())
	default:
		e.note(rankProgressing, Progressing, c.text())
	}
}

// beside is what is known of the conditions that are needed.
type beside struct {
	// led: there are some. ready: Ready is True.
	led, ready bool
}

// other reads a condition that is not needed as such.
func (e *evaluation) other(c condition, beside beside) {
	isTrue := c.status == "True"
	says, class := polarityOf(e.names.meaning(c.kind)), e.names.meaning(c.reason)
	switch says {
	case negative:
		e.negative(c, class.class)
	case paused:
		if isTrue {
			e.note(rankSuspended, Suspended, c.text())
		}
	case underway:
		e.underway(c, class.class, beside)
	case positive:
		switch {
		case beside.led:
			// The conditions that are needed sum this one up.
		case isTrue && c.kind == "Running" && class.running:
			// Operators written in Ansible are Running while they work.
			e.note(rankProgressing, Progressing, c.text())
		default:
			e.alone(c)
		}
	case ignored:
	}
}

// alone reads a condition that is True when all is well, where none is needed.
func (e *evaluation) alone(c condition) {
	class := e.why(c)
	switch {
	case c.status == "False" && e.names.meaning(c.kind).class == NoClass && class == NoClass:
		// Whether "Shared" is to be True cannot be told, nor is anything said to be wrong.
	case c.status == "True" && class != Bad:
		e.note(rankHealthy, Healthy, c.text())
	default:
		e.amiss(c, class)
	}
}

// negative reads a condition that is True when something is wrong.
func (e *evaluation) negative(c condition, class Class) {
	switch {
	case c.status != "True":
		e.note(rankHint, Healthy, c.text())
	case class == Wait:
		e.note(rankProgressing, Progressing, c.text())
	default:
		e.note(rankDegraded, Degraded, c.text())
	}
}

// underway reads a condition such as Progressing. Beside one that says that all is
// well it may stay True for ever, as that of a Deployment does.
func (e *evaluation) underway(c condition, class Class, beside beside) {
	switch {
	case class == Bad:
		e.note(rankDegraded, Degraded, c.text())
	case class == Pause:
		e.note(rankSuspended, Suspended, c.text())
	case c.status == "True" && class == Good:
		e.note(rankHint, Healthy, c.text())
	case c.status == "True" && !beside.ready:
		e.note(rankProgressing, Progressing, c.text())
	}
}
