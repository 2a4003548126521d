// Package lua is the command line of Moorpin's health checks: `moorpin lua gaps` says
// of which kinds Argo CD knows no health, `generate` writes proven checks for them,
// `verify` proves checks, and `install` puts proven ones into argocd-cm.
//
// Its commands only gather what the packages below them need, and translate errors
// into exit codes: 1 found something (only with --check), 2 the user's mistake, 3 our
// failure. None of them writes a check that is not proven, and only install, with
// --yes, writes to a cluster.
package lua

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/lua/overrides"
	"github.com/moorpin/moorpin/lua/verify"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
)

const groupHelp = `Argo CD does not wait for a custom resource that it has no health check for, and
shows no health for it. gaps finds such kinds, generate reads their CRDs and writes
checks in Lua, each with the evidence behind it and its own test suite, verify
proves checks in Argo CD's own Lua VM, install puts them into argocd-cm.`

// Command returns the command `lua` with its sub-commands.
func Command() *cobra.Command {
	command := &cobra.Command{
		Use: "lua", Short: "Health checks for custom resources: generated, proven, installed", Long: groupHelp,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(gapsCommand(), generateCommand(), verifyCommand(), installCommand())
	return command
}

// coded wraps a command's function so that each of its errors has an exit code.
func coded(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return cli.Coded(run, isMistake)
}

// isMistake tells the user's mistakes from our failures. All files are such as the
// user named.
func isMistake(err error) bool {
	if _, ok := errors.AsType[*overrides.KeyError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*manifest.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*verify.DisproofError](err); ok {
		return true
	}
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
