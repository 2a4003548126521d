package cmp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/moorpin/moorpin/pkg/pin"
)

const pinHelp = `Read objects, pin the CRD defaults that the API server would add, drop the
explicit values that a controller is known to drop, and write all objects, in
their order, to standard output.

FILE is a file, a folder (its .yaml, .yml and .json files, sub-folders too) or -,
the standard input. Schemas come from CRDs among the objects, else from the
cluster of --kubeconfig, else from --crds. An object without a schema gets no
defaults, with a warning on standard error; what the table of dropped values lists
is dropped all the same.

Exit codes: 0 fine, 1 something would be changed (only with --check), 2 your
mistake, 3 our failure.`

const pinExample = `  # pin what Helm renders, with the CRDs of a folder
  helm template . | moorpin cmp pin --crds ./crds -

  # say what would be pinned and dropped, and fail when there is anything
  moorpin cmp pin --kubeconfig ~/.kube/config --explain --check ./manifests >/dev/null`

func pinCommand() *cobra.Command {
	var p pinning
	var o output
	command := &cobra.Command{
		Use: "pin FILE...", Short: "Pin the objects of files or of standard input",
		Long: pinHelp + "\n\n" + explainHelp + "\n\n" + rulesHelp, Example: pinExample, Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no FILE is named; use - for standard input")
			}
			return nil
		},
		RunE: coded(func(command *cobra.Command, args []string) error {
			return runPin(command, args, &p, &o)
		}),
	}
	p.flags(command)
	p.kubeconfigFlag(command, "`FILE` that says how to reach a cluster whose CRDs are used")
	o.flags(command)
	return command
}

func runPin(command *cobra.Command, args []string, p *pinning, o *output) error {
	ctx, errs := command.Context(), command.ErrOrStderr()
	err := o.validate()
	if err != nil {
		return err
	}
	options, err := p.oneShot(ctx, errs)
	if err != nil {
		return err
	}
	objects, err := readObjects(ctx, args, command.InOrStdin())
	if err != nil {
		return err
	}
	results, err := pin.All(ctx, objects, options)
	if err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	return o.write(command.OutOrStdout(), errs, results)
}

// oneShot reads everything that the flags name, for a command that runs once.
func (p *pinning) oneShot(ctx context.Context, errs io.Writer) (pin.Options, error) {
	options, err := p.options(ctx, func(warning string) { _, _ = fmt.Fprintln(errs, "warning:", warning) })
	if err != nil {
		return options, err
	}
	log := slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelError}))
	klog.SetSlogLogger(log) // client-go's retries are not for the user's eyes
	return p.withCluster(ctx, options, log)
}
