//go:build unix && !linux

package controlplane

import (
	"errors"
	"syscall"
)

// childAttributes makes the child lead a group. These systems have no
// parent-death signal: only Stop ends the children.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// await waits for the end of the process and kills the rest of its group.
func (p *process) await() error {
	ended := p.cmd.Wait()
	return errors.Join(ended, p.signal(syscall.SIGKILL))
}
