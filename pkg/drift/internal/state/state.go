// Package state is a snapshot made ready for the rules: the Application, its settings and
// every resource on both sides, with what is asked of them again and again.
//
// [New] reads the snapshot and refuses what is no Application. The rules read; what is
// found once, such as the owners of the fields or the shape of a kind, is kept. Values of
// Secrets leave it masked.
package state

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/kind"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/object"
)

// Application is a snapshot made ready for the rules.
type Application struct {
	Snapshot  *drift.Snapshot
	Object    *v1alpha1.Application
	Settings  settings
	Resources []*Resource
	Related   *relations
	Events    []Event
	// Overrides are argocd-cm's changes of comparisons, Argo CD's own additions
	// included.
	Overrides             map[string]v1alpha1.ResourceOverride
	IgnoreAggregatedRoles bool
	// SomeServerSideApply tells that an object asks for server-side apply by itself.
	SomeServerSideApply bool
	shared              shared
	expressions         sync.Map // jq path to *expression
	crdsOnce            sync.Once
	crds                map[[2]string]object.Object
	scalersOnce         sync.Once
	scalers             map[drift.Key][]object.Object
	secretsOnce         sync.Once
	secretsFound        *Secrets
	kindsOnce           sync.Once
	kinds               map[[2]string][]*Resource
	workloadsOnce       sync.Once
	workloadsFound      *workloads
	projectOnce         sync.Once
	// FailureFound is what package outcome reads once of the last sync's failure.
	FailureOnce  sync.Once
	FailureFound any
	projectFound *v1alpha1.AppProject
	projectRead  bool
	namespaces   sync.Map // the name of a namespace to whether the AppProject permits it
	TypesOnce    sync.Once
	Parser       *managedfields.GvkParser
	TypesError   error
	// Allowance bounds what the differences of all resources hold.
	Allowance *diff.Allowance
	// Ctx ends the work early; its end makes the report an error.
	Ctx context.Context
	// Masked are values of Secrets that were masked in the snapshot before.
	Masked []drift.SecretValue
	// Unheeded are the ignore rules that were not run, and why.
	Unheeded []string
	// broken is the first panic of a rule.
	broken atomic.Pointer[drift.PanicError]
	// Incomparable tells that Argo CD could not compare, so that what the snapshot shows
	// of the resources says nothing about drift.
	Incomparable bool
}

// Resource is one object with what Argo CD makes of it.
type Resource struct {
	Application *Application
	Given       *drift.Resource
	Ref         drift.ResourceRef
	// Target and Live are the objects as the snapshot holds them; nil when absent.
	Target, Live map[string]any
	Strategy     drift.Strategy
	// Normalized and Predicted are the two documents that Argo CD compares; nil
	// when the resource is one-sided or cannot be compared.
	Normalized, Predicted map[string]any
	CompareError          error
	// Unfit says why the libraries must not be given the resource; nil where they may.
	Unfit error
	// Modified tells that Argo CD's packages, asked here, find a difference.
	Modified bool
	// Allowance is the Application's; nil for a trial, which has its own.
	Allowance *diff.Allowance
	// Differences are the flagged ones, sorted by pointer.
	Differences []*diff.Difference
	// LastApplied is the object in the last-applied-configuration annotation, or nil.
	LastApplied map[string]any
	owners      *owners.Ownership
	// Items finds list items for the rules about one resource, which run one by one.
	Items diff.Finder
	// selections are what jq paths name in the resource, jqSides what they run on.
	selections map[string]*Selection
	jqSides    []any
	// Status is the resource's entry in status.resources, result its entry in
	// status.operationState.syncResult.resources; nil when there is none.
	Status *v1alpha1.ResourceStatus
	Result *v1alpha1.ResourceResult
	// the shape of the kind, found once
	shapeKnown, hasShape bool
	shapeFound           kind.Shape
	// pinnedTarget is the target with its defaults, made once.
	pinnedTarget object.Object
	pinnedOnce   bool
	// defaultedTarget is the same for Kubernetes' own kinds.
	defaultedTarget object.Object
	// duplicatesFound are Git's items with the same merge key, found once.
	duplicatesFound []Duplicate
	duplicatesOnce  bool
}

