package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/moorpin/moorpin/pkg/confine"
)

const (
	foldersPrefix = "moorpin-worker-"
	lockName      = "lock"
	// unlocked is how old a folder without a lock is before it is nobody's: who makes one
	// locks it at once.
	unlocked = time.Minute
)

// folders is the folder of a process for those of its children. It is locked as long as
// the process lives, so that the next one can tell what was left behind.
type folders struct {
	path  string
	lock  *os.File
	close func() error
}

// newFolders makes the folder, and removes those that processes left which were killed.
func newFolders(below string, log *slog.Logger) (*folders, error) {
	path, err := os.MkdirTemp(below, foldersPrefix)
	if err != nil {
		return nil, fmt.Errorf("make the folder of the workers: %w", err)
	}
	lock, err := locked(path, os.O_CREATE)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the folder of the workers: %w", err), os.RemoveAll(path))
	}
	own := &folders{path: path, lock: lock}
	own.close = sync.OnceValue(func() error {
		return errors.Join(confine.RemoveAll(path), lock.Close())
	})
	removeStale(below, log)
	return own, nil
}

// locked takes the lock of a folder, if nobody has it.
func locked(folder string, flag int) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|syscall.O_NOFOLLOW|flag, 0o600)
	if err != nil {
		return nil, err //nolint:wrapcheck // who asks names the step
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// removeStale removes the folders of this user that no process has. What cannot be removed
// is in nobody's way.
func removeStale(below string, log *slog.Logger) {
	found, err := filepath.Glob(filepath.Join(below, foldersPrefix+"*"))
	if err != nil {
		return // of no pattern of ours
	}
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !ours(info) {
			continue
		}
		lock, err := locked(path, 0)
		switch {
		case errors.Is(err, os.ErrNotExist) && time.Since(info.ModTime()) > unlocked:
		case err != nil:
			continue
		}
		err = confine.RemoveAll(path)
		if lock != nil {
			err = errors.Join(err, lock.Close())
		}
		if err != nil {
			log.Warn("remove what a killed process left", "folder", path, "error", err)
		}
	}
}

func ours(info os.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Getuid()
}
