//go:build !linux

package confine

import (
	"os"
	"syscall"
	"time"
)

// Elsewhere than on Linux nothing is served, only single renders are tried out: the
// child is killed, and what it has started ends by its own time limit.

func attributes() *syscall.SysProcAttr { return nil }

func preferAsVictim(int) {}

func descendants(int) []int { return nil }

func usage(int) (held int64, worked time.Duration) { return 0, 0 }

func killTree(process *os.Process) { _ = process.Kill() }

func killSession(int) {}

func outOfTime(*os.ProcessState) bool { return false }
