package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/drift"
)

// asked is a question on the wire, before the document that it is about.
type asked struct {
	// Posted tells that nobody has read the document yet.
	Posted   bool                                 `json:"posted,omitempty"`
	Of       report.Identity                      `json:"of"`
	Prove    bool                                 `json:"prove,omitempty"`
	Try      bool                                 `json:"try,omitempty"`
	Rules    []v1alpha1.ResourceIgnoreDifferences `json:"rules,omitempty"`
	Rollback bool                                 `json:"rollback,omitempty"`
	// Within is the time that there is; 0 is any.
	Within time.Duration `json:"within,omitempty"`
}

// answered is an answer on the wire.
type answered struct {
	Report     json.RawMessage `json:"report,omitempty"`
	Preview    *drift.Preview  `json:"preview,omitempty"`
	Rollback   []byte          `json:"rollback,omitempty"`
	ComparedAt string          `json:"comparedAt,omitempty"`
	Failure    *failure        `json:"failure,omitempty"`
}

// failure is an error on the wire. Text is for people, Part and Rest are those of its kind.
type failure struct {
	Kind failureKind `json:"kind"`
	Text string      `json:"text"`
	Part string      `json:"part,omitempty"`
	Rest string      `json:"rest,omitempty"`
}

type failureKind string

const (
	ofSnapshot    failureKind = "snapshot"
	ofApplication failureKind = "application"
	ofRule        failureKind = "rule"
	ofTime        failureKind = "time"
	ofPanic       failureKind = "panic"
	ofUs          failureKind = "us"
)

const lengthBytes = 8

// encode writes a question: the length of what is asked, that, and the document.
func encode(ctx context.Context, q report.Question) ([]byte, error) {
	document := q.Posted.Document
	if document == nil {
		var err error
		if document, err = json.Marshal(q.Snapshot); err != nil {
			return nil, fmt.Errorf("encode a snapshot: %w", err)
		}
	}
	head, err := json.Marshal(asked{ //nolint:musttag // both ends are this program
		Posted: q.Posted.Document != nil, Of: q.Posted.Of, Prove: q.Prove, Try: q.Rules != nil, Rules: q.Rules, Rollback: q.Rollback, Within: within(ctx),
	})
	if err != nil {
		return nil, fmt.Errorf("encode a question: %w", err)
	}
	request := make([]byte, 0, lengthBytes+len(head)+len(document))
	request = binary.BigEndian.AppendUint64(request, uint64(len(head)))
	return append(append(request, head...), document...), nil
}

// parse reads a question; its document is not read yet.
func parse(request []byte) (*asked, []byte, error) {
	if len(request) < lengthBytes {
		return nil, nil, errors.New("a question is cut off")
	}
	length, rest := binary.BigEndian.Uint64(request), request[lengthBytes:]
	if length > uint64(len(rest)) {
		return nil, nil, errors.New("a question is cut off")
	}
	var a asked
	if err := json.Unmarshal(rest[:length], &a); err != nil { //nolint:musttag // both ends are this program
		return nil, nil, fmt.Errorf("read a question: %w", err)
	}
	return &a, rest[length:], nil
}

// reply writes an answer.
func reply(explained *report.Explained, err error) []byte {
	if err != nil {
		return failing(err)
	}
	out := answered{Preview: explained.Preview, Rollback: explained.Rollback, ComparedAt: explained.ComparedAt}
	if explained.Report != nil {
		if out.Report, err = json.Marshal(explained.Report); err != nil {
			return failing(fmt.Errorf("encode report: %w", err))
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return failing(fmt.Errorf("encode answer: %w", err))
	}
	return text
}

func failing(err error) []byte {
	f := &failure{Kind: ofUs, Text: err.Error()}
	if foreign, ok := errors.AsType[*report.ForeignError](err); ok {
		f.Kind, f.Part, f.Rest = ofApplication, foreign.Field, foreign.Checked
	} else if rule, ok := errors.AsType[*drift.RuleError](err); ok {
		f.Kind, f.Part, f.Rest = ofRule, rule.Part, rule.Reason
	} else if broken, ok := errors.AsType[*fault.PanicError](err); ok {
		f.Kind, f.Part, f.Rest = ofPanic, broken.Kind, broken.Stack
	} else if errors.Is(err, context.DeadlineExceeded) {
		f.Kind = ofTime
	} else if errors.Is(err, report.ErrSnapshot) {
		f.Kind = ofSnapshot
	}
	text, err := json.Marshal(answered{Failure: f})
	if err != nil {
		return nil // strings alone always can be written; nothing is no answer
	}
	return text
}

// decode reads an answer.
func decode(text []byte) (*report.Explained, error) {
	var in answered
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("read a worker's answer: %w", err)
	}
	if in.Failure != nil {
		return nil, in.Failure.error()
	}
	explained := &report.Explained{Preview: in.Preview, Rollback: in.Rollback, ComparedAt: in.ComparedAt}
	if in.Report == nil {
		return explained, nil
	}
	var err error
	if explained.Report, err = readReport(in.Report); err != nil {
		return nil, fmt.Errorf("read a worker's answer: %w", err)
	}
	return explained, nil
}

func (f *failure) error() error {
	switch f.Kind {
	case ofApplication:
		return &report.ForeignError{Field: f.Part, Checked: f.Rest}
	case ofRule:
		return &drift.RuleError{Part: f.Part, Reason: f.Rest}
	case ofPanic:
		return &fault.PanicError{Kind: f.Part, Stack: f.Rest}
	case ofTime:
		return fmt.Errorf("explain in a worker: %w", context.DeadlineExceeded)
	case ofSnapshot:
		return &unreadable{f.Text}
	case ofUs:
	}
	return fmt.Errorf("explain in a worker: %s", f.Text)
}

// unreadable is an [report.ErrSnapshot] in the words of the worker.
type unreadable struct{ text string }

func (u *unreadable) Error() string { return u.text }

// Unwrap is the error that it is.
func (u *unreadable) Unwrap() error { return report.ErrSnapshot }

// readReport reads a report with the numbers of its values as they were: a float64
// cannot tell 2^53 from 2^53+1.
func readReport(text []byte) (*drift.Report, error) {
	var found drift.Report
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	var whole struct {
		Findings []struct {
			Fields []json.RawMessage `json:"fields"`
		} `json:"findings"`
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	for i := range found.Findings {
		for j := range found.Findings[i].Fields {
			field := &found.Findings[i].Fields[j]
			raw := whole.Findings[i].Fields[j]
			if !bytes.ContainsAny(raw, "0123456789") {
				continue
			}
			var sides map[string]any
			if err := kjson.Unmarshal(raw, &sides); err != nil {
				return nil, fmt.Errorf("report: field %s: %w", field.Pointer, err)
			}
			field.Target, field.Live = sides["target"], sides["live"]
		}
	}
	return &found, nil
}
