package cmp

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// coded wraps a command's function so that each of its errors has an exit code.
func coded(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return cli.Coded(run, isMistake)
}

// isMistake tells the user's mistakes, which have types of their own, from our
// failures. Every file that a command opens is one that the user named.
func isMistake(err error) bool {
	var refused *receive.Error
	var mistaken *render.Refusal
	var unreadable *manifest.Error
	return errors.As(err, &refused) || errors.As(err, &mistaken) || errors.As(err, &unreadable) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
