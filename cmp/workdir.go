package cmp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/moorpin/moorpin/pkg/cli"
)

// workDir is a folder that only this process uses, for private copies of
// repositories and for what helm and kustomize need.
type workDir struct {
	lock *os.File

	// Slots holds a folder for each child that renders.
	Slots string
}

// openWorkDir takes the folder for this process and removes what an earlier
// one left in it. A folder that a living process holds is the user's mistake.
func openWorkDir(path string) (*workDir, error) {
	err := os.MkdirAll(path, 0o700)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("make the work folder: %w: choose a writable one with --work-dir", err))
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, cli.Mistake(fmt.Errorf("open the work folder's lock: %w: choose a writable one with --work-dir", err))
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return nil, errors.Join(cli.Mistake(fmt.Errorf("another process works in %s: choose another folder with --work-dir (%w)", path, err)), lock.Close())
	}
	work := &workDir{lock: lock, Slots: filepath.Join(path, "slots")}
	err = errors.Join(os.RemoveAll(work.Slots), os.Mkdir(work.Slots, 0o700))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("clear the work folder: %w", err), lock.Close())
	}
	return work, nil
}

// Close removes what is in the folder and gives it away.
func (w *workDir) Close() error {
	err := errors.Join(os.RemoveAll(w.Slots), w.lock.Close())
	if err != nil {
		return fmt.Errorf("clear the work folder: %w", err)
	}
	return nil
}
