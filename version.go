package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// argoCD is the module whose renderer is linked in.
const argoCD = "github.com/argoproj/argo-cd/v2"

// Formats of what the commands of this package print.
const (
	textFormat = "text"
	jsonFormat = "json"
)

// version is what the binary knows about its own build.
type version struct {
	// Version is the module's version, "(devel)" when built from a checkout
	// without a tag.
	Version string `json:"version"`
	// Revision is the Git commit, Time its time (RFC 3339), and Modified is
	// true when the checkout had changes; all absent when built without Git.
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	// Go is the version of the Go toolchain, ArgoCD that of the renderer.
	Go     string `json:"go"`
	ArgoCD string `json:"argocd"`
}

func versionCommand() *cobra.Command {
	format := textFormat
	command := &cobra.Command{
		Use:   "version",
		Short: "Print what this binary was built from",
		Long: `Print what this binary was built from: its own version and Git commit, the Go
toolchain, and the version of Argo CD whose renderer is linked in.`,
		Example: "  moorpin version\n  moorpin version -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = &debug.BuildInfo{}
			}
			return printVersion(command.OutOrStdout(), format, readVersion(info))
		},
	}
	command.Flags().StringVarP(&format, "output", "o", format, "text or json")
	return command
}

func readVersion(info *debug.BuildInfo) version {
	found := version{Version: info.Main.Version, Go: info.GoVersion}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			found.Revision = setting.Value
		case "vcs.time":
			found.Time = setting.Value
		case "vcs.modified":
			found.Modified = setting.Value == "true"
		}
	}
	for _, module := range info.Deps {
		if module.Path == argoCD {
			found.ArgoCD = module.Version
		}
	}
	return found
}

func printVersion(out io.Writer, format string, found version) error {
	switch format {
	case jsonFormat:
		text, err := json.MarshalIndent(found, "", "  ")
		if err != nil {
			return fmt.Errorf("encode version: %w", err)
		}
		return written(fmt.Fprintln(out, string(text)))
	case textFormat:
		return written(fmt.Fprint(out, found.text()))
	}
	return fmt.Errorf("output format %q is not known: choose text or json", format)
}

func (v version) text() string {
	text := "moorpin " + v.Version + "\n"
	if v.Revision != "" {
		text += "commit  " + v.Revision
		if v.Modified {
			text += ", with changes"
		}
		text += "\ntime    " + v.Time + "\n"
	}
	return text + "go      " + v.Go + "\nargo-cd " + v.ArgoCD + "\n"
}

// written wraps the error of a print.
func written(_ int, err error) error {
	if err != nil {
		return fmt.Errorf("write version: %w", err)
	}
	return nil
}
