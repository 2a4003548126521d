package classify

import (
	"fmt"
	"runtime/debug"

	"github.com/moorpin/moorpin/pkg/drift"
)

func panicked(cause any) *drift.PanicError {
	return &drift.PanicError{Thrown: fmt.Sprintf("%T", cause), Stack: debug.Stack()}
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
