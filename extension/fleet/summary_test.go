package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/moorpin/moorpin/e2e/crowd"
	"github.com/moorpin/moorpin/extension/fleet"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/fieldpath"
)

// settings are those of the made-up fleet: its Applications were reconciled minutes ago.
var settings = drift.Settings{drift.SettingNow: crowd.Now, drift.SettingVersion: "v2.14.21"}

func summarise(t testing.TB, apps iter.Seq2[object, error], options fleet.Options) *fleet.Overview {
	t.Helper()
	options.Settings = settings
	overview, err := fleet.Summarise(t.Context(), apps, options)
	if err != nil {
		t.Fatal(err)
	}
	return overview
}

// TestStatusAlone counts the made-up fleet by hand: of 200 Applications, 20 drift in a
// field, 10 wait to be pruned, 4 cannot be rendered, and 5 are Degraded.
func TestStatusAlone(t *testing.T) {
	o := summarise(t, made(200, 5), fleet.Options{})
	if o.Applications != 200 || o.Resources != 1000 || o.Drifting != 34 || o.Unread != 25 || o.Fields != nil || len(o.Problems) > 0 {
		t.Errorf("%d Applications, %d resources, %d drift, %d unread, fields %v, problems %v", o.Applications, o.Resources, o.Drifting, o.Unread, o.Fields, o.Problems)
	}
	states := []fleet.State{{Sync: "OutOfSync", Health: "Degraded", Applications: 5}, {Sync: "OutOfSync", Health: "Healthy", Applications: 25}, {Sync: "Synced", Health: "Healthy", Applications: 166}, {Sync: "Unknown", Health: "Healthy", Applications: 4}}
	if diff := cmp.Diff(states, o.States); diff != "" {
		t.Errorf("states: -want +got:\n%s", diff)
	}
	mechanisms := []fleet.Mechanism{
		{Mechanism: drift.PendingPrune, Class: "D", Applications: 10, Findings: 10, Sync: drift.Noop, Example: "argocd/app-0001"},
		{Mechanism: drift.ManifestGenerationError, Applications: 4, Findings: 4, Sync: drift.Blocked, Example: "argocd/app-0002"},
	}
	if diff := cmp.Diff(mechanisms, o.Mechanisms); diff != "" {
		t.Errorf("mechanisms: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]fleet.Kind{{Group: "apps", Kind: "Deployment", Resources: 35, Applications: 30}}, o.Kinds); diff != "" {
		t.Errorf("kinds: -want +got:\n%s", diff)
	}
	want := fleet.Behind{Application: "argocd/app-0000", Sync: "OutOfSync", Health: "Degraded", Since: "2026-05-04T02:00:00Z", Resources: []fleet.Ill{
		{Resource: drift.ResourceRef{Group: "apps", Kind: "Deployment", Namespace: "team-0", Name: "workload-2"}, Health: "Degraded", Message: "Deployment exceeded its progress deadline"},
	}}
	if len(o.Behind) != 5 {
		t.Fatalf("%d are Degraded behind their drift, want 5", len(o.Behind))
	}
	if diff := cmp.Diff(want, o.Behind[0]); diff != "" {
		t.Errorf("behind: -want +got:\n%s", diff)
	}
}

// field is a report about one field of a resource.
func field(mechanism drift.Mechanism, name string) *drift.Report {
	return &drift.Report{Sync: drift.OverwritesLive, Findings: []drift.Finding{{
		Resource: drift.ResourceRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "web", Name: name}, Mechanism: mechanism, Flagged: true, Sync: drift.OverwritesLive,
		Fields: []drift.Field{{Pointer: "/spec/replicas", Live: "hush"}, {Pointer: "/spec/paused", Live: "hush"}}, Evidence: []string{"somebody says hush"},
	}}}
}

// everything are the resources of all teams.
func everything() []drift.ResourceRef {
	var every []drift.ResourceRef
	for team := range 20 {
		for i := range 5 {
			every = append(every, drift.ResourceRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: fmt.Sprintf("team-%d", team), Name: fmt.Sprintf("workload-%d", i)})
		}
	}
	return every
}

