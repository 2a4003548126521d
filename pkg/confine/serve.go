package confine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
)

// The descriptors by which a child hears and speaks, behind the three of every process.
const (
	requestDescriptor = 3
	answerDescriptor  = 4
)

// Work does one request in a child. ask puts a question to the parent and returns its
// reply. What Work returns is the answer; it has to carry failures as well.
type Work func(request []byte, ask func(question []byte) ([]byte, error)) []byte

// IsChild reports whether this process was started by [Start] with the argument.
func IsChild(argument string) bool { return len(os.Args) == 2 && os.Args[1] == argument }

// Serve bounds this process and does one request after the other until its parent has
// no more. main calls it first of all when [IsChild] says so, with the exit code
// that it returns.
func Serve(work Work) int {
	endWithGroup()
	closeOnExec(requestDescriptor, answerDescriptor)
	requests := os.NewFile(requestDescriptor, "requests")
	answers := os.NewFile(answerDescriptor, "answers")
	if requests == nil || answers == nil {
		fmt.Fprintln(os.Stderr, "this command is for Moorpin itself; see moorpin --help")
		return 2
	}
	if err := serve(bufio.NewReader(requests), answers, work); err != nil {
		fmt.Fprintln(os.Stderr, "fatal error:", err)
		return 1
	}
	return 0
}

// endWithGroup has this process take along what it has started when it is told to end,
// as the kernel does when the parent is gone.
func endWithGroup() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-ended
		killGroup()
		os.Exit(1)
	}()
}

func serve(requests io.Reader, answers io.Writer, work Work) error {
	_, text, err := readFrame(requests, map[frameKind]int64{frameSetup: math.MaxInt32})
	if err != nil {
		return fmt.Errorf("read the set-up: %w", err)
	}
	var limits Limits
	if err := json.Unmarshal(text, &limits); err != nil { //nolint:musttag // both ends are this program.
		return fmt.Errorf("read the set-up: %w", err)
	}
	if limits.Memory > 0 {
		debug.SetMemoryLimit(limits.Memory / 10 * 8)
	}
	if err := boundSelf(limits); err != nil {
		return fmt.Errorf("bound this process: %w", err)
	}
	if err := writeFrame(answers, frameReady, nil); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	for {
		_, request, err := readFrame(requests, map[frameKind]int64{frameRequest: math.MaxInt64})
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if len(request) < idBytes {
			return errors.New("read a request: it has no number")
		}
		id := request[:idBytes]
		answer := work(request[idBytes:], func(question []byte) ([]byte, error) {
			if err := writeFrame(answers, frameQuestion, question); err != nil {
				return nil, fmt.Errorf("ask: %w", err)
			}
			_, reply, err := readFrame(requests, map[frameKind]int64{frameReply: math.MaxInt64})
			if err != nil {
				return nil, fmt.Errorf("hear the reply: %w", err)
			}
			return reply, nil
		})
		if err := writeFrame(answers, frameAnswer, append(slices.Clone(id), answer...)); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
}
