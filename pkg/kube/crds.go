package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/moorpin/moorpin/pkg/schema"
)

// CRDs is the live set of the CRDs of one cluster. It is safe for concurrent
// use; Current never blocks.
type CRDs struct {
	client  dynamic.Interface
	log     *slog.Logger
	current atomic.Pointer[schema.Set]
	synced  chan struct{}
	changed chan struct{}
	done    chan struct{}

	mu    sync.Mutex
	state State
}

// State says how fresh the live set is.
type State struct {
	// Synced is true once the first complete list is in Current.
	Synced bool
	// Definitions counts the CRDs in Current. Refused counts those that could
	// not be read, or that have a version whose schema is not structural.
	Definitions, Refused int
	// LastContact is when the API server last answered or sent anything; zero
	// before the first time. A healthy watch hears something every minute or so.
	LastContact time.Time
	// Err is what the API server's last answer was when it was no good, nil
	// while all is well.
	Err error
}

// WatchCRDs starts to watch the CRDs of the cluster and returns at once, with
// an empty current set. It goes on until ctx ends. What goes wrong with the
// API server is logged when it begins and when it ends, kept in State, and
// retried at growing intervals of at most half a minute; only a
// configuration that cannot work at all is returned as an error.
func WatchCRDs(ctx context.Context, config *rest.Config, logger *slog.Logger) (*CRDs, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	return watchWith(ctx, client, logger)
}

func watchWith(ctx context.Context, client dynamic.Interface, logger *slog.Logger) (*CRDs, error) {
	crds := &CRDs{
		client: client, log: logger,
		synced: make(chan struct{}), changed: make(chan struct{}, 1), done: make(chan struct{}),
	}
	crds.current.Store(schema.NewSet())
	informer := cache.NewSharedIndexInformer(crds.listerWatcher(ctx), &entry{}, 0, cache.Indexers{})
	// Every failure passes through listerWatcher, which keeps and logs it.
	err := informer.SetWatchErrorHandler(func(*cache.Reflector, error) {})
	if err != nil {
		return nil, fmt.Errorf("prepare the watch of CRDs: %w", err)
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { crds.signal() }, UpdateFunc: func(any, any) { crds.signal() }, DeleteFunc: func(any) { crds.signal() },
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the watch of CRDs: %w", err)
	}
	go informer.Run(ctx.Done())
	go crds.rebuild(ctx, registration, informer.GetStore())
	return crds, nil
}

// Current is the latest complete set: empty until the first list has come,
// the last known one while the API server cannot be reached.
func (c *CRDs) Current() *schema.Set {
	return c.current.Load()
}

// Synced is closed once the first complete list is in Current.
func (c *CRDs) Synced() <-chan struct{} {
	return c.synced
}

// Done is closed when the watch has ended, after its context has.
func (c *CRDs) Done() <-chan struct{} {
	return c.done
}

// State is how fresh Current is now.
func (c *CRDs) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// errEnded is why a wait for the first list stopped early.
var errEnded = errors.New("the API server has not answered yet")

// WaitSynced waits until the first complete list is in Current, or until ctx
// ends: then it says what the API server's last answer was.
func (c *CRDs) WaitSynced(ctx context.Context) error {
	select {
	case <-c.synced:
		return nil
	case <-ctx.Done():
	}
	if err := c.State().Err; err != nil {
		return fmt.Errorf("wait for the cluster's CRDs: %w", err)
	}
	return fmt.Errorf("wait for the cluster's CRDs: %w", errEnded)
}

func (c *CRDs) listerWatcher(ctx context.Context) *cache.ListWatch {
	return &cache.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
			list, err := listCRDs(ctx, c.client)
			c.heard(ctx, err)
			if err != nil {
				return nil, err
			}
			return list, nil
		},
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			events, err := watchCRDs(ctx, c.client, options, func() { c.heard(ctx, nil) })
			c.heard(ctx, err)
			return events, err
		},
	}
}

// heard keeps what the API server's last answer was and logs the changes
// between good, bad and differently bad, not every retry.
func (c *CRDs) heard(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	err = advise(err)
	c.mu.Lock()
	before := c.state.Err
	c.state.Err = err
	if err == nil {
		c.state.LastContact = time.Now()
	}
	last := c.state.LastContact
	c.mu.Unlock()
	switch {
	case err != nil && (before == nil || apierrors.ReasonForError(before) != apierrors.ReasonForError(err)):
		c.log.Warn("cannot read CRDs from the cluster; what was read before stays in use, and the watch goes on trying",
			"error", err, "lastContact", last)
	case err == nil && before != nil:
		c.log.Info("the cluster answers again; CRDs are read from it")
	}
}

// advise adds what to do about it to the errors that somebody must act on.
func advise(err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w: grant get, list and watch on customresourcedefinitions.apiextensions.k8s.io", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w: the API server does not know these credentials; renew the kubeconfig or the service-account token", err)
	}
	return err
}

// signal asks for a rebuild without waiting for one.
func (c *CRDs) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// rebuild makes a new current set after each batch of changes. The first one
// waits for the whole first list, so that Current is never half a cluster.
func (c *CRDs) rebuild(ctx context.Context, registration cache.ResourceEventHandlerRegistration, store cache.Store) {
	defer close(c.done)
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return
	}
	refused := map[string]string{}
	for {
		c.replace(store.List(), refused)
		select {
		case <-c.changed:
		case <-ctx.Done():
			return
		}
	}
}

// replace makes a new current set of the entries. refused remembers which
// problems were logged already.
func (c *CRDs) replace(items []any, refused map[string]string) {
	definitions := make([]*schema.Definition, 0, len(items))
	problems := map[string]error{}
	for _, item := range items {
		kept, ok := item.(*entry)
		if !ok {
			continue
		}
		if kept.problem != nil {
			problems[kept.Name] = kept.problem
		}
		if kept.definition != nil {
			definitions = append(definitions, kept.definition)
		}
	}
	c.logRefused(problems, refused)
	slices.SortFunc(definitions, func(a, b *schema.Definition) int { return strings.Compare(a.Name, b.Name) })
	c.current.Store(schema.NewSet(definitions...))
	c.mu.Lock()
	first := !c.state.Synced
	c.state.Synced, c.state.Definitions, c.state.Refused = true, len(definitions), len(problems)
	c.mu.Unlock()
	if first {
		c.log.Info("CRDs read from the cluster", "definitions", len(definitions), "refused", len(problems))
		close(c.synced)
	}
}

func (c *CRDs) logRefused(problems map[string]error, logged map[string]string) {
	names := make([]string, 0, len(problems))
	for name := range problems {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		message := problems[name].Error()
		if logged[name] == message {
			continue
		}
		logged[name] = message
		c.log.Warn("a CRD of the cluster cannot be used; objects of it pass unchanged", "crd", name, "error", message)
	}
	for name := range logged {
		if _, still := problems[name]; !still {
			delete(logged, name)
		}
	}
}
