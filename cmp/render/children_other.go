//go:build !linux

package render

import (
	"fmt"
	"os"
)

// killBelow does nothing where there is no /proc; tools end by the timeout of Argo
// CD's libraries there. The sidecar runs on Linux.
func killBelow(string) {}

// killChild kills a child of this process.
func killChild(process *os.Process) error {
	if err := process.Kill(); err != nil {
		return fmt.Errorf("kill the child: %w", err)
	}
	return nil
}
