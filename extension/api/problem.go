package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/weight"
)

// Problem is the body of every answer that is not a success.
type Problem struct {
	// Error says what is wrong.
	Error string `json:"error"`
	// Hint says what to do about it.
	Hint string `json:"hint,omitempty"`
	// Part is the part of the question that is wrong, such as
	// "rules[0].jqPathExpressions[1]".
	Part string `json:"part,omitempty"`
}

// refusal is a problem with what else is to be answered and counted.
type refusal struct {
	Problem

	status int
	// reason is the value of the metric's label.
	reason string
	// retry is after how many seconds to try again; 0 is not at all.
	retry int
	// cause is for the log; nil where the problem says it all.
	cause error
}

// Error is the problem and its cause.
func (r *refusal) Error() string {
	if r.cause == nil {
		return r.Problem.Error
	}
	return fmt.Sprintf("%s: %v", r.Problem.Error, r.cause)
}

// Unwrap is the cause.
func (r *refusal) Unwrap() error { return r.cause }

func refuse(status int, reason, text, hint string) *refusal {
	return &refusal{Problem: Problem{Error: text, Hint: hint}, status: status, reason: reason}
}

// busy is the refusal of what would be answered at another time.
func busy(status int, reason, text string) *refusal {
	r := refuse(status, reason, text, "ask again in some seconds")
	r.retry = 2
	return r
}

// reasonInternal is the reason of what nobody foresaw, reasonTimeout that of what took
// longer than it may.
const (
	reasonInternal = "internal"
	reasonTimeout  = "timeout"
)

// The status of a request whose caller has gone; nobody sees it but the log.
const statusGone = 499

// translate makes a refusal of any error of the reporter.
func translate(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if other, ok := errors.AsType[*report.ForeignError](err); ok {
		return foreign(other)
	}
	if rule, ok := errors.AsType[*drift.RuleError](err); ok {
		r := refuse(http.StatusUnprocessableEntity, "rule", printable(rule.Error()), "correct the named part of the rule")
		r.Part = printable(rule.Part)
		return r
	}
	if refused, ok := errors.AsType[*argocd.Error](err); ok {
		return fromArgoCD(refused)
	}
	if r, ok := bounded(err); ok {
		return r
	}
	switch {
	case errors.Is(err, report.ErrNoToken):
		return refuse(http.StatusNotImplemented, "no token", "this backend has no token to collect with", "post a snapshot instead, or start the backend with --server and a token of Argo CD")
	case errors.Is(err, report.ErrBusy):
		return busy(http.StatusServiceUnavailable, "busy", "too many reports are being made")
	case errors.Is(err, report.ErrSnapshot):
		return unreadable(err)
	case errors.Is(err, context.DeadlineExceeded):
		return busy(http.StatusGatewayTimeout, reasonTimeout, "the answer took too long")
	case errors.Is(err, context.Canceled):
		return refuse(statusGone, "gone", "the caller has gone", "")
	}
	r := refuse(http.StatusInternalServerError, reasonInternal, "the backend could not answer", "its log says more")
	r.cause = err
	return r
}

// bounded is the refusal of what takes more than it may. Its words name the bound.
func bounded(err error) (*refusal, bool) {
	if heavy, ok := errors.AsType[*weight.TooLargeError](err); ok {
		return refuse(http.StatusRequestEntityTooLarge, "memory", printable(heavy.Error()), "leave out the resources that are Synced, or give the backend more with --worker-memory"), true
	}
	if full, ok := errors.AsType[*weight.FullError](err); ok {
		return busy(http.StatusTooManyRequests, "memory", full.Error()), true
	}
	if bound, ok := errors.AsType[*report.BoundError](err); ok {
		return refuse(http.StatusUnprocessableEntity, "bound", printable(bound.Error()), "leave out the resources that are Synced, or give the backend more with --worker-memory"), true
	}
	if share, ok := errors.AsType[*report.ShareError](err); ok {
		return busy(http.StatusServiceUnavailable, "share", share.Error()), true
	}
	if errors.Is(err, report.ErrWorker) {
		r := busy(http.StatusServiceUnavailable, "worker", report.ErrWorker.Error())
		r.cause = err
		return r, true
	}
	if _, ok := errors.AsType[*fault.PanicError](err); ok {
		r := refuse(http.StatusInternalServerError, "panic", "the backend could not answer", "its log says more; please report it")
		r.cause = err
		return r, true
	}
	return nil, false
}

// fromArgoCD says what the backend's own token met. Its words are about the
// Application asked about, but they are for the log: the user's rights are others.
func fromArgoCD(refused *argocd.Error) *refusal {
	r := refuse(http.StatusBadGateway, "argocd", fmt.Sprintf("Argo CD answered %d to the backend", refused.Status), "the backend's log says more")
	switch refused.Status {
	case http.StatusNotFound:
		r = refuse(http.StatusNotFound, "argocd", "there is no such Application", "it may have been deleted meanwhile")
	case http.StatusUnauthorized:
		r.Hint = "the backend's token has expired or was revoked: make a new one"
	case http.StatusForbidden:
		r.Hint = "the Application is gone, or the backend's token lacks `applications, get` on it"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		r.Hint, r.retry = "Argo CD is busy or restarting: ask again in some seconds", 2
	}
	r.cause = refused
	return r
}

// unreadable is the refusal of a snapshot that cannot be explained, in the words of
// the error, which quote the caller's own document.
func unreadable(err error) *refusal {
	return refuse(http.StatusUnprocessableEntity, "snapshot", printable(err.Error()), "send the Application and its managed resources as Argo CD's API gives them")
}

const printableBytes = 1 << 10

// printable is the text on one line, shortened, without control characters.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
	if len(text) > printableBytes {
		text = strings.ToValidUTF8(text[:printableBytes], "") + "..."
	}
	return text
}

// writeProblem answers with the refusal.
func writeProblem(w http.ResponseWriter, r *refusal) {
	body, err := json.Marshal(r.Problem)
	if err != nil {
		body = []byte(`{"error":"the backend could not answer"}`) // strings alone always can be written
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Del("ETag")
	if r.retry > 0 {
		header.Set("Retry-After", fmt.Sprint(r.retry))
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(append(body, '\n')) // a caller that has gone needs no answer
}
