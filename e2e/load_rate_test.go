package e2e

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tally counts the requests of a run.
type tally struct {
	guard  sync.Mutex
	took   []time.Duration
	status map[int]int
	// wrong are the answers that were not as wanted, and the requests without one.
	wrong map[string]int
}

func newTally() *tally { return &tally{status: map[int]int{}, wrong: map[string]int{}} }

func (r *tally) String() string {
	return fmt.Sprintf("%d answers %v, p50 %s, p99 %s, longest %s", len(r.took), r.status,
		r.percentile(0.5).Round(time.Microsecond), r.percentile(0.99).Round(time.Microsecond), r.percentile(1).Round(time.Microsecond))
}

// send sends a request that was due at that time, and counts its answer.
func (r *tally) send(ctx context.Context, due time.Time, c call) {
	status, err := send(ctx, c)
	took := time.Since(due)
	r.guard.Lock()
	defer r.guard.Unlock()
	if err != nil {
		r.wrong[err.Error()]++
		return
	}
	r.took = append(r.took, took)
	r.status[status]++
	if status != cmp.Or(c.want, http.StatusOK) {
		r.wrong[fmt.Sprintf("%s %s: %d", c.method, c.url, status)]++
	}
}

// percentile is how long the p-th part of the requests took at most.
func (r *tally) percentile(p float64) time.Duration {
	r.guard.Lock()
	defer r.guard.Unlock()
	if len(r.took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.took))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// check fails when an answer was not as wanted, or lost.
func (r *tally) check(t *testing.T) {
	t.Helper()
	if len(r.wrong) > 0 {
		t.Errorf("not as wanted: %v", r.wrong)
	}
	if len(r.took) == 0 {
		t.Error("nothing was answered")
	}
}

// loader sends requests and drops the answers. Connections are kept, as argocd-server does.
var loader = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true}}

// send sends one request and reads the answer to its end.
func send(ctx context.Context, c call) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, c.method, c.url, strings.NewReader(string(c.body)))
	if err != nil {
		return 0, err
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	reply, err := loader.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = reply.Body.Close() }()
	_, err = io.Copy(io.Discard, reply.Body)
	return reply.StatusCode, err
}

// atRate sends so many requests a second, whether or not the ones before are answered:
// users do not wait for one another. The time of an answer counts from when its request was due.
func atRate(ctx context.Context, perSecond int, lasts time.Duration, next func(nth int) call) *tally {
	counted := newTally()
	var under sync.WaitGroup
	pause := time.Second / time.Duration(perSecond)
	begin := time.Now()
	for nth := range int(lasts / pause) {
		due := begin.Add(time.Duration(nth) * pause)
		select {
		case <-ctx.Done():
			under.Wait()
			return counted
		case <-time.After(time.Until(due)):
		}
		under.Go(func() { counted.send(ctx, due, next(nth)) })
	}
	under.Wait()
	return counted
}

// flatOut sends with so many clients, each its next request after the answer.
func flatOut(ctx context.Context, clients int, lasts time.Duration, next func(nth int) call) *tally {
	counted := newTally()
	var under sync.WaitGroup
	var nth atomic.Int64
	end := time.Now().Add(lasts)
	for range clients {
		under.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil {
				counted.send(ctx, time.Now(), next(int(nth.Add(1))))
			}
		})
	}
	under.Wait()
	return counted
}

// measure reads one number of the backend's metrics.
func (b *backend) measure(t testing.TB, name string) float64 {
	t.Helper()
	reply, err := http.Get(b.metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// memory is what the backend holds, in MiB.
func (b *backend) memory(t testing.TB) float64 {
	t.Helper()
	return b.measure(t, "process_resident_memory_bytes") / (1 << 20)
}

// balancer passes requests to the backends that say they are ready, in turns, as a
// Service of Kubernetes does. It sends nothing twice.
type balancer struct {
	guard sync.Mutex
	all   map[*backend]bool // whether it was ready when it was last asked
	turn  int
}

// probePause is how often the balancer asks who is ready.
const probePause = 100 * time.Millisecond

func (l *balancer) add(b *backend) {
	l.guard.Lock()
	defer l.guard.Unlock()
	l.all[b] = b.ready()
}

func (l *balancer) remove(b *backend) {
	l.guard.Lock()
	defer l.guard.Unlock()
	delete(l.all, b)
}

// probe asks until ctx ends.
func (l *balancer) probe(ctx context.Context) {
	for ctx.Err() == nil {
		l.guard.Lock()
		known := slices.Collect(maps.Keys(l.all))
		l.guard.Unlock()
		for _, b := range known {
			ready := b.ready()
			l.guard.Lock()
			if _, there := l.all[b]; there {
				l.all[b] = ready
			}
			l.guard.Unlock()
		}
		time.Sleep(probePause)
	}
}

func (l *balancer) next() (*url.URL, error) {
	l.guard.Lock()
	defer l.guard.Unlock()
	var ready []string
	for b, is := range l.all {
		if is {
			ready = append(ready, b.url)
		}
	}
	if len(ready) == 0 {
		return nil, fmt.Errorf("none of %d backends is ready", len(l.all))
	}
	slices.Sort(ready)
	l.turn++
	return url.Parse(ready[l.turn%len(ready)])
}

// serve is where the balancer listens.
func (l *balancer) serve(t *testing.T) string {
	t.Helper()
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			target, err := l.next()
			if err != nil {
				target = &url.URL{Scheme: "http", Host: "127.0.0.1:1"} // which nobody answers on
			}
			r.SetURL(target)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}
