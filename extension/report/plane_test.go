package report_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// plane is an Argo CD that can be changed and held up while it is asked.
type plane struct {
	guard sync.RWMutex
	fake  *fake
	hold  chan struct{} // nil, or answers wait until it is closed
}

func (p *plane) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.guard.RLock()
	hold := p.hold
	p.guard.RUnlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	p.guard.RLock()
	defer p.guard.RUnlock()
	p.fake.ServeHTTP(w, r)
}

func (p *plane) change(how func(*fake)) {
	p.guard.Lock()
	defer p.guard.Unlock()
	how(p.fake)
}

func (p *plane) client(t testing.TB) *argocd.Client {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	client, err := argocd.New(argocd.Config{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// times counts how often a path was asked for.
func (p *plane) times(path string) int {
	p.fake.guard.Lock()
	defer p.fake.guard.Unlock()
	count := 0
	for _, asked := range p.fake.asked {
		if asked == path {
			count++
		}
	}
	return count
}

// clock is a clock that a test sets forward.
type clock struct {
	guard sync.Mutex
	at    time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.guard.Lock()
	defer c.guard.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.guard.Lock()
	defer c.guard.Unlock()
	c.at = c.at.Add(d)
}

// steps counts what a service observed.
type steps struct {
	guard sync.Mutex
	count map[string]int
}

func (s *steps) observe(step string, _ time.Duration) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[step]++
}

func (s *steps) of(step string) int {
	s.guard.Lock()
	defer s.guard.Unlock()
	return s.count[step]
}
