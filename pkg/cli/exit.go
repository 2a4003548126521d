// Package cli is what the commands of all parts have in common: exit codes,
// reading that can be interrupted, and the log of those that serve.
//
// A command's errors carry their exit code to main: [Mistake] and [Found] mark them
// where they arise, [Coded] gives one to all others.
package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// Exit codes of the commands; 0 is fine.
const (
	FoundCode   = 1 // something was found, only with --check
	MistakeCode = 2 // the user's mistake
	FailureCode = 3 // our failure
)

// exit is an error that knows its exit code.
type exit struct {
	code  int
	cause error
}

// Error returns the cause's message.
func (e *exit) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *exit) Unwrap() error { return e.cause }

// ExitCode returns what the process should end with.
func (e *exit) ExitCode() int { return e.code }

// Mistake marks an error as the user's; nil stays nil.
func Mistake(err error) error { return mark(MistakeCode, err) }

// Found marks an error as the answer of --check; nil stays nil.
func Found(err error) error { return mark(FoundCode, err) }

func mark(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exit{code: code, cause: err}
}

// Coded wraps a command's function so that each of its errors has an exit code. What
// is not marked yet is a failure of ours, unless it is a mistake of the user.
func Coded(run func(*cobra.Command, []string) error, isMistake func(error) bool) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		err := run(command, args)
		var marked *exit
		switch {
		case err == nil || errors.As(err, &marked):
			return err
		case isMistake(err):
			return Mistake(err)
		}
		return mark(FailureCode, err)
	}
}
