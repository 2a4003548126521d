package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/moorpin/moorpin/pkg/cli"
)

// binaryName is what the copy is called.
const binaryName = "moorpin"

func installIntoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install-into DIR",
		Short: "Copy this binary into a folder",
		Long: `Copy this binary into DIR, as the executable DIR/moorpin, so that another container
of the same Pod can run it: Moorpin's image holds nothing but this binary, and the
sidecar of repo-server runs in Argo CD's own image, for its helm, kustomize and git.

DIR must exist. A copy of an earlier version is replaced in one step, which leaves
alone whoever still runs it; everything else in DIR is left alone.`,
		Example: "  # in an init container, with a volume that the sidecar mounts too\n  moorpin install-into /moorpin",
		Args:    cobra.ExactArgs(1),
		RunE: cli.Coded(func(command *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this binary: %w", err)
			}
			if err := installInto(self, args[0]); err != nil {
				return err
			}
			return written(fmt.Fprintln(command.OutOrStdout(), filepath.Join(args[0], binaryName)))
		}, func(error) bool { return false }),
	}
}

// installInto copies a binary into a folder.
func installInto(binary, dir string) (err error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New(dir + " is no folder")
	}
	if err != nil {
		return cli.Mistake(fmt.Errorf("install into: %w; name an existing folder, such as the mount of a shared volume", err))
	}
	from, err := os.Open(binary)
	if err != nil {
		return fmt.Errorf("read this binary: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.CreateTemp(dir, "."+binaryName+"-*")
	if err != nil {
		return cli.Mistake(fmt.Errorf("install into %s: %w", dir, err))
	}
	defer func() { _ = os.Remove(to.Name()) }() // it is gone once it has its name
	_, err = io.Copy(to, from)
	err = errors.Join(err, to.Chmod(0o755), to.Sync(), to.Close())
	if err == nil {
		err = os.Rename(to.Name(), filepath.Join(dir, binaryName))
	}
	if err != nil {
		return fmt.Errorf("copy the binary into %s: %w", dir, err)
	}
	return nil
}