// Ref names the Application itself.
func (s *Application) Ref() drift.ResourceRef {
	return drift.ResourceRef{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application", Namespace: s.Object.Namespace, Name: s.Object.Name}
}

// Now is the time of the snapshot, and whether it is known.
func (s *Application) Now() (metav1.Time, bool) { return s.Settings.now, !s.Settings.now.IsZero() }

// New reads the snapshot. The error says which part of it cannot be
// read; it is the reporter's mistake.
func New(ctx context.Context, snapshot *drift.Snapshot) (*Application, error) {
	app := &v1alpha1.Application{}
	data, err := json.Marshal(snapshot.Application)
	if err == nil {
		err = json.Unmarshal(data, app)
	}
	if err != nil {
		return nil, fmt.Errorf("snapshot: application: %w", err)
	}
	parsed, err := parseSettings(snapshot.Settings)
	if err != nil {
		return nil, fmt.Errorf("snapshot: settings: %w", err)
	}
	s := &Application{Ctx: ctx, Allowance: diff.NewAllowance(), Snapshot: snapshot, Object: app, Settings: parsed, Related: relate(snapshot.Related), Events: parseEvents(snapshot.Events)}
	if err := s.readOverrides(); err != nil {
		return nil, fmt.Errorf("snapshot: settings: %w", err)
	}
	statuses, results := s.statuses(), s.Results()
	for i := range snapshot.Resources {
		given := &snapshot.Resources[i]
		r := &Resource{Application: s, Given: given, Target: given.Target, Live: given.Live, Ref: given.ResourceRef}
		r.Complete()
		r.Status, r.Result = statuses[drift.KeyOf(r.Ref)], results[drift.KeyOf(r.Ref)]
		if r.Result == nil && r.Ref.Namespace == "" {
			// Argo CD notes the destination's namespace for objects that have none.
			r.Result = results[drift.Key{Group: r.Ref.Group, Kind: r.Ref.Kind, Namespace: app.Spec.Destination.Namespace, Name: r.Ref.Name}]
		}
		s.SomeServerSideApply = s.SomeServerSideApply || HasOption(r.Target, mark.SyncOptions, "ServerSideApply=true")
		s.Resources = append(s.Resources, r)
	}
	return s, nil
}

// Complete takes from the objects what the entry itself does not say.
func (r *Resource) Complete() {
	object := r.Live
	if object == nil {
		object = r.Target
	}
	if object == nil {
		return
	}
	named := drift.RefOf(object)
	if r.Ref.Kind == "" {
		r.Ref.Group, r.Ref.Version, r.Ref.Kind = named.Group, named.Version, named.Kind
	}
	if r.Ref.Version == "" {
		r.Ref.Version = named.Version
	}
	if r.Ref.Name == "" {
		r.Ref.Name, r.Ref.Namespace = named.Name, named.Namespace
	}
}

// Results are the results of the last sync by resource.
func (s *Application) Results() map[drift.Key]*v1alpha1.ResourceResult {
	found := map[drift.Key]*v1alpha1.ResourceResult{}
	if s.Object.Status.OperationState == nil || s.Object.Status.OperationState.SyncResult == nil {
		return found
	}
	for _, result := range s.Object.Status.OperationState.SyncResult.Resources {
		if result == nil {
			continue
		}
		found[drift.Key{Group: result.Group, Kind: result.Kind, Namespace: result.Namespace, Name: result.Name}] = result
	}
	return found
}

// Ended returns why the work was not done to its end, if it was not.
func (s *Application) Ended() error {
	if s.Ctx.Err() != nil {
		return fmt.Errorf("classify: %w", context.Cause(s.Ctx))
	}
	if broken := s.broken.Load(); broken != nil {
		return broken //nolint:wrapcheck // it is this package's own
	}
	return nil
}

func panicked(cause any) *drift.PanicError {
	return &drift.PanicError{Thrown: fmt.Sprintf("%T", cause), Stack: debug.Stack()}
}

// Catch makes an error of a panic: one hostile object must not end a process that
// serves others. It is deferred by every function that callers see.
func Catch(err *error) {
	if cause := recover(); cause != nil {
		*err = panicked(cause)
	}
}

// Recover is [Catch] for the goroutines that share the Application.
func (s *Application) Recover() {
	if cause := recover(); cause != nil {
		s.broken.CompareAndSwap(nil, panicked(cause))
	}
}

// Portions splits n things for all processors, none of which gets fewer than the least.
func Portions(n, least int) [][2]int {
	size := max(least, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var split [][2]int
	for start := 0; start < n; start += size {
		split = append(split, [2]int{start, min(start+size, n)})
	}
	return split
}

func (s *Application) statuses() map[drift.Key]*v1alpha1.ResourceStatus {
	found := make(map[drift.Key]*v1alpha1.ResourceStatus, len(s.Object.Status.Resources))
	for i := range s.Object.Status.Resources {
		status := &s.Object.Status.Resources[i]
		found[drift.Key{Group: status.Group, Kind: status.Kind, Namespace: status.Namespace, Name: status.Name}] = status
	}
	return found
}
