package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// sidecar is the built binary, running as repo-server's neighbour.
type sidecar struct {
	folder string
	outer  string // folder for temporary files before
	log    bytes.Buffer
	child  *exec.Cmd
	ended  chan error
}

// startSidecar starts the binary on a socket in a temporary folder and waits
// until it listens. Where tools is not empty it goes in front of the PATH.
func startSidecar(ctx context.Context, binary, tools string, crds []string) (*sidecar, error) {
	folder, err := os.MkdirTemp("", "moorpin-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the socket: %w", err)
	}
	outer := os.TempDir()
	// Both sides find the socket by the variable that repo-server uses; Argo CD's
	// sender leaves a folder behind for each tarball.
	err = errors.Join(os.Setenv("ARGOCD_PLUGINSOCKFILEPATH", folder), os.Setenv("TMPDIR", folder))
	if err != nil {
		return nil, fmt.Errorf("set the socket folder: %w", err)
	}
	args := []string{"cmp", "serve", "--live=off", "--work-dir", filepath.Join(folder, "work")}
	for _, path := range crds {
		args = append(args, "--crds", path)
	}
	s := &sidecar{folder: folder, outer: outer, ended: make(chan error, 1)}
	s.child = exec.CommandContext(ctx, binary, args...)
	s.child.Env = os.Environ()
	if tools != "" {
		s.child.Env = append(s.child.Env, "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	s.child.Stderr = &s.log
	s.child.Cancel = func() error { return s.child.Process.Signal(syscall.SIGTERM) }
	err = s.child.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the sidecar: %w: run make build", err), os.RemoveAll(folder))
	}
	go func() { s.ended <- s.child.Wait() }()
	return s, s.waitForSocket()
}

func (s *sidecar) waitForSocket() error {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		_, err := os.Stat(filepath.Join(s.folder, "moorpin.sock"))
		if err == nil {
			return nil
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			return fmt.Errorf("the sidecar ended: %w", errors.Join(err, s.lastWords()))
		default:
		}
	}
	return errors.Join(errors.New("the sidecar does not listen after 30 s"), s.stop())
}

// stop drains the sidecar and removes what it leaves.
func (s *sidecar) stop() error {
	err := s.child.Process.Signal(syscall.SIGTERM)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the sidecar: %w", err)
	}
	err = <-s.ended
	if errors.Is(err, context.Canceled) {
		err = nil // an interrupted demo has stopped it already
	}
	if err != nil {
		err = fmt.Errorf("the sidecar's end: %w: %w", err, s.lastWords())
	}
	return errors.Join(err, os.Setenv("TMPDIR", s.outer), os.RemoveAll(s.folder))
}

// lastWords is the sidecar's log, as an error. It may only be read once the
// sidecar is idle or has ended.
func (s *sidecar) lastWords() error {
	return fmt.Errorf("the sidecar's log:\n%s", s.log.String())
}
