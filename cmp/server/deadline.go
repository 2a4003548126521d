package server

import (
	"context"
	"time"
)

// The margin between our deadline and the caller's: a twentieth of the time
// that is left, within these bounds. In it the rest of the stream is drained
// and the answer travels.
const (
	minMargin  = 100 * time.Millisecond
	maxMargin  = 2 * time.Second
	marginPart = 20
)

// earlier gives ctx a deadline a little before the caller's, so that the
// caller still hears why nothing came of its request. Without a caller's
// deadline there is none.
func earlier(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	margin := min(max(time.Until(deadline)/marginPart, minMargin), maxMargin)
	return context.WithDeadline(ctx, deadline.Add(-margin))
}

// patience bounds the wait for a turn to three quarters of the time that is
// left: a request that gets its turn later hardly ends in time, and one that is
// refused has its whole tarball to drain before its sender listens.
func patience(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/4))
}