// TestFields reads the fields of those that are not Synced: the status steps back, what
// cannot be read keeps it, and no value is kept.
func TestFields(t *testing.T) {
	var asked, most, now atomic.Int64
	o := summarise(t, made(60, 5), fleet.Options{Parallel: 3, Fields: func(_ context.Context, ref argocd.Ref) (*fleet.Explained, error) {
		asked.Add(1)
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(2 * time.Millisecond)
		switch ref.Name {
		case "app-0000":
			return &fleet.Explained{Report: field(drift.ManualEdit, "a"), Read: everything()}, nil
		case "app-0010":
			return &fleet.Explained{Report: field(drift.Unexplained, "b"), Read: everything(), Warnings: []string{"the snapshot lacks x", "and y"}}, nil
		case "app-0020":
			return nil, errors.New("the token lacks a right")
		}
		return &fleet.Explained{Report: &drift.Report{Sync: drift.NothingToDo}, Read: everything()}, nil
	}})
	// 0, 10, 20 .. 50 drift, 1, 21, 41 wait to be pruned, 2 and 52 cannot be rendered
	if asked.Load() != 11 || o.Fields == nil || o.Fields.Applications != 11 || o.Fields.PerSecond <= 0 {
		t.Errorf("asked for %d Applications, reading %+v", asked.Load(), o.Fields)
	}
	if most.Load() > 3 || most.Load() < 2 {
		t.Errorf("%d at once, want 3", most.Load())
	}
	want := []fleet.Problem{{Application: "argocd/app-0010", Error: "read fields: the snapshot lacks x; and y"}, {Application: "argocd/app-0020", Error: "read fields: the token lacks a right"}}
	if diff := cmp.Diff(want, o.Problems); diff != "" {
		t.Errorf("problems: -want +got:\n%s", diff)
	}
	if o.Unread != 1 {
		t.Errorf("%d unread, want the one of the Application that could not be read", o.Unread)
	}
	unexplained := []fleet.Unexplained{{Application: "argocd/app-0010", Resource: drift.ResourceRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "web", Name: "b"}, Pointers: []fieldpath.Pointer{"/spec/replicas", "/spec/paused"}, Fields: 2}}
	if diff := cmp.Diff(unexplained, o.Unexplained); diff != "" {
		t.Errorf("unexplained: -want +got:\n%s", diff)
	}
	if names := affected(o); !slices.Equal(names, []string{"app-0000", "app-0001", "app-0002", "app-0010", "app-0020", "app-0021", "app-0030", "app-0040", "app-0041", "app-0050", "app-0052"}) {
		t.Errorf("affected are %v", names)
	}
	if o.Kinds[0].Fields != 4 {
		t.Errorf("kinds %+v, want 4 fields of Deployments", o.Kinds)
	}
}

func affected(o *fleet.Overview) []string {
	var names []string
	for i := range o.Affected {
		names = append(names, o.Affected[i].Name)
	}
	slices.Sort(names)
	return names
}

func TestAllReadsSyncedOnesToo(t *testing.T) {
	var asked atomic.Int64
	summarise(t, made(30, 2), fleet.Options{All: true, Fields: func(context.Context, argocd.Ref) (*fleet.Explained, error) {
		asked.Add(1)
		return &fleet.Explained{Report: &drift.Report{}}, nil
	}})
	if asked.Load() != 30 {
		t.Errorf("asked for %d of 30", asked.Load())
	}
}

func TestFilters(t *testing.T) {
	tests := map[string]struct {
		reason               string
		projects, namespaces []string
		want                 int
	}{
		"none":              {"without a filter all are read", nil, nil, 50},
		"a project":         {"a name is itself", []string{"project-1"}, nil, 10},
		"two":               {"several are added up", []string{"project-1", "project-2"}, nil, 20},
		"a glob":            {"patterns are Argo CD's globs", []string{"project-[12]"}, nil, 20},
		"no namespace":      {"the namespace is the Application's, not that of its resources", nil, []string{"team-1"}, 0},
		"namespace":         {"a glob of namespaces", nil, []string{"argo*"}, 50},
		"both":              {"both filters hold", []string{"project-1"}, []string{"argocd"}, 10},
		"default":           {"an empty project is default, of which there is none", []string{"default"}, nil, 0},
		"a prefix":          {"a name is no prefix", []string{"project"}, nil, 0},
		"a regexp in glob":  {"a regular expression stands between slashes, as in Argo CD", []string{"/^project-[34]$/"}, nil, 20},
		"an invalid regexp": {"what is no expression matches nothing", []string{"/(/"}, nil, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := summarise(t, made(50, 1), fleet.Options{Projects: test.projects, Namespaces: test.namespaces})
			if o.Applications != test.want {
				t.Errorf("%s: %d Applications, want %d", test.reason, o.Applications, test.want)
			}
		})
	}
}

// TestHalfAFleet: an error of the list is no overview of what came before it.
func TestHalfAFleet(t *testing.T) {
	broken := errors.New("connection reset")
	_, err := fleet.Summarise(t.Context(), func(yield func(object, error) bool) {
		_ = yield(application(0, 1), nil) && yield(nil, broken)
	}, fleet.Options{})
	if !errors.Is(err, broken) {
		t.Errorf("want the error of the list, have %v", err)
	}
}

