package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// stopGrace is what a program gets to end by itself before it is killed.
	// All state is thrown away, so there is nothing to wait for longer.
	stopGrace = 2 * time.Second
	// pollPause is short because a plane is started by nearly every test run.
	pollPause = 50 * time.Millisecond
	// tailLines of a log are shown in errors.
	tailLines = 25
)

// program says what to run and how to see that it serves.
type program struct {
	name  string // of the process, its log file and its folder
	path  string
	args  []string
	env   []string // complete: nothing is inherited
	ready func(ctx context.Context) error
}

// process is a program that runs, or ran. It leads its own process group, so
// that whatever it starts is stopped with it.
type process struct {
	program

	log  string // file of its stdout and stderr
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended
	err  error         // how it ended; to be read after done

	reported bool // that it ended by itself, by awaitReady
}

// launcher forks every child from one thread that lasts as long as the
// launcher: the kernel sends the parent-death signal when the thread that
// forked ends, and threads of the Go runtime come and go.
type launcher struct{ jobs chan func() }

func newLauncher() launcher {
	l := launcher{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

// close ends the thread, and with it children that still run.
func (l launcher) close() { close(l.jobs) }

// start runs the program with its output in logs/<name>.log.
func (l launcher) start(prog program, logs string) (*process, error) {
	proc := &process{program: prog, log: filepath.Join(logs, prog.name+".log"), done: make(chan struct{})}
	file, err := os.OpenFile(proc.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", prog.name, err)
	}
	// The child outlives the context that bounds its start, so no CommandContext.
	cmd := exec.Command(prog.path, prog.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = prog.env, file, file
	cmd.SysProcAttr = childAttributes()
	proc.cmd = cmd

	started := make(chan error)
	l.jobs <- func() { started <- cmd.Start() }
	err = errors.Join(<-started, file.Close())
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", prog.name, err)
	}
	go proc.reap()
	return proc, nil
}

// reap notes how the process ended.
func (p *process) reap() {
	p.err = p.await()
	close(p.done)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal reaches the whole group. A group that is gone is no error.
func (p *process) signal(signal syscall.Signal) error {
	err := syscall.Kill(-p.pid(), signal)
	// EPERM is how some systems answer for a group of zombies.
	if err != nil && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("signal %s to %s (process group %d): %w", signal, p.name, p.pid(), err)
	}
	return nil
}

// stopAll ends the processes together. One that had ended before is reported
// with the end of its log: nothing of a plane may end by itself.
func stopAll(processes []*process) error {
	var problems []error
	for _, proc := range processes {
		if proc.ended() {
			if !proc.reported {
				problems = append(problems, proc.endedEarly())
			}
			continue
		}
		problems = append(problems, proc.signal(syscall.SIGTERM))
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	for _, proc := range processes {
		select {
		case <-proc.done:
		case <-grace.C:
			grace.Reset(0) // the grace is over for the others as well
			if !proc.ended() {
				problems = append(problems, proc.signal(syscall.SIGKILL))
			}
			<-proc.done
		}
	}
	return errors.Join(problems...)
}

// awaitReady polls until the program serves, ends, or the context is over.
func (p *process) awaitReady(ctx context.Context) error {
	for {
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			p.reported = true
			return p.endedEarly()
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w): %w\n%s", p.name, context.Cause(ctx), err, p.tail(tailLines))
		case <-time.After(pollPause):
		}
	}
}

func (p *process) endedEarly() error {
	how := errors.New("exit status 0")
	if p.err != nil {
		how = p.err
	}
	return fmt.Errorf("%s ended by itself: %w\n%s", p.name, how, p.tail(tailLines))
}

// tail is the end of the log under a heading that names the file.
func (p *process) tail(lines int) string {
	text, err := readTail(p.log, lines)
	if err != nil {
		return fmt.Sprintf("--- log of %s: %v", p.name, err)
	}
	return fmt.Sprintf("--- last lines of %s\n%s", p.log, text)
}

// readTail reads at most the last 64 KiB of the file and keeps its last lines.
func readTail(name string, lines int) (string, error) {
	const most = 64 << 10
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = file.Close() }() // only read from
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", fmt.Errorf("seek log: %w", err)
	}
	start := max(0, size-most)
	data, err := io.ReadAll(io.NewSectionReader(file, start, size-start))
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	return lastLines(string(data), lines), nil
}

func lastLines(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
