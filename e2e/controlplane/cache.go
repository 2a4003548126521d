package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// CacheEnv names the environment variable with the folder of the cache. When
// it is not set, the cache is moorpin in the user's cache folder.
const CacheEnv = "MOORPIN_CACHE"

const lockPause = 100 * time.Millisecond

// cacheFolder makes the folder of this package inside the cache.
func cacheFolder() (string, error) {
	cache := os.Getenv(CacheEnv)
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find cache folder (set %s): %w", CacheEnv, err)
		}
		cache = filepath.Join(user, "moorpin")
	}
	cache, err := filepath.Abs(filepath.Join(cache, "controlplane"))
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", fmt.Errorf("make cache folder (set %s to another): %w", CacheEnv, err)
	}
	return cache, nil
}

// lockFile waits for the exclusive lock.
func lockFile(ctx context.Context, name string) (func(), error) {
	for {
		unlock, err := tryLock(name)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s is held: %w", name, context.Cause(ctx))
		case <-time.After(lockPause):
		}
	}
}

// tryLock takes the exclusive lock, or says EWOULDBLOCK when somebody holds
// it. The kernel drops the lock of a process that dies.
func tryLock(name string) (func(), error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), file.Close())
	}
	return func() { _ = file.Close() }, nil // closing is what unlocks
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
