// Package worker explains snapshots in confined child processes, so that one that takes
// all memory, never ends, or finds a mistake in a library ends its own child and nothing
// else.
//
// A [Pool] keeps children, this same program started with [ChildArgument], for
// [report.Service] to ask. Each explains one snapshot after the other, shut in by
// package confine: no network is needed, no file of others is within reach, and its
// memory is bounded. A child that passes a bound, breaks down, or keeps memory is ended,
// and the next question gets a new one.
//
//	valid:    NewPool(Options{Workers: 2, Memory: 512 << 20})
//	invalid:  NewPool(Options{Memory: 1 << 20})   (the program alone takes more)
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/confine"
)

const (
	// leastMemory is what the program needs to explain anything.
	leastMemory = 128 << 20
	// kept is the part of its memory that a child may hold while it has nothing to do,
	// and most how many questions it answers in its life.
	kept = 3
	most = 1000
	// answerBytes bounds an answer, which the parent takes several times over to read it.
	answerBytes = 32 << 20
)

// Options say how children are kept.
type Options struct {
	// Workers is how many explain at once; at least 1.
	Workers int
	// Memory bounds what one takes, in bytes; at least 128 MiB.
	Memory int64
	// Mode says what is done where the kernel cannot confine.
	Mode confine.Mode
	// Log is told of children that broke down; nil for none.
	Log *slog.Logger
}

// Pool is a [report.Classifier] that works in children. It is safe for concurrent use.
type Pool struct {
	options Options
	turns   chan struct{}
	// folders holds those of the children.
	folders *folders

	guard  sync.Mutex
	idle   []*hand
	closed bool
}

// hand is a child with how often it was asked.
type hand struct {
	*confine.Child

	asked int
}

// NewPool starts the first child, which shows what holds it back. The caller closes the
// pool.
func NewPool(options Options) (*Pool, confine.Status, error) {
	if options.Workers < 1 || options.Memory < leastMemory {
		return nil, confine.Status{}, fmt.Errorf("workers: there must be at least one, with at least %d MiB", leastMemory>>20)
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	own, err := newFolders(os.TempDir(), options.Log)
	if err != nil {
		return nil, confine.Status{}, err
	}
	p := &Pool{options: options, folders: own, turns: make(chan struct{}, options.Workers)}
	first, err := p.start()
	if err != nil {
		return nil, confine.Status{}, errors.Join(err, own.close())
	}
	p.idle = []*hand{first}
	return p, first.Status(), nil
}

// Explain asks a child. See [report.Classifier].
func (p *Pool) Explain(ctx context.Context, question report.Question) (*report.Explained, error) {
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a worker: %w", context.Cause(ctx))
	}
	request, err := encode(ctx, question)
	if err != nil {
		return nil, err
	}
	h, err := p.take()
	if err != nil {
		return nil, err
	}
	reply, err := h.Call(ctx, request, nil)
	p.give(h)
	if err != nil {
		return nil, p.failed(ctx, err)
	}
	return decode(reply)
}

// Close ends the children: those that have nothing to do now, the others once they have
// answered, which it waits for.
func (p *Pool) Close() error {
	p.guard.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.guard.Unlock()
	errs := make([]error, 0, len(idle))
	for _, h := range idle {
		errs = append(errs, h.Close())
	}
	for range p.options.Workers {
		p.turns <- struct{}{}
	}
	return errors.Join(append(errs, p.folders.close())...)
}

// take finds a child that has nothing to do, or starts one.
func (p *Pool) take() (*hand, error) {
	for {
		p.guard.Lock()
		if p.closed {
			p.guard.Unlock()
			return nil, errors.New("the workers were ended")
		}
		if len(p.idle) == 0 {
			p.guard.Unlock()
			return p.start()
		}
		h := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		p.guard.Unlock()
		if h.Lives() {
			return h, nil
		}
		p.end(h)
	}
}

// give takes a child back, unless it is of no more use.
func (p *Pool) give(h *hand) {
	h.asked++
	if h.asked >= most || !h.Usable(p.options.Memory/kept) {
		p.end(h)
		return
	}
	p.guard.Lock()
	closed := p.closed
	if !closed {
		p.idle = append(p.idle, h)
	}
	p.guard.Unlock()
	if closed {
		p.end(h)
	}
}

func (p *Pool) start() (*hand, error) {
	folder, err := os.MkdirTemp(p.folders.path, "child-")
	if err != nil {
		return nil, fmt.Errorf("make the folder of a worker: %w", err)
	}
	child, err := confine.Start(confine.Spec{
		Argument: ChildArgument, Folder: folder, Mode: p.options.Mode,
		Env:    []string{"TMPDIR=" + folder, "HOME=" + folder},
		Limits: confine.Limits{Memory: p.options.Memory, DiskBytes: 1 << 20, DiskFiles: 16, AnswerBytes: answerBytes},
	})
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	return &hand{Child: child}, nil
}

func (p *Pool) end(h *hand) {
	if err := h.Close(); err != nil {
		p.options.Log.Warn("end a worker", "error", err)
	}
}

// failed says what came of a question whose child was ended, or broke down.
func (p *Pool) failed(ctx context.Context, err error) error {
	if exceeded, ok := errors.AsType[*confine.Exceeded](err); ok {
		p.options.Log.Warn("a worker was ended", "bound", string(exceeded.Bound), "limit", exceeded.Limit)
		return &report.BoundError{Reason: "explaining the snapshot takes too much: " + exceeded.Error()}
	}
	if died, ok := errors.AsType[*confine.Died](err); ok && ctx.Err() == nil {
		p.options.Log.Error("a worker broke down", "reason", died.Reason, "said", died.Said)
		return fmt.Errorf("%w: %w", report.ErrWorker, err)
	}
	return fmt.Errorf("explain in a worker: %w", err)
}

// spare is the part of a question's time that is left for its answer to come back.
const spare = 20

// within is the time that a child has.
func within(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	left := time.Until(deadline)
	return max(left-left/spare, time.Millisecond)
}
