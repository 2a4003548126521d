package classify

import (
	"context"
	"encoding/json"
	"fmt"
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

// situation is a snapshot made ready for the rules.
type situation struct {
	snapshot  *drift.Snapshot
	app       *v1alpha1.Application
	settings  settings
	resources []*resource
	related   *relations
	events    []event
	// overrides are argocd-cm's changes of comparisons, Argo CD's own additions
	// included.
	overrides             map[string]v1alpha1.ResourceOverride
	ignoreAggregatedRoles bool
	// someServerSideApply tells that an object asks for server-side apply by itself.
	someServerSideApply bool
	shared              shared
	expressions         sync.Map // jq path to *expression
	crdsOnce            sync.Once
	crds                map[[2]string]object.Object
	scalersOnce         sync.Once
	scalers             map[drift.Key][]object.Object
	secretsOnce         sync.Once
	secretsFound        *secrets
	kindsOnce           sync.Once
	kinds               map[[2]string][]*resource
	workloadsOnce       sync.Once
	workloadsFound      *workloads
	typesOnce           sync.Once
	parser              *managedfields.GvkParser
	typesError          error
	// allowance bounds what the differences of all resources hold.
	allowance *diff.Allowance
	// ctx ends the work early; its end makes the report an error.
	ctx context.Context
	// unheeded are the ignore rules that were not run, and why.
	unheeded []string
	// broken is the first panic of a rule.
	broken atomic.Pointer[drift.PanicError]
	// incomparable tells that Argo CD could not compare, so that what the snapshot shows
	// of the resources says nothing about drift.
	incomparable bool
}

// resource is one object with what Argo CD makes of it.
type resource struct {
	situation *situation
	given     *drift.Resource
	ref       drift.ResourceRef
	// target and live are the objects as the snapshot holds them; nil when absent.
	target, live map[string]any
	strategy     drift.Strategy
	// normalized and predicted are the two documents that Argo CD compares; nil
	// when the resource is one-sided or cannot be compared.
	normalized, predicted map[string]any
	compareError          error
	// unfit says why the libraries must not be given the resource; nil where they may.
	unfit error
	// modified tells that Argo CD's packages, asked here, find a difference.
	modified bool
	// allowance is the situation's; nil for a trial, which has its own.
	allowance *diff.Allowance
	// differences are the flagged ones, sorted by pointer.
	differences []*diff.Difference
	// lastApplied is the object in the last-applied-configuration annotation, or nil.
	lastApplied map[string]any
	owners      *owners.Ownership
	// items finds list items for the rules about one resource, which run one by one.
	items diff.Finder
	// selections are what jq paths name in the resource, jqSides what they run on.
	selections map[string]*selection
	jqSides    []any
	// status is the resource's entry in status.resources, result its entry in
	// status.operationState.syncResult.resources; nil when there is none.
	status *v1alpha1.ResourceStatus
	result *v1alpha1.ResourceResult
	// the shape of the kind, found once
	shapeKnown, hasShape bool
	shapeFound           kind.Shape
	// pinnedTarget is the target with its defaults, made once.
	pinnedTarget object.Object
	pinnedOnce   bool
	// defaultedTarget is the same for Kubernetes' own kinds.
	defaultedTarget object.Object
	// duplicatesFound are Git's items with the same merge key, found once.
	duplicatesFound []duplicate
	duplicatesOnce  bool
}

// claim is a rule's answer.
type claim struct {
	mechanism   drift.Mechanism
	differences []*diff.Difference
	// hidden are fields that Argo CD does not flag.
	hidden     []drift.Field
	confidence drift.Confidence
	evidence   []string
	sync       drift.Sync
	// incomparable tells that for this Argo CD could not compare the Application at all.
	incomparable bool
	// summary is one sentence; when empty, the mechanism's own stands.
	summary string
	// loss names live values that a sync would overwrite, with who wrote them.
	loss []string
	// about names another object than the rule was asked about.
	about *drift.ResourceRef
}

// ref names the Application itself.
func (s *situation) ref() drift.ResourceRef {
	return drift.ResourceRef{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application", Namespace: s.app.Namespace, Name: s.app.Name}
}

// now is the time of the snapshot, and whether it is known.
func (s *situation) now() (metav1.Time, bool) { return s.settings.now, !s.settings.now.IsZero() }

// newSituation reads the snapshot. The error says which part of it cannot be
// read; it is the reporter's mistake.
func newSituation(ctx context.Context, snapshot *drift.Snapshot) (*situation, error) {
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
	s := &situation{ctx: ctx, allowance: diff.NewAllowance(), snapshot: snapshot, app: app, settings: parsed, related: relate(snapshot.Related), events: parseEvents(snapshot.Events)}
	if err := s.readOverrides(); err != nil {
		return nil, fmt.Errorf("snapshot: settings: %w", err)
	}
	statuses, results := s.statuses(), s.results()
	for i := range snapshot.Resources {
		given := &snapshot.Resources[i]
		r := &resource{situation: s, given: given, target: given.Target, live: given.Live, ref: given.ResourceRef}
		r.complete()
		r.status, r.result = statuses[drift.KeyOf(r.ref)], results[drift.KeyOf(r.ref)]
		if r.result == nil && r.ref.Namespace == "" {
			// Argo CD notes the destination's namespace for objects that have none.
			r.result = results[drift.Key{Group: r.ref.Group, Kind: r.ref.Kind, Namespace: app.Spec.Destination.Namespace, Name: r.ref.Name}]
		}
		s.someServerSideApply = s.someServerSideApply || hasOption(r.target, mark.SyncOptions, "ServerSideApply=true")
		s.resources = append(s.resources, r)
	}
	return s, nil
}

// complete takes from the objects what the entry itself does not say.
func (r *resource) complete() {
	object := r.live
	if object == nil {
		object = r.target
	}
	if object == nil {
		return
	}
	named := drift.RefOf(object)
	if r.ref.Kind == "" {
		r.ref.Group, r.ref.Version, r.ref.Kind = named.Group, named.Version, named.Kind
	}
	if r.ref.Version == "" {
		r.ref.Version = named.Version
	}
	if r.ref.Name == "" {
		r.ref.Name, r.ref.Namespace = named.Name, named.Namespace
	}
}

func (s *situation) statuses() map[drift.Key]*v1alpha1.ResourceStatus {
	found := make(map[drift.Key]*v1alpha1.ResourceStatus, len(s.app.Status.Resources))
	for i := range s.app.Status.Resources {
		status := &s.app.Status.Resources[i]
		found[drift.Key{Group: status.Group, Kind: status.Kind, Namespace: status.Namespace, Name: status.Name}] = status
	}
	return found
}

func (s *situation) results() map[drift.Key]*v1alpha1.ResourceResult {
	found := map[drift.Key]*v1alpha1.ResourceResult{}
	if s.app.Status.OperationState == nil || s.app.Status.OperationState.SyncResult == nil {
		return found
	}
	for _, result := range s.app.Status.OperationState.SyncResult.Resources {
		if result == nil {
			continue
		}
		found[drift.Key{Group: result.Group, Kind: result.Kind, Namespace: result.Namespace, Name: result.Name}] = result
	}
	return found
}
