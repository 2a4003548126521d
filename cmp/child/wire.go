package child

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/cli"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// message is what a child is asked to do.
type message struct {
	Render render.Config
	// RulesFile and Rules are the file of --rules; empty where there is none.
	RulesFile string
	Rules     []byte
	Task      Task
}

// answer is what a child says in the end. The texts of the outcome travel behind it.
type answer struct {
	Fault *fault `json:",omitempty"`
	// Programs tells that programs of the user's may have run.
	Programs bool
	Outcome  Outcome
}

// fault is an error on its way from the child to its parent: the whole sentence, and what
// the parent has to tell apart.
type fault struct {
	Text       string
	Refused    *render.Refusal `json:",omitempty"`
	Unreadable *manifest.Error `json:",omitempty"`
	// Stack is that of a panic.
	Stack []byte `json:",omitempty"`
}

// faultBytes bounds each text of a fault: a chart may fail with as many bytes as it has
// memory for. It is far more than anybody is told of it.
const faultBytes = 64 << 10

func newFault(err error) *fault {
	f := &fault{Text: shortened(err.Error())}
	if refused, found := errors.AsType[*render.Refusal](err); found {
		f.Refused = &render.Refusal{Where: shortened(refused.Where), Reason: shortened(refused.Reason)}
	}
	if unreadable, found := errors.AsType[*manifest.Error](err); found {
		short := *unreadable
		short.Reason = shortened(short.Reason)
		f.Unreadable = &short
	}
	if broken, found := errors.AsType[*render.Breakdown](err); found {
		f.Stack = broken.Stack
	}
	return f
}

// shortened leaves the middle of a long text out: a tool may say last why it failed.
func shortened(text string) string {
	if len(text) <= faultBytes {
		return text
	}
	return cli.Cut(text, faultBytes/2) + strings.ToValidUTF8(text[len(text)-faultBytes/2:], "")
}

// err is the error again.
func (f *fault) err() error {
	switch {
	case f.Refused != nil:
		return &told{f.Text, f.Refused}
	case f.Unreadable != nil:
		return &told{f.Text, f.Unreadable}
	case f.Stack != nil:
		return &told{f.Text, &render.Breakdown{Stack: f.Stack}}
	}
	return errors.New(f.Text)
}

// told is an error that a child told.
type told struct {
	text  string
	cause error
}

func (e *told) Error() string { return e.text }
func (e *told) Unwrap() error { return e.cause }

// encode writes the answer: the length of its head, the head as JSON, and then each text
// behind its length.
func (a *answer) encode() ([]byte, error) {
	texts := a.Outcome.Texts
	a.Outcome.Texts = nil
	head, err := json.Marshal(a) //nolint:musttag // both ends are this program.
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	size := 4 + len(head)
	for _, text := range texts {
		size += 4 + len(text)
	}
	encoded := appendPiece(make([]byte, 0, size), head)
	for _, text := range texts {
		encoded = appendPiece(encoded, text)
	}
	return encoded, nil
}

func appendPiece[Text string | []byte](to []byte, text Text) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(text))), text...) //nolint:gosec // answers are bounded far below 4 GiB.
}

// Bounds of an answer beside its bytes, far beyond what a child says by itself.
const (
	maxHead     = 8 << 20 // bytes, unless every change was asked for
	maxTexts    = 1_000_000
	maxKinds    = 10_000
	maxObstacle = 64 // bytes
)

// decodeAnswer reads what a child answered, which is not to be trusted.
func decodeAnswer(text []byte, withChanges bool) (*answer, error) {
	head, rest, ok := cutPiece(text)
	if !ok {
		return nil, errors.New("the answer of the child is cut off")
	}
	if len(head) > maxHead && !withChanges {
		return nil, fmt.Errorf("the answer of the child has a head of %d bytes", len(head))
	}
	decoded := &answer{}
	// Whole numbers of the changes stay whole.
	if err := kjson.Unmarshal(head, decoded); err != nil {
		return nil, fmt.Errorf("read the answer of the child: %w", err)
	}
	for len(rest) > 0 {
		var piece []byte
		piece, rest, ok = cutPiece(rest)
		if !ok || len(piece) == 0 || len(decoded.Outcome.Texts) == maxTexts {
			return nil, errors.New("the answer of the child is cut off, or holds too many objects or empty ones")
		}
		decoded.Outcome.Texts = append(decoded.Outcome.Texts, string(piece))
	}
	return decoded, decoded.Outcome.check()
}

// check refuses what no child of this program says.
func (o *Outcome) check() error {
	if len(o.Kinds) > maxKinds || len(o.Warnings) > maxSentences || o.Warned < 0 || o.Warned > len(o.Texts) {
		return errors.New("the answer of the child counts more than there is")
	}
	for _, count := range o.Kinds {
		if min(count.Pinned, count.Dropped, count.NullsReplaced, count.NullsDropped) < 0 {
			return errors.New("the answer of the child counts below zero")
		}
	}
	for _, warning := range o.Warnings {
		if warning.Objects < 0 || warning.Objects > len(o.Texts) || len(warning.Obstacle) > maxObstacle {
			return errors.New("the answer of the child warns of what cannot be")
		}
	}
	return nil
}

func cutPiece(text []byte) (piece, rest []byte, ok bool) {
	if len(text) < 4 {
		return nil, nil, false
	}
	size := int64(binary.BigEndian.Uint32(text))
	if size > int64(len(text)-4) {
		return nil, nil, false
	}
	return text[4 : 4+size], text[4+size:], true
}
