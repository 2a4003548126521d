package confine

import (
	"encoding/binary"
	"fmt"
	"io"
)

// frameKind says what a frame between the two processes holds.
type frameKind byte

const (
	frameSetup    frameKind = 's' // parent to child: its limits
	frameReady    frameKind = 'c' // child to parent: they are set
	frameRequest  frameKind = 'r' // parent to child
	frameQuestion frameKind = 'q' // child to parent, while it works
	frameReply    frameKind = 'a' // parent to child, to a question
	frameAnswer   frameKind = 'z' // child to parent: the outcome
)

// questionBytes bounds what a child may ask at once.
const questionBytes = 64 << 10

const frameHead = 9

// idBytes is the length of the random number that a request begins with. The answer
// repeats it, so that no answer is taken for that to another request.
const idBytes = 16

func writeFrame(to io.Writer, kind frameKind, payload []byte) error {
	head := make([]byte, frameHead, frameHead+min(len(payload), 1<<16))
	head[0] = byte(kind)
	binary.BigEndian.PutUint64(head[1:], uint64(len(payload)))
	if len(payload) <= 1<<16 {
		_, err := to.Write(append(head, payload...))
		return err //nolint:wrapcheck // the callers name the step.
	}
	if _, err := to.Write(head); err != nil {
		return err //nolint:wrapcheck // the callers name the step.
	}
	_, err := to.Write(payload)
	return err //nolint:wrapcheck // the callers name the step.
}

// tooLongError says that a frame announced more than it may hold.
type tooLongError struct{ kind frameKind }

func (e *tooLongError) Error() string { return fmt.Sprintf("a frame %q is too long", e.kind) }

// readFrame reads one frame. limit gives the most bytes of each kind; a kind that it
// does not know is refused.
func readFrame(from io.Reader, limit map[frameKind]int64) (frameKind, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, err //nolint:wrapcheck // the callers name the step.
	}
	kind := frameKind(head[0])
	size := binary.BigEndian.Uint64(head[1:])
	most, known := limit[kind]
	if !known {
		return kind, nil, fmt.Errorf("a frame %q was not expected", kind)
	}
	if size > uint64(most) { //nolint:gosec // limits are not negative.
		return kind, nil, &tooLongError{kind}
	}
	payload := make([]byte, 0, min(size, 1<<20))
	// What is announced is not believed: memory is taken as the bytes arrive.
	for uint64(len(payload)) < size {
		piece := min(size-uint64(len(payload)), 1<<20)
		payload = append(payload, make([]byte, piece)...)
		if _, err := io.ReadFull(from, payload[uint64(len(payload))-piece:]); err != nil {
			return kind, nil, err //nolint:wrapcheck // the callers name the step.
		}
	}
	return kind, payload, nil
}
