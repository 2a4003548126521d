package report_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/argocd"
)

func of(project, name string) report.Posted {
	return report.Posted{Document: []byte("{}"), Of: report.Identity{Application: argocd.Ref{Namespace: "argocd", Name: name}, Project: project}}
}

// crowd has n pieces of work of an Application under way or waiting until release is
// called, which returns their errors.
func crowd(t *testing.T, s *report.Service, n int) (release func() []error) {
	t.Helper()
	var running sync.WaitGroup
	hold, errs := make(chan struct{}), make([]error, n)
	started := make(chan struct{}, n)
	for i := range n {
		running.Go(func() {
			started <- struct{}{}
			_, errs[i] = report.DetachedFor(t.Context(), s, of("evil", "mallory"), func(context.Context) (int, error) {
				<-hold
				return 0, nil
			})
		})
	}
	for range n {
		<-started
	}
	time.Sleep(50 * time.Millisecond)
	return sync.OnceValue(func() []error {
		close(hold)
		running.Wait()
		return errs
	})
}

func quick(context.Context) (int, error) { return 7, nil }

// TestOneUserTakesNotAllTurns: who sends snapshots of many Applications keeps nobody from
// an answer, and who has sent nothing is not counted as one user.
func TestOneUserTakesNotAllTurns(t *testing.T) {
	for name, test := range map[string]struct {
		reason, user string
		answered     bool
	}{
		"another user":  {"a turn is left", "zoe", true},
		"the same user": {"it has its share already", "mallory", false},
		"nobody":        {"what was collected is for all", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := report.NewService(report.ServiceOptions{Workers: 2, Queue: 64, Timeout: 5 * time.Second})
			hold := make(chan struct{})
			var running sync.WaitGroup
			defer running.Wait()
			defer close(hold)
			for i := range 6 {
				posted := of("evil", fmt.Sprint("mallory-", i))
				posted.By = "mallory"
				running.Go(func() {
					_, _ = report.DetachedFor(t.Context(), s, posted, func(context.Context) (int, error) {
						<-hold
						return 0, nil
					})
				})
			}
			for report.Queued(s) < 4 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			posted := of("shops", "zoe")
			posted.By = test.user
			if _, err := report.DetachedFor(ctx, s, posted, quick); (err == nil) != test.answered {
				t.Errorf("%s: got %v", test.reason, err)
			}
		})
	}
}

// TestOneAskerTakesNotAllTurns: however much one Application is asked about, another is
// answered at once.
func TestOneAskerTakesNotAllTurns(t *testing.T) {
	for _, workers := range []int{2, 3, 8} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			s := report.NewService(report.ServiceOptions{Workers: workers, Queue: 64, Timeout: 5 * time.Second})
			release := crowd(t, s, 20)
			defer release()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if got, err := report.DetachedFor(ctx, s, of("shops", "zoe"), quick); got != 7 || err != nil {
				t.Errorf("another waits: %v", err)
			}
		})
	}
}

// TestFullQueueGivesWay: the newest of whoever has the most in the queue makes room.
func TestFullQueueGivesWay(t *testing.T) {
	s := report.NewService(report.ServiceOptions{Workers: 1, Queue: 4, Timeout: 5 * time.Second})
	release := crowd(t, s, 5)
	came := make(chan error, 1)
	go func() {
		_, err := report.DetachedFor(t.Context(), s, of("shops", "zoe"), quick)
		came <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if _, err := report.DetachedFor(t.Context(), s, of("evil", "mallory"), quick); !errors.Is(err, report.ErrBusy) {
		t.Errorf("who has the most has %v", err)
	}
	busy := 0
	for _, err := range release() {
		if errors.Is(err, report.ErrBusy) {
			busy++
		}
	}
	if err := <-came; err != nil || busy != 1 {
		t.Errorf("the newcomer has %v, and %d gave way", err, busy)
	}
}

// TestTurnsGoRound: with one turn, who had none of late comes before who has many waiting.
func TestTurnsGoRound(t *testing.T) {
	s := report.NewService(report.ServiceOptions{Workers: 1, Queue: 64, Timeout: 5 * time.Second})
	var order []string
	var running sync.WaitGroup
	note := func(name string) func(context.Context) (int, error) {
		return func(context.Context) (int, error) {
			order = append(order, name)
			return 0, nil
		}
	}
	release := crowd(t, s, 1)
	for i, name := range []string{"mallory", "mallory", "mallory", "zoe"} {
		running.Go(func() { _, _ = report.DetachedFor(t.Context(), s, of(name, name), note(name)) })
		for report.Queued(s) != i+1 {
			time.Sleep(time.Millisecond)
		}
	}
	release()
	running.Wait()
	if len(order) != 4 || order[0] != "zoe" {
		t.Errorf("the turns went to %v", order)
	}
}

// TestScansLeaveATurn: scans hold all turns but one, and end within the Timeout.
func TestScansLeaveATurn(t *testing.T) {
	const timeout = 300 * time.Millisecond
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			s := report.NewService(report.ServiceOptions{Workers: workers, Queue: 64, Timeout: timeout})
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer cancel()
			for i := range 8 {
				running.Go(func() {
					_, err := report.InTurn(ctx, s, fmt.Sprint(i), func(ctx context.Context) (int, error) {
						<-ctx.Done()
						return 0, ctx.Err()
					})
					if ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("a scan that never ends has %v", err)
					}
				})
			}
			time.Sleep(50 * time.Millisecond)
			began := time.Now()
			if _, err := report.DetachedFor(t.Context(), s, of("shops", "zoe"), quick); err != nil {
				t.Errorf("a request behind scans: %v after %s", err, time.Since(began))
			}
			if took := time.Since(began); workers > 1 && took > timeout/2 {
				t.Errorf("a request waited %s for scans", took)
			}
		})
	}
}

// TestProjectGivesATurnBack: work that takes all its time keeps nobody of another project
// from an answer, and is told why it was ended. Without another project it goes on.
func TestProjectGivesATurnBack(t *testing.T) {
	const timeout = 600 * time.Millisecond
	for name, row := range map[string]struct {
		reason  string
		workers int
		other   string
		ended   int
	}{
		"another project":  {"it waits for half of the time", 2, "shops", 1},
		"the only turn":    {"the same", 1, "shops", 1},
		"the same project": {"it has no more right to the turn", 2, "evil", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := report.NewService(report.ServiceOptions{Workers: row.workers, Queue: 64, Timeout: timeout})
			var running sync.WaitGroup
			errs := make([]error, row.workers)
			for i := range row.workers {
				running.Go(func() {
					_, errs[i] = report.DetachedFor(t.Context(), s, of("evil", fmt.Sprint(i)), func(ctx context.Context) (int, error) {
						<-ctx.Done()
						return 0, fmt.Errorf("end: %w", ctx.Err())
					})
				})
			}
			time.Sleep(timeout / 12)
			began := time.Now()
			_, err := report.DetachedFor(t.Context(), s, of(row.other, "zoe"), quick)
			if took := time.Since(began); row.ended > 0 && (err != nil || took > timeout*3/4) {
				t.Errorf("%s: another waited %s and has %v", row.reason, took, err)
			}
			running.Wait()
			ended := 0
			for _, err := range errs {
				if share, ok := errors.AsType[*report.ShareError](err); ok && share.Share == timeout/2 {
					ended++
				} else if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("who took too long has %v", err)
				}
			}
			if ended != row.ended {
				t.Errorf("%s: %d were ended, want %d", row.reason, ended, row.ended)
			}
		})
	}
}
