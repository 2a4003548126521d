package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// neverBad renders every Application but those whose name begins with "bad", which
// never end. The others take a little time, as real ones do.
func neverBad(ctx context.Context, request render.Request) ([]manifest.Object, error) {
	if strings.HasPrefix(request.AppName, "bad") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	time.Sleep(20 * time.Millisecond)
	return readFiles(ctx, request)
}

// TestEndlessRendersBesideHonestOnes goes through the real server: requests that never
// end are asked again as soon as they are refused, and honest ones come meanwhile.
func TestEndlessRendersBesideHonestOnes(t *testing.T) {
	const (
		endless  = 8
		honest   = 15
		deadline = 3 * time.Second
	)
	tests := map[string]struct {
		reason string
		queue  int
		// name is the Application of an endless request.
		name func(i int) string
		// after is how many requests have used up their deadline when the honest come.
		after float64
	}{
		"one Application":          {"it never has more than half of the turns", 256, func(int) string { return "bad" }, 0},
		"one Application, crowded": {"nor does it fill the queue", 6, func(int) string { return "bad" }, 0},
		"eight Applications":       {"those that used up a deadline have half of the turns together", 256, func(i int) string { return fmt.Sprintf("bad-%d", i) }, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := startSidecar(t, rendererFunc(neverBad), func(o *Options) { o.Parallelism, o.Queue = 2, test.queue })
			root := checkout(t, map[string]string{"web/w.yaml": smallWidget})
			plugin := s.client(t)
			call := func(ctx context.Context, name, project string) error {
				ctx, cancel := context.WithTimeout(ctx, deadline)
				defer cancel()
				_, err := plugin.generate(ctx, root, "web", "ARGOCD_APP_NAME="+name, "ARGOCD_APP_PROJECT_NAME="+project)
				return err
			}
			ctx, stop := context.WithCancel(t.Context())
			var attack sync.WaitGroup
			defer attack.Wait()
			defer stop()
			for i := range endless {
				attack.Go(func() {
					for ctx.Err() == nil {
						if call(ctx, test.name(i), "bad") == nil {
							t.Error("a render that never ends was answered")
						}
					}
				})
			}
			eventually(t, "the attack works", func() bool { return gauge(t, s.metrics, "moorpin_cmp_waiting") >= min(4, float64(test.queue)) })
			eventually(t, "deadlines are used up", func() bool {
				return sum(t, s.metrics, "moorpin_cmp_requests_total", "GenerateManifest", "DeadlineExceeded") >= test.after
			})
			// Three at a time, as one after the other they would come and go unseen.
			for first := 0; first < honest; first += 3 {
				var three sync.WaitGroup
				for i := first; i < first+3; i++ {
					three.Go(func() {
						if err := call(t.Context(), fmt.Sprintf("good-%d", i), "good"); err != nil {
							t.Errorf("%s: honest render %d: %v", test.reason, i, err)
						}
					})
				}
				three.Wait()
			}
		})
	}
}

// TestTurnLastsUntilNothingIsLeft: what a render left on disk is removed behind its
// answer, which may take longer than the render. Until then it has its turn, so that the
// Application has no more places than turns.
func TestTurnLastsUntilNothingIsLeft(t *testing.T) {
	gone := make(chan struct{})
	s := startSidecar(t, rendererFunc(readFiles), func(o *Options) {
		take := o.Take
		o.Take = func(ctx context.Context) (Slot, error) {
			taken, err := take(ctx)
			return leaving{taken, gone}, err
		}
	})
	root := checkout(t, map[string]string{"web/w.yaml": smallWidget})
	plugin := s.client(t)
	call := func(name string, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := plugin.generate(ctx, root, "web", "ARGOCD_APP_NAME="+name)
		return err
	}
	if err := call("large", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := call("large", 500*time.Millisecond); err == nil {
		t.Error("it has a second place while it leaves the first")
	}
	if err := call("small", 10*time.Second); err != nil {
		t.Errorf("the other is kept waiting: %v", err)
	}
	close(gone)
	if err := call("large", 10*time.Second); err != nil {
		t.Errorf("the turn is lost: %v", err)
	}
}

// leaving is a slot in which something lies for a while.
type leaving struct {
	Slot

	gone chan struct{}
}

func (l leaving) Release() <-chan struct{} {
	l.Slot.Release()
	return l.gone
}
