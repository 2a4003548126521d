//go:build !linux

package confine

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Elsewhere than on Linux nothing is served, only single renders are tried out: the
// child is killed, and what it has started ends by its own time limit.

func attributes() *syscall.SysProcAttr { return nil }

func preferAsVictim(int) {}

// use is what a process and its descendants take.
type use struct {
	held      int64
	worked    time.Duration
	processes int64
}

// state is what is known of one process: nothing here.
type state struct{ worked time.Duration }

func stateOf(int) (state, bool) { return state{}, false }

func widen(*os.File) {}

func usage(int) use { return use{processes: 1} }

func killTree(process *os.Process) { _ = process.Kill() }

func startKnown(command *exec.Cmd) error { return command.Start() }

func forget(int) {}

func killStrays() {}

func waiting(*os.File) int { return 0 }

func outOfTime(*os.ProcessState) bool { return false }
