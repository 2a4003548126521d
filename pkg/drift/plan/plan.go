// Package plan says how to get rid of what an Application left behind: what to delete, in
// which order, what to look at before, and what stays because something still uses it.
//
// [For] makes the plan of a report. It deletes nothing: [Plan.Markdown] is for people,
// [Plan.Script] a script for them to read and to run. Namespaces and volumes are never in
// the script.
package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/mark"
	"github.com/moorpin/moorpin/pkg/drift/internal/snippet"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
	"github.com/moorpin/moorpin/pkg/object"
)

// Plan says how to get rid of what an Application left behind: what is still in
// use and stays, what to look at first, and what to delete in which order. Moorpin
// itself deletes nothing: [Plan.Markdown] is for people, [Plan.Script] is a script
// for them to read and to run.
type Plan struct {
	// Application is namespace/name.
	Application string `json:"application"`
	// Cluster is where the objects are, as the Application names it.
	Cluster string `json:"cluster,omitempty"`
	// Delete is what nothing in the snapshot refers to, in the order of deletion.
	Delete []Deletion `json:"delete"`
	// Manual is what is never deleted by a script: namespaces, and volumes with
	// what they hold.
	Manual []Deletion `json:"manual,omitempty"`
	// Keep is what is still in use, or kept on purpose.
	Keep []Kept `json:"keep,omitempty"`
	// Unseen is what the snapshot cannot show, with the command that does.
	Unseen []Check `json:"unseen,omitempty"`
}

// Deletion is an object to delete.
type Deletion struct {
	Resource drift.ResourceRef `json:"resource"`
	// UID is the object's as it was seen, or empty.
	UID string `json:"uid,omitempty"`
	// File is where its dump goes.
	File string `json:"file"`
	// Notes say what to know before.
	Notes []string `json:"notes,omitempty"`
	// guard is a command that prints what still uses the object; nil when there is none.
	guard []string
}

// Kept is an object that stays, and why.
type Kept struct {
	Resource drift.ResourceRef `json:"resource"`
	Reasons  []string          `json:"reasons"`
}

// Check is a question that the snapshot leaves open.
type Check struct {
	Resource drift.ResourceRef `json:"resource"`
	Question string            `json:"question"`
	Command  string            `json:"command"`
	// look is the kubectl command whose output is searched for the object's name;
	// nil when the command is of another form.
	look []string
}

// For makes a plan for what the report finds left behind: objects that require
// pruning, protected from it or not, and runs of hooks that have ended.
func For(snapshot *drift.Snapshot, report *drift.Report) Plan {
	plan := Plan{Application: report.Application, Delete: []Deletion{}}
	plan.Cluster = words.First(object.Text(snapshot.Application, "spec", "destination", "server"), object.Text(snapshot.Application, "spec", "destination", "name"))
	leftovers := leftoversOf(snapshot, report)
	for _, l := range leftovers {
		l.reasons = append(l.reasons, doubts(report)...)
	}
	users := usersOf(snapshot, leftovers)
	keepUsed(leftovers, users)
	for i, l := range inDeletionOrder(leftovers, users) {
		switch {
		case len(l.reasons) > 0:
			plan.Keep = append(plan.Keep, Kept{Resource: l.ref, Reasons: words.Unique(l.reasons)})
		case byHand(l.ref):
			plan.Manual = append(plan.Manual, l.deletion(i+1))
			plan.Unseen = append(plan.Unseen, checksFor(l.ref, l.live)...)
		default:
			plan.Delete = append(plan.Delete, l.deletion(i+1))
			plan.Unseen = append(plan.Unseen, checksFor(l.ref, l.live)...)
		}
	}
	return plan
}

// leftover is an object that is only live.
type leftover struct {
	ref  drift.ResourceRef
	live object.Object
	// reasons are why it stays.
	reasons []string
	notes   []string
}

// InDoubt are the mechanisms under which what looks left behind may be all that the
// Application has.
var InDoubt = []drift.Mechanism{drift.AutosyncEmptyGuard, drift.ManifestGenerationError, drift.ComparisonErrorSchema, drift.StaleComparison, drift.ControllerStale}

// doubts are the reasons not to trust the comparison.
func doubts(report *drift.Report) []string {
	var reasons []string
	for _, f := range report.Findings {
		if slices.Contains(InDoubt, f.Mechanism) {
			reasons = append(reasons, fmt.Sprintf("the comparison itself is in doubt (%s): settle that first", f.Mechanism))
		}
	}
	return reasons
}

// leavesBehind are the mechanisms that leave objects behind.
var leavesBehind = []drift.Mechanism{drift.PendingPrune, drift.PruneProtected, drift.HookLeftover, drift.TrackingLabelCopied}

// leftoversOf are the objects of the report's findings about leftovers.
func leftoversOf(snapshot *drift.Snapshot, report *drift.Report) []*leftover {
	lives := make(map[drift.Key]object.Object, len(snapshot.Resources))
	for i := range snapshot.Resources {
		r := &state.Resource{Ref: snapshot.Resources[i].ResourceRef, Live: snapshot.Resources[i].Live, Target: snapshot.Resources[i].Target}
		r.Complete()
		lives[drift.KeyOf(r.Ref)] = r.Live
	}
	seen := map[drift.Key]bool{}
	var found []*leftover
	for _, f := range report.Findings {
		live := lives[drift.KeyOf(f.Resource)]
		if seen[drift.KeyOf(f.Resource)] || live == nil || !slices.Contains(leavesBehind, f.Mechanism) {
			continue
		}
		seen[drift.KeyOf(f.Resource)] = true
		l := &leftover{ref: f.Resource, live: live}
		l.judge(f.Mechanism)
		found = append(found, l)
	}
	return found
}

