package controlplane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// starterEnv turns the test binary into a program that starts a child and
// waits to be killed.
const starterEnv = "MOORPIN_TEST_STARTER"

func startAndWait() int {
	proc, err := newLauncher().start(shell("child", "exec sleep 600"), os.Getenv(starterEnv))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(proc.pid())
	time.Sleep(10 * time.Minute)
	return 0
}

func shell(name, script string) program {
	return program{
		name: name, path: "/bin/sh", args: []string{"-c", script}, env: []string{"PATH=" + os.Getenv("PATH")},
		ready: func(context.Context) error { return errors.New("not ready") },
	}
}

func launch(t *testing.T, prog program) *process {
	t.Helper()
	l := newLauncher()
	proc, err := l.start(prog, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return proc
}

func TestChildDiesWithItsStarter(t *testing.T) {
	starter := exec.CommandContext(t.Context(), os.Args[0])
	starter.Env = append(os.Environ(), starterEnv+"="+t.TempDir())
	output, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("starter says %q: %v", line, err)
	}
	if !alive(child) {
		t.Fatal("the child did not start")
	}
	if err := starter.Process.Kill(); err != nil { // no chance to clean up
		t.Fatal(err)
	}
	_ = starter.Wait() // it was killed
	eventuallyGone(t, child)
}

func TestChildOutlivesTheThreadThatAskedForIt(t *testing.T) {
	const several = 3 // the first thread of a program never ends, and one may be on it
	started := make(chan *process)
	for range several {
		go func() {
			runtime.LockOSThread() // the thread ends with this goroutine
			started <- launch(t, shell("child", "exec sleep 600"))
		}()
	}
	var children []*process
	for range several {
		children = append(children, <-started)
	}
	time.Sleep(200 * time.Millisecond)
	if err := stopAll(children); err != nil {
		t.Errorf("a child ended with a thread: %v", err)
	}
}

func TestStopAll(t *testing.T) {
	cases := map[string]struct {
		reason string
		script string // writes the id of a grandchild to $0
	}{
		"obedient": {
			reason: "the grandchild would outlive its parent, which ends by SIGTERM",
			script: `trap 'exit 0' TERM; (trap "" TERM; sleep 600) & echo $! >"$0.new"; mv "$0.new" "$0"; wait`,
		},
		"stubborn": {
			reason: "both ignore SIGTERM, so the grace ends with SIGKILL",
			script: `trap "" TERM; sleep 600 & echo $! >"$0.new"; mv "$0.new" "$0"; wait`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			prog := shell("parent", tc.script)
			prog.args = append(prog.args, file)
			proc := launch(t, prog)
			grandchild := readPID(t, file)
			if err := stopAll([]*process{proc}); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if alive(proc.pid()) {
				t.Errorf("%s: the parent is alive", tc.reason)
			}
			eventuallyGone(t, grandchild)
		})
	}
}

func TestProcessThatEndsByItself(t *testing.T) {
	proc := launch(t, shell("weak", "echo no such flag; exit 3"))
	err := proc.awaitReady(t.Context())
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("error is %v, want exit status 3 and the log", err)
	}
	if err := stopAll([]*process{proc}); err != nil {
		t.Errorf("reported twice: %v", err)
	}

	late := launch(t, shell("weak", "exit 4"))
	<-late.done
	if err := stopAll([]*process{late}); !errors.As(err, &exit) || exit.ExitCode() != 4 {
		t.Errorf("error of Stop is %v, want exit status 4", err)
	}
}

func TestAwaitReadyObeysTheContext(t *testing.T) {
	proc := launch(t, shell("slow", "echo still loading; exec sleep 600"))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := proc.awaitReady(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "still loading") {
		t.Errorf("error is %v, want the deadline and the log", err)
	}
	if err := stopAll([]*process{proc}); err != nil {
		t.Error(err)
	}
}

func TestPortsOfTwoPlanesDiffer(t *testing.T) {
	t.Setenv(CacheEnv, t.TempDir())
	seen := map[string]bool{}
	for range 2 {
		ports, err := reservePorts()
		if err != nil {
			t.Fatal(err)
		}
		defer ports.release()
		var taken [9]string
		if err := ports.fill(t.Context(), taken[:]); err != nil {
			t.Fatal(err)
		}
		for _, port := range taken {
			if seen[port] {
				t.Errorf("port %s is given out twice", port)
			}
			seen[port] = true
		}
	}
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	for range 100 {
		data, err := os.ReadFile(file)
		if err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("nobody wrote %s", file)
	return 0
}

// eventuallyGone gives the kernel a moment to deliver the signal.
func eventuallyGone(t *testing.T, pid int) {
	t.Helper()
	for range 100 {
		if !alive(pid) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d is alive", pid)
}
