package server

import (
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// The phases of a request, in their order.
const (
	phaseWait    = "wait"
	phaseReceive = "receive"
	phaseRender  = "render"
	phasePin     = "pin"
)

// phases keeps how long each phase of one request took. It is not safe for
// concurrent use.
type phases struct {
	names   []string
	took    []time.Duration
	current string
	since   time.Time
}

// String lists the phases for an error: "wait 0s, receive 1.2s, render 57.8s".
func (p *phases) String() string {
	parts := make([]string, len(p.names))
	for i, name := range p.names {
		parts[i] = fmt.Sprintf("%s %s", name, p.took[i].Round(time.Millisecond))
	}
	return strings.Join(parts, ", ")
}

// LogValue gives a log line one number of milliseconds a phase.
func (p *phases) LogValue() slog.Value {
	attributes := make([]slog.Attr, len(p.names))
	for i, name := range p.names {
		attributes[i] = slog.Float64(name+"Ms", float64(p.took[i].Microseconds())/1000)
	}
	return slog.GroupValue(attributes...)
}

// begin ends the running phase and begins the next.
func (p *phases) begin(name string) {
	p.end()
	p.current, p.since = name, time.Now()
}

// move gives a part of the phase that ended last to one of its own, behind it.
func (p *phases) move(name string, part time.Duration) {
	last := len(p.took) - 1
	part = min(max(part, 0), p.took[last])
	p.took[last] -= part
	p.names, p.took = append(p.names, name), append(p.took, part)
}

// end ends the running phase, if there is one.
func (p *phases) end() {
	if p.current == "" {
		return
	}
	p.names, p.took = append(p.names, p.current), append(p.took, time.Since(p.since))
	p.current = ""
}