// keepMarks are annotations by which somebody said that an object is to stay.
var keepMarks = [][2]string{{"helm.sh/resource-policy", "keep"}, {mark.SyncOptions, "Prune=false"}, {mark.SyncOptions, "Delete=false"}}

// judge finds in the object itself why it stays, and what to know before it goes.
func (l *leftover) judge(mechanism drift.Mechanism) {
	if mechanism == drift.TrackingLabelCopied {
		l.reasons = append(l.reasons, "a controller made it and would make it again; it only carries a copied label")
	}
	for _, mark := range keepMarks {
		if state.HasOption(l.live, mark[0], mark[1]) {
			l.reasons = append(l.reasons, fmt.Sprintf("it is kept on purpose: it carries %s: %s", mark[0], mark[1]))
		}
	}
	for _, owner := range object.List(l.live, "metadata", "ownerReferences") {
		if controls, _ := object.At(owner, "controller"); controls == true {
			l.reasons = append(l.reasons, fmt.Sprintf("%s %s owns it, and would make it again", object.Text(owner, "kind"), object.Text(owner, "name")))
		}
	}
	if since := object.Text(l.live, "metadata", "deletionTimestamp"); since != "" {
		l.notes = append(l.notes, "it is being deleted since "+since)
	}
	if finalizers := object.List(l.live, "metadata", "finalizers"); len(finalizers) > 0 {
		l.notes = append(l.notes, "its finalizers need their controllers to be running: "+words.Some(words.Shown(finalizers)))
	}
	if l.ref.Group == "" && l.ref.Kind == "Service" && object.Text(l.live, "spec", "type") == "LoadBalancer" {
		l.notes = append(l.notes, "its address is given back, and may not be had again")
	}
}

// deletion is the step that is the nth of all.
func (l *leftover) deletion(n int) Deletion {
	return Deletion{Resource: l.ref, UID: object.Text(l.live, "metadata", "uid"), File: fmt.Sprintf("%03d-%s", n, snippet.DumpName(l.ref)), Notes: l.notes, guard: guardFor(l.ref, l.live)}
}

// byHand reports whether an object holds more than a dump brings back.
func byHand(ref drift.ResourceRef) bool {
	if ref.Group != "" {
		return false
	}
	return ref.Kind == "Namespace" || ref.Kind == "PersistentVolumeClaim" || ref.Kind == "PersistentVolume"
}

// keepUsed gives a reason to stay to what others refer to, and then to what those
// that stay refer to themselves.
func keepUsed(leftovers []*leftover, users uses) {
	for changed := true; changed; {
		changed = false
		for i, l := range leftovers {
			for _, u := range users[i] {
				if u.leftover >= 0 && len(leftovers[u.leftover].reasons) == 0 {
					continue
				}
				reason := u.who + " " + u.how
				if !slices.Contains(l.reasons, reason) {
					changed = changed || len(l.reasons) == 0
					l.reasons = append(l.reasons, reason)
				}
			}
		}
	}
}

// inDeletionOrder puts what refers to something before it; beyond that, kinds go in
// the order in which they depend on one another.
func inDeletionOrder(leftovers []*leftover, users uses) []*leftover {
	order := make([]int, len(leftovers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := leftovers[a].ref, leftovers[b].ref
		return cmp.Or(cmp.Compare(deletionRank(x), deletionRank(y)), cmp.Compare(x.Group, y.Group), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	var sorted []*leftover
	visited := map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		if visited[i] {
			return
		}
		visited[i] = true
		for _, u := range users[i] {
			if u.leftover >= 0 {
				visit(u.leftover)
			}
		}
		sorted = append(sorted, leftovers[i])
	}
	for _, i := range order {
		visit(i)
	}
	return sorted
}

// deletionRanks order kinds: what stands in the way of requests first, then what a
// running controller has to clean up, then what runs, what it answers by, what it
// may do, what it reads, and last what defines kinds and classes. Kinds that are not
// listed are custom: they go while their controllers still run.
var deletionRanks = [][]string{
	{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "APIService"},
	{""},
	{"Ingress", "HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "Gateway", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy"},
	{"CronJob", "Job", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod"},
	{"Service", "Endpoints", "EndpointSlice"},
	{"RoleBinding", "ClusterRoleBinding"},
	{"Role", "ClusterRole"},
	{"ServiceAccount", "ConfigMap", "Secret", "ResourceQuota", "LimitRange"},
	{"IngressClass", "StorageClass", "PriorityClass", "RuntimeClass", "GatewayClass"},
	{"PersistentVolumeClaim"},
	{"PersistentVolume"},
	{"CustomResourceDefinition"},
	{"Namespace"},
}

func deletionRank(ref drift.ResourceRef) int {
	for rank, kinds := range deletionRanks {
		if slices.Contains(kinds, ref.Kind) {
			return rank
		}
	}
	return 1
}
