package render

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/argoproj/argo-cd/v2/reposerver/repository"
	"google.golang.org/grpc/status"
)

// Refusal is a mistake in the Application or the repository.
type Refusal struct { //nolint:errname // it reads as what it is: render.Refusal.
	// Where is the file, parameter, field or folder that is at fault.
	Where string
	// Reason says what is wrong and what to do.
	Reason string
}

// Error returns the sentence for people.
func (e *Refusal) Error() string { return e.Where + ": " + e.Reason }

func refuse(where, format string, args ...any) *Refusal {
	return &Refusal{Where: where, Reason: fmt.Sprintf(format, args...)}
}

// explain says what Argo CD's renderer complained about in terms of the
// repository: no path of the private copy, no argument of a tool, since Helm's
// hold values, and the file and line where YAML is at fault.
func (j *job) explain(err error) error {
	message := err.Error()
	if code, ok := status.FromError(err); ok {
		message = code.Message()
	}
	if fault, found := j.findYAMLFault(message); found {
		return fmt.Errorf("render %s: %w", j.kind, fault)
	}
	if errors.Is(err, repository.ErrExceededMaxCombinedManifestFileSize) {
		return refuse(j.request.Path, "the files of this folder have more than %d bytes together; spread them over several Applications, or raise --max-directory-bytes of the plugin and repo-server's own bound", j.renderer.config.DirectoryBytes)
	}
	message = withoutStacks(shortenCommand(message))
	message = strings.ReplaceAll(message, j.root+"/", "")
	message = strings.ReplaceAll(message, j.root, ".")
	if guards := j.renderer.config.Guards; guards != "" {
		message = strings.ReplaceAll(message, guards+"/", "")
	}
	if temporary := j.renderer.config.Temporary; temporary != "" {
		message = regexp.MustCompile(regexp.QuoteMeta(temporary)+`/[^\s:'"]*`).ReplaceAllString(message, "<temporary file>")
	}
	return refuse(j.request.Path, "%s does not render: %s", j.kind, message)
}

// commandInMessage is how Argo CD reports a tool that failed.
var commandInMessage = regexp.MustCompile("(?s)(?:failed to execute helm template command: failed to get command args to log: )?`(helm|kustomize) ([a-z]+).*` failed (exit status|timeout after|signal)")

// stackInMessage is where a Go program that broke down begins to list what it was doing.
var stackInMessage = regexp.MustCompile(`(?s)\n+(?:runtime stack:|goroutine \d+).*`)

// withoutStacks keeps what a tool that broke down says first.
func withoutStacks(message string) string { return stackInMessage.ReplaceAllString(message, "") }

func shortenCommand(message string) string {
	return commandInMessage.ReplaceAllString(message, "`$1 $2` failed, $3")
}
