// Moorpin is a plugin bundle for Argo CD that stops Applications from
// drifting for no reason. This file only wires the parts together; each part
// explains itself: see `moorpin --help`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/cmp"
	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/extension"
	"github.com/moorpin/moorpin/extension/worker"
	"github.com/moorpin/moorpin/lua"
)

// mistake is the exit code for what cobra itself refuses: an unknown command
// or flag, or a wrong number of arguments.
const mistake = 2

const rootHelp = `Moorpin pins the CRD defaults that the API server would add, and drops the
explicit values that a controller is known to drop, so that neither shows as
drift in Argo CD. For what still drifts it says why, who wrote it, what a sync would
do, and the narrowest fix.

Exit codes: 0 fine, 1 found something (only with --check), 2 your mistake,
3 our failure.`

func main() {
	if child.IsChild() {
		os.Exit(child.Serve())
	}
	if worker.IsChild() {
		os.Exit(worker.Child())
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit code. The first SIGINT or
// SIGTERM ends the command's context; a second one kills the process.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	executed, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	return report(errs, executed, err)
}

// rootCommand is the command line, with all commands below it.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "moorpin", Short: "Stops Argo CD Applications from drifting for no reason", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true,
	}
	root.AddCommand(cmp.Command(), extension.Command(), lua.Command(), doctorCommand(), installIntoCommand(), versionCommand())
	return root
}

// report prints the error and returns its exit code. An error without one
// never reached a command of ours: cobra refused the command line.
func report(errs io.Writer, executed *cobra.Command, err error) int {
	coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err)
	if ok {
		complainf(errs, "moorpin: %v\n", err)
		return coded.ExitCode()
	}
	complainf(errs, "moorpin: %v\nSee `%s --help`.\n", err, executed.CommandPath())
	return mistake
}

// complainf prints to standard error; when even that is gone, the exit code is
// all that is left to say.
func complainf(errs io.Writer, format string, values ...any) {
	_, _ = fmt.Fprintf(errs, format, values...)
}
