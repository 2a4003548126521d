package controlplane

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttributes makes the child lead a group and die with our process.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// await waits for the end of the process and kills the rest of its group. The
// leader is a zombie at that moment: until it is reaped, the group's id cannot
// belong to anybody else.
func (p *process) await() error {
	for {
		err := unix.Waitid(unix.P_PID, p.pid(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break // any other error shows again in the wait that follows
		}
	}
	swept := p.signal(syscall.SIGKILL)
	return errors.Join(p.cmd.Wait(), swept)
}
