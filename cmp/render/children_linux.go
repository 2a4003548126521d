package render

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// killBelow kills the child processes whose working directory is root or below it,
// with all that they have started. Argo CD's libraries give no handle on the tools
// that they run, but every private copy is the working directory of its own tools.
func killBelow(root string) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return // it is gone, and nothing works there
	}
	self := os.Getpid()
	parents := processes()
	for process, parent := range parents {
		if parent == self && worksBelow(process, root) {
			killTree(process, parents)
		}
	}
}

// killChild kills a child of this process and all that it has started. It is stopped
// first, so that it starts nothing while the others are looked for.
func killChild(process *os.Process) error {
	if err := process.Signal(unix.SIGSTOP); err != nil {
		return fmt.Errorf("stop the child: %w", err)
	}
	killTree(process.Pid, processes())
	return nil
}

// killTree kills a process and its descendants, as they were listed.
func killTree(process int, parents map[int]int) {
	kill(process, parents[process])
	for child, parent := range parents {
		if parent == process {
			killTree(child, parents)
		}
	}
}

// kill kills a process, unless its number has become another's in the meantime.
func kill(process, parent int) {
	handle, err := unix.PidfdOpen(process, 0)
	if err != nil {
		return // it has ended
	}
	defer func() { _ = unix.Close(handle) }()
	if now, running := parentOf(process); running && (now == parent || now == 1) {
		_ = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0) // or it has ended
	}
}

// processes maps every process that can be seen to its parent.
func processes() map[int]int {
	found := map[int]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return found // without /proc the tools end by their own timeout
	}
	for _, entry := range entries {
		process, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parent, running := parentOf(process); running {
			found[process] = parent
		}
	}
	return found
}

// parentOf reads the fourth field of /proc/N/stat; the second, the name in
// parentheses, may hold anything.
func parentOf(process int) (parent int, running bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process), "stat"))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

func worksBelow(process int, root string) bool {
	folder, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(process), "cwd"))
	if err != nil {
		return false
	}
	return folder == root || strings.HasPrefix(folder, root+"/")
}
