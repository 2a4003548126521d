// Package cmp is the config management plugin's command line: `moorpin cmp
// serve` is the sidecar that Argo CD's repo-server talks to, `render` and
// `pin` do the same without Argo CD.
//
// Its commands only gather what the packages below them need, and translate
// errors into exit codes: 1 found something (only with --check), 2 the user's
// mistake, 3 our failure.
package cmp

import (
	"github.com/spf13/cobra"
)

const groupHelp = `Render Applications as Argo CD does, then pin the CRD defaults that the API
server would add, and drop the explicit values that a controller is known to
drop, so that neither shows as drift.

serve answers Argo CD's repo-server; render and pin do the same by hand.`

// Command returns the command `cmp` with its sub-commands.
func Command() *cobra.Command {
	command := &cobra.Command{
		Use: "cmp", Short: "The config management plugin: render and pin", Long: groupHelp,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(serveCommand(), renderCommand(), pinCommand())
	return command
}
