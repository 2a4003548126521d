package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/cmp/receive"
)

// crew asks a gate for turns and keeps what it says. It is named "project/application".
type crew struct {
	gate    *gate
	waiting []*asker
	working []*asker
	// order says who got a turn, in the order of the turns.
	order []string
	// refused says who got none, and why.
	refused map[string]error
}

type asker struct {
	name string
	one  *waiter
	turn *turn
}

func newCrew(parallelism, queue int) *crew {
	return &crew{gate: newGate(Options{Parallelism: parallelism, Queue: queue}), refused: map[string]error{}}
}

// ask lets them come one after the other. What follows a dash tells several requests
// of an Application apart, and what follows a colon is their bytes in MiB.
func (c *crew) ask(names ...string) {
	for _, name := range names {
		who, mebibytes := name, int64(0)
		if before, size, found := strings.Cut(name, ":"); found {
			who = before
			_, _ = fmt.Sscan(size, &mebibytes)
		}
		project, rest, _ := strings.Cut(who, "/")
		application, _, _ := strings.Cut(rest, "-")
		c.waiting = append(c.waiting, &asker{name: who, one: c.gate.admit(tenant{project, application}, mebibytes<<20, time.Now().Add(time.Minute))})
		c.look()
	}
}

// look takes note of what the gate has said.
func (c *crew) look() {
	var came []*asker
	c.waiting = slices.DeleteFunc(c.waiting, func(a *asker) bool {
		select {
		case told := <-a.one.told:
			if a.turn = told.turn; told.err != nil {
				c.refused[a.name] = told.err
				return true
			}
			came = append(came, a)
			return true
		default:
			return false
		}
	})
	c.working = append(c.working, came...)
	for _, a := range came {
		c.order = append(c.order, a.name)
	}
}

// end ends the turn of who works by that name, or of the first of several.
func (c *crew) end(name string, usedUp bool) {
	i := slices.IndexFunc(c.working, func(a *asker) bool { return a.name == name })
	c.working[i].turn.leave(usedUp)
	c.working = slices.Delete(c.working, i, i+1)
	c.look()
}

// finish ends all turns in their order, until nobody works.
func (c *crew) finish() {
	for len(c.working) > 0 {
		c.end(c.working[0].name, false)
	}
}

func times(n int, name string) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", name, i)
	}
	return names
}

func TestTurnsAreShared(t *testing.T) {
	tests := map[string]struct {
		reason      string
		parallelism int
		ask         []string
		working     []string // at first
		order       []string // once all turns have ended
	}{
		"one after the other": {
			reason: "without a difference the first comes first", parallelism: 1,
			ask: []string{"p/a", "q/b", "r/c"}, working: []string{"p/a"}, order: []string{"p/a", "q/b", "r/c"},
		},
		"half of the turns": {
			reason: "a turn that is given cannot be taken back", parallelism: 4,
			ask: times(5, "p/a"), working: []string{"p/a-0", "p/a-1"}, order: times(5, "p/a"),
		},
		"one of two": {
			reason: "whoever comes a moment later finds a turn", parallelism: 2,
			ask: append(times(3, "p/a"), "p/b"), working: []string{"p/a-0", "p/b"}, order: []string{"p/a-0", "p/b", "p/a-1", "p/a-2"},
		},
		"one of three": {
			reason: "half is rounded down", parallelism: 3,
			ask: append(times(2, "p/a"), "p/b", "p/c"), working: []string{"p/a-0", "p/b", "p/c"}, order: []string{"p/a-0", "p/b", "p/c", "p/a-1"},
		},
		"the only turn": {
			reason: "half of one is one", parallelism: 1,
			ask: times(2, "p/a"), working: []string{"p/a-0"}, order: times(2, "p/a"),
		},
		"Applications alternate": {
			reason: "many requests are not more right", parallelism: 1,
			ask:     append(times(3, "p/a"), times(2, "p/b")...),
			working: []string{"p/a-0"}, order: []string{"p/a-0", "p/b-0", "p/a-1", "p/b-1", "p/a-2"},
		},
		"projects alternate": {
			reason: "many Applications are not more right", parallelism: 1,
			ask:     []string{"p/a", "p/b", "p/c", "q/d", "q/e"},
			working: []string{"p/a"}, order: []string{"p/a", "q/d", "p/b", "q/e", "p/c"},
		},
		"fewest of a project": {
			reason: "a project that works less comes first", parallelism: 4,
			ask:     []string{"p/a", "p/b", "p/c", "p/d", "p/e", "q/f"},
			working: []string{"p/a", "p/b", "p/c", "p/d"}, order: []string{"p/a", "p/b", "p/c", "p/d", "q/f", "p/e"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			crew := newCrew(test.parallelism, 100)
			crew.ask(test.ask...)
			if diff := gocmp.Diff(test.working, crew.order); diff != "" {
				t.Errorf("%s: at first (-want +got):\n%s", test.reason, diff)
			}
			crew.finish()
			if diff := gocmp.Diff(test.order, crew.order); diff != "" {
				t.Errorf("%s: in all (-want +got):\n%s", test.reason, diff)
			}
			if working, waiting := crew.gate.load(); working+waiting > 0 {
				t.Errorf("%d work and %d wait in the end", working, waiting)
			}
		})
	}
}

