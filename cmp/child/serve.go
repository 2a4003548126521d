package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/confine"
	"github.com/moorpin/moorpin/pkg/pin"
	crd "github.com/moorpin/moorpin/pkg/schema"
)

// argument is the only argument of a child's process.
const argument = "render-child"

const (
	// stackBytes bounds the stack: a Jsonnet program that recurses without end breaks down
	// early, and not by memory.
	stackBytes = 64 << 20
	// gcPercent lets the heap grow further between collections than Go does by itself: a
	// render makes much garbage on a small live heap, and half of its time would go to
	// collecting it. The bound on memory holds all the same.
	gcPercent = 400
)

// IsChild reports whether this process was started by a [Pool] to run [Serve].
func IsChild() bool { return confine.IsChild(argument) }

// Serve does the tasks of the process that started this one. main calls it first of all
// when [IsChild] says so. It returns the exit code.
func Serve() int {
	debug.SetMaxStack(stackBytes)
	debug.SetGCPercent(gcPercent)
	worker := &worker{known: map[schema.GroupKind]known{}}
	return confine.Serve(worker.work)
}

// worker does one task after the other in a child.
type worker struct {
	known map[schema.GroupKind]known
	// rules are those of rulesText.
	rules     *pin.Rules
	rulesText []byte
}

// work does one task and never fails: what goes wrong is in the answer.
func (w *worker) work(request []byte, ask func([]byte) ([]byte, error)) []byte {
	result := w.do(request, ask)
	encoded, err := result.encode()
	if err == nil {
		return encoded
	}
	// Without the outcome, what is left encodes.
	encoded, _ = (&answer{Fault: newFault(err), Programs: true}).encode()
	return encoded
}

func (w *worker) do(request []byte, ask func([]byte) ([]byte, error)) *answer {
	var asked message
	err := json.Unmarshal(request, &asked)
	if err != nil {
		return &answer{Fault: newFault(fmt.Errorf("read the task: %w", err)), Programs: true}
	}
	err = w.readRules(&asked)
	if err != nil {
		return &answer{Fault: newFault(err), Programs: true}
	}
	renderer, schemas := render.New(asked.Render), &asking{ask: ask, known: w.known}
	outcome, err := perform(asked.Task, renderer, pin.Options{Schemas: schemas, Rules: w.rules})
	err = errors.Join(err, schemas.err)
	if err != nil {
		return &answer{Fault: newFault(err), Programs: true}
	}
	return &answer{Outcome: *outcome, Programs: renderer.RanPrograms()}
}

// perform does a task and turns a panic into an error.
func perform(task Task, runner Runner, options pin.Options) (outcome *Outcome, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = render.NewBreakdown(cause, debug.Stack())
		}
	}()
	return Perform(context.Background(), task, runner, options)
}

func (w *worker) readRules(asked *message) error {
	if len(asked.Rules) == 0 || w.rules != nil && bytes.Equal(asked.Rules, w.rulesText) {
		return nil
	}
	rules, err := pin.ParseRules(asked.RulesFile, asked.Rules)
	if err != nil {
		return fmt.Errorf("read the rules: %w", err)
	}
	w.rules, w.rulesText = pin.DefaultRules().With(rules), asked.Rules
	return nil
}

// known is a definition that a child has asked for before.
type known struct {
	definition *crd.Definition
	id         string
}

// question asks for the definition of a kind. Have is the id of the one that the child
// has already.
type question struct {
	Group, Kind string
	Have        string `json:",omitempty"`
}

// The first byte of the reply to a question.
const (
	replyNone = 'n' // there is no such definition
	replySame = 's' // the child has it already
	replyNew  = 'd' // its id and its text follow
)

// idBytes is the length of an id.
const idBytes = 32

// asking looks definitions up by asking the parent, once for each kind.
type asking struct {
	ask   func([]byte) ([]byte, error)
	known map[schema.GroupKind]known
	// sure are the kinds that were asked for in this task.
	sure map[schema.GroupKind]bool
	// err is why the parent could not be asked.
	err error
}

// Definition implements [crd.Lookup].
func (a *asking) Definition(kind schema.GroupKind) (*crd.Definition, bool) {
	if !a.sure[kind] && a.err == nil {
		a.err = a.refresh(kind)
		if a.sure == nil {
			a.sure = map[schema.GroupKind]bool{}
		}
		a.sure[kind] = true
	}
	found, ok := a.known[kind]
	return found.definition, ok
}

// maxName bounds the names of kinds that are asked for: the API server takes no longer ones.
const maxName = 253

func (a *asking) refresh(kind schema.GroupKind) error {
	if len(kind.Group) > maxName || len(kind.Kind) > maxName {
		return nil
	}
	text, err := json.Marshal(question{Group: kind.Group, Kind: kind.Kind, Have: a.known[kind].id})
	if err != nil {
		return fmt.Errorf("ask for a schema: %w", err)
	}
	reply, err := a.ask(text)
	if err != nil {
		return fmt.Errorf("ask for a schema: %w", err)
	}
	switch {
	case len(reply) == 1 && reply[0] == replySame:
		return nil
	case len(reply) > idBytes && reply[0] == replyNew:
		definition, err := crd.DecodeDefinition(reply[1+idBytes:])
		if err != nil {
			return fmt.Errorf("hear a schema: %w", err)
		}
		a.known[kind] = known{definition: definition, id: string(reply[1 : 1+idBytes])}
		return nil
	}
	delete(a.known, kind)
	return nil
}
