package confine

import (
	"io/fs"
	"path/filepath"
	"time"
)

// How often the bounds are looked at. Between two looks the kernel's own limits hold
// each single process.
const (
	watchEvery = 15 * time.Millisecond
	// diskEvery is the least time between two looks at the folder; a look that takes
	// long is followed by ten times as long a pause.
	diskEvery = 200 * time.Millisecond
)

// blockBytes is what a file or folder takes of the disk at least.
const blockBytes = 4096

// watch kills the child when it passes a bound, until done is closed.
func (c *Child) watch(done <-chan struct{}) {
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	limits := c.spec.Limits
	// Of what was started before, nothing is left: [Child.Usable] has seen to it.
	before, _ := stateOf(c.process.Process.Pid)
	nextDisk := time.Now().Add(diskEvery)
	for {
		select {
		case <-done:
			return
		case <-c.ended:
			return
		case <-ticks.C:
		}
		use := usage(c.process.Process.Pid)
		c.peak.Store(max(c.peak.Load(), use.held))
		switch {
		case limits.Memory > 0 && use.held > limits.Memory:
			c.exceed(Memory, limits.Memory)
			return
		case use.worked-before.worked > limits.cpuLimit():
			c.exceed(CPU, int64(limits.CPU))
			return
		case use.processes > limits.Processes:
			c.exceed(Processes, limits.Processes)
			return
		}
		if now := time.Now(); now.After(nextDisk) {
			if bound, limit := c.overDisk(); bound != "" {
				c.exceed(bound, limit)
				return
			}
			nextDisk = time.Now().Add(max(diskEvery, 10*time.Since(now)))
		}
	}
}

// overDisk returns the bound that the folder passes, if it does.
func (c *Child) overDisk() (Bound, int64) {
	limits := c.spec.Limits
	if limits.DiskBytes <= 0 && limits.DiskFiles <= 0 {
		return "", 0
	}
	var bytes, files int64
	over := Bound("")
	// What disappears meanwhile is not counted.
	_ = filepath.WalkDir(c.spec.Folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // see above.
		}
		files++
		bytes += blockBytes
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size() / blockBytes * blockBytes
		}
		switch {
		case limits.DiskBytes > 0 && bytes > limits.DiskBytes:
			over = Disk
		case limits.DiskFiles > 0 && files > limits.DiskFiles:
			over = Files
		default:
			return nil
		}
		return fs.SkipAll
	})
	if over == Files {
		return over, limits.DiskFiles
	}
	return over, limits.DiskBytes
}
