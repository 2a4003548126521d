package cmp

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/spf13/pflag"

	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/confine"
)

// limitFlags are the limits of what is received or copied. Zero stands for the
// default of package receive.
func limitFlags(flags *pflag.FlagSet, limits *receive.Limits) {
	flags.Int64Var(&limits.ArchiveBytes, receive.FlagArchiveBytes, 0, "most `BYTES` of a received archive (default 2 GiB)")
	flags.Int64Var(&limits.TreeBytes, receive.FlagTreeBytes, 0, "most `BYTES` of an unpacked repository (default 8 GiB)")
	flags.Int64Var(&limits.Ratio, receive.FlagRatio, 0, "`N` times its own size is what an archive may unpack to (default 200)")
	flags.IntVar(&limits.Files, receive.FlagFiles, 0, "most files, folders and links of a repository (default 1000000)")
	flags.IntVar(&limits.PathDepth, receive.FlagPathDepth, 0, "most names in a path (default 64)")
	flags.IntVar(&limits.PathBytes, receive.FlagPathBytes, 0, "most `BYTES` of a path (default 1024)")
	flags.Int64Var(&limits.MetadataBytes, receive.FlagMetadataBytes, 0, "most `BYTES` of a request's metadata (default 16 MiB)")
}

// rendering holds the flags of the children that render: those that must agree with
// repo-server's own for renders to be the same, and what holds the children back.
type rendering struct {
	directoryBytes int64
	memory         int64
	cpu            time.Duration
	valueSchemes   []string
	confine        string
	// parallelism is how many renders run at once.
	parallelism int
}

// children is how many there are: beside one for each render one that is being made ready,
// where there are several.
func (r *rendering) children() int {
	if r.parallelism <= 1 {
		return 1
	}
	return r.parallelism + 1
}

func (r *rendering) flags(flags *pflag.FlagSet) {
	flags.Int64Var(&r.directoryBytes, "max-directory-bytes", 10_000_000, "most `BYTES` of the files of one directory source together; set it as repo-server's --max-combined-directory-manifests-size")
	flags.Int64Var(&r.memory, child.FlagMemory, 0, "most `BYTES` of memory for one render, helm and kustomize included (default 2 GiB, or an equal share of three quarters of the container's limit)")
	flags.DurationVar(&r.cpu, child.FlagCPU, 3*time.Minute, "most processor `TIME` for one render, helm and kustomize included")
	flags.StringSliceVar(&r.valueSchemes, "helm-value-schemes", []string{"https", "http"}, "URL `SCHEMES` that Helm value files may have; set them as helm.valuesFileSchemes in argocd-cm")
	flags.StringVar(&r.confine, "confine", string(confine.Auto), "`MODE` of confining what renders, by Landlock: auto, where the kernel can; require, fail where it cannot; off")
}

// rulesFile is the file of --rules as it stands, for the children.
type rulesFile struct {
	name string
	text []byte
}

// open starts the children of as many renders as run at once.
func (r *rendering) open(work *workDir, rules rulesFile, limits receive.Limits, log *slog.Logger) (*child.Pool, error) {
	mode, err := confine.ParseMode(r.confine)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--confine: %w", err))
	}
	limits = limits.WithDefaults()
	pool, err := child.NewPool(child.Options{
		WorkDir: work.Slots, Mode: mode, Children: r.children(), Log: log,
		Render:    render.Config{DirectoryBytes: r.directoryBytes, ValueSchemes: r.valueSchemes},
		RulesFile: rules.name, Rules: rules.text,
		Limits: confine.Limits{
			Memory: r.memoryBound(), CPU: r.cpu,
			DiskBytes: limits.TreeBytes, DiskFiles: int64(limits.Files),
			AnswerBytes: int64(apiclient.MaxGRPCMessageSize),
		},
	})
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("--confine=%s: %w", mode, err))
	}
	return pool, nil
}

const (
	defaultMemory = 2 << 30
	// least is what no render can do without.
	leastMemory = 128 << 20
)

// memoryBound is the bound of one of the renders that run at once.
func (r *rendering) memoryBound() int64 {
	if r.memory > 0 {
		return r.memory
	}
	limit, limited := containerMemory()
	if !limited {
		return defaultMemory
	}
	return min(defaultMemory, max(leastMemory, limit/4*3/int64(max(r.parallelism, 1))))
}

// containerMemory is the limit of memory of the container that this process runs in.
func containerMemory() (int64, bool) {
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		// Without a limit, the first says "max", and the second a number beyond all memory.
		if err == nil && limit > 0 && limit < 1<<50 {
			return limit, true
		}
	}
	return 0, false
}
