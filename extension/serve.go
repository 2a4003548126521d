package extension

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/extension/worker"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/cli"
)

// serving holds the flags of serve.
type serving struct {
	connection connection
	listening  listening
	bounds     bounds
	scanning   scanning

	secrets    []string
	namespaces []string
	home       string
	kubeconfig string
	inCluster  bool

	logFormat, logLevel string
}

func serveCommand() *cobra.Command {
	var s serving
	command := &cobra.Command{
		Use: "serve", Short: "Serve the Drift page of Argo CD's UI",
		Long: serveHelp, Example: serveExample, Args: cobra.NoArgs,
		RunE: coded(func(command *cobra.Command, _ []string) error {
			s.scanning.given = command.Flags().Changed("scan")
			return s.run(command.Context(), command.ErrOrStderr())
		}),
	}
	flags := command.Flags()
	s.listening.flags(flags)
	flags.StringArrayVar(&s.secrets, "secret-file", nil, "`FILE` with the secret that Argo CD's API server sends; given twice, either is accepted; read again when it changes")
	flags.StringSliceVar(&s.namespaces, "application-namespaces", nil, "`NAMESPACES` of the Applications that may be asked about, with globs, as in application.namespaces of argocd-cmd-params-cm (default Argo CD's own)")
	flags.StringVar(&s.home, "argocd-namespace", "argocd", "`NAMESPACE` of Argo CD")
	s.connection.flagsElse(flags, "; the argocd CLI's session only with --config or --argocd-context")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the cluster that Argo CD runs in, for objects that Argo CD's API does not give; needs a token of Argo CD")
	flags.BoolVar(&s.inCluster, "in-cluster", false, "reach that cluster by the pod's service account")
	s.bounds.flags(flags)
	s.scanning.flags(flags)
	flags.StringVar(&s.logFormat, "log-format", "text", "`FORMAT` of the log: text or json")
	flags.StringVar(&s.logLevel, "log-level", "info", "least `LEVEL` that is logged: debug, info, warn or error")
	return command
}

// run serves until ctx ends.
func (s *serving) run(ctx context.Context, logs io.Writer) error {
	log, err := cli.Logger(logs, s.logFormat, s.logLevel)
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log) // what client-go says
	if err := s.validate(); err != nil {
		return cli.Mistake(err)
	}
	secrets, err := openSecrets(s.secrets, log)
	if err != nil {
		return err
	}
	var client *argocd.Client // none where none is named: snapshots are all that is explained
	if s.named() {
		if s.connection.context == "" && s.connection.config == "" {
			s.connection.config = os.DevNull // nobody's session
		}
		if client, err = s.connection.client(); err != nil {
			return err
		}
	}
	open, err := s.listening.open(ctx, log)
	if err != nil {
		return err
	}
	if s.bounds.workers == 0 {
		s.bounds.workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	pool, err := s.bounds.pool(log)
	if err != nil {
		return errors.Join(err, open.close())
	}
	err = s.answer(ctx, open, parts{client: client, secrets: secrets, pool: pool, log: log})
	return errors.Join(err, pool.Close())
}

// parts are what serving stands on. The client is nil where no Argo CD is named.
type parts struct {
	client  *argocd.Client
	secrets *secretFiles
	pool    *worker.Pool
	log     *slog.Logger
}

// answer serves on the open ports until ctx ends, and until what it started has ended.
func (s *serving) answer(ctx context.Context, open *ports, of parts) error {
	registry, client, secrets, log := newRegistry(), of.client, of.secrets, of.log
	service, err := s.service(of, registry)
	if err != nil {
		return errors.Join(err, open.close())
	}
	ready := func() bool { return !open.shuttingDown.Load() && len(secrets.current()) > 0 }
	app, err := api.New(s.api(api.Options{
		Reporter: service, Secrets: secrets.current, TokenMode: client != nil,
		ArgoCDVersion: version(ctx, client, log), Ready: ready, Logger: log, Registry: registry,
	}))
	if err != nil {
		return errors.Join(cli.Mistake(err), open.close())
	}
	scan, err := s.scanner(backing{client, service}, registry, log)
	if err != nil {
		return errors.Join(err, open.close())
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx)) // until the last request is answered
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { secrets.watch(background, secretsPause) })
	running.Go(func() { scan(ctx) })
	log.Info("starting", "token", client != nil, "namespaces", s.namespaces, "secrets", len(secrets.current()), "scan", s.scanning.interval.String())
	return s.listening.serve(ctx, open, handlers{app: app, metrics: monitoring(registry, ready), timeout: s.bounds.timeout})
}

