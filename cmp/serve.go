package cmp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/argoproj/argo-cd/v2/common"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/cmp/server"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/confine"
	"github.com/moorpin/moorpin/pkg/kube"
	"github.com/moorpin/moorpin/pkg/schema"
)

// serving holds the flags of serve.
type serving struct {
	pinning
	rendering

	name, version, socket, workDir string
	live                           string
	liveWait, grace                time.Duration
	discovery                      bool
	queue                          int
	metricsAddress                 string
	logFormat, logLevel            string
	limits                         receive.Limits
}

func serveCommand() *cobra.Command {
	var s serving
	command := &cobra.Command{
		Use: "serve", Short: "Serve Argo CD's repo-server on the plugin socket",
		Long: serveHelp + "\n\n" + rulesHelp, Example: serveExample, Args: cobra.NoArgs,
		RunE: coded(func(command *cobra.Command, _ []string) error {
			return s.run(command.Context(), command.ErrOrStderr())
		}),
	}
	flags := command.Flags()
	flags.StringVar(&s.name, "name", "moorpin", "the plugin's `NAME`, as Applications say it")
	flags.StringVar(&s.version, "plugin-version", "", "the plugin's `VERSION`; Applications then say NAME-VERSION")
	flags.StringVar(&s.socket, "socket", "", "`PATH` of the socket, instead of the one that the name makes")
	flags.StringVar(&s.workDir, "work-dir", filepath.Join(os.TempDir(), "moorpin"), "`FOLDER` for private copies of repositories; no other process may use it")
	s.pinning.flags(command)
	s.kubeconfigFlag(command, "`FILE` that says how to reach the cluster whose CRDs are watched; without it the pod's service account does")
	flags.StringVar(&s.live, "live", string(liveAuto), "`MODE` of watching a cluster's CRDs: auto, when there is one; on, fail without one; off")
	flags.DurationVar(&s.liveWait, "live-wait", 10*time.Second, "how long to wait for the cluster's CRDs before serving without them")
	flags.BoolVar(&s.discovery, "discovery", false, "offer the plugin to Applications that name none; costs each of them a second tarball")
	flags.IntVar(&s.parallelism, "parallelism", max(2, runtime.GOMAXPROCS(0)), "how many renders run at once; the default follows the CPU limit")
	flags.IntVar(&s.queue, "queue", 256, "how many renders wait for their turn at most")
	flags.DurationVar(&s.grace, "grace", 20*time.Second, "how long requests that run may go on after SIGTERM; keep it below the pod's terminationGracePeriodSeconds")
	flags.StringVar(&s.metricsAddress, "metrics-address", "", "`HOST:PORT` of /metrics and /healthz, such as :8085; empty serves neither")
	flags.StringVar(&s.logFormat, "log-format", "text", "`FORMAT` of the log: text or json")
	flags.StringVar(&s.logLevel, "log-level", "info", "least `LEVEL` that is logged: debug, info, warn or error")
	limitFlags(flags, &s.limits)
	s.rendering.flags(flags)
	return command
}

