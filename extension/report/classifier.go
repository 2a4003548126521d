package report

import (
	"context"
	"errors"
	"fmt"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/classify"
)

// Classifier does the work on what others wrote: it reads snapshots and explains them.
// It is safe for concurrent use, and heeds its context as far as it can.
type Classifier interface {
	// Explain answers a question. The error is an [ErrSnapshot], a [*ForeignError] or a
	// [*drift.RuleError] where who asks made a mistake, a [*BoundError] where the work
	// needs too much, and anything else is ours.
	Explain(ctx context.Context, question Question) (*Explained, error)
}

// Question is what a Classifier is asked about one snapshot.
type Question struct {
	// Posted is read where it has a Document; else Snapshot is one that was collected.
	Posted   Posted
	Snapshot *drift.Snapshot
	// Prove tries the fixes.
	Prove bool
	// Rules ask for what these further ignore rules would do, instead of for a report.
	Rules []v1alpha1.ResourceIgnoreDifferences
	// Rollback asks for what brings back what the report's plan deletes, instead of it.
	Rollback bool
}

// Explained is the answer to a [Question].
type Explained struct {
	Report   *drift.Report
	Preview  *drift.Preview
	Rollback []byte
	// ComparedAt is when Argo CD compared, RFC 3339, or "".
	ComparedAt string
}

// BoundError says that explaining a snapshot needs more than it may.
type BoundError struct {
	// Reason is a sentence that names the bound.
	Reason string
}

// Error is the reason.
func (e *BoundError) Error() string { return e.Reason }

// Direct explains in this process, which what is hostile may end for lack of memory.
type Direct struct{}

// Explain answers a question.
func (Direct) Explain(ctx context.Context, question Question) (*Explained, error) {
	return fault.Contained(func() (*Explained, error) { return explain(ctx, question) })
}

func explain(ctx context.Context, question Question) (*Explained, error) {
	snapshot, options := question.Snapshot, classify.Options{Prove: question.Prove, Guard: true}
	if question.Posted.Document != nil {
		var err error
		if snapshot, options.Secrets, err = question.Posted.read(); err != nil {
			return nil, err
		}
	}
	if question.Rules != nil {
		preview, err := classify.PreviewRules(ctx, snapshot, question.Rules, options)
		if err != nil {
			return nil, unreadable(ctx, err)
		}
		return &Explained{Preview: preview}, nil
	}
	report, err := classify.Classify(ctx, snapshot, options)
	if err != nil {
		return nil, unreadable(ctx, err)
	}
	if question.Rollback {
		stream, err := Rollback(snapshot, report)
		if err != nil {
			return nil, fmt.Errorf("rollback: %w", err)
		}
		return &Explained{Rollback: stream}, nil
	}
	status, _ := snapshot.Application["status"].(map[string]any)
	return &Explained{Report: report, ComparedAt: str(status, "reconciledAt")}, nil
}

// unreadable says whose mistake an error of package drift is.
func unreadable(ctx context.Context, err error) error {
	_, ofRule := errors.AsType[*drift.RuleError](err)
	_, ours := errors.AsType[*drift.PanicError](err)
	if ofRule || ours || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrSnapshot, err)
}
