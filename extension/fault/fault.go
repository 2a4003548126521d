// Package fault makes errors of panics, so that what is hostile in one Application ends
// no process that answers about all of them.
//
// A panic is a mistake of Moorpin or of a library, never of whoever sent what it was
// met at. The error tells its kind and its place, and no value: those may be secrets.
package fault

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/moorpin/moorpin/pkg/drift"
)

// PanicError is what is told of a panic: its kind and place. Its words may quote a value
// that nobody may read.
type PanicError struct {
	// Kind is the type of what was thrown.
	Kind string
	// Stack is where, without the values.
	Stack string
}

// Error is the kind.
func (e *PanicError) Error() string { return "unexpected panic of type " + e.Kind }

// Contained runs a function, and makes a [*PanicError] of its panic. Goroutines that the
// function starts have to be contained on their own.
func Contained[V any](run func() (V, error)) (value V, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &PanicError{Kind: fmt.Sprintf("%T", cause), Stack: string(debug.Stack())}
		}
	}()
	value, err = run()
	if ours, found := errors.AsType[*drift.PanicError](err); found { // recovered there already
		err = &PanicError{Kind: ours.Thrown, Stack: string(ours.Stack)}
	}
	return value, err
}