// run serves until ctx ends.
func (s *serving) run(ctx context.Context, logs io.Writer) (err error) {
	log, err := cli.Logger(logs, s.logFormat, s.logLevel)
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log) // what client-go says
	err = s.validate()
	if err != nil {
		return err
	}
	options, err := s.options(func(warning string) { log.Warn(warning) })
	if err != nil {
		return err
	}
	work, err := openWorkDir(s.workDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	rules, err := s.rulesText()
	if err != nil {
		return err
	}
	pool, err := s.open(work, rules, s.limits, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	err = render.CheckTools()
	if err != nil {
		log.Warn("not every kind of source can be rendered", "error", err)
	}
	metrics := server.NewMetrics()
	tellConfinement(pool.Status(), metrics, log)
	schemas, err := s.schemas(ctx, options.Schemas, metrics, log)
	if err != nil {
		return err
	}
	// Reading the schemas takes several times the memory that they need afterwards.
	debug.FreeOSMemory()
	log.Info("starting", "pin", options.Mode, "crdsOfFolders", folderCRDs(options.Schemas), "discovery", s.discovery, "parallelism", s.parallelism, "maxRenderMemory", s.memoryBound())
	plugin := server.New(server.Options{
		Take:    func(ctx context.Context) (server.Slot, error) { return pool.Take(ctx) },
		Schemas: schemas, Mode: options.Mode, Discovery: s.discovery, Limits: s.limits,
		Parallelism: s.parallelism, Queue: s.queue, Log: log, Metrics: metrics,
	})
	return s.listen(ctx, plugin, metrics, log)
}

// tellConfinement says in the log and in the metrics whether renders are confined.
func tellConfinement(status confine.Status, metrics *server.Metrics, log *slog.Logger) {
	metrics.Gauge("cmp_confined", "1 when what renders is confined by Landlock, 0 when it could read whatever the sidecar can.", func() float64 { return truth(status.Confined) })
	if status.Confined {
		log.Info("what renders is confined", "landlock", status.ABI)
		return
	}
	log.Warn("what renders is not confined: checks alone keep a repository from reading what the sidecar can read, its token included", "reason", status.Reason)
}

// validName is what Argo CD takes for the name or the version of a plugin.
var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// validate finds the user's mistakes before any work is done.
func (s *serving) validate() error {
	if s.parallelism < 1 || s.queue < 0 {
		return cli.Mistake(errors.New("--parallelism must be at least 1, and --queue at least 0"))
	}
	for flag, name := range map[string]string{"--name": s.name, "--plugin-version": s.version} {
		if !validName.MatchString(name) && (flag == "--name" || name != "") {
			return cli.Mistake(fmt.Errorf("%s: %q is no name; it takes lower-case letters, digits, dashes and dots", flag, name))
		}
	}
	if s.grace < 0 || s.liveWait < 0 {
		return cli.Mistake(errors.New("--grace and --live-wait must not be negative"))
	}
	switch liveMode(s.live) {
	case liveAuto, liveOn, liveOff:
		return nil
	}
	return cli.Mistake(fmt.Errorf("--live: %q is not known; use auto, on or off", s.live))
}

// listen serves the socket, and the metrics beside it.
func (s *serving) listen(ctx context.Context, plugin *server.Server, metrics *server.Metrics, log *slog.Logger) error {
	monitoring, err := startMonitoring(ctx, s.metricsAddress, metrics.Handler(), log)
	if err != nil {
		return err
	}
	socket, err := server.Listen(ctx, s.socketPath())
	if err != nil {
		return errors.Join(cli.Mistake(err), monitoring.Close())
	}
	err = plugin.Serve(ctx, socket, s.grace)
	return errors.Join(err, monitoring.Close())
}

// socketPath is where repo-server looks for the plugin.
func (s *serving) socketPath() string {
	if s.socket != "" {
		return s.socket
	}
	name := s.name
	if s.version != "" {
		name += "-" + s.version
	}
	return filepath.Join(common.GetPluginSockFilePath(), name+".sock") // honours ARGOCD_PLUGINSOCKFILEPATH
}

// schemas starts the live source, waits a little for it, and layers it above
// the folders'.
func (s *serving) schemas(ctx context.Context, folder schema.Lookup, metrics *server.Metrics, log *slog.Logger) (func() schema.Lookup, error) {
	live, watching, err := s.watch(ctx, liveMode(s.live), log)
	if err != nil {
		return nil, err
	}
	if !watching {
		if folderCRDs(folder) == 0 {
			log.Warn("there is no source of schemas but the CRDs of each render itself: hardly anything will be pinned; use --crds or --kubeconfig")
		}
		return func() schema.Lookup { return folder }, nil
	}
	gauges(metrics, live)
	patience, cancel := context.WithTimeout(ctx, s.liveWait)
	defer cancel()
	err = live.WaitSynced(patience)
	if err != nil {
		log.Warn("serving without the cluster's CRDs until they can be read; what is rendered until then may lack pins, and Argo CD caches it until a hard refresh", "error", err)
	}
	return func() schema.Lookup { return schema.Layer(live.Current(), folder) }, nil
}

// folderCRDs counts the CRDs that --crds gave.
func folderCRDs(folder schema.Lookup) int {
	set, _ := folder.(*schema.Set)
	return set.Len()
}

// gauges shows the state of the live source in the metrics.
func gauges(metrics *server.Metrics, live *kube.CRDs) {
	metrics.Gauge("live_crds_synced", "1 once the cluster's CRDs were read completely.", func() float64 { return truth(live.State().Synced) })
	metrics.Gauge("live_crds_up", "1 while the API server's last answer was good.", func() float64 { return truth(live.State().Err == nil) })
	metrics.Gauge("live_crds_definitions", "CRDs of the cluster in use.", func() float64 { return float64(live.State().Definitions) })
	metrics.Gauge("live_crds_refused", "CRDs of the cluster that cannot be used, or not all versions of them.", func() float64 { return float64(live.State().Refused) })
	metrics.Gauge("live_crds_last_contact_timestamp_seconds", "When the API server last answered; 0 before the first time.", func() float64 {
		last := live.State().LastContact
		if last.IsZero() {
			return 0
		}
		return float64(last.UnixMilli()) / 1000
	})
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
