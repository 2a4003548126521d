package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/sirupsen/logrus"

	"github.com/moorpin/moorpin/pkg/manifest"
)

// ChildArgument is the only argument of a process that [Child] is to run in.
const ChildArgument = "render-child"

// Limits of a child beside its memory. A render that needs more is refused.
const (
	childStack  = 64 << 20
	childOutput = 512 << 20
	// childComplaint bounds what is kept of a child's standard error.
	childComplaint = 64 << 10
)

// childInput is what a child is told: the request, and the parent's renderer.
type childInput struct {
	Config            Config
	Guards, Temporary string
	Request           Request
}

// childOutcome is what a child answers: texts of objects, or a refusal, or a failure.
type childOutcome struct {
	Manifests []string
	Refused   bool
	Where     string
	Reason    string
}

// IsChild reports whether this process was started by a [Renderer] to run [Child].
func IsChild() bool { return len(os.Args) == 2 && os.Args[1] == ChildArgument }

// Child renders one request, which it reads from standard input, and writes the
// outcome to standard output. main calls it first of all when [IsChild] says so.
//
// Programs of the user's run in a process of their own: a Jsonnet program can use up
// the stack, which ends a Go process beyond recovery, and cannot be stopped; what Helm
// prints can expand without bounds. A child can be killed, and its limits are its own.
// It returns the exit code.
func Child() int {
	debug.SetMaxStack(childStack)
	logrus.SetLevel(logrus.PanicLevel)
	logrus.SetOutput(io.Discard)
	var input childInput
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil { //nolint:musttag // both ends are this program
		fmt.Fprintln(os.Stderr, "read the request:", err)
		return 1
	}
	go endAbove(input.Config.Memory)
	outcome := input.render()
	if err := json.NewEncoder(os.Stdout).Encode(outcome); err != nil { //nolint:musttag // both ends are this program
		fmt.Fprintln(os.Stderr, "write the outcome:", err)
		return 1
	}
	return 0
}

// endAbove ends the process when its heap grows above the limit.
func endAbove(limit int64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(5 * time.Millisecond) {
		metrics.Read(sample)
		if used := sample[0].Value.Uint64(); used > uint64(max(limit, 0)) {
			fmt.Fprintf(os.Stderr, "fatal error: it needs more than %d bytes of memory\n", limit)
			os.Exit(1)
		}
	}
}

func (i childInput) render() childOutcome {
	renderer := newRenderer(i.Config, i.Guards, i.Temporary)
	job, err := renderer.prepare(i.Request)
	if err != nil {
		return failed(err)
	}
	manifests, err := job.generate(context.Background())
	if err != nil {
		return failed(err)
	}
	return childOutcome{Manifests: manifests}
}

func failed(err error) childOutcome {
	if refusal, found := errors.AsType[*Refusal](err); found {
		return childOutcome{Refused: true, Where: refusal.Where, Reason: refusal.Reason}
	}
	if fault, found := errors.AsType[*manifest.Error](err); found {
		where, reason, _ := strings.Cut(fault.Error(), ": "+fault.Reason)
		return childOutcome{Refused: true, Where: where, Reason: fault.Reason + reason}
	}
	return childOutcome{Reason: err.Error()}
}

// needsChild reports whether rendering runs programs of the user's.
func (j *job) needsChild() bool {
	return j.kind == v1alpha1.ApplicationSourceTypeHelm || len(j.programs) > 0
}

// generateInChild renders the request in a process of its own, which ends with ctx.
func (j *job) generateInChild(ctx context.Context) ([]string, error) {
	input, err := json.Marshal(childInput{Config: j.renderer.config, Guards: j.renderer.guards, Temporary: j.renderer.temporary, Request: j.request}) //nolint:musttag // both ends are this program
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	child := exec.CommandContext(ctx, self, ChildArgument) //nolint:gosec // it is this program.
	child.Dir = j.root                                     // by which killBelow finds it
	child.Stdin = bytes.NewReader(input)
	output, complaint := &bounded{limit: childOutput}, &bounded{limit: childComplaint}
	child.Stdout, child.Stderr = output, complaint
	child.Cancel = func() error { return killChild(child.Process) }
	child.WaitDelay = time.Second
	err = child.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		return nil, refuse(j.request.Path, "%s does not render: its program broke down: %s", j.kind, firstLine(complaint.text.String(), err))
	}
	if err != nil {
		return nil, fmt.Errorf("render in a child: %w", errors.Join(context.Cause(ctx), err))
	}
	var outcome childOutcome
	if err := json.Unmarshal(output.text.Bytes(), &outcome); err != nil { //nolint:musttag // both ends are this program
		return nil, refuse(j.request.Path, "%s does not render: what it renders to is more than %d bytes", j.kind, childOutput)
	}
	switch {
	case outcome.Refused:
		return nil, &Refusal{Where: outcome.Where, Reason: outcome.Reason}
	case outcome.Reason != "":
		return nil, errors.New(outcome.Reason)
	}
	return outcome.Manifests, nil
}

// firstLine is what a process that broke down says first, without where in memory.
func firstLine(complaint string, err error) string {
	for line := range strings.Lines(complaint) {
		for _, start := range []string{"panic: ", "fatal error: "} {
			if reason, found := strings.CutPrefix(strings.TrimSpace(line), start); found {
				return reason
			}
		}
	}
	return err.Error()
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	text  bytes.Buffer
	limit int
}

// Write never fails: what is beyond the limit is lost.
func (b *bounded) Write(piece []byte) (int, error) {
	b.text.Write(piece[:min(len(piece), b.limit-b.text.Len())])
	return len(piece), nil
}
