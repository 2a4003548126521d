package cmp

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// Exit codes of the commands.
const (
	exitFound   = 1
	exitMistake = 2
	exitFailure = 3
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

// mistake marks an error as the user's.
func mistake(err error) error {
	if err == nil {
		return nil
	}
	return &exit{code: exitMistake, cause: err}
}

// coded wraps a command's function so that each of its errors has an exit
// code.
func coded(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		err := run(command, args)
		var marked *exit
		if err == nil || errors.As(err, &marked) {
			return err
		}
		return &exit{code: code(err), cause: err}
	}
}

// code tells the user's mistakes, which have types of their own, from our
// failures. Every file that a command opens is one that the user named.
func code(err error) int {
	var refused *receive.Error
	var mistaken *render.Refusal
	var unreadable *manifest.Error
	if errors.As(err, &refused) || errors.As(err, &mistaken) || errors.As(err, &unreadable) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return exitMistake
	}
	return exitFailure
}
