package state

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/moorpin/moorpin/pkg/drift"
)

// Ended returns why the work was not done to its end, if it was not.
func (s *Application) Ended() error {
	if s.Ctx.Err() != nil {
		return fmt.Errorf("classify: %w", context.Cause(s.Ctx))
	}
	if broken := s.broken.Load(); broken != nil {
		return broken //nolint:wrapcheck // it is this package's own
	}
	return nil
}

func panicked(cause any) *drift.PanicError {
	return &drift.PanicError{Thrown: fmt.Sprintf("%T", cause), Stack: debug.Stack()}
}

// Catch makes an error of a panic: one hostile object must not end a process that
// serves others. It is deferred by every function that callers see.
func Catch(err *error) {
	if cause := recover(); cause != nil {
		*err = panicked(cause)
	}
}

// Recover is [Catch] for the goroutines that share the Application.
func (s *Application) Recover() {
	if cause := recover(); cause != nil {
		s.broken.CompareAndSwap(nil, panicked(cause))
	}
}
