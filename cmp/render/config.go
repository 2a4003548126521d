package render

import (
	"io"

	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// Config is what holds for all renders of a process. It travels to the child that
// renders, as JSON.
type Config struct {
	// DirectoryBytes bounds the files of one directory source together, as
	// repo-server's --max-combined-directory-manifests-size. Default 10 MB, as there.
	DirectoryBytes int64
	// ValueSchemes are the URL schemes that Helm value files may have, as
	// helm.valuesFileSchemes in argocd-cm. Default https and http, as there.
	ValueSchemes []string
	// Documents bounds the YAML that is read.
	Documents manifest.Limits
	// Guards and Temporary are folders that messages should not name.
	Guards, Temporary string
}

// New makes a renderer. It silences logrus, through which Argo CD's libraries would log
// Helm's arguments with all their values.
//
// Those libraries end a tool that takes longer than ARGOCD_EXEC_TIMEOUT, 90 seconds by
// default. They read it before main begins, so it has to be in the environment that the
// process is started with, as for repo-server; [Tools.Environment] sees to it.
func New(config Config) *Renderer {
	if config.DirectoryBytes == 0 {
		config.DirectoryBytes = 10_000_000
	}
	if config.ValueSchemes == nil {
		config.ValueSchemes = []string{"https", "http"}
	}
	logrus.SetLevel(logrus.PanicLevel)
	logrus.SetOutput(io.Discard)
	return &Renderer{config: config, directorySize: *resource.NewQuantity(config.DirectoryBytes, resource.DecimalSI)}
}
