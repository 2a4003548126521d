package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/cmp/probe"
	"github.com/moorpin/moorpin/extension"
	"github.com/moorpin/moorpin/extension/ui"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/doctor"
	"github.com/moorpin/moorpin/pkg/kube"
)

const doctorHelp = `Check a live installation from end to end. Each check says ok, warn, fail or unknown,
a sentence, and for what is not well the exact remedy. Nothing is changed.

Each source that is named adds checks; what cannot be looked at is unknown, with the
reason:

  --kubeconfig       the cluster that Argo CD runs in: settings, Deployments, Services,
                     the Secret that argocd-server sends
  --server           argocd-server: whether it serves the pages, and whether a call
                     reaches the backend, asked with the token's own rights about the
                     first Application that it sees, or about --application
  --socket           the plugin's socket, from inside the sidecar
  --sidecar-metrics  what the sidecar says of its CRDs

In Argo CD's namespace, --kubeconfig needs get on the ConfigMaps argocd-cm,
argocd-cmd-params-cm and argocd-rbac-cm and on the Secret that the extension refers to,
and list on Deployments, Pods, Services and Applications. A right that is missing is
named. The value of a Secret is measured, and never shown.

Exit codes: 0 fine, 1 a check warns or fails (only with --check), 2 your mistake, 3 our
failure.`

const doctorExample = `  moorpin doctor --kubeconfig ~/.kube/config
  ARGOCD_AUTH_TOKEN=... moorpin doctor --kubeconfig ~/.kube/config --server cd.example.com

  # in the sidecar
  moorpin doctor --socket /home/argocd/cmp-server/plugins/moorpin.sock --sidecar-metrics http://127.0.0.1:8085/metrics

  # in a pipeline, where discovery is on by intent
  moorpin doctor --in-cluster --check --skip discovery -o json`

// mostMetrics bounds what is read of the sidecar's metrics.
const mostMetrics = 8 << 20

// examining holds the flags of doctor.
type examining struct {
	connection  extension.Connection
	kubeconfig  string
	inCluster   bool
	namespace   string
	socket      string
	metrics     string
	application string
	format      string
	skip        []string
	check       bool
	timeout     time.Duration
}

func doctorCommand() *cobra.Command {
	var e examining
	command := &cobra.Command{
		Use: "doctor", Short: "Check a live installation from end to end",
		Long: doctorHelp, Example: doctorExample, Args: cobra.NoArgs,
		RunE: cli.Coded(func(command *cobra.Command, _ []string) error {
			return e.run(command.Context(), command.OutOrStdout())
		}, func(error) bool { return false }),
	}
	flags := command.Flags()
	flags.StringVar(&e.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the cluster that Argo CD runs in")
	flags.BoolVar(&e.inCluster, "in-cluster", false, "reach that cluster by the pod's service account")
	flags.StringVarP(&e.namespace, "namespace", "n", "argocd", "`NAMESPACE` of Argo CD")
	flags.StringVar(&e.socket, "socket", "", "`PATH` of the plugin's socket")
	flags.StringVar(&e.metrics, "sidecar-metrics", "", "`URL` of the sidecar's metrics, such as http://127.0.0.1:8085/metrics")
	e.connection.Flags(flags)
	flags.StringVar(&e.application, "application", "", "`APP` to ask the backend about, NAME or NAMESPACE/NAME (default the first that the token sees)")
	flags.StringSliceVar(&e.skip, "skip", nil, "`CHECKS` to leave out: "+strings.Join(doctor.Checks(), ", "))
	flags.StringVarP(&e.format, "output", "o", textFormat, "text or json")
	flags.BoolVar(&e.check, "check", false, "exit with 1 when a check warns or fails")
	flags.DurationVar(&e.timeout, "timeout", time.Minute, "give up after this time")
	return command
}

// run gathers from the sources that are named, judges and prints.
func (e *examining) run(ctx context.Context, out io.Writer) error {
	sources, err := e.sources()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	report := doctor.Examine(doctor.Gather(ctx, sources), e.skip...)
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return fmt.Errorf("examine: %w", err)
	}
	text := report.Text()
	if e.format == jsonFormat {
		encoded, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return fmt.Errorf("encode report: %w", err)
		}
		text = string(encoded) + "\n"
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if e.check && !report.Well() {
		return cli.Found(fmt.Errorf("--check: %d checks fail and %d warn", report.Counts[doctor.Fail], report.Counts[doctor.Warn]))
	}
	return nil
}

// sources are those that the flags name.
func (e *examining) sources() (doctor.Sources, error) {
	sources := doctor.Sources{Namespace: e.namespace, Version: ownVersion(), Bundle: ui.Bundle(), Now: time.Now}
	if err := e.validate(); err != nil {
		return sources, cli.Mistake(err)
	}
	if e.application != "" {
		ref, err := argocd.ParseRef(e.application)
		if err != nil {
			return sources, cli.Mistake(fmt.Errorf("--application: %w", err))
		}
		sources.Application = ref
	}
	if e.kubeconfig != "" || e.inCluster {
		config, err := kube.Config(e.kubeconfig)
		if err != nil {
			return sources, cli.Mistake(fmt.Errorf("--kubeconfig: %w", err))
		}
		config.Timeout = e.timeout / 4 // so that one dead source leaves time for the others
		objects, err := kube.NewObjects(config)
		if err != nil {
			return sources, cli.Mistake(fmt.Errorf("--kubeconfig: %w", err))
		}
		sources.Cluster = objects
	}
	if e.connection.Named() {
		client, err := e.connection.Client()
		if err != nil {
			return sources, err //nolint:wrapcheck // it names the flag
		}
		sources.Server = client
		sources.Applications = func(ctx context.Context) iter.Seq2[map[string]any, error] { return client.AllApplications(ctx, "") }
	}
	if e.socket != "" {
		sources.Socket = func(ctx context.Context) (doctor.Plugin, error) {
			found, err := probe.Socket(ctx, e.socket)
			return doctor.Plugin(found), err
		}
	}
	if e.metrics != "" {
		sources.Metrics = func(ctx context.Context) (string, error) { return fetch(ctx, e.metrics) }
	}
	return sources, nil
}

// validate finds the user's mistakes before anything is asked.
func (e *examining) validate() error {
	switch {
	case e.kubeconfig != "" && e.inCluster:
		return errors.New("--kubeconfig and --in-cluster: give one of them")
	case e.format != textFormat && e.format != jsonFormat:
		return fmt.Errorf("--output: %q is not known; use text or json", e.format)
	case e.timeout <= 0:
		return errors.New("--timeout must be more than nothing")
	case cmp.Or(e.kubeconfig, e.socket, e.metrics) == "" && !e.inCluster && !e.connection.Named():
		return errors.New("name what to look at: --kubeconfig, --in-cluster, --server, --socket or --sidecar-metrics")
	}
	for _, id := range e.skip {
		if !slices.Contains(doctor.Checks(), id) {
			return fmt.Errorf("--skip: there is no check %q; there are %s", id, strings.Join(doctor.Checks(), ", "))
		}
	}
	return nil
}

// ownVersion is that of this binary, as the backend tells its own.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}

// fetch reads a text.
func fetch(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("read metrics: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("read metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // only read from
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("read metrics: %s answers %s", response.Request.URL.Redacted(), response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, mostMetrics))
	if err != nil {
		return "", fmt.Errorf("read metrics: %w", err)
	}
	return string(text), nil
}
