package lua

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/moorpin/moorpin/lua/install"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/health"
)

const generateHelp = `Read CRDs and write a health check for each kind whose schema tells how its health
can be told. Each check is run in Argo CD's own Lua VM on objects made from its
rules, at random and broken ones, and is written only when it proves right.

DIR then holds, for each kind, <group>_<Kind>.lua and, in suite/<group>/<Kind>, the
same check with test objects in the layout of Argo CD's repository; and for all of
them argocd-cm.patch.yaml, which "moorpin lua install" or kustomize puts into
argocd-cm, and report.md and report.html, with the evidence behind each check. The
patch leaves out the kinds that Argo CD checks by itself. A DIR of an earlier run is
replaced, with what people changed in it; any other must be empty.

The grades of evidence, the best first: column (a printer column shows the deciding
field), enum (the schema lists its words or gives its default), convention (fields
that are commonly used). Kinds without any evidence get no check: one that waits
without end is worse than none.

With --live each check is also tried on the cluster's objects of its kind.

Exit codes: 0 fine, 2 your mistake, 3 our failure: a check that does not prove right
is one, and is not written.`

const generateExample = `  moorpin lua generate --crds ./crds --out ./checks

  # the CRDs of a cluster, tried on its objects; without guesses by convention
  moorpin lua generate --kubeconfig ~/.kube/config --live --min-grade enum --out ./checks`

// grades are the --min-grade values, the best first.
var grades = []health.Grade{health.Column, health.Enum, health.Convention}

// generating holds the flags of generate.
type generating struct {
	crds       []string
	kubeconfig string
	live       bool
	minGrade   string
	readyFalse string
	out        string
}

func generateCommand() *cobra.Command {
	var g generating
	command := &cobra.Command{
		Use: "generate --out DIR", Short: "Write proven health checks for the kinds of CRDs", Long: generateHelp, Example: generateExample,
		Args: cobra.NoArgs, RunE: coded(func(command *cobra.Command, _ []string) error { return g.run(command) }),
	}
	flags := command.Flags()
	flags.StringArrayVar(&g.crds, "crds", nil, crdsHelp+" (default the CRDs of the cluster)")
	flags.StringVar(&g.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach a cluster")
	flags.BoolVar(&g.live, "live", false, "try each check on the cluster's objects, too; needs --kubeconfig and the verb list")
	flags.StringVar(&g.minGrade, "min-grade", string(health.Convention), "least `GRADE` of evidence: column, enum or convention")
	flags.StringVar(&g.readyFalse, "ready-false", string(health.ByReason), "what a needed condition that is False `MEANS`: reason (its reason tells), degraded or progressing")
	flags.StringVar(&g.out, "out", "", "`DIR` to write to")
	return command
}

func (g *generating) run(command *cobra.Command) error {
	ctx, errs := command.Context(), command.ErrOrStderr()
	if err := g.validate(); err != nil {
		return err
	}
	if err := checkOut(g.out); err != nil {
		return err
	}
	var from cluster
	if g.kubeconfig != "" {
		var err error
		if from, err = connect(g.kubeconfig); err != nil {
			return err
		}
	}
	crds, warnings, err := readCRDs(ctx, g.crds, from)
	if err != nil {
		return err
	}
	warn(errs, warnings...)
	sources, refused := distinct(crds)
	if len(sources)+len(refused) == 0 {
		return cli.Mistake(errors.New("no CRD was read; name files or folders that hold some with --crds"))
	}
	results, err := g.all(ctx, sources)
	if err != nil {
		return err
	}
	results = append(results, refused...)
	slices.SortFunc(results, compareResults)
	if g.live {
		tryLive(ctx, from, results)
	}
	if err := writeOut(g.out, results); err != nil {
		return fmt.Errorf("write %s: %w", g.out, err)
	}
	warn(errs, tooMuch(results)...)
	return sayResults(command.OutOrStdout(), errs, results)
}

func (g *generating) validate() error {
	if !slices.Contains(grades, health.Grade(g.minGrade)) {
		return cli.Mistake(fmt.Errorf("--min-grade: %q is not known; use column, enum or convention", g.minGrade))
	}
	known := []health.ReadyFalse{health.ByReason, health.AlwaysDegraded, health.AlwaysProgressing}
	if !slices.Contains(known, health.ReadyFalse(g.readyFalse)) {
		return cli.Mistake(fmt.Errorf("--ready-false: %q is not known; use reason, degraded or progressing", g.readyFalse))
	}
	if g.out == "" {
		return cli.Mistake(errors.New("--out: name a folder to write to"))
	}
	if g.live && g.kubeconfig == "" {
		return cli.Mistake(errors.New("--live: name the cluster with --kubeconfig"))
	}
	return nil
}

// all makes the checks and then proves them, on all cores. CRDs are large: they are no
// longer held while the scripts run.
func (g *generating) all(ctx context.Context, sources []source) ([]result, error) {
	results := make([]result, 0, len(sources))
	for _, from := range sources {
		results = append(results, g.derive(from))
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range results {
		group.Go(func() error { return results[i].prove(ctx) })
	}
	err := group.Wait()
	return results, err //nolint:wrapcheck // prove has said what it did
}

// tooMuch says so when the checks of the patch do not fit into a ConfigMap.
func tooMuch(results []result) []string {
	bytes := 0
	for _, check := range patchChecks(results) {
		bytes += len(check.Script)
	}
	if bytes <= install.MaxBytes {
		return nil
	}
	return []string{fmt.Sprintf("the checks in %s hold %d bytes, and argocd-cm can hold %d: name with --crds only the CRDs of kinds that you use, or raise --min-grade", patchFile, bytes, install.MaxBytes)}
}

// sayResults sums up on standard output; what is not right goes to standard error.
func sayResults(out, errs io.Writer, results []result) error {
	counts := map[outcome]int{}
	var failed error
	for _, one := range results {
		counts[one.outcome]++
		switch one.outcome {
		case refused:
			warn(errs, one.name()+": "+one.why)
		case disproven:
			failed = errors.Join(failed, fmt.Errorf("the check for %s does not prove right and is not written: %s", one.name(), one.why))
		case written, abstained:
		}
		for _, problem := range one.live.problems {
			warn(errs, one.name()+": "+problem)
		}
	}
	_, err := fmt.Fprintf(out, "%d checks written, %d kinds without evidence, %d refused, %d not proven\n",
		counts[written], counts[abstained], counts[refused], counts[disproven])
	if err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return failed
}
