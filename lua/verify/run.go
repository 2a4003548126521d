// Package verify proves health checks in Argo CD's own Lua VM, before anything is
// written anywhere.
//
// [Run] runs a script as Argo CD would, with the libraries of an argocd-cm script and
// the VM's own time limit. [Prove] runs the script of a derived check on [Cases] made
// from its rules, on objects drawn at random around them, and on broken ones, and
// compares every answer with package health's reference. To be fast it compiles the
// script once; examples and each tenth of the other cases run in Argo CD's VM, too.
// [ReadSuite] and [Suite.Run] do the same for cases that people write, in the layout of
// Argo CD's repository:
//
//	health.lua
//	health_test.yaml    tests: [{inputPath: testdata/a.yaml, healthStatus: {status: Healthy, message: ok}}]
//	testdata/a.yaml
//
// It refuses what would hang or break a sync: a script error, a status that is empty
// or none of Argo CD's, an empty message, an answer that differs from the reference, a
// stale generation or a False condition called Healthy, and a check that calls no
// object Healthy at all.
package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	argolua "github.com/argoproj/argo-cd/v2/util/lua"
	argohealth "github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/health"
)

// Errors of a script's answer.
var (
	// ErrEmpty is an answer without a status: Argo CD waits for ever.
	ErrEmpty = errors.New("the script returned no status; a sync would wait for ever")
	// ErrCode is a status that Argo CD does not know.
	ErrCode = errors.New("the script returned a status that Argo CD does not know; use Healthy, Progressing, Degraded, Suspended, Missing or Unknown")
)

// invalidStatus is the message of Argo CD's VM in place of an unknown status.
const invalidStatus = "Lua returned an invalid health status"

// Script is a health check and the libraries that it may use.
type Script struct {
	Text string
	// OpenLibs is what resource.customizations.useOpenLibs says for the kind.
	OpenLibs bool
}

// Run runs a script of an argocd-cm, without open libraries, on an object.
func Run(ctx context.Context, script string, object map[string]any) (health.Status, error) {
	return Script{Text: script}.Run(ctx, object)
}

// Run runs the script on an object, which it does not change. The VM ends a script
// after a second; ctx is heeded between scripts.
func (s Script) Run(ctx context.Context, object map[string]any) (status health.Status, err error) {
	if ctx.Err() != nil {
		return status, fmt.Errorf("run the check: %w", ctx.Err())
	}
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("run the check: the Lua VM gave up: %v", broken)
		}
	}()
	answer, err := s.execute(object)
	switch {
	case err != nil:
		text, _, _ := strings.Cut(err.Error(), "\nstack traceback:")
		return status, fmt.Errorf("run the check: %s", text)
	case answer.Status == "":
		return status, ErrEmpty
	case answer.Status == "Unknown" && answer.Message == invalidStatus:
		return status, ErrCode
	}
	return health.Status{Code: health.Code(answer.Status), Message: answer.Message}, nil
}

// execute runs the script, again when it ran out of time: the VM's second is one of the
// clock's, and on a busy machine it may pass before the script has had its turn.
func (s Script) execute(object map[string]any) (*argohealth.HealthStatus, error) {
	const tries = 4
	vm := argolua.VM{UseOpenLibs: s.OpenLibs}
	for try := 1; ; try++ {
		answer, err := vm.ExecuteHealthLua(&unstructured.Unstructured{Object: object}, s.Text)
		if err == nil || try == tries || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
			return answer, err //nolint:wrapcheck // Run names the step
		}
	}
}
