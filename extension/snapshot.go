package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/kube"
)

const snapshotHelp = `Collect an Application from a live Argo CD: what Git renders, what the cluster
holds, the objects and events that help to explain the difference, and the settings
that decide it. "moorpin extension classify" explains the file, here or elsewhere.

APP is a name, or namespace/name. A token with the right "applications, get" is
enough; with "projects, get" the snapshot holds the AppProject too. With --kubeconfig
it also holds what Argo CD's API does not give: the CRDs of custom kinds, webhook
configurations, autoscalers, Jobs, Pods and Events of the destination's namespaces.
What cannot be had is left out, with a warning on standard error.

With --dry-run the destination's API server is asked, too, what a sync would do to
each resource that is missing or OutOfSync: the request of Argo CD's sync, sent as a
dry run, which writes nothing. The kubeconfig's user needs the verb patch on those
resources, and create for missing ones; the reads above need get and list. Admission
webhooks are called. Not asked about are hooks, resources to prune, and what a dry
run cannot show as a sync does it: Secrets, RBAC, Replace=true, live objects under
RespectIgnoreDifferences=true, and objects whose CRD the same sync changes.

The values of Secrets are masked: equal ones of a key stay equal, that is all they
say. Of other Applications nothing but a name is read. Read a snapshot before you
give it away all the same: environment variables and ConfigMaps are as they are.`

const snapshotExample = `  # with the session of the argocd CLI
  argocd login cd.example.com && moorpin extension snapshot shop -o shop.json

  # in a pipeline
  ARGOCD_SERVER=cd.example.com ARGOCD_AUTH_TOKEN=... moorpin extension snapshot team/shop

  # ask the destination what a sync would do, without doing it
  moorpin extension snapshot shop --kubeconfig ~/.kube/config --dry-run -o shop.json`

// snapshotting holds the flags of snapshot.
type snapshotting struct {
	connection connection
	namespace  string
	kubeconfig string
	file       string
	compared   bool
	dryRun     bool
	timeout    time.Duration
}

func snapshotCommand() *cobra.Command {
	var s snapshotting
	command := &cobra.Command{
		Use: "snapshot APP", Short: "Collect an Application from a live Argo CD in one file",
		Long: snapshotHelp, Example: snapshotExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one APP")
			}
			return nil
		},
		RunE: coded(func(command *cobra.Command, args []string) error { return s.run(command, args[0]) }),
	}
	flags := command.Flags()
	s.connection.flags(flags)
	flags.StringVarP(&s.namespace, "app-namespace", "N", "", "`NAMESPACE` of the Application")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the destination cluster, for objects that Argo CD's API does not give")
	flags.BoolVar(&s.compared, "compared", true, "keep the two documents that Argo CD compared, for each resource")
	flags.BoolVar(&s.dryRun, "dry-run", false, "ask the destination cluster what a sync would do, without doing it; needs --kubeconfig and the verbs patch and create")
	flags.StringVarP(&s.file, "output", "o", "-", "`FILE` to write, YAML where its name ends so, else JSON; - is standard output")
	flags.DurationVar(&s.timeout, "timeout", 2*time.Minute, "give up after this time")
	return command
}

func (s *snapshotting) run(command *cobra.Command, name string) error {
	ref, err := s.ref(name)
	if err != nil {
		return err
	}
	client, err := s.connection.client()
	if err != nil {
		return err
	}
	options, err := s.options()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(command.Context(), s.timeout)
	defer cancel()
	snapshot, warnings, err := report.Collect(ctx, client, ref, options)
	if err != nil {
		return explained(err)
	}
	for _, warning := range warnings {
		_, _ = fmt.Fprintln(command.ErrOrStderr(), "warning:", warning) // the snapshot counts, not the talk about it
	}
	return s.write(command.OutOrStdout(), snapshot)
}

// options say how to collect; a destination cluster is there only with a kubeconfig.
func (s *snapshotting) options() (report.Options, error) {
	options := report.Options{Now: time.Now, Compared: s.compared}
	if s.kubeconfig == "" {
		if s.dryRun {
			return options, cli.Mistake(errors.New("--dry-run: name the destination cluster with --kubeconfig"))
		}
		return options, nil
	}
	objects, err := cluster(s.kubeconfig)
	if err != nil {
		return options, err
	}
	options.Cluster = objects
	if s.dryRun {
		options.DryRun = objects
	}
	return options, nil
}

func (s *snapshotting) ref(name string) (argocd.Ref, error) {
	if strings.Count(name, "/") > 1 {
		return argocd.Ref{}, cli.Mistake(fmt.Errorf("%q: APP is NAME or NAMESPACE/NAME", name))
	}
	ref, err := argocd.ParseRef(name)
	if err != nil {
		return ref, cli.Mistake(err)
	}
	if s.namespace != "" {
		if ref.Namespace != "" && ref.Namespace != s.namespace {
			return ref, cli.Mistake(fmt.Errorf("--app-namespace: %s is not the namespace in %q; give one of them", s.namespace, name))
		}
		ref.Namespace = s.namespace
	}
	return ref, nil
}

func cluster(kubeconfig string) (*kube.Objects, error) {
	config, err := kube.Config(kubeconfig)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--kubeconfig: %w", err))
	}
	objects, err := kube.NewObjects(config)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--kubeconfig: %w", err))
	}
	return objects, nil
}

func (s *snapshotting) write(out io.Writer, snapshot *drift.Snapshot) error {
	text, err := encode(snapshot, filepath.Ext(s.file))
	if err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	if s.file == "-" {
		_, err = out.Write(text)
	} else {
		// What an Application holds is not for everybody on this machine.
		err = os.WriteFile(s.file, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

func encode(snapshot *drift.Snapshot, suffix string) ([]byte, error) {
	if suffix == ".yaml" || suffix == ".yml" {
		return yaml.Marshal(snapshot) //nolint:wrapcheck // write names the step
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(snapshot)
	return text.Bytes(), err
}