func TestFullQueue(t *testing.T) {
	tests := map[string]struct {
		reason  string
		queue   int
		ask     []string // after p/a works and takes the only turn
		refused map[string]error
	}{
		"room":          {"nobody gives way without need", 3, []string{"p/b", "p/c", "p/d"}, map[string]error{}},
		"all the same":  {"who came first stays", 2, []string{"p/b", "q/c", "r/d"}, map[string]error{"r/d": errQueueFull}},
		"own requests":  {"an Application makes no room for itself", 2, times(3, "p/b"), map[string]error{"p/b-2": errQueueFull}},
		"one more":      {"one each is fair whoever was first", 2, append(times(2, "p/b"), "q/c"), map[string]error{"p/b-1": errGaveWay}},
		"no turnabout":  {"one that leaves for one that comes helps nobody", 1, []string{"p/b", "q/c"}, map[string]error{"q/c": errQueueFull}},
		"the most":      {"who has the most gives way", 5, append(append(times(2, "p/b"), times(3, "q/c")...), "r/d"), map[string]error{"q/c-2": errGaveWay}},
		"of a project":  {"many Applications do not fill the queue either", 3, []string{"p/b", "p/c", "p/d", "q/e"}, map[string]error{"p/d": errGaveWay}},
		"no queue":      {"nobody waits", 0, []string{"p/b"}, map[string]error{"p/b": errQueueFull}},
		"bytes":         {"the largest metadata gives way", 9, []string{"p/b-0:40", "p/b-1:20", "q/c:8"}, map[string]error{"p/b-1": errHeavy}},
		"many bytes":    {"as many give way as are needed", 9, []string{"p/b-0:31", "p/b-1:1", "p/b-2:1", "q/c:32"}, map[string]error{"p/b-2": errHeavy}},
		"own bytes":     {"a request as large as the others are small is refused", 9, []string{"p/b:20", "q/c:20", "r/d:30"}, map[string]error{"r/d": errHeavy}},
		"project bytes": {"nor are they shared out to Applications", 9, []string{"p/b:20", "p/c:20", "p/d:20", "q/e:20"}, map[string]error{"p/d": errHeavy}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			crew := newCrew(1, test.queue)
			crew.ask("p/a")
			crew.ask(test.ask...)
			same := gocmp.Comparer(errors.Is)
			if diff := gocmp.Diff(test.refused, crew.refused, same); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestWhoUsedUpTheDeadlineComesLater(t *testing.T) {
	tests := map[string]struct {
		reason string
		past   func(*crew) // ends with nobody at work
		ask    []string    // while p/busy holds the turn
		order  []string
	}{
		"the same": {
			reason: "an earlier render in time changes nothing",
			past:   func(c *crew) { c.ask("p/a"); c.finish() },
			ask:    []string{"q/a", "q/b"}, order: []string{"q/a", "q/b"},
		},
		"late": {
			reason: "others need not wait for one that never ends",
			past:   late("p/a"), ask: []string{"p/a", "q/b"}, order: []string{"q/b", "p/a"},
		},
		"before others of its project": {
			reason: "those that ended in time are not to blame for another",
			past:   func(c *crew) { c.ask("p/b"); c.finish(); late("p/a")(c) },
			ask:    []string{"p/a", "p/b"}, order: []string{"p/b", "p/a"},
		},
		"new in its project": {
			reason: "a deadline for each new name would be many",
			past:   late("p/a"), ask: []string{"p/new", "q/b"}, order: []string{"q/b", "p/new"},
		},
		"in time since": {
			reason: "a cheap render between two endless ones does not help",
			past:   func(c *crew) { late("p/a")(c); c.ask("p/a"); c.finish() },
			ask:    []string{"p/a", "q/b"}, order: []string{"q/b", "p/a"},
		},
		"forgotten": {
			reason: "one bad revision is not held against it for ever",
			past:   func(c *crew) { late("p/a")(c); time.Sleep(lateFor); c.ask("q/b"); c.finish() },
			ask:    []string{"p/a", "q/b"}, order: []string{"p/a", "q/b"},
		},
		"long once": {
			reason: "a large repository takes long after each commit",
			past:   after(50*time.Second, "p/a", "q/b"), ask: []string{"p/a", "q/b"}, order: []string{"p/a", "q/b"},
		},
		"long twice": {
			reason: "most of the deadline again and again keeps the others out as well as all of it",
			past:   after(50*time.Second, "p/a", "p/a"), ask: []string{"p/a", "q/b"}, order: []string{"q/b", "p/a"},
		},
		"half the time": {
			reason: "others still end in time behind it",
			past:   after(30*time.Second, "p/a", "p/a", "p/a", "q/b"), ask: []string{"p/a", "q/b"}, order: []string{"p/a", "q/b"},
		},
		"long seldom": {
			reason: "one long render in five minutes keeps nobody out",
			past: func(c *crew) {
				after(50*time.Second, "p/a")(c)
				time.Sleep(lateFor)
				after(50*time.Second, "p/a")(c)
				c.ask("q/b")
				c.finish()
			},
			ask: []string{"p/a", "q/b"}, order: []string{"p/a", "q/b"},
		},
		"waited itself": {
			reason: "who got its turn too late did not use up the deadline",
			past: func(c *crew) {
				c.ask("q/b", "p/a")
				time.Sleep(45 * time.Second)
				c.end("q/b", false)
				time.Sleep(15 * time.Second)
				c.end("p/a", true)
			},
			ask: []string{"q/b", "p/a"}, order: []string{"q/b", "p/a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				crew := newCrew(1, 10)
				test.past(crew)
				crew.ask("z/busy")
				crew.order = nil
				crew.ask(test.ask...)
				crew.finish()
				if diff := gocmp.Diff(test.order, crew.order); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
			})
		})
	}
}

// late is a past in which a render used up its deadline.
func late(name string) func(*crew) {
	return func(c *crew) {
		c.ask(name)
		time.Sleep(time.Minute)
		c.end(name, true)
	}
}

// after is a past in which each of the names has ended in time, after so long, one
// after the other.
func after(took time.Duration, names ...string) func(*crew) {
	return func(c *crew) {
		for _, name := range names {
			c.ask(name)
			time.Sleep(took)
			c.end(name, false)
		}
	}
}

// One project never keeps another from its turn, however many Applications it has.
func TestProjectsLeaveATurn(t *testing.T) {
	tests := map[string]struct {
		reason      string
		parallelism int
		past        func(*crew)
		working     []string
	}{
		"alone":          {"nobody would take the last turn", 4, func(*crew) {}, []string{"p/a-0", "p/b-0", "p/a-1", "p/b-1"}},
		"another":        {"its next request finds a turn", 4, after(time.Second, "q/c"), []string{"p/a-0", "p/b-0", "p/a-1"}},
		"another of two": {"one is left for it", 2, after(time.Second, "q/c"), []string{"p/a-0"}},
		"the only turn":  {"nothing can be kept", 1, after(time.Second, "q/c"), []string{"p/a-0"}},
		"long ago":       {"many turns of its own do not hide the other", 4, func(c *crew) { c.ask("q/c"); c.finish(); c.ask(times(9, "p/x")...); c.finish() }, []string{"p/a-0", "p/b-0", "p/a-1"}},
		"yesterday":      {"projects are deleted, too", 4, func(c *crew) { after(time.Second, "q/c")(c); time.Sleep(heardFor) }, []string{"p/a-0", "p/b-0", "p/a-1", "p/b-1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				crew := newCrew(test.parallelism, 100)
				test.past(crew)
				crew.order = nil
				crew.ask("p/a-0", "p/b-0", "p/a-1", "p/b-1", "p/a-2", "p/b-2")
				if diff := gocmp.Diff(test.working, crew.order); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
				crew.finish()
			})
		})
	}
}

