package lua

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/lua/gaps"
	"github.com/moorpin/moorpin/lua/overrides"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
)

const gapsHelp = `Say of which kinds Argo CD ` + gaps.Version + ` knows no health, and what checks the others: a script or
code of Argo CD itself, or a check in argocd-cm, which may hide one of Argo CD.

The kinds are those of the CRDs that --crds names, else of the CRDs of the cluster;
with --argocd-cm alone those that it has checks for. Of a cluster, argocd-cm is
read, too, and for each gap is said how many objects it hides and which Applications
sync such objects before a later wave or a hook, without waiting for them. That
needs the verbs get on argocd-cm and list on CRDs, Applications and the kinds.

Exit codes: 0 fine, 1 there is a gap (only with --check), 2 your mistake, 3 our
failure.`

const gapsExample = `  # a cluster
  moorpin lua gaps --kubeconfig ~/.kube/config

  # a pipeline that must not add a kind without a check
  moorpin lua gaps --crds ./crds --argocd-cm argocd-cm.yaml --check`

// gapping holds the flags of gaps.
type gapping struct {
	settings settings
	crds     []string
	file     string
	format   string
	all      bool
	check    bool
}

func gapsCommand() *cobra.Command {
	var g gapping
	command := &cobra.Command{
		Use: "gaps", Short: "Say of which kinds Argo CD knows no health", Long: gapsHelp, Example: gapsExample,
		Args: cobra.NoArgs, RunE: coded(func(command *cobra.Command, _ []string) error { return g.run(command) }),
	}
	flags := command.Flags()
	g.settings.flags(flags)
	flags.StringArrayVar(&g.crds, "crds", nil, crdsHelp)
	flags.StringVar(&g.file, "argocd-cm", "", "`FILE` with the ConfigMap argocd-cm, or - (default that of the cluster, where one is asked)")
	flags.BoolVarP(&g.all, "all", "a", false, "list the kinds that have a check, too")
	flags.StringVarP(&g.format, "output", "o", "text", "`FORMAT` of the list: text or json")
	flags.BoolVar(&g.check, "check", false, "exit with 1 when there is a gap")
	return command
}

func (g *gapping) run(command *cobra.Command) error {
	if g.format != "text" && g.format != "json" {
		return cli.Mistake(fmt.Errorf("--output: %q is not known; use text or json", g.format))
	}
	ctx, errs := command.Context(), command.ErrOrStderr()
	from, err := g.cluster()
	if err != nil {
		return err
	}
	checks, err := g.checks(command, from)
	if err != nil {
		return err
	}
	kinds, passed, err := g.kinds(ctx, checks, from)
	if err != nil {
		return err
	}
	warn(errs, passed...)
	rows := gaps.Find(kinds, checks)
	if from.there() {
		warnings, err := gaps.Census(ctx, from, rows)
		if err != nil {
			return fmt.Errorf("ask the cluster: %w", err)
		}
		warn(errs, warnings...)
	}
	if err := g.write(command.OutOrStdout(), rows); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	count := gaps.Count(rows)
	switch {
	case g.check && len(passed) > 0:
		return cli.Mistake(errors.New("--check: what was passed over, see the warnings, may hold kinds without a health check"))
	case g.check && count > 0:
		return cli.Found(fmt.Errorf("--check: %d kinds have no health check; \"moorpin lua generate\" writes them", count))
	}
	return nil
}

// cluster is none where all that is wanted is in files.
func (g *gapping) cluster() (cluster, error) {
	if g.settings.kubeconfig == "" && (len(g.crds) > 0 || g.file != "") {
		return cluster{}, nil
	}
	return connect(g.settings.kubeconfig)
}

func (g *gapping) checks(command *cobra.Command, from cluster) (overrides.Set, error) {
	var found map[string]any
	var err error
	switch {
	case g.file != "":
		found, err = readSettings(command.Context(), g.file, command.InOrStdin())
	case from.there():
		found, err = g.settings.settingsMap(command.Context(), from)
	}
	if err != nil {
		return overrides.Set{}, err
	}
	data, err := dataOf(found)
	if err != nil {
		return overrides.Set{}, err
	}
	return overrides.Parse(data) //nolint:wrapcheck // it names argocd-cm and the key
}

// kinds returns the kinds to look at, and a sentence for each file or CRD that had to be
// passed over. That there is none at all is an error: nothing was looked at.
func (g *gapping) kinds(ctx context.Context, checks overrides.Set, from cluster) (kinds []schema.GroupKind, passed []string, err error) {
	if len(g.crds) == 0 && !from.there() {
		return checks.Kinds(), nil, nil
	}
	crds, passed, err := readCRDs(ctx, g.crds, from)
	if err != nil {
		return nil, nil, err
	}
	for _, crd := range crds {
		kind, err := kindOf(crd)
		if err != nil {
			passed = append(passed, err.Error())
			continue
		}
		kinds = append(kinds, kind)
	}
	if len(kinds) == 0 && len(g.crds) > 0 {
		return nil, nil, cli.Mistake(errors.Join(errors.New("--crds: no CRD is there"), errors.New(strings.Join(passed, "\n"))))
	}
	return kinds, passed, nil
}

var errNoKind = errors.New("spec.group and spec.names.kind must be there")

func kindOf(crd manifest.Object) (schema.GroupKind, error) {
	group, _, _ := unstructured.NestedString(crd.Content, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Content, "spec", "names", "kind")
	if group == "" || kind == "" {
		return schema.GroupKind{}, fmt.Errorf("%s: %w", crd.Origin, errNoKind)
	}
	return schema.GroupKind{Group: group, Kind: kind}, nil
}

func (g *gapping) write(to io.Writer, rows []gaps.Row) error {
	shown := []gaps.Row{}
	for _, row := range rows {
		if g.all || row.State == gaps.Gap || row.Hides {
			shown = append(shown, row)
		}
	}
	if g.format == "json" {
		encoder := json.NewEncoder(to)
		encoder.SetIndent("", "  ")
		return encoder.Encode(shown) //nolint:wrapcheck // run names the step
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	text := &strings.Builder{}
	if len(shown) > 0 {
		text.WriteString("KIND\tGROUP\tOBJECTS\tCHECK\tNOTE\n")
	}
	for _, row := range shown {
		objects := "-"
		if row.Objects != nil {
			objects = fmt.Sprint(*row.Objects)
		}
		fmt.Fprintf(text, "%s\t%s\t%s\t%s\t%s\n", inert(row.Kind), inert(row.Group), objects, checkName(row), note(row))
	}
	fmt.Fprintf(text, "%d of %d kinds have no health check\n", gaps.Count(rows), len(rows))
	if _, err := io.WriteString(table, text.String()); err != nil {
		return err //nolint:wrapcheck // run names the step
	}
	return table.Flush() //nolint:wrapcheck // run names the step
}

func checkName(row gaps.Row) string {
	if row.State == gaps.Gap {
		return "none"
	}
	return inert(row.Check)
}

func note(row gaps.Row) string {
	var notes []string
	if row.Hides {
		notes = append(notes, "hides Argo CD's own check")
	}
	if row.Later != "" {
		notes = append(notes, "Argo CD "+row.Later+" checks it")
	}
	if len(row.Waves) > 0 {
		notes = append(notes, "no wave waits for it in "+inert(strings.Join(row.Waves, ", ")))
	}
	return strings.Join(notes, "; ")
}
