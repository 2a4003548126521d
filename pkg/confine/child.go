package confine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What bounds answers and processes where nothing else is said.
const (
	defaultAnswer    = 256 << 20
	defaultProcesses = 256
)

// complaintBytes bounds what is kept of a child's standard error.
const complaintBytes = 64 << 10

// Child is a running child. It does one call at a time.
type Child struct {
	spec      Spec
	status    Status
	process   *exec.Cmd
	requests  *os.File
	answers   *bufio.Reader
	pipe      *os.File      // what answers reads
	ended     chan struct{} // closed once the process is gone
	complaint *complaint

	// peak is the most memory that was seen.
	peak atomic.Int64

	mu       sync.Mutex
	exceeded *Exceeded
	killed   bool
	closing  sync.Once
	closed   error
}

// startPatience bounds how long a child may take until it is ready.
const startPatience = 30 * time.Second

// Start starts a confined child and waits until it is ready. The caller closes it.
func Start(spec Spec) (*Child, error) {
	if spec.Limits.AnswerBytes <= 0 {
		spec.Limits.AnswerBytes = defaultAnswer
	}
	if spec.Limits.Processes <= 0 {
		spec.Limits.Processes = defaultProcesses
	}
	c, err := start(spec)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(spec.Folder))
	}
	if err := c.settle(); err != nil {
		return nil, errors.Join(fmt.Errorf("start a confined child: %w", err), c.Close())
	}
	return c, nil
}

func start(spec Spec) (*Child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	theirRequests, requests, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a pipe: %w", err), theirRequests.Close(), requests.Close())
	}
	widen(answers)
	c := &Child{spec: spec, requests: requests, answers: bufio.NewReaderSize(answers, 64<<10), pipe: answers, ended: make(chan struct{}), complaint: &complaint{}}
	c.process = exec.Command(program, spec.Argument) //nolint:gosec,noctx // it is this program, and Call heeds the context.
	c.process.Dir, c.process.Env = spec.Folder, spec.Env
	c.process.ExtraFiles = []*os.File{theirRequests, theirAnswers}
	// What a library prints is no answer.
	c.process.Stdout, c.process.Stderr = c.complaint, c.complaint
	c.process.WaitDelay = time.Second // a tool that outlives the child may hold its standard error
	c.process.SysProcAttr = attributes()
	err = c.startConfined()
	err = errors.Join(err, theirRequests.Close(), theirAnswers.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a child: %w", err), requests.Close(), answers.Close())
	}
	preferAsVictim(c.process.Process.Pid)
	go func() {
		_ = c.process.Wait() // how it ended is told by the pipe and by what it said
		forget(c.process.Process.Pid)
		killStrays()
		close(c.ended)
	}()
	return c, nil
}

// Status says what holds the child back.
func (c *Child) Status() Status { return c.status }

// Folder is the child's own.
func (c *Child) Folder() string { return c.spec.Folder }

// Reply answers a question that the child puts to its parent while it works. What a
// child asks is not to be trusted.
type Reply func(question []byte) ([]byte, error)

// Call has the child do one request and returns its answer. When ctx ends first, or a
// bound is passed, the child is killed with all that it has started: the error is then
// ctx's cause, an [*Exceeded] or a [*Died], and the child is of no more use, which
// [Child.Usable] tells.
func (c *Child) Call(ctx context.Context, request []byte, reply Reply) ([]byte, error) {
	c.peak.Store(0)
	c.complaint.reset()
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(done)
	}()
	answer, err := c.converse(request, reply)
	close(done)
	<-watched
	if err != nil {
		c.kill()
		_, exceeded := errors.AsType[*Exceeded](err)
		if ctx.Err() != nil && !exceeded {
			return nil, context.Cause(ctx) //nolint:wrapcheck // the caller knows its context
		}
		return nil, err
	}
	return answer, nil
}

// Lives reports whether the child waits for a call: it has not ended, and nobody has ended it.
func (c *Child) Lives() bool {
	select {
	case <-c.ended:
		return false
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.killed
}

// Usable reports whether the child can be given to somebody else after a call: it lives,
// has nothing more to say and time left, nothing is left of what it started, and it holds
// no more than the given bytes of memory. A child that is not is to be closed.
func (c *Child) Usable(memory int64) bool {
	if !c.Lives() || c.answers.Buffered() > 0 || waiting(c.pipe) > 0 { // it says more than it was asked
		return false
	}
	use := usage(c.process.Process.Pid)
	return use.processes == 1 && use.worked < c.spec.Limits.cpuLimit() && use.held <= memory
}

// Close ends the child with all that it has started, and removes its folder. It may be
// called more than once, and while a call runs.
func (c *Child) Close() error {
	c.closing.Do(func() {
		c.kill()
		<-c.ended
		c.closed = errors.Join(c.requests.Close(), c.pipe.Close(), RemoveAll(c.spec.Folder))
	})
	if c.closed != nil {
		return fmt.Errorf("close a child: %w", c.closed)
	}
	return nil
}

// startConfined starts the process on a thread of its own, which is confined first. The
// thread stays until the process has ended, since the kernel ends a child with the thread
// that started it, and it is never used for anything else.
func (c *Child) startConfined() error {
	outcome := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		var err error
		c.status, err = restrictThread(c.spec, c.process.Path)
		if err == nil {
			err = startKnown(c.process)
		}
		outcome <- err
		if err == nil {
			<-c.ended
		}
	}()
	return <-outcome
}

