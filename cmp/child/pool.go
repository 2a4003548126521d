package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/cmp/receive"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/confine"
	crd "github.com/moorpin/moorpin/pkg/schema"
)

// The flags that raise the bounds of a child, without dashes; errors name them.
const (
	FlagMemory = "max-render-memory"
	FlagCPU    = "max-render-cpu"
)

// Options is what a pool needs.
type Options struct {
	// WorkDir is the folder of the slots; nothing else uses it.
	WorkDir string
	Render  render.Config
	// RulesFile and Rules are the file of --rules; empty where there is none.
	RulesFile string
	Rules     []byte
	Limits    confine.Limits
	Mode      confine.Mode
	// Children is how many there are at once; at least one.
	Children int
	Log      *slog.Logger
}

// Pool keeps confined children ready. It is safe for concurrent use.
type Pool struct {
	options Options
	tools   render.Tools
	status  confine.Status
	encoded encodings
	// turns holds one element for each child that may be taken.
	turns chan struct{}
	guard sync.Mutex
	// idle are the children that wait, the one that worked last behind the others. They
	// are fewer than the turns where some could not be started; whoever finds none starts one.
	idle []*confine.Child
	// background joins what is started and put in order meanwhile.
	background sync.WaitGroup
}

// keepBytes is what a child may hold and still be used again.
const keepBytes = 192 << 20

// NewPool makes a pool and starts its first child, which shows whether children can be
// confined here. The caller closes it.
func NewPool(options Options) (*Pool, error) {
	tools, err := render.PrepareTools(filepath.Join(options.WorkDir, "bin"))
	if err != nil {
		return nil, fmt.Errorf("prepare to render: %w", err)
	}
	p := &Pool{options: options, tools: tools, turns: make(chan struct{}, max(options.Children, 1))}
	first, err := p.start()
	if err != nil {
		return nil, err
	}
	p.status = first.Status()
	p.put(first)
	for range cap(p.turns) - 1 {
		p.background.Go(p.fill)
	}
	return p, nil
}

// Status says what holds the children back.
func (p *Pool) Status() confine.Status { return p.status }

// Take gives a child away until [Slot.Release]. It waits for one no longer than ctx.
func (p *Pool) Take(ctx context.Context) (*Slot, error) {
	select {
	case <-p.turns:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a process to render in: %w", context.Cause(ctx))
	}
	child := p.pop()
	if child != nil && !child.Lives() {
		p.end(child)
		child = nil
	}
	if child == nil {
		started, err := p.start()
		if err != nil {
			p.turns <- struct{}{}
			return nil, err
		}
		child = started
	}
	return &Slot{pool: p, child: child, gone: make(chan struct{})}, nil
}

// Close ends all children. All slots have to be released before.
func (p *Pool) Close() error {
	var err error
	for range cap(p.turns) {
		<-p.turns
	}
	p.background.Wait()
	for child := p.pop(); child != nil; child = p.pop() {
		err = errors.Join(err, child.Close())
	}
	return err
}

// pop takes the child that worked last, whose memory is warm; nil where none waits.
func (p *Pool) pop() *confine.Child {
	p.guard.Lock()
	defer p.guard.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	child := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return child
}

// put has a child wait, and gives its turn to others.
func (p *Pool) put(child *confine.Child) {
	p.guard.Lock()
	p.idle = append(p.idle, child)
	p.guard.Unlock()
	p.turns <- struct{}{}
}

// start starts a child with a folder of its own.
func (p *Pool) start() (*confine.Child, error) {
	folder, err := os.MkdirTemp(p.options.WorkDir, "slot-")
	if err == nil {
		err = furnish(folder)
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder to render in: %w", err)
	}
	child, err := confine.Start(confine.Spec{
		Argument: argument, Folder: folder, Read: p.tools.Read,
		Env:    p.tools.Environment(filepath.Join(folder, homeFolder), filepath.Join(folder, temporaryFolder)),
		Limits: p.options.Limits, Mode: p.options.Mode,
	})
	if err != nil {
		return nil, fmt.Errorf("start a process to render in: %w", err)
	}
	return child, nil
}

// fill starts a child for a place that has none.
func (p *Pool) fill() {
	child, err := p.start()
	if err != nil {
		p.options.Log.Error("no process to render in could be kept ready", "error", err)
		p.turns <- struct{}{}
		return
	}
	p.put(child)
}

func (p *Pool) end(child *confine.Child) {
	if err := child.Close(); err != nil {
		p.options.Log.Error("a render's folder stays on disk until the next start", "error", err)
	}
}

// The folders of a slot beside the private copy.
const (
	homeFolder      = "home"
	temporaryFolder = "tmp"
)

func furnish(folder string) error {
	for _, name := range []string{homeFolder, temporaryFolder} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			return err //nolint:wrapcheck // the callers name the step.
		}
	}
	return nil
}

// Slot is a child that was taken, with its folder.
type Slot struct {
	pool  *Pool
	child *confine.Child
	spent bool
	few   bool // little lies in the folder
	once  sync.Once
	gone  chan struct{}
}

// fewEntries are removed in some milliseconds.
const fewEntries = 1000

// Folder is where the private copy of the repository belongs.
func (s *Slot) Folder() string { return s.child.Folder() }

