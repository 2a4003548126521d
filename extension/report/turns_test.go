package report_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/moorpin/moorpin/extension/report"
)

// TestNothingFinishedIsLost: whoever waits for work that is done gets what it made, on
// a busy machine too, where they come to look at it late.
func TestNothingFinishedIsLost(t *testing.T) {
	const askers, each = 64, 500
	s := report.NewService(report.ServiceOptions{Workers: askers, Queue: askers})
	for name, run := range map[string]func(context.Context, func(context.Context) (int, error)) (int, error){
		"turns": func(ctx context.Context, work func(context.Context) (int, error)) (int, error) {
			return report.Detached(ctx, s, work)
		},
		"flights": report.Shared,
	} {
		t.Run(name, func(t *testing.T) {
			var running sync.WaitGroup
			for range askers {
				running.Go(func() {
					for range each {
						if got, err := run(t.Context(), func(context.Context) (int, error) { return 7, nil }); got != 7 || err != nil {
							t.Errorf("the answer is %d, %v", got, err)
							return
						}
					}
				})
			}
			running.Wait()
		})
	}
}

// TestWhatIsThereWins: an answer that came with the end of the waiting is an answer.
func TestWhatIsThereWins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 1000 {
		there := make(chan int, 1)
		there <- 7
		if got, ok := report.Await(ctx, there); !ok || got != 7 {
			t.Fatalf("what was there is lost: %d, %v", got, ok)
		}
	}
	if _, ok := report.Await(ctx, make(chan int)); ok {
		t.Error("nothing came, and it is taken for an answer")
	}
}

// TestWorkEndsWithItsAsker: who stops waiting is told why, and the work ends.
func TestWorkEndsWithItsAsker(t *testing.T) {
	s := report.NewService(report.ServiceOptions{Workers: 1, Timeout: 20 * time.Millisecond})
	ended := make(chan error, 1)
	_, err := report.Detached(t.Context(), s, func(ctx context.Context) (int, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return 0, ctx.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who waited has %v", err)
	}
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the work has %v", err)
	}
}
