// Package extension is the drift classifier's command line: `moorpin extension
// snapshot` makes a snapshot of an Application from a live Argo CD, `classify` says
// from a snapshot why the Application is OutOfSync, `serve` answers the same to Argo
// CD's UI, whose pages `bundle` writes out, `mcp` to assistants, and `fleet` looks at
// all Applications from above.
//
// Its commands only gather what the packages below them need, and translate errors
// into exit codes: 1 found something (only with --check), 2 the user's mistake, 3 our
// failure. What serves refuses to start without a secret or token, and forgets one
// whose file is gone.
package extension

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/cli"
)

const groupHelp = `Say why an Application is OutOfSync: for every drifting field the reason, who
wrote it and when, what a sync would do now, and the narrowest fix.

snapshot collects what is to know about an Application in one file, without the
values of Secrets; classify explains it. fleet looks at all Applications at once.
serve answers the pages in Argo CD's UI, which bundle writes out; mcp answers
assistants. None of them changes anything, and all but serve need nothing installed.`

// Command returns the command `extension` with its sub-commands.
func Command() *cobra.Command {
	command := &cobra.Command{
		Use: "extension", Short: "The drift classifier: why is it OutOfSync", Long: groupHelp,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(classifyCommand(), snapshotCommand(), serveCommand(), fleetCommand(), mcpCommand(), bundleCommand())
	return command
}

// coded wraps a command's function so that each of its errors has an exit code.
func coded(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return cli.Coded(run, isMistake)
}

// isMistake tells the user's mistakes from our failures: a token or a name that Argo
// CD refuses, and files, all of which the user named.
func isMistake(err error) bool {
	if refused, ok := errors.AsType[*argocd.Error](err); ok {
		return refused.Status < http.StatusInternalServerError
	}
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
