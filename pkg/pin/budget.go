package pin

import (
	"fmt"

	crd "github.com/moorpin/moorpin/pkg/schema"
)

// Budget bounds what [All] does: a CRD of a few kilobytes can ask for millions of
// changes to an object of a few kilobytes. The bounds are counted, not timed, so that
// the same input always gives the same output. An object that passes one of them is
// left unchanged, with the obstacle [OverBudget]. The zero value stands for bounds
// that no object can reach which an API server takes.
type Budget struct {
	// Object bounds one object; Call all objects of one call together, in their order.
	Object, Call Bound
}

// Bound is one side of a [Budget]. A field that is zero stands for its default.
type Bound struct {
	// Changes counts the fields that are changed, or would be but for an exclusion.
	// Default 100 000 an object, 500 000 a call.
	Changes int
	// Bytes counts what the changes hold in memory: the values that are put in, with
	// all they hold, and the pointers to them. Default 16 MiB an object, 64 MiB a call.
	Bytes int
	// Steps counts the fields and items that are looked at, whether they change or
	// not. Default 50 million an object, 200 million a call.
	Steps int
}

func (b Bound) withDefaults(defaults Bound) Bound {
	for _, field := range []struct{ value, fallback *int }{
		{&b.Changes, &defaults.Changes}, {&b.Bytes, &defaults.Bytes}, {&b.Steps, &defaults.Steps},
	} {
		if *field.value == 0 {
			*field.value = *field.fallback
		}
	}
	return b
}

func (b Budget) withDefaults() Budget {
	return Budget{
		Object: b.Object.withDefaults(Bound{Changes: 100_000, Bytes: 16 << 20, Steps: 50_000_000}),
		Call:   b.Call.withDefaults(Bound{Changes: 500_000, Bytes: 64 << 20, Steps: 200_000_000}),
	}
}

// plus returns what is spent after spending more.
func (b Bound) plus(more Bound) Bound {
	return Bound{Changes: b.Changes + more.Changes, Bytes: b.Bytes + more.Bytes, Steps: b.Steps + more.Steps}
}

// passed names the bound that the spending goes beyond; empty where there is none.
func (b Bound) passed(spent Bound) string {
	switch {
	case spent.Changes > b.Changes:
		return fmt.Sprintf("%d changes", b.Changes)
	case spent.Bytes > b.Bytes:
		return fmt.Sprintf("%d bytes of defaults", b.Bytes)
	case spent.Steps > b.Steps:
		return fmt.Sprintf("%d steps through its schema", b.Steps)
	}
	return ""
}

// OverBudget is the obstacle of an object that asks for more than the [Budget].
const OverBudget crd.Obstacle = "over budget"

// stepsBetweenLooks is how many steps may pass before a meter looks whether the
// context has ended.
const stepsBetweenLooks = 512

// meter counts what is spent on one call and says when to stop.
type meter struct {
	done   <-chan struct{}
	budget Budget
	// object and call are what is spent.
	object, call Bound
	// look is the number of steps at which the context is looked at next.
	look int
	// over says which bound is passed, for people.
	over string
	// ended tells that the context has.
	ended bool
}

// begin starts the account of the next object.
func (m *meter) begin() { m.object, m.over = Bound{}, "" }

// stopped reports whether nothing more is to be done to the object.
func (m *meter) stopped() bool { return m.ended || m.over != "" }

// steps counts fields or items that are looked at, and reports whether to go on.
func (m *meter) steps(n int) bool { return m.spend(Bound{Steps: n}) }

// change counts a change with its pointer and value, and reports whether to make it.
func (m *meter) change(bytes int) bool { return m.spend(Bound{Changes: 1, Bytes: bytes, Steps: 1}) }

func (m *meter) spend(more Bound) bool {
	m.object, m.call = m.object.plus(more), m.call.plus(more)
	if m.call.Steps >= m.look {
		m.look = m.call.Steps + stepsBetweenLooks
		select {
		case <-m.done:
			m.ended = true
		default:
		}
	}
	if m.over == "" {
		m.over = m.budget.Object.passed(m.object)
	}
	if m.over == "" {
		if bound := m.budget.Call.passed(m.call); bound != "" {
			m.over = bound + " for all objects together"
		}
	}
	return !m.stopped()
}

// weight is about what a value takes in memory, texts included.
func weight(value any) int {
	const word = 16
	sum := word
	switch value := value.(type) {
	case string:
		sum += len(value)
	case map[string]any:
		sum += 2 * word
		for name, child := range value {
			sum += word + len(name) + weight(child)
		}
	case []any:
		for _, child := range value {
			sum += weight(child)
		}
	}
	return sum
}