// validate finds the user's mistakes before any work is done.
func (s *serving) validate() error {
	if s.kubeconfig != "" && s.inCluster {
		return errors.New("--kubeconfig and --in-cluster: give one of them")
	}
	if (s.kubeconfig != "" || s.inCluster) && !s.named() {
		return errors.New("--kubeconfig and --in-cluster help with collecting, which needs an Argo CD: name it with --server and --auth-token-file")
	}
	if s.scanning.interval > 0 && s.scanning.given && !s.named() {
		return errors.New("--scan needs an Argo CD: name it with --server and --auth-token-file")
	}
	return errors.Join(s.listening.validate(), s.bounds.validate(), s.scanning.validate())
}

// named reports whether an Argo CD is named. The session that a person left on this
// machine is none: a server must not act as somebody who once logged in.
func (s *serving) named() bool {
	return cmp.Or(s.connection.server, s.connection.context, s.connection.config, os.Getenv(serverVariable)) != ""
}

// service makes and keeps the reports.
func (s *serving) service(of parts, registry *prometheus.Registry) (*report.Service, error) {
	collect := report.Options{Now: time.Now, Compared: true}
	if s.kubeconfig != "" || s.inCluster {
		objects, err := cluster(s.kubeconfig)
		if err != nil {
			return nil, err
		}
		collect.Cluster, collect.Home = objects, true
	}
	observe, err := api.StepObserver(registry)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the step
	}
	return report.NewService(report.ServiceOptions{
		Client: of.client, Collect: collect, Classifier: of.pool, Fresh: s.bounds.fresh, CacheBytes: int64(s.bounds.cache) << 20,
		Workers: s.bounds.workers, Queue: s.bounds.queue, Timeout: s.bounds.timeout - s.bounds.timeout/10,
		SnapshotMemory: int64(s.bounds.workerMemory) << 20, CollectMemory: int64(s.bounds.collectMemory) << 20, Observe: observe,
	}), nil
}

// api adds to the options what the flags say.
func (s *serving) api(options api.Options) api.Options {
	options.Namespaces, options.ArgoCDNamespace = s.namespaces, s.home
	options.MaxBody, options.Timeout = int64(s.bounds.body)<<20, s.bounds.timeout
	options.PerUser, options.Global = s.bounds.perUser.rate(), s.bounds.global.rate()
	if info, ok := debug.ReadBuildInfo(); ok {
		options.Version = info.Main.Version
	}
	return options
}

// versionPatience is how long the start waits for Argo CD's version, which is only told.
const versionPatience = 5 * time.Second

func version(ctx context.Context, client *argocd.Client, log *slog.Logger) string {
	if client == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	found, err := client.Version(ctx)
	if err != nil {
		log.Warn("Argo CD does not answer yet; requests will ask it again", "error", err)
	}
	return found
}

// newRegistry is one of our own: Argo CD's libraries put their metrics on the default one.
func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// monitoring serves what Prometheus and Kubernetes ask for, without a secret.
func monitoring(registry *prometheus.Registry, ready func() bool) http.Handler {
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	routes.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {}) // who answers is alive
	routes.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			http.Error(w, "shutting down, or without a secret", http.StatusServiceUnavailable)
		}
	})
	return routes
}

// scanner is what scans the fleet in the background, or nothing.
func (s *serving) scanner(from backing, registry prometheus.Registerer, log *slog.Logger) (func(context.Context), error) {
	if from.client == nil || s.scanning.interval == 0 {
		return func(context.Context) {}, nil
	}
	scanner, err := s.scanning.scanner(from, s.allowed(), registry, log)
	if err != nil {
		return nil, fmt.Errorf("prepare the scan: %w", err)
	}
	return scanner.Run, nil
}

// allowed are the namespaces whose Applications may be looked at.
func (s *serving) allowed() []string {
	if len(s.namespaces) > 0 {
		return s.namespaces
	}
	return []string{s.home}
}
