package lua

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/lua/overrides"
	"github.com/moorpin/moorpin/lua/verify"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/health"
)

const verifyHelp = `Run the checks of a folder in Argo CD's own Lua VM on the cases of their suites:

  <group>/<Kind>/health.lua
  <group>/<Kind>/health_test.yaml   tests: [{inputPath: testdata/a.yaml,
                                             healthStatus: {status: Healthy, message: ok}}]
  <group>/<Kind>/testdata/a.yaml

at any depth, as in Argo CD's repository and as "moorpin lua generate" writes them
into suite. Each object is then broken in many places, one at a time. A check that does
not answer each of them with a status that Argo CD knows is called fragile: a sync waits
while its object looks like that. "moorpin lua install" takes no fragile check. Where
there are scripts at the top, <group>_<Kind>.lua, each must be that of its suite, and
each suite must have one.

Scripts run as those of an argocd-cm do, without Lua's string and math libraries,
unless --open-libs is given; a kind that needs them also needs the key
resource.customizations.useOpenLibs.<group>_<Kind>.

Exit codes: 0 fine, 2 your mistake: a check fails a case, or, with --strict, is fragile,
3 our failure.`

// verifying holds the flags of verify.
type verifying struct {
	kubeconfig string
	live       bool
	openLibs   bool
	strict     bool
}

func verifyCommand() *cobra.Command {
	var v verifying
	command := &cobra.Command{
		Use: "verify DIR", Short: "Prove the checks of a folder in Argo CD's own Lua VM", Long: verifyHelp,
		Example: `  moorpin lua verify ./checks

  # and on the objects of a cluster
  moorpin lua verify ./checks --live --kubeconfig ~/.kube/config`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one DIR")
			}
			return nil
		},
		RunE: coded(func(command *cobra.Command, args []string) error { return v.run(command, args[0]) }),
	}
	flags := command.Flags()
	flags.BoolVar(&v.live, "live", false, "run each check on the cluster's objects, too; needs the verb list")
	flags.StringVar(&v.kubeconfig, "kubeconfig", "", kubeconfigHelp)
	flags.BoolVar(&v.strict, "strict", false, "fail for fragile checks, too")
	flags.BoolVar(&v.openLibs, "open-libs", false, "run the scripts with Lua's libraries open")
	return command
}

func (v *verifying) run(command *cobra.Command, dir string) error {
	ctx := command.Context()
	found, err := readChecks(ctx, dir, v.openLibs)
	if err != nil {
		return err
	}
	if v.live {
		from, err := connect(v.kubeconfig)
		if err != nil {
			return err
		}
		for i := range found {
			if found[i].err == nil || found[i].fragile() {
				script := verify.Script{Text: found[i].suite.Script, OpenLibs: v.openLibs}
				found[i].live = try(ctx, from, found[i].kind, func(object map[string]any) (health.Status, error) {
					return script.Run(ctx, object)
				})
			}
		}
	}
	failed := 0
	for _, one := range found {
		line, fine := v.verdict(one)
		if !fine {
			failed++
		}
		if _, err := fmt.Fprintln(command.OutOrStdout(), inert(line)); err != nil {
			return fmt.Errorf("write the verdict: %w", err)
		}
	}
	if failed > 0 {
		return cli.Mistake(fmt.Errorf("%d of %d checks do not prove right", failed, len(found)))
	}
	return nil
}

// verdict is a line on one check, and whether it passes.
func (v *verifying) verdict(one checked) (string, bool) {
	name := overrides.Name(one.kind)
	if len(one.live.problems) > 0 { // only checks that pass their cases are tried
		one.err = errors.New(one.live.problems[0])
	}
	switch {
	case one.fragile():
		return fmt.Sprintf("fragile %s, %d cases: %v", name, len(one.suite.Tests), one.err), !v.strict
	case one.err != nil:
		return fmt.Sprintf("FAILED %s: %v", name, one.err), false
	case one.live.tried:
		return fmt.Sprintf("ok %s, %d cases, live: %s", name, len(one.suite.Tests), one.live), true
	}
	return fmt.Sprintf("ok %s, %d cases", name, len(one.suite.Tests)), true
}
