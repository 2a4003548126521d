package worker

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/confine"
	"github.com/moorpin/moorpin/pkg/drift"
)

// ChildArgument is the only argument of a process that [Child] is to run in.
const ChildArgument = "classify-child"

// childStack bounds the stack of what recurses for ever before it takes all memory.
const childStack = 64 << 20

// IsChild reports whether this process was started by a [Pool] to run [Child].
func IsChild() bool { return confine.IsChild(ChildArgument) }

// Child explains snapshots until its parent has no more. main calls it first of all when
// [IsChild] says so, and exits with what it returns.
func Child() int { return serve(report.Direct{}) }

func serve(classifier report.Classifier) int {
	debug.SetMaxStack(childStack)
	return confine.Serve(func(request []byte, _ func([]byte) ([]byte, error)) []byte {
		// What one question took is the machine's again before the next comes.
		defer debug.FreeOSMemory()
		return reply(explain(classifier, request))
	})
}

func explain(classifier report.Classifier, request []byte) (*report.Explained, error) {
	a, document, err := parse(request)
	if err != nil {
		return nil, err
	}
	question := report.Question{Prove: a.Prove, Rollback: a.Rollback}
	if a.Try {
		question.Rules = append([]v1alpha1.ResourceIgnoreDifferences{}, a.Rules...)
	}
	if a.Posted {
		question.Posted = report.Posted{Document: document, Of: a.Of}
	} else if question.Snapshot, err = drift.Parse(document); err != nil {
		return nil, fmt.Errorf("read what was collected: %w", err)
	}
	ctx := context.Background()
	if a.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.Within)
		defer cancel()
	}
	return classifier.Explain(ctx, question) //nolint:wrapcheck // what it names is the step
}
