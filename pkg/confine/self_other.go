//go:build !linux

package confine

import (
	"errors"
	"os"
	"syscall"
)

// Supported returns the version of Landlock that this kernel has, 0 when it has none.
func Supported() int { return 0 }

func restrictThread(spec Spec, _ string) (Status, error) {
	const reason = "this is not Linux"
	if spec.Mode == Require {
		return Status{}, errors.New(reason)
	}
	return Status{Reason: reason}, nil
}

func boundSelf(Limits) error { return nil }

func closeOnExec(descriptors ...int) {
	for _, descriptor := range descriptors {
		syscall.CloseOnExec(descriptor)
	}
}

func killGroup() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = self.Kill()
	}
}