// However many Applications are late, half of the turns are not for them.
func TestLateOnesShareHalfOfTheTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crew := newCrew(4, 10)
		for _, name := range []string{"p/a", "q/b", "r/c"} {
			late(name)(crew)
		}
		crew.order = nil
		crew.ask("p/a", "q/b", "r/c", "s/d", "s/e")
		if diff := gocmp.Diff([]string{"p/a", "q/b", "s/d", "s/e"}, crew.order); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		crew.finish()
	})
}

func TestWaitEnds(t *testing.T) {
	tests := map[string]struct {
		reason string
		end    func(context.Context) (context.Context, context.CancelFunc)
		want   error
	}{
		"out of time": {"the sender has its tarball to send yet", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, errNoTurn},
		"given up": {"nobody waits for the answer", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Minute, cancel)
			return ctx, cancel
		}, context.Canceled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := newGate(Options{Parallelism: 1, Queue: 1})
				first, err := gate.enter(t.Context(), receive.Metadata{AppRelPath: "a"})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := test.end(t.Context())
				defer cancel()
				_, err = gate.enter(ctx, receive.Metadata{AppRelPath: "b"})
				if !errors.Is(err, test.want) {
					t.Errorf("%s: want %v, have %v", test.reason, test.want, err)
				}
				first.leave(false)
				if working, waiting := gate.load(); working+waiting > 0 {
					t.Errorf("%d work and %d wait in the end", working, waiting)
				}
			})
		})
	}
}

