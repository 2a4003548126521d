package weight

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Budget bounds the bytes that many take at once. It is safe for concurrent use.
type Budget struct {
	limit int64
	taken atomic.Int64
}

// NewBudget makes a budget of so many bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Take takes n further bytes, which Give gives back. The error is a [*FullError], and
// nothing is taken, where there are not as many left.
func (b *Budget) Take(n int64) error {
	if b.taken.Add(n) > b.limit {
		b.taken.Add(-n)
		return &FullError{Limit: b.limit}
	}
	return nil
}

// Give gives bytes back.
func (b *Budget) Give(n int64) { b.taken.Add(-n) }

// Taken are the bytes that are taken now.
func (b *Budget) Taken() int64 { return b.taken.Load() }

// Allowance is what one may take of a budget, in pieces. It is safe for concurrent use.
type Allowance struct {
	what   string
	limit  int64
	budget *Budget

	guard sync.Mutex
	taken int64
	ended bool
}

// Allow grants a part of the budget; what says for whom, in the words of errors. The
// caller releases it.
func (b *Budget) Allow(what string, limit int64) *Allowance {
	return &Allowance{what: what, limit: limit, budget: b}
}

// Take takes n further bytes. The error is a [*TooLargeError] where that is more than
// one may take, and a [*FullError] where others have taken what there is.
func (a *Allowance) Take(n int64) error {
	a.guard.Lock()
	defer a.guard.Unlock()
	if a.ended {
		return errEnded
	}
	if a.taken+n > a.limit {
		return &TooLargeError{What: a.what, Weight: a.taken + n, Limit: a.limit}
	}
	if err := a.budget.Take(n); err != nil {
		return err
	}
	a.taken += n
	return nil
}

// Forget gives back what was taken so far, to begin anew.
func (a *Allowance) Forget() {
	a.guard.Lock()
	defer a.guard.Unlock()
	a.budget.Give(a.taken)
	a.taken = 0
}

// Taken are the bytes that were taken.
func (a *Allowance) Taken() int64 {
	a.guard.Lock()
	defer a.guard.Unlock()
	return a.taken
}

// Release gives everything back, and nothing more is given: what is still at work was
// given up. It may be called more than once.
func (a *Allowance) Release() {
	a.Forget()
	a.guard.Lock()
	defer a.guard.Unlock()
	a.ended = true
}

var errEnded = errors.New("nobody waits for it any more")

// TooLargeError says that one takes more memory than it may.
type TooLargeError struct {
	What          string
	Weight, Limit int64
}

// Error is the sentence for people.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s would take about %s of memory, more than the %s that one may take", e.What, mebibytes(e.Weight), mebibytes(e.Limit))
}

// FullError says that there is no memory left for one more.
type FullError struct{ Limit int64 }

// Error is the sentence for people.
func (e *FullError) Error() string {
	return fmt.Sprintf("what is being read already takes the %s of memory that all may take together", mebibytes(e.Limit))
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
