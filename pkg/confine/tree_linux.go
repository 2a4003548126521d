package confine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes make the child the leader of a session, by which what it starts is found
// again, and have the kernel end it with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// preferAsVictim has the kernel choose a child, and what it starts, when the memory of
// the machine or of the container runs out, never the parent.
func preferAsVictim(process int) {
	const most = "1000"
	// Where it cannot be said, the bounds still hold.
	_ = os.WriteFile(filepath.Join("/proc", strconv.Itoa(process), "oom_score_adj"), []byte(most), 0)
}

// state is what /proc/N/stat says of a process.
type state struct {
	parent, session int
	worked          time.Duration
}

// clockTick is the unit of times in /proc, the same on all machines that Go runs on.
const clockTick = 10 * time.Millisecond

// stateOf reads /proc/N/stat; its second field, the name in parentheses, may hold anything.
func stateOf(process int) (state, bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process), "stat"))
	if err != nil {
		return state{}, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const parent, session, user, last = 1, 3, 11, 14
	if len(fields) <= last {
		return state{}, false
	}
	found := state{parent: number(fields[parent]), session: number(fields[session])}
	for _, field := range fields[user : last+1] { // its own, and that of children that have ended
		found.worked += time.Duration(number(field)) * clockTick
	}
	return found, true
}

func number(field []byte) int {
	value, _ := strconv.Atoi(string(field)) // the kernel writes numbers
	return value
}

// descendants lists what a process has started, and what that has, in no order.
func descendants(process int) []int {
	var found []int
	for next := []int{process}; len(next) > 0; next = next[1:] {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", next[0]))
		if err != nil {
			continue // it has ended
		}
		for _, task := range tasks {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", next[0], task.Name()))
			if err != nil {
				continue
			}
			for _, field := range bytes.Fields(text) {
				found = append(found, number(field))
				next = append(next, number(field))
			}
		}
	}
	return found
}

// usage adds up what a process and its descendants hold of memory, files that they map
// aside, and how long they have worked.
func usage(process int) (held int64, worked time.Duration) {
	for _, one := range append(descendants(process), process) {
		held += anonymous(one)
		if state, running := stateOf(one); running {
			worked += state.worked
		}
	}
	return held, worked
}

// anonymous is the memory of a process that no file backs, from /proc/N/statm.
func anonymous(process int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process), "statm"))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	const resident, shared = 1, 2
	if len(fields) <= shared {
		return 0
	}
	return int64(number(fields[resident])-number(fields[shared])) * int64(os.Getpagesize())
}

// killTree kills a child and all that it has started. It is stopped first, so that it
// starts nothing while the others are looked for.
func killTree(process *os.Process) {
	_ = process.Signal(unix.SIGSTOP) // or it has ended
	for _, one := range descendants(process.Pid) {
		kill(one)
	}
	killSession(process.Pid)
	_ = process.Kill()
}

// killSession kills what is left of the session that a child led.
func killSession(session int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, entry := range entries {
		process, err := strconv.Atoi(entry.Name())
		if err != nil || process == session {
			continue
		}
		if state, running := stateOf(process); running && state.session == session {
			kill(process)
		}
	}
}

// kill kills a process, unless it has ended.
func kill(process int) {
	handle, err := unix.PidfdOpen(process, 0)
	if err != nil {
		return
	}
	_ = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0) // or it has ended
	_ = unix.Close(handle)
}

// outOfTime tells how the kernel ends a process that passed its limit of processor time.
func outOfTime(ended *os.ProcessState) bool {
	status, ok := ended.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGXCPU
}
