package confine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
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
	session int
	ended   bool // and nobody has taken note of it
	worked  time.Duration
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
	const status, session, user, last = 0, 3, 11, 14
	if len(fields) <= last {
		return state{}, false
	}
	found := state{ended: fields[status][0] == 'Z', session: number(fields[session])}
	for _, field := range fields[user : last+1] { // its own, and that of children that have ended
		found.worked += time.Duration(number(field)) * clockTick
	}
	return found, true
}

func number(field []byte) int {
	value, _ := strconv.Atoi(string(field)) // the kernel writes numbers
	return value
}

// childrenOf lists what a process has started itself.
func childrenOf(process int) []int {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", process))
	if err != nil {
		return nil // it has ended
	}
	var found []int
	for _, task := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", process, task.Name()))
		if err != nil {
			continue
		}
		for field := range bytes.FieldsSeq(text) {
			found = append(found, number(field))
		}
	}
	return found
}

// descendants lists what a process has started, and what that has, in no order.
func descendants(process int) []int {
	found := childrenOf(process)
	for i := 0; i < len(found); i++ {
		found = append(found, childrenOf(found[i])...)
	}
	return found
}

// use is what a process and its descendants take.
type use struct {
	held      int64 // bytes
	worked    time.Duration
	processes int64
}

// usage adds up what a process and its descendants hold of memory, files that they map
// aside, and how long they have worked.
func usage(process int) use {
	var sum use
	for _, one := range append(descendants(process), process) {
		sum.held += memoryOf(one)
		if state, running := stateOf(one); running {
			sum.worked += state.worked
			sum.processes++
		}
	}
	return sum
}

// memoryOf is the memory of a process that no file backs, from /proc/N/status.
func memoryOf(process int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process), "status"))
	if err != nil {
		return 0
	}
	held := 0
	for line := range bytes.Lines(text) {
		for _, name := range []string{"RssAnon:", "RssShmem:"} {
			if rest, found := bytes.CutPrefix(line, []byte(name)); found {
				held += number(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB"))))
			}
		}
	}
	return int64(held) << 10
}

// passes bounds how often it is looked for what a process that is to end has started
// meanwhile.
const passes = 200

// killTree kills a child and all that it has started. It is stopped first, so that it
// starts nothing while the others are looked for; what those start meanwhile becomes its
// own.
func killTree(process *os.Process) {
	_ = process.Signal(unix.SIGSTOP) // or it has ended
	for range passes {
		found := descendants(process.Pid)
		for _, one := range found {
			kill(one)
		}
		if len(found) == zombies(found) {
			break
		}
	}
	_ = process.Kill()
}

// zombies counts those that have ended, and wait to be told of.
func zombies(processes []int) int {
	count := 0
	for _, process := range processes {
		if state, running := stateOf(process); !running || state.ended {
			count++
		}
	}
	return count
}

// living are the children that this process knows.
var living = struct {
	sync.RWMutex

	processes map[int]bool
}{processes: map[int]bool{}}

// adoptOrphans has the kernel give this process what a child has left behind.
var adoptOrphans = sync.OnceFunc(func() {
	// Where it cannot be, orphans go to the first process of the container.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
})

// startKnown starts a child and notes it.
func startKnown(command *exec.Cmd) error {
	adoptOrphans()
	living.Lock()
	defer living.Unlock()
	err := command.Start()
	if err == nil {
		living.processes[command.Process.Pid] = true
	}
	return err //nolint:wrapcheck // the caller names the step.
}

func forget(process int) {
	living.Lock()
	defer living.Unlock()
	delete(living.processes, process)
}

// killStrays kills what children that have ended left behind, and takes note of its end,
// which nobody else does. They are this process's own by now, and known by their session:
// children lead one each, and what else this process starts is in its own.
func killStrays() {
	living.RLock()
	defer living.RUnlock()
	ours, found := stateOf(os.Getpid())
	if !found {
		return
	}
	for range passes {
		strays := 0
		for _, process := range childrenOf(os.Getpid()) {
			state, running := stateOf(process)
			if !running || state.session == ours.session || living.processes[process] {
				continue
			}
			strays++
			kill(process)
			_, _ = unix.Wait4(process, nil, 0, nil) // it has been killed
		}
		if strays == 0 {
			return
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

// waiting is how many bytes a pipe holds that nobody has read.
func waiting(pipe *os.File) int {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	held := 0
	err = raw.Control(func(descriptor uintptr) {
		held, _ = unix.IoctlGetInt(int(descriptor), unix.TIOCINQ)
	})
	if err != nil {
		return 0
	}
	return held
}

// pipeBytes is what a pipe may hold before its writer has to wait: the most that the
// kernel gives to whoever is not its administrator.
const pipeBytes = 1 << 20

// widen has a pipe hold more than the 64 KiB that it holds at first, so that most answers
// are written at once.
func widen(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(descriptor uintptr) {
		// Where it cannot be, answers travel in more pieces.
		_, _ = unix.FcntlInt(descriptor, unix.F_SETPIPE_SZ, pipeBytes)
	})
}

// outOfTime tells how the kernel ends a process that passed its limit of processor time.
func outOfTime(ended *os.ProcessState) bool {
	status, ok := ended.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGXCPU
}