// settle tells the child its limits and waits until they are set.
func (c *Child) settle() error {
	patience := time.AfterFunc(startPatience, c.kill)
	defer patience.Stop()
	limits, err := json.Marshal(c.spec.Limits) //nolint:musttag // both ends are this program.
	if err != nil {
		return fmt.Errorf("encode the limits: %w", err)
	}
	if err := writeFrame(c.requests, frameSetup, limits); err != nil {
		return c.failure(err)
	}
	if _, _, err := readFrame(c.answers, map[frameKind]int64{frameReady: 0}); err != nil {
		return c.failure(err)
	}
	return nil
}

func (c *Child) converse(request []byte, reply Reply) ([]byte, error) {
	var id [idBytes]byte
	_, _ = rand.Read(id[:]) // it never fails
	if err := writeFrame(c.requests, frameRequest, append(id[:], request...)); err != nil {
		return nil, c.failure(err)
	}
	limits := map[frameKind]int64{frameQuestion: questionBytes, frameAnswer: c.spec.Limits.AnswerBytes + idBytes}
	for {
		kind, text, err := readFrame(c.answers, limits)
		if long, ok := errors.AsType[*tooLongError](err); ok && long.kind == frameAnswer {
			return nil, &Exceeded{Bound: Answer, Limit: c.spec.Limits.AnswerBytes}
		}
		if err != nil {
			return nil, c.failure(err)
		}
		if kind == frameAnswer {
			answer, ours := bytes.CutPrefix(text, id[:])
			if !ours {
				return nil, &Died{Reason: "it answered what nobody has asked"}
			}
			return answer, nil
		}
		if reply == nil {
			return nil, &Died{Reason: "it asked what nobody can answer"}
		}
		text, err = reply(text)
		if err != nil {
			return nil, err
		}
		if err := writeFrame(c.requests, frameReply, text); err != nil {
			return nil, c.failure(err)
		}
	}
}

// failure says why a child does not answer.
func (c *Child) failure(err error) error {
	c.kill()
	<-c.ended
	c.mu.Lock()
	exceeded := c.exceeded
	c.mu.Unlock()
	said := c.complaint.String()
	state := c.process.ProcessState
	switch {
	case exceeded != nil:
		return exceeded
	case OutOfMemory(said), said == "" && c.spec.Limits.Memory > 0 && c.peak.Load() > c.spec.Limits.Memory/2:
		// A process that gets no more memory cannot always say so.
		return &Exceeded{Bound: Memory, Limit: c.spec.Limits.Memory}
	case outOfTime(state):
		return &Exceeded{Bound: CPU, Limit: int64(c.spec.Limits.CPU)}
	}
	return &Died{Reason: cmp.Or(firstLine(said), fmt.Sprintf("%v (%v)", state, err)), Said: said}
}

// kill kills the child with all that it has started. It returns before they are gone.
func (c *Child) kill() {
	c.mu.Lock()
	killed := c.killed
	c.killed = true
	c.mu.Unlock()
	if killed {
		return
	}
	select {
	case <-c.ended: // its number may be another's by now
	default:
		killTree(c.process.Process)
	}
}

// exceed kills the child because it passed a bound.
func (c *Child) exceed(bound Bound, limit int64) {
	c.mu.Lock()
	if c.exceeded == nil && !c.killed {
		c.exceeded = &Exceeded{Bound: bound, Limit: limit}
	}
	c.mu.Unlock()
	c.kill()
}

// OutOfMemory recognises what a Go program says when the kernel gives it no more memory.
func OutOfMemory(said string) bool {
	return slices.ContainsFunc([]string{
		"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread",
	}, func(sign string) bool { return strings.Contains(said, sign) })
}

// firstLine is what a process that broke down says first, without where in memory.
func firstLine(said string) string {
	for line := range strings.Lines(said) {
		for _, start := range []string{"panic: ", "fatal error: "} {
			if reason, found := strings.CutPrefix(strings.TrimSpace(line), start); found {
				return reason
			}
		}
	}
	return ""
}

// complaint keeps the beginning of what is written to it.
type complaint struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write never fails: what is beyond the bound is lost.
func (c *complaint) Write(piece []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(piece[:min(len(piece), complaintBytes-c.text.Len())])
	return len(piece), nil
}

// String returns what was kept.
func (c *complaint) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// reset forgets what was kept.
func (c *complaint) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Reset()
}

var _ io.Writer = (*complaint)(nil)

// RemoveAll removes a folder with all that it holds, also where somebody has taken the
// rights to it away from its owner.
func RemoveAll(folder string) error {
	err := os.RemoveAll(folder)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err //nolint:wrapcheck // it names the folder.
	}
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // before it is listed; what fails is told below.
		}
		return nil
	})
	return os.RemoveAll(folder) //nolint:wrapcheck // it names the folder.
}

// cpuLimit is the bound as the watch compares it.
func (l Limits) cpuLimit() time.Duration {
	if l.CPU <= 0 {
		return math.MaxInt64
	}
	return l.CPU
}