// A turn that comes in the very moment in which the wait ends is taken, or else it
// would never be given back.
func TestTurnIsNeverLost(t *testing.T) {
	gate := newGate(Options{Parallelism: 1, Queue: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 1000 { // select chooses at random
		turn, err := gate.enter(ctx, receive.Metadata{})
		if err != nil {
			t.Fatalf("a free turn was not given: %v", err)
		}
		turn.leave(false)
	}
}

func TestTenantOfARequest(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	tests := map[string]struct {
		reason   string
		metadata receive.Metadata
		want     tenant
	}{
		"v3":       {"the project is known", receive.Metadata{Env: map[string]string{envName: "a", envProject: "p", envRepo: "r"}}, tenant{"p", "a"}},
		"v2.14":    {"it is not", receive.Metadata{Env: map[string]string{envName: "a", envRepo: "r"}}, tenant{"r", "a"}},
		"no name":  {"every variable is optional", receive.Metadata{AppRelPath: "apps/web/"}, tenant{"", "apps/web"}},
		"nothing":  {"an Application is never the whole project", receive.Metadata{}, tenant{"", "."}},
		"too long": {"what is remembered is bounded", receive.Metadata{Env: map[string]string{envName: long, envRepo: "r"}}, tenant{"r", short(long)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := tenantOf(test.metadata)
			if got != test.want || len(got.application) > 512 {
				t.Errorf("%s: got %+v", test.reason, got)
			}
		})
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var past history
	for i := range 5 * maxRemembered {
		past.served(tenant{"p", fmt.Sprint(i)}, i+1)
	}
	if kept := len(past.young) + len(past.old); kept > 2*maxRemembered {
		t.Errorf("%d tenants are remembered", kept)
	}
	if got := past.of(tenant{"p", fmt.Sprint(5*maxRemembered - 1)}); got.lastTurn != 5*maxRemembered {
		t.Errorf("the last one is forgotten: %+v", got)
	}
}
