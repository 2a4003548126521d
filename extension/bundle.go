package extension

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/extension/ui"
)

const bundleHelp = `Write the Drift pages of Argo CD's UI into DIR, as one file that Argo CD's API
server picks up: extension-moorpin.js. DIR is made where it is missing; a file of that
name in it is replaced, everything else is left alone.

Argo CD's API server reads /tmp/extensions and what is below it. An init container of
its Pod writes there what it shares with the server.`

const bundleExample = `  # in an init container of argocd-server, with the volume of /tmp/extensions
  moorpin extension bundle /tmp/extensions/moorpin`

func bundleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bundle DIR", Short: "Write the pages of Argo CD's UI into a folder",
		Long: bundleHelp, Example: bundleExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one DIR")
			}
			return nil
		},
		RunE: coded(func(command *cobra.Command, args []string) error {
			path, err := writeBundle(args[0])
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintln(command.OutOrStdout(), path) // the file counts, not the word about it
			return nil
		}),
	}
}

// writeBundle writes the bundle beside its final name first, so that a server which
// reads meanwhile never finds half of it.
func writeBundle(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // argocd-server runs as another user
		return "", fmt.Errorf("make the folder: %w", err)
	}
	// The name does not start as Argo CD expects, so a leftover is not loaded.
	unfinished, err := os.CreateTemp(dir, ".moorpin-*")
	if err != nil {
		return "", fmt.Errorf("write the bundle: %w", err)
	}
	_, err = unfinished.Write(ui.Bundle())
	err = errors.Join(err, unfinished.Chmod(0o644), unfinished.Close())
	path := filepath.Join(dir, ui.BundleName)
	if err == nil {
		err = os.Rename(unfinished.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("write the bundle: %w", errors.Join(err, os.Remove(unfinished.Name())))
	}
	return path, nil
}
