package lua

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/lua/install"
	"github.com/moorpin/moorpin/lua/overrides"
	"github.com/moorpin/moorpin/pkg/cli"
)

const installHelp = `Prove the checks of a folder, as "moorpin lua verify" does, and put them into the
live argocd-cm by server-side apply, as the field manager ` + install.Manager + `. Without --yes
the difference is shown and nothing is written.

The checks of DIR are the whole set: what an earlier install wrote and DIR no longer
holds is taken away; --uninstall takes away all of it, and nothing else. Installing
twice changes nothing.

Left alone, with a sentence on standard error, are keys that another field manager
owns, kinds that another check of argocd-cm covers (in resource.customizations or by
a wildcard), and kinds that Argo CD checks by itself; --take-over names those to
write all the same, and --uninstall does not bring back what stood there. Nothing at all is written when a check does not prove right, when
Argo CD could not load the ConfigMap, or when it would hold more than 1 MiB.

Needs the verbs get and patch on argocd-cm. Argo CD computes the health of everything
anew after each change of a check, so there is one write for all of them.

Exit codes: 0 fine, 1 there is something to write (only with --check), 2 your
mistake, 3 our failure.`

const installExample = `  moorpin lua install ./checks --kubeconfig ~/.kube/config
  moorpin lua install ./checks --kubeconfig ~/.kube/config --yes
  moorpin lua install --uninstall --kubeconfig ~/.kube/config --yes`

// installing holds the flags of install.
type installing struct {
	settings  settings
	takeOver  []string
	uninstall bool
	yes       bool
	check     bool
}

func installCommand() *cobra.Command {
	var i installing
	command := &cobra.Command{
		Use: "install DIR", Short: "Put proven checks into argocd-cm, or take them out again", Long: installHelp, Example: installExample,
		Args: cobra.MaximumNArgs(1), RunE: coded(i.run),
	}
	flags := command.Flags()
	i.settings.flags(flags)
	flags.StringSliceVar(&i.takeOver, "take-over", nil, "`KINDS`, as group_Kind, to write although something else has a say in them")
	flags.BoolVar(&i.uninstall, "uninstall", false, "take away every check that install wrote, and nothing else")
	flags.BoolVar(&i.yes, "yes", false, "write; otherwise only the difference is shown")
	flags.BoolVar(&i.check, "check", false, "exit with 1 when there is something to write, and write nothing")
	return command
}

func (i *installing) run(command *cobra.Command, args []string) error {
	ctx := command.Context()
	checks, err := i.checks(ctx, args)
	if err != nil {
		return err
	}
	from, err := connect(i.settings.kubeconfig)
	if err != nil {
		return err
	}
	live, err := i.settings.settingsMap(ctx, from)
	if err != nil {
		return err
	}
	plan, err := install.New(live, checks, install.Options{TakeOver: i.takeOver})
	if err != nil {
		return cli.Mistake(fmt.Errorf("plan the installation: %w", err))
	}
	if err := show(command, plan); err != nil {
		return err
	}
	switch {
	case plan.Empty():
		return nil
	case i.check:
		return cli.Found(errors.New("--check: there is something to write"))
	case !i.yes:
		_, err = fmt.Fprintln(command.OutOrStdout(), "nothing is written; --yes writes it")
		return err //nolint:wrapcheck // a pipe that nobody reads
	}
	if err := plan.Write(ctx, from.maps); err != nil {
		return err //nolint:wrapcheck // it names the step
	}
	_, err = fmt.Fprintln(command.OutOrStdout(), "written")
	return err //nolint:wrapcheck // the same
}

// checks reads and proves what is to be installed.
func (i *installing) checks(ctx context.Context, args []string) ([]install.Check, error) {
	switch {
	case i.uninstall && len(args) > 0:
		return nil, cli.Mistake(errors.New("--uninstall: takes away everything; name no DIR with it"))
	case i.uninstall:
		return []install.Check{}, nil
	case len(args) == 0:
		return nil, cli.Mistake(errors.New("name the DIR that \"moorpin lua generate\" wrote, or --uninstall"))
	case i.yes && i.check:
		return nil, cli.Mistake(errors.New("--check writes nothing; give --yes or --check"))
	}
	found, err := readChecks(ctx, args[0], false)
	if err != nil {
		return nil, err
	}
	checks := make([]install.Check, 0, len(found))
	for _, one := range found {
		if one.err != nil {
			return nil, cli.Mistake(fmt.Errorf("%s is not proven, so nothing is installed: %w", overrides.Name(one.kind), one.err))
		}
		checks = append(checks, install.Check{Kind: one.kind, Script: one.suite.Script})
	}
	return checks, nil
}

func show(command *cobra.Command, plan install.Plan) error {
	for _, refusal := range plan.Refusals {
		_, _ = fmt.Fprintln(command.ErrOrStderr(), inert(refusal.String())) // the plan counts, not the talk about it
	}
	warn(command.ErrOrStderr(), plan.Warnings...)
	diff, err := plan.Diff()
	if err != nil {
		return fmt.Errorf("show the difference: %w", err)
	}
	if _, err := fmt.Fprintf(command.OutOrStdout(), "%s%s\n", diff, plan.Summary()); err != nil {
		return fmt.Errorf("show the difference: %w", err)
	}
	return nil
}