// TestCancelled: nobody waits for the rest of the fleet when the caller left.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begin := time.Now()
	_, err := fleet.Summarise(ctx, made(200, 1), fleet.Options{Parallel: 1, Settings: settings, Fields: func(ctx context.Context, _ argocd.Ref) (*fleet.Explained, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
}

// TestHostileShapes: whatever an Application looks like, the rest of the fleet is read.
func TestHostileShapes(t *testing.T) {
	shapes := []object{
		{},
		{"metadata": 7, "spec": []any{}, "status": "x"},
		{"status": object{"resources": "many", "health": 1, "sync": []any{}}},
		{"metadata": object{"name": "a"}, "status": object{"resources": []any{1, nil, "x", object{}, object{"status": 7}}}},
		{"metadata": object{"name": strings.Repeat("x", 1000)}, "status": object{"operationState": object{"phase": 1}}},
	}
	o := summarise(t, func(yield func(object, error) bool) {
		for _, shape := range shapes {
			if !yield(shape, nil) {
				return
			}
		}
		yield(application(1, 3), nil)
	}, fleet.Options{})
	if o.Applications != len(shapes)+1 || len(o.Mechanisms) != 1 {
		t.Errorf("%d Applications, mechanisms %+v", o.Applications, o.Mechanisms)
	}
	if len(o.Problems) == 0 {
		t.Error("what cannot be read is not told")
	}
}

// TestOrderDoesNotMatter: the same fleet in another order is the same overview.
func TestOrderDoesNotMatter(t *testing.T) {
	var apps []object
	for app := range made(150, 4) {
		apps = append(apps, app)
	}
	in := func(apps []object) iter.Seq2[object, error] {
		return func(yield func(object, error) bool) {
			for _, app := range apps {
				if !yield(app, nil) {
					return
				}
			}
		}
	}
	forward := summarise(t, in(apps), fleet.Options{})
	slices.Reverse(apps)
	backward := summarise(t, in(apps), fleet.Options{})
	if diff := cmp.Diff(forward, backward, cmpopts.IgnoreUnexported(fleet.Application{}, fleet.Count{})); diff != "" {
		t.Errorf("-forward +backward:\n%s", diff)
	}
}

// tree is an Argo CD that knows the objects below one Application.
type tree []argocd.Node

func (t tree) ResourceTree(_ context.Context, ref argocd.Ref) ([]argocd.Node, error) {
	if ref.Name != "app-0000" {
		return nil, fmt.Errorf("%s is none of mine", ref)
	}
	return t, nil
}

// pods is a cluster with these Pods.
type pods []object

func (p pods) All(_ context.Context, _, kind, namespace string) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		if kind != "Pod" || namespace == "" {
			yield(nil, fmt.Errorf("asked for %s in %q", kind, namespace))
			return
		}
		for _, pod := range p {
			if pod["metadata"].(object)["namespace"] == namespace && !yield(pod, nil) {
				return
			}
		}
	}
}

func pod(namespace, kind, owner string, restarts ...int64) object {
	statuses := make([]any, len(restarts))
	for i, n := range restarts {
		statuses[i] = object{"name": fmt.Sprint(i), "restartCount": n}
	}
	return object{
		"metadata": object{"namespace": namespace, "name": owner + "-x", "ownerReferences": []any{object{"apiVersion": "apps/v1", "kind": kind, "name": owner, "controller": true}}},
		"status":   object{"containerStatuses": statuses, "initContainerStatuses": []any{object{"restartCount": int64(1)}}},
	}
}

func TestRestarts(t *testing.T) {
	ofTree := fleet.TreeRestarts(tree{
		{Kind: "Pod", Name: "a", Restarts: 3}, {Kind: "Pod", Name: "b", Restarts: 4}, {Kind: "Pod", Name: "alien", Restarts: 50, Orphaned: true}, {Group: "apps", Kind: "ReplicaSet", Name: "a"},
	})
	ofPods := fleet.PodRestarts(pods{
		pod("team-0", "ReplicaSet", "workload-1-abc", 5, 2),
		pod("team-0", "ReplicaSet", "workload-10-abc", 100),
		pod("team-0", "StatefulSet", "workload-2", 100),
		pod("team-1", "ReplicaSet", "workload-1-abc", 100),
	})
	tests := map[string]struct {
		reason   string
		restarts fleet.Restarts
		want     []int // of app-0000 and app-0040; -1 where they are not known
		problems int
	}{
		"Argo CD's": {"orphans are nobody's Pods, and an error is told", ofTree, []int{7, -1}, 1},
		"Pods":      {"a Pod belongs to the Deployment whose ReplicaSet it is of, in its own namespace", ofPods, []int{8, 8}, 0},
		"nobody":    {"unknown is not zero", nil, []int{-1, -1}, 0},
		"elsewhere": {"of another cluster nothing is known", func(ctx context.Context, p fleet.Pods) (int, bool, error) {
			p.Destination = "https://elsewhere.crowd.com"
			return ofPods(ctx, p)
		}, []int{-1, -1}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := summarise(t, made(60, 5), fleet.Options{Restarts: test.restarts})
			var got []int
			for _, b := range o.Behind {
				n := -1
				if b.Restarts != nil {
					n = *b.Restarts
				}
				got = append(got, n)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || len(o.Problems) != test.problems {
				t.Errorf("%s: problems %v, -want +got:\n%s", test.reason, o.Problems, diff)
			}
		})
	}
}
