package drift

import (
	"fmt"
	"runtime/debug"
)

// PanicError says that a rule, or a library that it calls, panicked. That is a mistake
// of this package, whatever the snapshot holds. The error has no word of the panic
// itself, which may quote a Secret.
type PanicError struct {
	// Thrown is the type of the panic's value.
	Thrown string
	// Stack is where it happened, for a log. It shows no values.
	Stack []byte
}

// Error names the type of what was thrown.
func (e *PanicError) Error() string { return "classify: panic: " + e.Thrown }

func panicked(cause any) *PanicError {
	return &PanicError{Thrown: fmt.Sprintf("%T", cause), Stack: debug.Stack()}
}

// catch makes an error of a panic: one hostile object must not end a process that
// serves others. It is deferred by every function that callers see.
func catch(err *error) {
	if cause := recover(); cause != nil {
		*err = panicked(cause)
	}
}

// survive is catch for the goroutines of a situation.
func (s *situation) survive() {
	if cause := recover(); cause != nil {
		s.broken.CompareAndSwap(nil, panicked(cause))
	}
}
