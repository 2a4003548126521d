package extension

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/moorpin/moorpin/extension/api"
	"github.com/moorpin/moorpin/extension/fleet"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/extension/worker"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/confine"
)

// bounds holds the flags of what a request may take.
type bounds struct {
	body, cache, workers, queue int
	// workerMemory and collectMemory are in MiB.
	workerMemory, collectMemory int
	confine                     string
	timeout, fresh              time.Duration
	perUser, global             rateFlag
}

func (b *bounds) flags(flags *pflag.FlagSet) {
	b.perUser, b.global = rateFlag{api.Rate{PerSecond: 50, Burst: 500}}, rateFlag{api.Rate{PerSecond: 1000, Burst: 2000}}
	flags.IntVar(&b.body, "max-body", api.DefaultMaxBody>>20, "largest snapshot that is read, in `MiB`, unpacked")
	flags.DurationVar(&b.timeout, "timeout", api.DefaultTimeout, "how long one request may take; Argo CD's UI gives up after 10s")
	flags.DurationVar(&b.fresh, "fresh", 5*time.Second, "how long a report is given again without asking Argo CD whether anything changed")
	flags.IntVar(&b.cache, "cache", 256, "how much is kept of reports, in `MiB`")
	flags.IntVar(&b.workers, "workers", 0, "how many reports are made at once, each in a process of its own (default as many as there are CPUs, at most 4)")
	flags.IntVar(&b.workerMemory, "worker-memory", report.DefaultSnapshotMemory>>20, "how much memory such a process may take, in `MiB`; a report that needs more is refused")
	flags.IntVar(&b.collectMemory, "collect-memory", report.DefaultCollectMemory>>20, "how much memory all Applications that are being read from Argo CD may take together, in `MiB`; more are refused, to be asked for again")
	flags.StringVar(&b.confine, "confine", string(confine.Auto), "whether those processes are shut in by Landlock: `MODE` auto (where the kernel can), require or off")
	flags.IntVar(&b.queue, "queue", 16, "how many reports wait for their turn at most; more are refused at once, to be asked for again")
	flags.Var(&b.perUser, "rate-per-user", "how often a user may ask, `PER-SECOND[:BURST]`; 0 is no limit")
	flags.Var(&b.global, "rate", "how often all together may ask, `PER-SECOND[:BURST]`; 0 is no limit")
}

// minWorker is what the program itself needs, in MiB, and maxWorkers how many there are
// unless more are asked for.
const minWorker, maxWorkers = 128, 4

// pool starts the processes that explain.
func (b *bounds) pool(log *slog.Logger) (*worker.Pool, error) {
	mode, err := confine.ParseMode(b.confine)
	if err != nil {
		return nil, fmt.Errorf("--confine: %w", err)
	}
	pool, status, err := worker.NewPool(worker.Options{Workers: b.workers, Memory: int64(b.workerMemory) << 20, Mode: mode, Log: log})
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the step
	}
	if !status.Confined {
		log.Warn("the processes that explain are bounded, but not confined", "reason", status.Reason)
	}
	return pool, nil
}

// minTimeout leaves the collector of a report something to work with.
const minTimeout = time.Second

func (b *bounds) validate() error {
	if b.body < 1 || b.cache < 1 || b.queue < 1 || b.workers < 0 || b.fresh <= 0 {
		return errors.New("--max-body, --cache and --queue must be at least 1, --fresh more than 0, --workers at least 0")
	}
	if b.workerMemory < minWorker || b.collectMemory < 1 {
		return fmt.Errorf("--worker-memory must be at least %d, --collect-memory at least 1", minWorker)
	}
	if _, err := confine.ParseMode(b.confine); err != nil {
		return fmt.Errorf("--confine: %w", err)
	}
	if b.timeout < minTimeout {
		return fmt.Errorf("--timeout: %s is less than %s, in which no report is made", b.timeout, minTimeout)
	}
	return nil
}

// rateFlag is a flag such as 50:500.
type rateFlag struct{ limit api.Rate }

// String is the flag's default in the help.
func (r *rateFlag) String() string {
	return strconv.FormatFloat(r.limit.PerSecond, 'f', -1, 64) + ":" + strconv.Itoa(r.limit.Burst)
}

// Set reads the flag.
func (r *rateFlag) Set(text string) error {
	often, burst, given := strings.Cut(text, ":")
	perSecond, err := strconv.ParseFloat(often, 64)
	if err != nil || perSecond < 0 || math.IsNaN(perSecond) || math.IsInf(perSecond, 0) {
		return fmt.Errorf("%q is no number of requests a second", often)
	}
	limit := api.Rate{PerSecond: perSecond, Burst: max(1, int(math.Ceil(min(10*perSecond, math.MaxInt32))))}
	if given {
		if limit.Burst, err = strconv.Atoi(burst); err != nil || limit.Burst < 1 {
			return fmt.Errorf("%q is no number of requests at once", burst)
		}
	}
	r.limit = limit
	return nil
}

// Type names the flag's type in the help.
func (r *rateFlag) Type() string { return "rate" }

// rate is what the API takes: there, a negative one is no limit.
func (r *rateFlag) rate() api.Rate {
	if r.limit.PerSecond == 0 {
		return api.Rate{PerSecond: -1}
	}
	return r.limit
}

// scanning holds the flags of the background scan.
type scanning struct {
	interval time.Duration
	fields   bool
	parallel int
	series   int
	// given tells that --scan stands on the command line.
	given bool
}

func (s *scanning) flags(flags *pflag.FlagSet) {
	flags.DurationVar(&s.interval, "scan", 10*time.Minute, "how often all Applications are looked at for the metrics, where there is a token; 0 is never")
	flags.BoolVar(&s.fields, "scan-fields", true, "read the fields of Applications that are not Synced, too")
	flags.IntVar(&s.parallel, "scan-parallel", 2, "how many Applications are asked about at once")
	flags.IntVar(&s.series, "scan-series", 5000, "how many series of moorpin_drift_fields there may be; what is beyond counts as application \"other\"")
}

// leastScan keeps the scans from burdening Argo CD.
const leastScan = 10 * time.Second

func (s *scanning) validate() error {
	if s.interval > 0 && s.interval < leastScan {
		return fmt.Errorf("--scan: more often than every %s only burdens Argo CD", leastScan)
	}
	if s.interval < 0 || s.parallel < 1 || s.parallel > 64 || s.series < 1 {
		return errors.New("--scan must be 0 or more, --scan-parallel between 1 and 64, --scan-series at least 1")
	}
	return nil
}

// backing is where answers come from: Argo CD, or nil, and the service that explains.
type backing struct {
	client  *argocd.Client
	service *report.Service
}

// scanner looks at the Applications of the namespaces, as the service reads them.
func (s *scanning) scanner(from backing, namespaces []string, registry prometheus.Registerer, log *slog.Logger) (*fleet.Scanner, error) {
	client := from.client
	options := fleet.Options{Namespaces: namespaces, Restarts: fleet.TreeRestarts(client), Parallel: s.parallel}
	if s.fields {
		options.Fields = explain(from.service)
	}
	return fleet.NewScanner(fleet.ScannerOptions{ //nolint:wrapcheck // the caller names the step
		List:    func(ctx context.Context) iter.Seq2[map[string]any, error] { return client.AllApplications(ctx, "") },
		Options: options, Settings: fleet.ServerSettings(client, time.Now), Interval: s.interval, Series: s.series,
		Logger: log, Registry: registry,
	})
}