// Do has the child do a task, once. schemas gives the schemas that are in force; it is
// called while the task runs.
func (s *Slot) Do(ctx context.Context, task Task, schemas crd.Lookup) (*Outcome, error) {
	config := s.pool.options.Render
	config.Guards, config.Temporary = s.pool.tools.Guards, filepath.Join(s.Folder(), temporaryFolder)
	request, err := json.Marshal(message{Render: config, RulesFile: s.pool.options.RulesFile, Rules: s.pool.options.Rules, Task: task}) //nolint:musttag // both ends are this program.
	if err != nil {
		return nil, fmt.Errorf("render: encode the task: %w", err)
	}
	s.spent = true
	text, err := s.child.Call(ctx, request, func(question []byte) ([]byte, error) {
		return s.pool.encoded.reply(question, schemas)
	})
	if err != nil {
		return nil, fmt.Errorf("render: %w", s.explain(task.Path, err))
	}
	decoded, err := decodeAnswer(text, task.Changes)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	if decoded.Fault != nil {
		return nil, s.nameBound(task.Path, decoded.Fault)
	}
	s.spent, s.few = decoded.Programs, task.Entries <= fewEntries
	return &decoded.Outcome, nil
}

// Release gives the child back. What lies in its folder is removed meanwhile, which takes
// long where there is much; what is returned is closed then, or at once where there is
// little and no program has added to it.
func (s *Slot) Release() (gone <-chan struct{}) {
	s.once.Do(func() {
		tell := sync.OnceFunc(func() { close(s.gone) })
		if s.few && !s.spent {
			tell()
		}
		s.pool.background.Go(func() {
			if !s.spent && s.child.Usable(keepBytes) && empty(s.child.Folder()) == nil {
				s.pool.put(s.child)
				tell()
				return
			}
			s.pool.end(s.child)
			tell()
			s.pool.fill()
		})
	})
	return s.gone
}

// empty removes all that a folder holds and furnishes it anew.
func empty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err //nolint:wrapcheck // the folder is then removed as a whole.
	}
	for _, entry := range entries {
		if err := confine.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
			return err //nolint:wrapcheck // the same.
		}
	}
	return furnish(folder)
}

// explain says what became of a child in terms of the Application.
func (s *Slot) explain(path string, err error) error {
	if exceeded, found := errors.AsType[*confine.Exceeded](err); found {
		advice := "; make it cheaper"
		if flag := flagOf[exceeded.Bound]; flag != "" {
			advice += ", or raise " + flag + " of the plugin"
		}
		refusal := &render.Refusal{Where: path, Reason: "does not render: " + exceeded.Error() + advice}
		return &pastBound{Refusal: refusal, exceeded: exceeded}
	}
	if died, found := errors.AsType[*confine.Died](err); found {
		return &render.Refusal{Where: path, Reason: "does not render: " + died.Error()}
	}
	return err
}

// pastBound is a refusal that remembers the bound.
type pastBound struct { //nolint:errname // as render.Refusal.
	*render.Refusal

	exceeded *confine.Exceeded
}

// Unwrap returns what is told to people, and then what it says to code.
func (e *pastBound) Unwrap() []error { return []error{e.Refusal, e.exceeded} }

// TookTooLong reports whether a render was ended for the processor time that it took.
func TookTooLong(err error) bool {
	exceeded, found := errors.AsType[*confine.Exceeded](err)
	return found && exceeded.Bound == confine.CPU
}

// flagOf is what raises each bound.
var flagOf = map[confine.Bound]string{
	confine.Memory: "--" + FlagMemory,
	confine.CPU:    "--" + FlagCPU,
	confine.Disk:   "--" + receive.FlagTreeBytes,
	confine.Files:  "--" + receive.FlagFiles,
	confine.Answer: "ARGOCD_GRPC_MAX_SIZE_MB",
}

// nameBound is the error of a fault. What a tool says when the kernel gives it no more
// memory does not say who bounds it.
func (s *Slot) nameBound(path string, fault *fault) error {
	err := fault.err()
	if fault.Refused == nil || !confine.OutOfMemory(fault.Refused.Reason) {
		return err
	}
	bound := &confine.Exceeded{Bound: confine.Memory, Limit: s.pool.options.Limits.Memory}
	return errors.Join(fmt.Errorf("render: %w", s.explain(path, bound)), err)
}

// encodings keeps the texts of definitions that children have asked for.
type encodings struct {
	mu    sync.Mutex
	texts map[*crd.Definition]encoding
}

type encoding struct {
	id   string
	text []byte
}

// maxEncodings bounds what is kept: more than a cluster has kinds in use. Beyond it
// everything is forgotten, old versions of CRDs with it.
const maxEncodings = 1000

// reply answers the question of a child, which is not to be trusted.
func (e *encodings) reply(text []byte, schemas crd.Lookup) ([]byte, error) {
	var asked question
	if err := json.Unmarshal(text, &asked); err != nil { //nolint:musttag // both ends are this program.
		return nil, fmt.Errorf("hear what the child asks: %w", err)
	}
	if schemas == nil {
		return []byte{replyNone}, nil
	}
	definition, found := schemas.Definition(schema.GroupKind{Group: asked.Group, Kind: asked.Kind})
	if !found {
		return []byte{replyNone}, nil
	}
	kept, err := e.of(definition)
	if err != nil {
		return nil, err
	}
	if kept.id == asked.Have {
		return []byte{replySame}, nil
	}
	return append(append([]byte{replyNew}, kept.id...), kept.text...), nil
}

func (e *encodings) of(definition *crd.Definition) (encoding, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if kept, found := e.texts[definition]; found {
		return kept, nil
	}
	text, id, err := definition.Encode()
	if err != nil {
		return encoding{}, fmt.Errorf("tell the child a schema: %w", err)
	}
	if e.texts == nil || len(e.texts) >= maxEncodings {
		e.texts = map[*crd.Definition]encoding{}
	}
	e.texts[definition] = encoding{id: id, text: text}
	return e.texts[definition], nil
}
