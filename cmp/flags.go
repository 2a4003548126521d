package cmp

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
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

// rendering holds the flags that must agree with repo-server's own for renders
// to be the same.
type rendering struct {
	directoryBytes int64
	memory         int64
	valueSchemes   []string
}

func (r *rendering) flags(flags *pflag.FlagSet) {
	flags.Int64Var(&r.directoryBytes, "max-directory-bytes", 10_000_000, "most `BYTES` of the files of one directory source together; set it as repo-server's --max-combined-directory-manifests-size")
	flags.Int64Var(&r.memory, "max-render-memory", 2<<30, "most `BYTES` of memory for rendering one Helm chart or one folder with Jsonnet")
	flags.StringSliceVar(&r.valueSchemes, "helm-value-schemes", []string{"https", "http"}, "URL `SCHEMES` that Helm value files may have; set them as helm.valuesFileSchemes in argocd-cm")
}

// open prepares Argo CD's renderer, once a process.
func (r *rendering) open(work *workDir) (*render.Renderer, error) {
	renderer, err := render.New(render.Config{WorkDir: work.Tools, DirectoryBytes: r.directoryBytes, ValueSchemes: r.valueSchemes, Memory: r.memory})
	if err != nil {
		return nil, fmt.Errorf("prepare the renderer: %w", err)
	}
	return renderer, nil
}
